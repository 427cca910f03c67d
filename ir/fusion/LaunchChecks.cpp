//===- LaunchChecks.cpp - what launches check, as requirements of a graph -===//

#include "ir/fusion/LaunchChecks.h"
#include "ir/fusion/Transplant.h"

#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace tile::ir;

Value tile::ir::materializeExtent(OpBuilder &builder, Location loc, AffineExpr extent,
                                  GraphShapes &shapes) {
  return materializeDims(builder, loc, extent,
                         [&](unsigned symbol) { return shapes.valueOf(builder, loc, symbol); });
}

bool tile::ir::requireExtents(OpBuilder &builder, Location loc, ArrayRef<AffineExpr> extents,
                              ArrayRef<AffineExpr> declared, const Twine &message,
                              GraphShapes &shapes) {
  for (auto [extent, wanted] : llvm::zip_equal(extents, declared)) {
    if (extent == wanted)
      continue;
    Value here = materializeExtent(builder, loc, extent, shapes);
    Value there = materializeExtent(builder, loc, wanted, shapes);
    if (!here || !there)
      return false;
    Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, here, there);
    RequireOp::create(builder, loc, same, builder.getStringAttr(message));
  }
  return true;
}

static std::string nameOf(FunctionOpInterface function, unsigned param) {
  auto name = function.getArgAttrOfType<StringAttr>(param, "tile.name");
  return name ? name.str() : "parameter " + std::to_string(param);
}

bool tile::ir::requireInputs(CallOp call, GraphShapes &shapes) {
  OpBuilder builder(call);
  auto callee = cast<FunctionOpInterface>(shapes.symbolTable().lookup(call.getCallee()));
  for (auto [operand, n] : llvm::zip_equal(call.getInputs(), inputPositions(callee))) {
    auto shape = callee.getArgAttrOfType<AffineMapAttr>(n, "tile.shape");
    if (!shape)
      continue;
    SmallVector<AffineExpr> declared;
    for (AffineExpr expr : shape.getValue().getResults())
      declared.push_back(expr.replaceSymbols(shapes.dimsOf(call)));
    if (!requireExtents(builder, call.getLoc(), shapes.shapeOf(operand), declared,
                        "the extents that `" + call.getCallee() + "` declares for `" +
                            nameOf(callee, n) + "`",
                        shapes))
      return false;
  }
  return true;
}

bool tile::ir::requireConditions(CallOp call, GraphShapes &shapes) {
  KernelOp kernel = shapes.kernelOf(call);
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  for (RequireOp require : kernel.getBody().front().getOps<RequireOp>()) {
    (void)getBackwardSlice(require.getCondition(), &needed, options);
    needed.insert(require);
  }
  IRMapping mapping;
  for (auto [operand, n] : llvm::zip_equal(call.getInputs(), inputPositions(kernel)))
    mapping.map(kernel.getArgument(n), operand);
  OpBuilder builder(call);
  for (Operation &op : kernel.getBody().front()) {
    if (!needed.contains(&op))
      continue;
    if (auto dim = dyn_cast<DimOp>(op)) {
      unsigned n = llvm::find(kernel.getDims(), dim.getNameAttr()) - kernel.getDims().begin();
      Value value = materializeExtent(builder, call.getLoc(), shapes.dimsOf(call)[n], shapes);
      if (!value)
        return false;
      mapping.map(dim.getResult(), value);
      continue;
    }
    Operation *copy = builder.clone(op, mapping);
    copy->setLoc(CallSiteLoc::get(op.getLoc(), call.getLoc()));
    if (auto require = dyn_cast<RequireOp>(copy))
      require.setMessage((require.getMessage() + " in `" + call.getCallee() + "`").str());
  }
  return true;
}
