//===- FuseGraph.cpp - kernels of a graph that run as one -----------------===//

#include "ir/fusion/FuseGraph.h"
#include "ir/fusion/FinishReduction.h"
#include "ir/fusion/Fuser.h"
#include "ir/fusion/InlineProducer.h"
#include "ir/fusion/MergeSiblings.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tile::ir;

/// To those who work on the fuser: with what was wrong inside, if something was.
static void sayApart(CallOp a, CallOp b, const FusionRefusal &refusal) {
  InFlightDiagnostic remark = emitRemark(b.getLoc());
  remark << "`" << a.getCallee() << "` and `" << b.getCallee()
         << "` stay apart: " << refusal.reason;
  if (!refusal.fault.empty())
    remark << " (" << refusal.fault << ")";
}

void tile::ir::inlineProducers(GraphOp graph, bool keepsPrecision) {
  prepareForFusion(graph);
  GraphShapes shapes(graph);
  SmallVector<CallOp> open(graph.getBody().getOps<CallOp>());
  while (!open.empty()) {
    CallOp consumer = open.pop_back_val();
    for (Value tensor : SmallVector<Value>(consumer.getInputs())) {
      auto producer = tensor.getDefiningOp<CallOp>();
      if (!producer)
        continue;
      InlineOptions options{.widens = true, .keeps = true, .keepsPrecision = keepsPrecision};
      FusionRefusal refusal;
      SmallVector<Value> tensors = tensorsBetween(producer, consumer);
      bool finishes = tensors.size() == 1 && isReduced(tensor, shapes);
      auto fused = finishes
                       ? proposeFinishing(producer, consumer, tensor, options, shapes, refusal)
                       : proposeInlining(producer, consumer, tensors, options, shapes, refusal);
      if (!fused && !finishes && readByOthers(consumer, tensors).empty()) {
        options.keeps = false; // for others the producer stays
        fused = proposeInlining(producer, consumer, tensors, options, shapes, refusal);
      }
      if (!fused) {
        sayApart(producer, consumer, refusal);
        continue;
      }
      CallOp merged = fused->commit();
      if (producer.use_empty()) {
        llvm::erase(open, producer);
        producer.erase();
      }
      open.push_back(merged);
      break;
    }
  }
}

/// Whether two calls read a tensor in common, and neither needs the other.
static bool areSiblings(CallOp a, CallOp b) {
  auto isShared = [&](Value input) {
    return isa<TensorType>(input.getType()) && llvm::is_contained(b.getInputs(), input);
  };
  return llvm::any_of(a.getInputs(), isShared) && !reaches(a, b) && !reaches(b, a);
}

void tile::ir::mergeSiblings(GraphOp graph) {
  prepareForFusion(graph);
  GraphShapes shapes(graph);
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<CallOp> calls(graph.getBody().getOps<CallOp>());
    for (size_t m = 0; m < calls.size() && !changed; ++m)
      for (size_t n = m + 1; n < calls.size() && !changed; ++n) {
        if (!areSiblings(calls[m], calls[n]))
          continue;
        FusionRefusal refusal;
        CallOp guest = calls[m], host = calls[n];
        auto merged = proposeMerging(guest, host, shapes, refusal);
        if (!merged) {
          std::swap(guest, host);
          merged = proposeMerging(guest, host, shapes, refusal);
        }
        changed = merged != nullptr;
        if (!changed) {
          sayApart(guest, host, refusal);
          continue;
        }
        merged->commit();
        guest.erase();
      }
  }
}

namespace {
class InlineProducersPass : public PassWrapper<InlineProducersPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineProducersPass)

  InlineProducersPass() = default;
  InlineProducersPass(const InlineProducersPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tile-inline-producers"; }
  StringRef getDescription() const override {
    return "Computes what a kernel reads of another where it reads it";
  }

  void runOnOperation() override {
    for (GraphOp graph : getOperation().getOps<GraphOp>())
      inlineProducers(graph, keepsPrecision);
  }

private:
  Option<bool> keepsPrecision{*this, "keep-precision",
                              llvm::cl::desc("Values are not rounded where a buffer was")};
};
} // namespace

namespace {
class MergeSiblingsPass : public PassWrapper<MergeSiblingsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MergeSiblingsPass)

  StringRef getArgument() const override { return "tile-merge-siblings"; }
  StringRef getDescription() const override {
    return "Makes kernels one that read a tensor in common";
  }

  void runOnOperation() override {
    for (GraphOp graph : getOperation().getOps<GraphOp>())
      mergeSiblings(graph);
  }
};
} // namespace

std::unique_ptr<Pass> tile::ir::createMergeSiblingsPass() {
  return std::make_unique<MergeSiblingsPass>();
}

std::unique_ptr<Pass> tile::ir::createInlineProducersPass() {
  return std::make_unique<InlineProducersPass>();
}
