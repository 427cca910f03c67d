// libFuzzer target: any text as tile IR. What parses and verifies is proved, specialized to small
// sizes, interpreted with limits, and lowered for the CPU. Errors are diagnostics or the
// interpreter's messages; nothing crashes, leaks or takes long.

#include "codegen/cpu/CpuCompiler.h"
#include "ir/fusion/Summary.h"
#include "ir/interpreter/Interpreter.h"
#include "ir/interpreter/Launch.h"
#include "ir/proofs/Proofs.h"
#include "ir/transforms/FormFma.h"
#include "ir/transforms/Specialize.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/xxhash.h"

using namespace tile::ir;
using mlir::failed;
using mlir::succeeded;

namespace {
/// Sizes that depend on the text alone.
class Sizes {
public:
  explicit Sizes(llvm::StringRef text) : state(llvm::xxh3_64bits(text)) {}
  int64_t upTo(int64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(limit + 1));
  }

private:
  uint64_t state;
};

/// Zeroed memory for a kernel's parameters, where their shapes are small.
struct Arguments {
  std::vector<std::vector<char>> memory;
  llvm::SmallVector<InterpreterArgument> list;
  llvm::SmallVector<int64_t> dims;
  bool isSmall = true;
};

Arguments argumentsFor(KernelOp kernel, const Bindings &bindings, Sizes &sizes) {
  Arguments result;
  llvm::StringMap<int64_t> dims = bindings.dims;
  llvm::SmallVector<llvm::SmallVector<int64_t>> shapes(kernel.getNumArguments());
  for (llvm::StringRef name : kernel.getDims().getAsValueRange<mlir::StringAttr>())
    result.dims.push_back(dims.lookup(name));
  mlir::Builder builder(kernel.getContext());
  llvm::SmallVector<mlir::Attribute> constants, extents;
  for (int64_t value : result.dims)
    constants.push_back(builder.getIndexAttr(value));
  for (auto [n, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (!mlir::isa<mlir::MemRefType>(type)) {
      result.list.push_back(InterpreterArgument::scalar(sizes.upTo(3)));
      continue;
    }
    int64_t elements = 1;
    extents.clear();
    if (failed(kernel.getParamShape(n).constantFold(constants, extents)))
      result.isSmall = false;
    for (mlir::Attribute extent : extents) {
      auto number = mlir::dyn_cast_or_null<mlir::IntegerAttr>(extent);
      int64_t value = number ? number.getInt() : -1;
      if (value < 0 || value > 4096 || elements * value > 4096)
        result.isSmall = false;
      if (!result.isSmall)
        return result;
      shapes[n].push_back(value);
      elements *= value;
    }
    result.memory.emplace_back(elements * 8);
    result.list.push_back(InterpreterArgument::tensor(result.memory.back().data(), shapes[n]));
  }
  return result;
}

void runKernel(KernelOp source, Sizes &sizes) {
  bool isProved = succeeded(prove(source));
  KernelSummary summary(source);
  (void)summary.text();
  (void)summary.json();
  mlir::OwningOpRef<KernelOp> kernel(source.clone());
  Bindings bindings;
  for (llvm::StringRef name : kernel->getDims().getAsValueRange<mlir::StringAttr>())
    bindings.dims[name] = sizes.upTo(5);
  for (mlir::StringAttr binder : sizableBinders(*kernel))
    bindings.sizes[binder] = 1 + sizes.upTo(6);
  if (failed(specialize(*kernel, bindings)))
    return;
  formFma(*kernel);
  if (failed(mlir::verify(kernel->getOperation())))
    std::abort(); // specialize promises a kernel that verifies
  if (Arguments arguments = argumentsFor(*kernel, bindings, sizes); arguments.isSmall) {
    InterpreterOptions options;
    options.maxSteps = 20000;
    options.maxTileBytes = 1 << 18;
    (void)interpret(*kernel, arguments.list, arguments.dims, options);
  }
  // Backends take what the proofs let through.
  if (isProved)
    (void)tile::codegen::CpuCompiler().compileToLlvmIr(*kernel, /*optimized=*/false);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::scf::SCFDialect>();
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [](mlir::Diagnostic &) { return mlir::success(); });
  std::string text(reinterpret_cast<const char *>(data), size); // the parser wants a 0 behind it
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return -1;
  Sizes sizes(text);
  for (KernelOp kernel : module->getOps<KernelOp>())
    runKernel(kernel, sizes);
  return 0;
}
