//===- PrepareForFusion.cpp - kernels as they compute alone ---------------===//

#include "ir/fusion/Fuser.h"
#include "ir/transforms/FormFma.h"
#include "ir/transforms/Specialize.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile::ir;

static void prepare(KernelOp kernel) {
  simplify(kernel);
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  formFma(kernel);
  closeFma(kernel);
}

void tile::ir::prepareForFusion(GraphOp graph) {
  SymbolTable symbols(graph->getParentOfType<ModuleOp>());
  llvm::SetVector<Operation *> callees;
  for (CallOp call : graph.getBody().getOps<CallOp>())
    callees.insert(symbols.lookup(call.getCallee()));
  for (Operation *callee : callees) {
    if (auto kernel = dyn_cast<KernelOp>(callee); kernel && !hasClosedFma(kernel))
      prepare(kernel);
    else if (auto inner = dyn_cast<GraphOp>(callee))
      prepareForFusion(inner);
  }
}
