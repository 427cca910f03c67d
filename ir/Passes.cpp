//===- Passes.cpp - the passes that know no target ------------------------===//

#include "ir/Passes.h"
#include "ir/fusion/DeadCalls.h"
#include "ir/fusion/DeadOutputs.h"
#include "ir/fusion/EqualCalls.h"
#include "ir/fusion/FlattenGraph.h"
#include "ir/fusion/FuseGraph.h"
#include "ir/fusion/Summary.h"
#include "ir/proofs/Proofs.h"
#include "ir/proofs/StaticAssertions.h"
#include "ir/transforms/FormFma.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile::ir;

namespace {
class SpecializePass : public PassWrapper<SpecializePass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SpecializePass)

  explicit SpecializePass(Bindings bindings = {}) : bindings(std::move(bindings)) {}
  SpecializePass(const SpecializePass &other) : PassWrapper(other), bindings(other.bindings) {}

  StringRef getArgument() const override { return "tile-specialize"; }
  StringRef getDescription() const override { return "Binds dimensions and tile sizes"; }

  LogicalResult initialize(MLIRContext *context) override {
    return success(succeeded(parse(dims, bindings.dims, context)) &&
                   succeeded(parse(sizes, bindings.sizes, context)));
  }

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      if (failed(specialize(kernel, bindings)))
        signalPassFailure();
    });
  }

private:
  static LogicalResult parse(ArrayRef<std::string> items, llvm::StringMap<int64_t> &values,
                             MLIRContext *context) {
    for (StringRef item : items) {
      auto [name, text] = item.split('=');
      int64_t value;
      if (name.empty() || text.getAsInteger(10, value))
        return emitError(UnknownLoc::get(context))
               << "tile-specialize: `" << item << "` is not NAME=INTEGER";
      values[name] = value;
    }
    return success();
  }

  ListOption<std::string> dims{*this, "dims", llvm::cl::desc("Values of dimensions: M=5,N=7")};
  ListOption<std::string> sizes{*this, "sizes", llvm::cl::desc("Tile sizes by binder: i=4")};
  Bindings bindings;
};

class FormFmaPass : public PassWrapper<FormFmaPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormFmaPass)

  StringRef getArgument() const override { return "tile-form-fma"; }
  StringRef getDescription() const override { return "Forms multiply-adds, once"; }

  void runOnOperation() override {
    getOperation()->walk([](KernelOp kernel) { formFma(kernel); });
  }
};

class StaticAssertionsPass : public PassWrapper<StaticAssertionsPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StaticAssertionsPass)

  StringRef getArgument() const override { return "tile-static-assertions"; }
  StringRef getDescription() const override { return "Checks assertions that need no launch"; }

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      if (failed(checkStaticAssertions(kernel)))
        signalPassFailure();
      dropAssertionsThatHold(kernel);
    });
  }
};

class SummariesPass : public PassWrapper<SummariesPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SummariesPass)

  SummariesPass() = default;
  SummariesPass(const SummariesPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tile-summaries"; }
  StringRef getDescription() const override { return "Shows what kernels do to memory"; }

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      KernelSummary summary(kernel);
      if (asJson)
        llvm::outs() << llvm::formatv("{0:2}\n", summary.json());
      else
        llvm::outs() << summary.text();
    });
    markAllAnalysesPreserved();
  }

private:
  Option<bool> asJson{*this, "json", llvm::cl::desc("As JSON, an object for each kernel")};
};
} // namespace

std::unique_ptr<Pass> tile::ir::createSummariesPass() { return std::make_unique<SummariesPass>(); }

std::unique_ptr<Pass> tile::ir::createSpecializePass(Bindings bindings) {
  return std::make_unique<SpecializePass>(std::move(bindings));
}

std::unique_ptr<Pass> tile::ir::createFormFmaPass() { return std::make_unique<FormFmaPass>(); }

std::unique_ptr<Pass> tile::ir::createStaticAssertionsPass() {
  return std::make_unique<StaticAssertionsPass>();
}

void tile::ir::registerTilePasses() {
  registerPass([] { return createStaticAssertionsPass(); });
  registerPass([] { return createSpecializePass(); });
  registerPass([] { return createFormFmaPass(); });
  registerPass([] { return createProvePass(); });
  registerPass([] { return createSummariesPass(); });
  registerPass([] { return createFlattenGraphsPass(); });
  registerPass([] { return createMergeEqualCallsPass(); });
  registerPass([] { return createDropDeadCallsPass(); });
  registerPass([] { return createDropDeadOutputsPass(); });
  registerPass([] { return createInlineProducersPass(); });
  registerPass([] { return createMergeSiblingsPass(); });
}
