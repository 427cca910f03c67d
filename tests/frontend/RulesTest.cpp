// The runtime binds launches by plain data as ir/interpreter/Launch.h does on the IR: same answers,
// same messages, on every kernel and graph of the samples, with shapes that fit and that don't.

#include "frontend/execute/Rules.h"
#include "dsl/Elaborator.h"
#include "ir/interpreter/Launch.h"
#include "runtime/launch/Binding.h"
#include "runtime/launch/Evaluate.h"
#include "runtime/load/Validation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <random>

#include <unistd.h>

using namespace tile;

namespace {

/// What a call gives: shapes by parameter, and numbers by name.
struct Call {
  std::vector<std::vector<int64_t>> shapes;
  std::map<std::string, int64_t> dims;
  std::vector<uint64_t> scalars;
};

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t extent : shape)
    text += std::to_string(extent) + " ";
  return text + "]";
}

std::string answerOfIr(mlir::Operation *function, const Call &call) {
  llvm::SmallVector<llvm::ArrayRef<int64_t>> shapes(call.shapes.begin(), call.shapes.end());
  llvm::StringMap<int64_t> dims;
  for (const auto &[name, value] : call.dims)
    dims[name] = value;
  ir::UserError error;
  auto kernel = mlir::dyn_cast<ir::KernelOp>(function);
  auto binding = kernel ? ir::bindLaunch(kernel, shapes, dims, error)
                        : ir::bindLaunch(mlir::cast<ir::GraphOp>(function), shapes, dims, error);
  if (mlir::failed(binding) ||
      (kernel && mlir::failed(ir::checkRequires(kernel, binding->dims, call.scalars, error))))
    return error.message + " | " + error.hint;
  std::string text = shapeText(binding->dims);
  for (const auto &shape : binding->shapes)
    text += shapeText(shape);
  return text;
}

std::string answerOfRules(const runtime::Signature &signature, const Call &call) {
  std::vector<std::span<const int64_t>> shapes(call.shapes.begin(), call.shapes.end());
  runtime::DimValues dims(call.dims.begin(), call.dims.end());
  auto binding = runtime::bindLaunch(signature, shapes, dims);
  if (!binding)
    return binding.error().message + " | " + binding.error().hint;
  if (auto holds = runtime::checkRequires(signature, binding->dims, call.scalars); !holds)
    return holds.error().message + " | " + holds.error().hint;
  std::string text = shapeText(binding->dims);
  for (const auto &shape : binding->shapes)
    text += shapeText(shape);
  return text;
}

class Differential {
public:
  std::mt19937_64 random{42};
  int good = 0, bad = 0;

  int64_t number() {
    switch (random() % 12) {
    case 0:
      return 0;
    case 1:
      return -static_cast<int64_t>(random() % 10);
    case 2:
      return static_cast<int64_t>(random());
    case 3:
      return static_cast<int64_t>(random() >> (random() % 64));
    default:
      return static_cast<int64_t>(random() % 64);
    }
  }

  /// Mostly a call that fits: shapes by the rules from random dimensions.
  Call makeCall(const runtime::Signature &signature) {
    Call call;
    std::vector<int64_t> dims(signature.dims.size());
    for (int64_t &dim : dims)
      dim = random() % 5 ? static_cast<int64_t>(random() % 40) : number();
    for (const runtime::ConstantRule &rule : signature.constants)
      if (rule.value && random() % 2)
        dims[rule.dim] = *rule.value;
      else if (random() % 20)
        call.dims[signature.dims[rule.dim]] = dims[rule.dim];
    if (random() % 20 == 0 && !dims.empty())
      call.dims[signature.dims[random() % dims.size()]] = number();
    if (random() % 40 == 0)
      call.dims["Nothing"] = 1;
    for (const runtime::ParamRule &param : signature.params) {
      std::vector<int64_t> &shape = call.shapes.emplace_back();
      for (const runtime::ExtentRule &rule : param.shape)
        shape.push_back(runtime::evaluateInteger(rule.program, dims).value_or(3));
      if (random() % 30 == 0 && !shape.empty())
        shape[random() % shape.size()] = number();
      if (random() % 60 == 0)
        shape.push_back(3);
      call.scalars.push_back(static_cast<uint64_t>(number()));
    }
    return call;
  }

  void compare(mlir::Operation *function, const runtime::Signature &signature) {
    for (int round = 0; round < 300; ++round) {
      Call call = makeCall(signature);
      std::string expected = answerOfIr(function, call);
      ASSERT_EQ(answerOfRules(signature, call), expected) << signature.name;
      ++(expected.find('|') == std::string::npos ? good : bad);
    }
  }
};

/// Each kernel and graph of a file, for each choice of types.
void compareFile(const std::string &path, Differential &test) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  dsl::DiagnosticEngine diags;
  dsl::Program program(diags, {});
  dsl::Elaborator elaborator(context, program, diags);
  std::string reason;
  std::optional<std::string> text = dsl::readText(path, reason);
  ASSERT_TRUE(text) << reason;
  dsl::LoadedFile *file = program.load(path, *text);
  for (const dsl::Decl &decl : file->module.decls)
    if (decl.kind == dsl::Decl::Kind::Kernel || decl.kind == dsl::Decl::Kind::Graph)
      for (const dsl::TypeBindings &types : elaborator.instances({&decl, file}))
        elaborator.elaborate({&decl, file}, types);
  ASSERT_EQ(diags.errorCount(), 0u) << diags.print(false);
  std::vector<runtime::KernelData> kernels;
  frontend::KernelNumbers numbers;
  for (ir::KernelOp kernel : elaborator.module().getOps<ir::KernelOp>()) {
    auto signature = frontend::signatureOf(kernel);
    ASSERT_TRUE(signature);
    test.compare(kernel, *signature);
    numbers.of(kernel);
    kernels.push_back({*signature, {}});
  }
  for (ir::GraphOp graph : elaborator.module().getOps<ir::GraphOp>()) {
    test.compare(graph, frontend::signatureOf(graph));
    auto plan = frontend::planOf(graph, numbers);
    ASSERT_TRUE(plan);
    auto valid = runtime::validatePlan(*plan, kernels);
    EXPECT_TRUE(valid) << valid.error().str();
  }
}

TEST(Rules, BindAsTheIrDoes) {
  Differential test;
  for (const char *place : {"samples", "tests/e2e/kernels"})
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(TILE_ROOT) / place))
      if (entry.path().extension() == ".tile")
        compareFile(entry.path().string(), test);
  EXPECT_GT(test.good, 3000);
  EXPECT_GT(test.bad, 3000);
}

/// Conditions on scalars of every type, on what the samples have none of.
TEST(Rules, CheckWhatIsRequiredOfScalars) {
  std::string path = ::testing::TempDir() + "rules-" + std::to_string(::getpid()) + ".tile";
  FILE *file = std::fopen(path.c_str(), "w");
  std::fputs(R"(
kernel ints(x: f32[N], a: i8, b: u16, c: i64, d: u64) -> (y: f32[N])
    requires a % 3 != 1, b / 7 < 40, c * 3 - 5 > N, min(d, 7) + 1 != 4, (a & 12) != 4, a << 2 != 8
{
    parallel i in tiles(N) { y[i] = x[i] }
}
kernel floats(x: f32[N], a: f32, b: f64, c: f16, p: bool) -> (y: f32[N])
    requires a < 10.0, a * a + 1.0 < 900.0, b != b || b > -5.0, sqrt(a * a) <= f32(N) + 50.0, p || f32(c) > 1.0
{
    parallel i in tiles(N) { y[i] = x[i] }
}
kernel reaches(x: f32[N], o: i64) -> (y: f32[N])
    requires o >= 0, o + N * N > 3
{
    parallel i in tiles(N) { y[i] = x[i] }
}
)",
             file);
  std::fclose(file);
  Differential test;
  compareFile(path, test);
  std::filesystem::remove(path);
  EXPECT_GT(test.good, 50);
  EXPECT_GT(test.bad, 200);
}

} // namespace
