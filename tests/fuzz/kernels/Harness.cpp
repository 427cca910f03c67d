#include "tests/fuzz/kernels/Harness.h"
#include "tests/fuzz/kernels/Elementwise.h"
#include "tests/fuzz/kernels/Evaluator.h"

#include "codegen/cpu/CpuCompiler.h"
#include "dsl/Elaborator.h"
#include "frontend/execute/Compiler.h"
#include "ir/interpreter/Interpreter.h"
#include "ir/interpreter/InterpreterErrors.h"
#include "ir/interpreter/Launch.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/cpu/CpuLaunch.h"
#include "runtime/launch/KernelReports.h"
#include "tests/codegen/GuardedMemory.h"
#include "tests/ir/Touches.h"

#include "mlir/IR/Verifier.h"

#include <cmath>

using namespace tile;
using namespace tile::fuzz;
using codegen::test::GuardedMemory;
using ir::ParamMode;
using mlir::failed;
using mlir::succeeded;

namespace {
/// One parameter's argument and what is expected of it.
struct Slot {
  DType type = DType::F32;
  ParamMode mode = ParamMode::In;
  bool isTensor = false;
  std::string name;
  std::vector<int64_t> shape;
  int64_t elements = 1;
  std::vector<std::byte> initial;
  int64_t bytes() const { return elements * runtime::sizeOf(type); }
  bool isInput() const { return mode == ParamMode::In || mode == ParamMode::InOut; }
};

class Check {
public:
  Check(const Program &program, const HarnessOptions &options)
      : program(program), options(options), context(mlir::MLIRContext::Threading::DISABLED) {}

  Outcome run();

private:
  using Sizes = std::map<std::string, int64_t>;

  bool fail(const std::string &category, const std::string &detail) {
    outcome = {Outcome::Kind::Failed, category, detail, outcome.compared, outcome.exact};
    return false;
  }
  bool elaborate();
  bool bind();
  void fill(Slot &slot);
  bool canMutate();
  bool evaluateRanges();
  std::vector<Argument> rangeArguments();
  bool evaluateReports(ir::KernelOp compiled, const std::string &run);
  bool compareFailure(const std::string &message, const std::string &run);
  mlir::OwningOpRef<ir::KernelOp> compile(const Sizes &sizes);
  bool interpret(ir::KernelOp kernel, const std::string &run);
  bool runOnCpu(ir::KernelOp kernel, const std::string &run, GuardedMemory::Side side);
  bool compare(size_t parameter, const std::byte *actual, const std::string &run);
  bool compareRanges(size_t parameter, const std::byte *actual, const std::string &run);
  bool compareBounds(size_t parameter, const std::byte *actual, const std::string &run);

  /// What the interpreter has for a parameter, and by how much other executions may be off.
  struct Bounded {
    std::vector<std::byte> memory;
    std::vector<float> errors;
  };

  const Program &program;
  const HarnessOptions &options;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ir::KernelOp kernel;
  std::string messages;
  std::vector<Slot> slots;
  llvm::SmallVector<int64_t> dims;
  Evaluation expected;
  /// Of a kernel with assertions or prints: what it says with the tile sizes that run.
  std::optional<Evaluation> said;
  /// By parameter, of the run with the default tile sizes.
  std::vector<Bounded> bounded;
  Outcome outcome;
};
} // namespace

//===-- Before the runs ---------------------------------------------------===//

bool Check::elaborate() {
  dsl::DiagnosticEngine diags;
  dsl::Program sources(diags, {});
  dsl::Elaborator elaborator(context, sources, diags);
  dsl::DiagnosticBridge bridge(context, sources, diags);
  dsl::LoadedFile *file = sources.load("random.tile", program.str());
  std::string symbol;
  if (diags.errorCount() == 0)
    for (const dsl::Decl &decl : file->module.decls)
      if (decl.kind == dsl::Decl::Kind::Kernel)
        symbol = elaborator.elaborate({&decl, file}, {});
  if (symbol.empty() && diags.errorCount() == 0)
    return fail("silence", "refused without a word");
  if (symbol.empty()) {
    outcome.kind = Outcome::Kind::Refused;
    outcome.category = diags.diagnostics().front().message;
    outcome.detail = diags.print(/*colour=*/false);
    return false;
  }
  module = elaborator.takeModule();
  kernel = module->lookupSymbol<ir::KernelOp>(symbol);
  return true;
}

bool Check::bind() {
  for (llvm::StringRef name : kernel.getDims().getAsValueRange<mlir::StringAttr>()) {
    auto found = program.dims.find(name.str());
    if (found == program.dims.end())
      return fail("harness", "no value for dimension " + name.str());
    dims.push_back(found->second);
  }
  mlir::Builder builder(&context);
  llvm::SmallVector<mlir::Attribute> values, extents;
  for (int64_t value : dims)
    values.push_back(builder.getIndexAttr(value));
  for (auto [n, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    llvm::StringRef typeName = kernel.getParamType(n);
    auto parsed = runtime::parseDType(std::string_view(typeName.data(), typeName.size()));
    if (!parsed)
      return fail("harness", "a parameter's type");
    Slot slot;
    slot.type = *parsed;
    slot.mode = kernel.getParamMode(n);
    slot.isTensor = mlir::isa<mlir::MemRefType>(type);
    slot.name = kernel.getParamName(n).str();
    extents.clear();
    if (slot.isTensor && failed(kernel.getParamShape(n).constantFold(values, extents)))
      return fail("harness", "a parameter's shape");
    for (mlir::Attribute extent : extents) {
      slot.shape.push_back(mlir::cast<mlir::IntegerAttr>(extent).getInt());
      slot.elements *= slot.shape.back();
    }
    slot.initial.resize(slot.bytes());
    if (slot.isInput())
      fill(slot);
    slots.push_back(std::move(slot));
  }
  return true;
}

static double special(Random &random) {
  static const double numbers[] = {INFINITY, -INFINITY, NAN,  0.0,   -0.0,  1e-40,  -1e-40,
                                   3e38,     -3e38,     1e-8, 65504, 1e300, -1e300, 5e-324,
                                   0.5,      1.0,       -1.0, 2.5,   3.5,   256,    -0.1};
  return numbers[random.below(std::size(numbers))];
}

/// Numbers that depend on the parameter alone, so that shrinking keeps them.
void Check::fill(Slot &slot) {
  uint64_t name = 0;
  for (char c : slot.name)
    name = name * 131 + static_cast<unsigned char>(c);
  Random random(program.seed ^ (name * 0x9e3779b97f4a7c15));
  int64_t indexLimit = 0;
  for (const Parameter &parameter : program.parameters)
    if (parameter.name == slot.name)
      indexLimit = parameter.indexLimit;
  // Mostly small whole numbers and halves of them: their sums are exact.
  size_t style = random.below(10);
  for (int64_t n = 0; n < slot.elements; ++n) {
    std::byte *element = slot.initial.data() + n * runtime::sizeOf(slot.type);
    if (slot.type == DType::Bool) {
      runtime::storeInt(slot.type, element, random.chance(60));
    } else if (!runtime::isFloat(slot.type)) {
      bool isSmall = indexLimit || style < 6 || (style < 9 && random.chance(60));
      int64_t value = isSmall ? random.between(-(indexLimit ? 2 : 9), indexLimit ? indexLimit : 12)
                              : static_cast<int64_t>(random.next() >> random.below(64));
      if (!isSmall && random.chance(30))
        value = random.chance(50) ? runtime::integerMin(slot.type)
                                  : static_cast<int64_t>(runtime::integerMax(slot.type));
      runtime::storeInt(slot.type, element, value);
    } else {
      double value =
          style < 6   ? static_cast<double>(random.between(-12, 12)) / 2
          : style < 8 ? (random.unit() - 0.5) * 8
                      : std::ldexp(random.unit() - 0.5, static_cast<int>(random.between(-30, 30)));
      if ((style == 4 || style == 5 || style == 7 || style == 9) && random.chance(15))
        value = special(random);
      runtime::storeDouble(slot.type, element, value);
    }
  }
}

mlir::OwningOpRef<ir::KernelOp> Check::compile(const Sizes &sizes) {
  ir::Bindings bindings;
  for (mlir::StringAttr binder : ir::sizableBinders(kernel))
    if (auto size = sizes.find(binder.str()); size != sizes.end())
      bindings.sizes[binder] = size->second;
  if (program.bindsDims)
    for (auto [name, value] : llvm::zip(kernel.getDims().getAsValueRange<mlir::StringAttr>(), dims))
      bindings.dims[name] = value;
  frontend::Compiler compiler;
  mlir::OwningOpRef<ir::KernelOp> compiled = compiler.compile(kernel, bindings);
  bool isAsserted = messages.find("assertion failed") != std::string::npos;
  if (!compiled && isAsserted) { // when it is compiled, the compiler knows the condition
    outcome.kind = Outcome::Kind::Refused;
    outcome.category = messages;
    return {};
  }
  if (!compiled || failed(mlir::verify(compiled->getOperation()))) {
    fail("pipeline", messages);
    return {};
  }
  return compiled;
}

std::vector<Argument> Check::rangeArguments() {
  std::vector<Argument> arguments;
  for (const Slot &slot : slots)
    // Signless, as in the IR.
    arguments.push_back(
        {*dtypeOf(mlir::getElementTypeOrSelf(kernel.getArgumentTypes()[arguments.size()])),
         slot.shape, slot.initial.data()});
  return arguments;
}

/// What a kernel says depends on its blocks: with these tile sizes.
bool Check::evaluateReports(ir::KernelOp compiled, const std::string &run) {
  said.reset();
  mlir::WalkResult found = compiled.walk([](mlir::Operation *op) {
    return mlir::isa<ir::AssertOp, ir::PrintOp>(op) ? mlir::WalkResult::interrupt()
                                                    : mlir::WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return true;
  said = evaluate(compiled, rangeArguments(), dims);
  if (said->problem.empty() && said->failure.has_value() != expected.failure.has_value())
    return fail("ranges", run + ": an assertion fails with some tile sizes only");
  if (said->problem.empty())
    return true;
  if (!said->isUndecided)
    return fail("ranges", run + ": " + said->problem);
  outcome.kind = Outcome::Kind::Undecided;
  outcome.category = said->problem;
  return false;
}

/// `message` of a failed assertion, empty where none failed. The program may be named behind it.
bool Check::compareFailure(const std::string &message, const std::string &run) {
  std::string wanted = said ? said->failure.value_or("") : "";
  if (message.empty() == wanted.empty() && message.starts_with(wanted))
    return true;
  return fail("assertion", run + ": says \"" + message + "\", expected \"" + wanted + "\"");
}

bool Check::evaluateRanges() {
  // Blocks beyond every dimension and every range that a loop walks.
  Sizes whole;
  for (mlir::StringAttr binder : ir::sizableBinders(kernel))
    whole[binder.str()] = 4096;
  mlir::OwningOpRef<ir::KernelOp> compiled = compile(whole);
  if (!compiled)
    return false;
  expected = evaluate(*compiled, rangeArguments(), dims);
  if (expected.problem.empty())
    return true;
  if (!expected.isUndecided)
    return fail("ranges", expected.problem);
  outcome.kind = Outcome::Kind::Undecided;
  outcome.category = expected.problem;
  return false;
}

//===-- Runs --------------------------------------------------------------===//

bool Check::compare(size_t parameter, const std::byte *actual, const std::string &run) {
  return (options.byBounds || compareRanges(parameter, actual, run)) &&
         compareBounds(parameter, actual, run);
}

/// As `tilec run --check` does: against the interpreter, by what it says an element may be off by.
bool Check::compareBounds(size_t parameter, const std::byte *actual, const std::string &run) {
  const Slot &slot = slots[parameter];
  if (bounded.empty())
    return true;
  const auto &[memory, errors] = bounded[parameter];
  for (int64_t n = 0; n < slot.elements; ++n) {
    int64_t offset = n * runtime::sizeOf(slot.type);
    const std::byte *left = actual + offset, *right = memory.data() + offset;
    double error = ir::interpreter::distance(runtime::loadDouble(slot.type, left),
                                             runtime::loadDouble(slot.type, right));
    if (!runtime::isFloat(slot.type) && error == 0)
      error = runtime::loadInt(slot.type, left) != runtime::loadInt(slot.type, right);
    if (error <= errors[n])
      continue;
    char text[160];
    std::snprintf(text, sizeof(text),
                  " is %.17g, of the interpreter %.17g: off by %.3g, %.3g allowed",
                  runtime::loadDouble(slot.type, left), runtime::loadDouble(slot.type, right),
                  error, static_cast<double>(errors[n]));
    return fail(options.mutation ? "difference" : "bounds",
                run + ": element " + std::to_string(n) + " of " + slot.name + text);
  }
  return true;
}

bool Check::compareRanges(size_t parameter, const std::byte *actual, const std::string &run) {
  const Slot &slot = slots[parameter];
  const std::vector<NumberSet> &ranges = expected.outputs[parameter];
  for (int64_t n = 0; n < slot.elements; ++n) {
    const std::byte *element = actual + n * runtime::sizeOf(slot.type);
    const NumberSet &range = ranges[n];
    outcome.compared += 1;
    outcome.exact += range.isPoint() || range.isNaN();
    if (range.admits(element))
      continue;
    double value = runtime::loadDouble(slot.type, element);
    char number[40];
    std::snprintf(number, sizeof(number), "%.17g", value);
    return fail("difference", run + ": element " + std::to_string(n) + " of " + slot.name + " is " +
                                  (runtime::isFloat(slot.type)
                                       ? number
                                       : std::to_string(runtime::loadInt(slot.type, element))) +
                                  ", expected " + range.str());
  }
  return true;
}

static const char *cpuOf(const Program &program) {
  static constexpr const char *cpus[] = {"native", "native", "native", "x86-64-v3", "x86-64"};
  return cpus[program.seed % std::size(cpus)];
}

bool Check::interpret(ir::KernelOp compiled, const std::string &run) {
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::vector<float>> errors;
  std::vector<ir::InterpreterArgument> arguments;
  for (const Slot &slot : slots) {
    memory.push_back(slot.initial);
    if (!slot.isInput())
      std::fill(memory.back().begin(), memory.back().end(), std::byte(0xDB));
    uint64_t bits = 0;
    if (!slot.isTensor)
      std::memcpy(&bits, slot.initial.data(), slot.bytes());
    arguments.push_back(slot.isTensor
                            ? ir::InterpreterArgument::tensor(memory.back().data(), slot.shape)
                            : ir::InterpreterArgument::scalar(bits));
    errors.emplace_back(slot.elements);
    if (slot.isTensor)
      arguments.back().errors = errors.back().data();
  }
  ir::InterpreterOptions interpreterOptions;
  interpreterOptions.tracksErrors = bounded.empty();
  interpreterOptions.errorsWithoutFma = std::string(cpuOf(program)) == "x86-64";
  interpreterOptions.order =
      said ? ir::InterpreterOptions::Order::RowMajor : ir::InterpreterOptions::Order::Shuffled;
  interpreterOptions.seed = program.seed;
  ir::test::Touches touches(interpreterOptions);
  ir::InterpreterResult result = ir::interpret(compiled, arguments, dims, interpreterOptions);
  if (!result.ok() && !result.isAssertion)
    return fail("interpreter", run + ": " + result.message);
  if (!compareFailure(result.message, run))
    return false;
  if (!result.ok())
    return true;
  for (ir::KernelOp summarized : {kernel, compiled})
    if (std::string difference = touches.compare(summarized, compiled, arguments, dims);
        !difference.empty())
      return fail("summary", run + ": " + difference);
  for (size_t n = 0; n < slots.size(); ++n)
    if (slots[n].mode != ParamMode::In && !compareRanges(n, memory[n].data(), run))
      return false;
  // Which programs run first, and with which tile sizes, is within the bounds, too.
  for (size_t n = 0; n < slots.size(); ++n)
    if (slots[n].mode != ParamMode::In && !compareBounds(n, memory[n].data(), run))
      return false;
  if (bounded.empty())
    for (auto [elements, bounds] : llvm::zip_equal(memory, errors))
      bounded.push_back({std::move(elements), std::move(bounds)});
  return true;
}

bool Check::runOnCpu(ir::KernelOp compiled, const std::string &run, GuardedMemory::Side side) {
  codegen::CpuOptions cpu;
  cpu.cpu = cpuOf(program);
  if (program.seed % 2)
    cpu.cacheBytes = 0; // all is too large for them
  auto code = codegen::CpuCompiler(cpu).jit(compiled);
  if (failed(code))
    return fail("codegen", run + ": " + messages);
  std::vector<GuardedMemory> memory;
  std::vector<const void *> pointers;
  std::vector<int64_t> elements;
  for (const Slot &slot : slots) {
    memory.emplace_back(slot.bytes(), side);
    if (slot.isInput())
      std::copy(slot.initial.begin(), slot.initial.end(), memory.back().data());
    else
      memory.back().fill(0xDB);
    pointers.push_back(memory.back().data());
    elements.push_back(slot.elements);
  }
  const runtime::CpuEntry &entry = code->entry();
  if (entry.reduceOutputs.empty() && !entry.reports) {
    int64_t programs = entry.programs(pointers.data(), dims.data());
    GuardedMemory scratch(entry.scratch(pointers.data(), dims.data()), side);
    // In two pieces, the second one first.
    int64_t middle = programs / 2;
    for (auto [begin, end] : {std::pair(middle, programs), std::pair(int64_t(0), middle)}) {
      scratch.fill(0xDB);
      entry.kernel(pointers.data(), dims.data(), begin, end, scratch.data());
    }
    if (!scratch.isIntact())
      return fail("memory", run + ": wrote beside its scratch memory");
  } else {
    static runtime::ThreadPool pool(2);
    std::string printed;
    runtime::LaunchReport report{[&](std::string_view text) { printed += text; }};
    runtime::Status status = runtime::launchCpu(entry, {pointers, dims, elements, &report}, &pool);
    if (!status && !report.failure)
      return fail("launch", run + ": " + status.error().str());
    if (!compareFailure(report.failure ? report.failure->message : "", run))
      return false;
    if (said && said->printed && *said->printed != printed)
      return fail("print", run + ": says\n" + printed + "expected\n" + *said->printed);
    if (!status)
      return true;
  }
  for (size_t n = 0; n < slots.size(); ++n) {
    const Slot &slot = slots[n];
    if (!memory[n].isIntact())
      return fail("memory", run + ": wrote beside " + slot.name);
    if (slot.mode == ParamMode::In &&
        !std::equal(slot.initial.begin(), slot.initial.end(), memory[n].data()))
      return fail("memory", run + ": changed " + slot.name);
    if (slot.mode != ParamMode::In && !compare(n, memory[n].data(), run))
      return false;
  }
  return true;
}

static std::string describe(const std::map<std::string, int64_t> &sizes) {
  std::string text;
  for (const auto &[binder, size] : sizes)
    text += " " + binder + "=" + std::to_string(size);
  return text.empty() ? " with the default tile sizes" : " with" + text;
}

/// Whether the mutation finds something to change, and leaves a kernel that verifies: one that a
/// verifier refuses would prove nothing.
bool Check::canMutate() {
  mlir::OwningOpRef<ir::KernelOp> compiled = compile({});
  if (compiled && options.mutation(*compiled) && succeeded(mlir::verify(compiled->getOperation())))
    return true;
  outcome.category = "not mutated";
  return false;
}

Outcome Check::run() {
  if (!elaborate())
    return outcome;
  mlir::ScopedDiagnosticHandler handler(&context, [this](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  if (options.mutation && !canMutate())
    return outcome;
  if (!bind() || !evaluateRanges())
    return outcome;
  std::vector<Sizes> all = {{}};
  all.insert(all.end(), program.sizes.begin(), program.sizes.end());
  for (auto [n, sizes] : llvm::enumerate(all)) {
    // Only what this kernel's binders are called.
    Sizes own;
    for (mlir::StringAttr binder : ir::sizableBinders(kernel))
      if (auto size = sizes.find(binder.str()); size != sizes.end())
        own[binder.str()] = size->second;
    mlir::OwningOpRef<ir::KernelOp> compiled = compile(own);
    if (!compiled)
      return outcome;
    std::string with = describe(own);
    if (!evaluateReports(*compiled, with))
      return outcome;
    if (options.byBounds && n == 0 && !interpret(*compiled, "interpreter" + with))
      return outcome;
    if (options.mutation)
      (void)options.mutation(*compiled);
    else if (n < 2 && !interpret(*compiled, "interpreter" + with))
      return outcome;
    auto side = (program.seed + n) % 2 ? GuardedMemory::Side::End : GuardedMemory::Side::Begin;
    if (!runOnCpu(*compiled, "cpu" + with, side))
      return outcome;
  }
  return outcome;
}

Outcome fuzz::check(const Program &program, const HarnessOptions &options) {
  return Check(program, options).run();
}
