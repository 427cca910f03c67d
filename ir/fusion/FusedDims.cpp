//===- FusedDims.cpp - the dims of two kernels that become one ------------===//

#include "ir/fusion/FusedDims.h"
#include "ir/fusion/ShortNames.h"
#include "ir/fusion/UniteAxes.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tile::ir;

FusedDims::FusedDims(CallOp producer, CallOp consumer, ArrayRef<Value> tensors, GraphShapes &shapes)
    : guest(shapes.kernelOf(producer)), origin(shapes.kernelOf(consumer)), producer(producer),
      consumer(consumer), tensors(tensors), guestValues(shapes.dimsOf(producer)),
      originValues(shapes.dimsOf(consumer)), bound(originValues.size()) {
  for (unsigned n = 0, e = guestValues.size(); n < e; ++n)
    same.push_back(getAffineSymbolExpr(n, guest.getContext()));
  bindTensors();
  bindSharedInputs();
  bindByValue();
  nameDims();
  checkExtents();
}

//===-- What is the same --------------------------------------------------===//

/// The expression over those dims of the guest that are not the same as others.
AffineExpr FusedDims::resolve(AffineExpr expr) const {
  for (AffineExpr last; last != expr;) {
    last = expr;
    expr = expr.replaceSymbols(same);
  }
  return expr;
}

/// Makes two extents over the guest's dims one, where each is a dim or a number and the graph has
/// the same value for both.
void FusedDims::unite(AffineExpr a, AffineExpr b) {
  a = resolve(a), b = resolve(b);
  auto valueOf = [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineSymbolExpr>(expr);
    return dim ? guestValues[dim.getPosition()] : expr;
  };
  auto isSimple = llvm::IsaPred<AffineSymbolExpr, AffineConstantExpr>;
  if (a == b || !isSimple(a) || !isSimple(b) || valueOf(a) != valueOf(b))
    return;
  if (isa<AffineConstantExpr>(b))
    std::swap(a, b); // of a number and a dim the number stays
  if (auto dim = dyn_cast<AffineSymbolExpr>(b))
    same[dim.getPosition()] = a;
}

/// One extent of a tensor, as either kernel declares it. A dim of the consumer that nothing has
/// bound is the producer's; one that is bound makes dims of the producer one.
void FusedDims::meet(AffineExpr ofConsumer, AffineExpr ofProducer) {
  if (auto dim = dyn_cast<AffineSymbolExpr>(ofConsumer)) {
    if (AffineExpr &known = bound[dim.getPosition()])
      unite(known, ofProducer);
    else
      known = ofProducer;
    return;
  }
  if (isa<AffineConstantExpr>(ofConsumer)) {
    unite(ofConsumer, ofProducer);
    return;
  }
  // `8 * G` is `8 * H` where G is H.
  auto mine = cast<AffineBinaryOpExpr>(ofConsumer);
  auto theirs = dyn_cast<AffineBinaryOpExpr>(ofProducer);
  bool isOneToOne = mine.getKind() == AffineExprKind::Add || mine.getKind() == AffineExprKind::Mul;
  auto factor = dyn_cast<AffineConstantExpr>(mine.getRHS());
  if (theirs && isOneToOne && mine.getKind() == theirs.getKind() && factor &&
      factor == theirs.getRHS() && factor.getValue() != 0)
    meet(mine.getLHS(), theirs.getLHS());
}

/// What disappears has the extents that the producer declares.
void FusedDims::bindTensors() {
  for (auto [operand, n] : llvm::zip(consumer.getInputs(), inputPositions(origin))) {
    if (!llvm::is_contained(tensors, operand))
      continue;
    unsigned output = outputPosition(guest, cast<OpResult>(operand).getResultNumber());
    for (auto [mine, theirs] :
         llvm::zip(origin.getParamShape(n).getResults(), guest.getParamShape(output).getResults()))
      meet(mine, theirs);
  }
}

/// Whether the consumer's declaration of a tensor can be the producer's, as far as dims are bound.
bool FusedDims::agree(ArrayRef<AffineExpr> ofConsumer, ArrayRef<AffineExpr> ofProducer) const {
  return llvm::all_of(llvm::zip_equal(ofConsumer, ofProducer), [&](auto extents) {
    auto [mine, theirs] = extents;
    auto dim = dyn_cast<AffineSymbolExpr>(resolve(theirs));
    if (auto own = dyn_cast<AffineSymbolExpr>(mine)) {
      AffineExpr known = bound[own.getPosition()];
      return known ? resolve(known) == resolve(theirs)
                   : dim || isa<AffineConstantExpr>(resolve(theirs));
    }
    if (isa<AffineConstantExpr>(mine))
      return mine == (dim ? guestValues[dim.getPosition()] : resolve(theirs));
    return true;
  });
}

/// An input of both, unless the consumer reads it along other dims than the producer: then it has
/// it besides. Dims of the producer become one only where the consumer declares one dim in two
/// places.
void FusedDims::bindSharedInputs() {
  for (auto [operand, n] : llvm::zip(consumer.getInputs(), inputPositions(origin)))
    for (auto [other, m] : llvm::zip(producer.getInputs(), inputPositions(guest))) {
      if (operand != other || !isa<TensorType>(operand.getType()))
        continue;
      ArrayRef<AffineExpr> mine = origin.getParamShape(n).getResults(),
                           theirs = guest.getParamShape(m).getResults();
      if (agree(mine, theirs))
        for (auto [here, there] : llvm::zip_equal(mine, theirs))
          meet(here, there);
    }
}

/// The dims that a kernel has programs along.
static llvm::SmallBitVector dimsOfPrograms(KernelOp kernel) {
  llvm::SmallBitVector found(kernel.getDims().size());
  for (Value upper : kernel.getParallel().getUpper())
    if (AffineExpr expr = traceDims(upper))
      expr.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineSymbolExpr>(part))
          found.set(dim.getPosition());
      });
  return found;
}

/// What is left: first those that both kernels have programs along and call the same.
void FusedDims::bindByValue() {
  llvm::SmallBitVector taken(same.size());
  auto take = [&](AffineExpr expr) {
    expr.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineSymbolExpr>(part))
        taken.set(dim.getPosition());
    });
  };
  for (AffineExpr expr : bound)
    if (expr)
      take(resolve(expr));
  if (!llvm::is_contained(bound, AffineExpr()))
    return;
  llvm::SmallBitVector guestPrograms = dimsOfPrograms(guest),
                       originPrograms = dimsOfPrograms(origin);
  for (int likeness : {2, 1, 0})
    for (unsigned mine = 0, e = bound.size(); mine < e; ++mine)
      for (unsigned theirs = 0, end = same.size(); theirs < end && !bound[mine]; ++theirs) {
        auto itself = dyn_cast<AffineSymbolExpr>(same[theirs]);
        bool isFree = itself && itself.getPosition() == theirs && !taken[theirs];
        bool areAlike = guestPrograms[theirs] == originPrograms[mine];
        bool hasOneName = guest.getDims()[theirs] == origin.getDims()[mine];
        if (!isFree || (areAlike ? 1 + hasOneName : 0) < likeness ||
            guestValues[theirs] != originValues[mine])
          continue;
        bound[mine] = itself;
        taken.set(theirs);
      }
}

//===-- The new kernel's --------------------------------------------------===//

unsigned FusedDims::addName(StringRef wanted) {
  std::string name = freshName(wanted, [&](StringRef name) {
    return llvm::any_of(names,
                        [&](Attribute dim) { return cast<StringAttr>(dim).getValue() == name; });
  });
  names.push_back(StringAttr::get(guest.getContext(), name));
  return names.size() - 1;
}

void FusedDims::nameDims() {
  MLIRContext *context = guest.getContext();
  SmallVector<AffineExpr> named(same.size());
  for (auto [n, name] : llvm::enumerate(guest.getDims().getAsRange<StringAttr>()))
    if (same[n] == getAffineSymbolExpr(n, context))
      named[n] = getAffineSymbolExpr(addName(name), context);
    else
      named[n] = getAffineConstantExpr(0, context); // stands in no expression that is resolved
  auto inNew = [&](AffineExpr expr) { return resolve(expr).replaceSymbols(named); };
  for (unsigned n = 0, e = same.size(); n < e; ++n)
    ofGuest.push_back(inNew(getAffineSymbolExpr(n, context)));
  for (auto [expr, name] : llvm::zip(bound, origin.getDims().getAsRange<StringAttr>()))
    ofOrigin.push_back(expr ? inNew(expr) : getAffineSymbolExpr(addName(name), context));
}

/// Where both say what an extent is, the launch checks that it is the same; here one of the two
/// goes.
void FusedDims::checkExtents() {
  for (auto [operand, n] : llvm::zip(consumer.getInputs(), inputPositions(origin))) {
    if (!llvm::is_contained(tensors, operand))
      continue;
    unsigned output = outputPosition(guest, cast<OpResult>(operand).getResultNumber());
    for (auto [mine, theirs] :
         llvm::zip(origin.getParamShape(n).getResults(), guest.getParamShape(output).getResults()))
      if (mine.replaceSymbols(ofOrigin) != theirs.replaceSymbols(ofGuest))
        conflict = ("`" + origin.getSymName() + "` wants `" + origin.getParamName(n) +
                    "` with extents that are not proved to be those of `" + guest.getSymName() +
                    "." + guest.getParamName(output) + "`")
                       .str();
  }
}
