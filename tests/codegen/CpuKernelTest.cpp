// Every kernel in kernels/*.mlir, compiled and interpreted on the same random inputs: under all its
// types, with odd dimensions and tile sizes, dimensions bound and open, in poisoned and guarded
// memory. The files say what to vary:
//
//   // types: f32 f64             replaces $T by each; $A by the type it accumulates in, $Z by its
//                                 zero, $TO_F32 and $FROM_F32 by conversions
//   // dims: M=0,1,5 N=3,17       a random choice of these; all the first, all the last as well
//   // sizes: i=1,4 k=3           so are these; none: the kernel's own
//   // range ids: -3 .. 12        random numbers of an input, otherwise −2 .. 2 (integers −9 .. 9)
//   // special: x                 inputs that hold infinities and NaNs, too
//   // tolerance: 1e-5            |actual − expected| ≤ tolerance · max(1, |expected|)
//   // runs: 8

#include "codegen/cpu/CpuCompiler.h"
#include "ir/dialect/ElementType.h"
#include "ir/interpreter/Interpreter.h"
#include "ir/interpreter/Launch.h"
#include "ir/transforms/FormFma.h"
#include "ir/transforms/Specialize.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/cpu/CpuLaunch.h"
#include "runtime/tensor/DType.h"
#include "tests/codegen/GuardedMemory.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <sstream>

using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::test;
namespace rt = tile::runtime;

namespace {

using Choices = std::map<std::string, std::vector<int64_t>>;

//===-- Files -------------------------------------------------------------===//

struct KernelFile {
  std::string name, text;
  std::vector<std::string> types = {""};
  Choices dims, sizes;
  std::map<std::string, std::pair<double, double>> ranges;
  std::vector<std::string> special;
  double tolerance = 1e-5;
  int runs = 8;
};

std::ostream &operator<<(std::ostream &stream, const KernelFile &file) {
  return stream << file.name;
}

Choices parseChoices(std::istringstream words) {
  Choices result;
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    std::istringstream numbers(word.substr(equals + 1));
    for (std::string number; std::getline(numbers, number, ',');)
      result[word.substr(0, equals)].push_back(std::stoll(number));
  }
  return result;
}

KernelFile readKernel(const std::filesystem::path &path) {
  KernelFile file;
  file.name = path.stem().string();
  std::ifstream stream(path);
  std::regex directive("// (types|dims|sizes|special|tolerance|runs|range (\\w+)): (.*)");
  for (std::string line; std::getline(stream, line);) {
    file.text += line + "\n";
    std::smatch match;
    if (!std::regex_match(line, match, directive))
      continue;
    std::string key = match[1], rest = match[3];
    std::istringstream words(rest);
    if (key == "types" || key == "special") {
      std::vector<std::string> &list = key == "types" ? file.types : file.special;
      list.clear();
      for (std::string word; words >> word;)
        list.push_back(word);
    } else if (key == "dims") {
      file.dims = parseChoices(std::istringstream(rest));
    } else if (key == "sizes") {
      file.sizes = parseChoices(std::istringstream(rest));
    } else if (key == "tolerance") {
      words >> file.tolerance;
    } else if (key == "runs") {
      words >> file.runs;
    } else {
      auto &[low, high] = file.ranges[match[2]];
      std::string dots;
      words >> low >> dots >> high;
    }
  }
  return file;
}

std::vector<KernelFile> allKernels() {
  std::vector<KernelFile> files;
  for (const auto &entry : std::filesystem::directory_iterator(TILE_KERNELS_DIR))
    if (entry.path().extension() == ".mlir")
      files.push_back(readKernel(entry.path()));
  std::sort(files.begin(), files.end(), [](auto &a, auto &b) { return a.name < b.name; });
  return files;
}

//===-- Running -----------------------------------------------------------===//

rt::DType dtypeOf(mlir::Type type) {
  if (type.isInteger(1))
    return rt::DType::Bool;
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type))
    return integer.getWidth() == 8    ? rt::DType::I8
           : integer.getWidth() == 16 ? rt::DType::I16
           : integer.getWidth() == 32 ? rt::DType::I32
                                      : rt::DType::I64;
  if (type.isF16())
    return rt::DType::F16;
  if (type.isBF16())
    return rt::DType::BF16;
  if (type.isF32())
    return rt::DType::F32;
  if (type.isF64())
    return rt::DType::F64;
  return mlir::isa<mlir::Float8E5M2Type>(type) ? rt::DType::F8E5M2 : rt::DType::F8E4M3;
}

struct Param {
  rt::DType type;
  ParamMode mode;
  bool isTensor;
  std::string name;
  std::vector<int64_t> shape;
  int64_t elements = 1;
  std::vector<std::byte> initial, expected;
  int64_t bytes() const { return elements * rt::sizeOf(type); }
};

class CpuKernelTest : public ::testing::TestWithParam<KernelFile> {
protected:
  CpuKernelTest() : seed(std::random_device()()), random(seed) {
    if (const char *given = std::getenv("TILE_TEST_SEED"))
      random.seed(seed = std::stoull(given));
    context.loadDialect<TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                        mlir::scf::SCFDialect>();
  }

  void fill(Param &param) {
    const KernelFile &file = GetParam();
    bool isWhole = !rt::isFloat(param.type);
    auto range = file.ranges.find(param.name);
    double low = isWhole ? -9 : -2, high = isWhole ? 9 : 2;
    if (range != file.ranges.end())
      std::tie(low, high) = range->second;
    bool isSpecial = llvm::is_contained(file.special, param.name);
    std::uniform_real_distribution<double> distribution(low, high + (isWhole ? 1 : 0));
    std::uniform_int_distribution<int> die(0, 9);
    double infinity = std::numeric_limits<double>::infinity();
    double specials[] = {infinity, -infinity, std::nan(""), 0.0, -0.0};
    for (int64_t n = 0; n < param.elements; ++n) {
      std::byte *element = param.initial.data() + n * rt::sizeOf(param.type);
      double value = distribution(random);
      if (param.type == rt::DType::Bool)
        rt::storeInt(param.type, element, die(random) < 5);
      else if (isWhole)
        rt::storeInt(param.type, element, static_cast<int64_t>(std::floor(value)));
      else
        rt::storeDouble(param.type, element,
                        isSpecial && die(random) == 0 ? specials[die(random) % 5] : value);
    }
  }

  static bool isClose(rt::DType type, const std::byte *actual, const std::byte *expected,
                      double tolerance) {
    if (!rt::isFloat(type))
      return rt::loadInt(type, actual) == rt::loadInt(type, expected);
    double a = rt::loadDouble(type, actual), e = rt::loadDouble(type, expected);
    if (std::isnan(a) || std::isnan(e))
      return std::isnan(a) && std::isnan(e);
    if (std::isinf(a) || std::isinf(e))
      return a == e;
    return std::fabs(a - e) <= tolerance * std::max(1.0, std::fabs(e));
  }

  double toleranceOf(rt::DType type) const {
    double own = GetParam().tolerance;
    switch (type) {
    case rt::DType::F16:
      return std::max(own, 1.1e-3);
    case rt::DType::BF16:
      return std::max(own, 8.1e-3);
    case rt::DType::F8E4M3:
      return std::max(own, 0.13);
    case rt::DType::F8E5M2:
      return std::max(own, 0.26);
    default:
      return own;
    }
  }

  KernelOp specialized(const std::string &text, const std::map<std::string, int64_t> &dims,
                       const std::map<std::string, int64_t> &sizes, bool bindDims) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return {};
    KernelOp kernel = *module->getOps<KernelOp>().begin();
    Bindings bindings;
    for (auto &[name, value] : sizes)
      bindings.sizes[name] = value;
    if (bindDims)
      for (auto &[name, value] : dims)
        bindings.dims[name] = value;
    if (failed(specialize(kernel, bindings)))
      return {};
    formFma(kernel);
    return kernel;
  }

  /// Runs the compiled code on guarded copies and compares.
  void runCompiled(const CpuCode &code, std::vector<Param> &params,
                   const std::vector<int64_t> &dims, GuardedMemory::Side side);
  void check(const std::string &text, const std::map<std::string, int64_t> &dims,
             const std::map<std::string, int64_t> &sizes, bool bindDims);

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  uint64_t seed;
  std::mt19937_64 random;
};

void CpuKernelTest::runCompiled(const CpuCode &code, std::vector<Param> &params,
                                const std::vector<int64_t> &dims, GuardedMemory::Side side) {
  std::vector<GuardedMemory> memory;
  std::vector<const void *> pointers;
  std::vector<int64_t> elements;
  for (Param &param : params) {
    memory.emplace_back(param.bytes(), side);
    if (param.mode == ParamMode::In || param.mode == ParamMode::InOut)
      std::copy(param.initial.begin(), param.initial.end(), memory.back().data());
    else
      memory.back().fill(0xDB);
    pointers.push_back(memory.back().data());
    elements.push_back(param.elements);
  }
  const rt::CpuEntry &entry = code.entry();
  if (entry.reduceOutputs.empty()) {
    int64_t programs = entry.programs(pointers.data(), dims.data());
    int64_t bytes = entry.scratch(pointers.data(), dims.data());
    ASSERT_GE(programs, 0);
    ASSERT_GE(bytes, 0);
    ASSERT_GT(entry.work(pointers.data(), dims.data()), 0);
    GuardedMemory scratch(bytes, side);
    scratch.fill(0xDB);
    // In two pieces, the second one first.
    int64_t middle = programs / 2;
    entry.kernel(pointers.data(), dims.data(), middle, programs, scratch.data());
    scratch.fill(0xDB);
    entry.kernel(pointers.data(), dims.data(), 0, middle, scratch.data());
    EXPECT_TRUE(scratch.isIntact());
  } else {
    rt::ThreadPool pool(2);
    rt::Status status = rt::launchCpu(entry, {pointers, dims, elements}, &pool);
    ASSERT_TRUE(status) << status.error().str();
  }
  for (auto [param, data] : llvm::zip(params, memory)) {
    EXPECT_TRUE(data.isIntact()) << "wrote beside " << param.name;
    if (param.mode == ParamMode::In) {
      EXPECT_TRUE(std::equal(param.initial.begin(), param.initial.end(), data.data()))
          << "changed " << param.name;
      continue;
    }
    int64_t size = rt::sizeOf(param.type);
    for (int64_t n = 0; n < param.elements; ++n) {
      const std::byte *actual = data.data() + n * size,
                      *expected = param.expected.data() + n * size;
      ASSERT_TRUE(isClose(param.type, actual, expected, toleranceOf(param.type)))
          << "element " << n << " of " << param.name << " is " << rt::loadDouble(param.type, actual)
          << ", expected " << rt::loadDouble(param.type, expected);
    }
  }
}

void CpuKernelTest::check(const std::string &text, const std::map<std::string, int64_t> &dims,
                          const std::map<std::string, int64_t> &sizes, bool bindDims) {
  std::string trace = bindDims ? "bound dims" : "open dims";
  for (const auto *values : {&dims, &sizes})
    for (auto &[name, value] : *values)
      trace += ", " + name + " = " + std::to_string(value);
  SCOPED_TRACE(trace);
  KernelOp kernel = specialized(text, dims, sizes, bindDims);
  ASSERT_TRUE(kernel);
  std::vector<int64_t> dimValues;
  for (llvm::StringRef name : kernel.getDims().getAsValueRange<mlir::StringAttr>())
    dimValues.push_back(dims.at(name.str()));

  std::vector<Param> params;
  std::vector<InterpreterArgument> arguments;
  for (auto [n, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    Param param{dtypeOf(mlir::getElementTypeOrSelf(type)),
                kernel.getParamMode(n),
                mlir::isa<mlir::MemRefType>(type),
                kernel.getParamName(n).str(),
                {},
                1,
                {},
                {}};
    if (param.isTensor)
      for (mlir::AffineExpr expr : kernel.getParamShape(n).getResults()) {
        auto extent = mlir::AffineMap::get(0, dimValues.size(), expr);
        llvm::SmallVector<mlir::Attribute> constants;
        mlir::Builder builder(&context);
        for (int64_t value : dimValues)
          constants.push_back(builder.getIndexAttr(value));
        llvm::SmallVector<mlir::Attribute> folded;
        ASSERT_TRUE(succeeded(extent.constantFold(constants, folded)));
        param.shape.push_back(mlir::cast<mlir::IntegerAttr>(folded[0]).getInt());
        param.elements *= param.shape.back();
      }
    param.initial.resize(param.bytes(), std::byte(0xDB));
    if (param.mode == ParamMode::In || param.mode == ParamMode::InOut)
      fill(param);
    params.push_back(std::move(param));
  }
  for (Param &param : params) {
    param.expected = param.initial;
    uint64_t bits = 0;
    if (!param.isTensor)
      std::memcpy(&bits, param.initial.data(), param.bytes());
    arguments.push_back(param.isTensor
                            ? InterpreterArgument::tensor(param.expected.data(), param.shape)
                            : InterpreterArgument::scalar(bits));
  }
  InterpreterResult result = interpret(kernel, arguments, dimValues);
  ASSERT_TRUE(result.ok()) << result.message;

  // CPUs with less must do as well.
  static constexpr const char *cpus[] = {"native", "native", "x86-64-v3", "x86-64"};
  CpuOptions options;
  options.cpu = cpus[random() % std::size(cpus)];
  if (random() % 2)
    options.cacheBytes = 0; // all outputs are stored past them, rows collide
  SCOPED_TRACE(options.cpu + (options.cacheBytes ? ", without caches" : ""));
  auto code = CpuCompiler(options).jit(kernel);
  ASSERT_TRUE(succeeded(code));
  for (GuardedMemory::Side side : {GuardedMemory::Side::End, GuardedMemory::Side::Begin})
    runCompiled(*code, params, dimValues, side);
}

TEST_P(CpuKernelTest, CompiledEqualsInterpreted) {
  const KernelFile &file = GetParam();
  for (const std::string &type : file.types) {
    std::string text = file.text;
    static const std::map<std::string, std::string> accumulators = {
        {"f16", "f32"}, {"bf16", "f32"}, {"f8E4M3FN", "f32"}, {"f8E5M2", "f32"}};
    auto wide = accumulators.find(type);
    bool isDouble = type == "f64";
    text =
        std::regex_replace(text, std::regex("\\$TO_F32"), isDouble ? "arith.truncf" : "arith.extf");
    text = std::regex_replace(text, std::regex("\\$FROM_F32"),
                              isDouble ? "arith.extf" : "arith.truncf");
    text = std::regex_replace(text, std::regex("\\$Z"), type.starts_with("i") ? "0" : "0.0");
    text = std::regex_replace(text, std::regex("\\$A"),
                              wide == accumulators.end() ? type : wide->second);
    text = std::regex_replace(text, std::regex("\\$T"), type);
    for (int run = 0; run < file.runs; ++run) {
      auto choose = [&](const Choices &choices) {
        std::map<std::string, int64_t> result;
        for (auto &[name, values] : choices)
          result[name] = run == 0   ? values.front()
                         : run == 1 ? values.back()
                                    : values[random() % values.size()];
        return result;
      };
      SCOPED_TRACE(file.name + " " + type + ", seed " + std::to_string(seed));
      check(text, choose(file.dims), choose(file.sizes), run % 2);
      if (HasFailure())
        return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CpuKernelTest, ::testing::ValuesIn(allKernels()),
                         [](const auto &info) { return info.param.name; });

} // namespace
