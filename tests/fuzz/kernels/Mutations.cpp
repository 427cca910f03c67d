#include "tests/fuzz/kernels/Mutations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;
using namespace tile::ir;

namespace {
/// Another op with the same operands in the place of each.
template <typename FromT, typename ToT>
bool swap(KernelOp kernel) {
  return each<FromT>(kernel, [](FromT op) {
    OpBuilder builder(op);
    Value result = ToT::create(builder, op.getLoc(), op->getResult(0).getType(), op->getOperands());
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return true;
  });
}

template <typename OpT>
bool swapOperands(KernelOp kernel) {
  return each<OpT>(kernel, [](OpT op) {
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    op->setOperand(0, rhs);
    op->setOperand(1, lhs);
    return lhs != rhs;
  });
}

template <typename OpT>
bool recombine(KernelOp kernel, CombineKind from, CombineKind to) {
  return each<OpT>(kernel, [&](OpT op) {
    if (op.getKind() != from)
      return false;
    op.setKind(to);
    return true;
  });
}

/// Shifts the first result of an index map by one.
template <typename OpT>
bool shift(KernelOp kernel, llvm::function_ref<bool(OpT)> concerns) {
  return each<OpT>(kernel, [&](OpT op) {
    AffineMap map = op.getMap();
    if (!concerns(op) || map.getNumResults() == 0)
      return false;
    SmallVector<AffineExpr> results(map.getResults());
    results[0] = results[0] + 1;
    op.setMap(AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext()));
    return true;
  });
}

bool flipPredicates(KernelOp kernel, arith::CmpIPredicate from, arith::CmpIPredicate to) {
  return each<arith::CmpIOp>(kernel, [&](arith::CmpIOp op) {
    if (op.getPredicate() != from || op.getLhs().getType().isInteger(64))
      return false; // not those of indices
    op.setPredicate(to);
    return true;
  });
}

bool flipPredicates(KernelOp kernel, arith::CmpFPredicate from, arith::CmpFPredicate to) {
  return each<arith::CmpFOp>(kernel, [&](arith::CmpFOp op) {
    if (op.getPredicate() != from)
      return false;
    op.setPredicate(to);
    return true;
  });
}

/// Every fused multiply-add in two roundings.
bool splitMultiplyAdds(KernelOp kernel) {
  return each<math::FmaOp>(kernel, [](math::FmaOp op) {
    OpBuilder builder(op);
    Value product = arith::MulFOp::create(builder, op.getLoc(), op.getA(), op.getB());
    Value sum = arith::AddFOp::create(builder, op.getLoc(), product, op.getC());
    op.replaceAllUsesWith(sum);
    op.erase();
    return true;
  });
}

/// a · b + c in one rounding where the product is used elsewhere, too.
bool contract(KernelOp kernel) {
  return each<arith::AddFOp>(kernel, [](arith::AddFOp op) {
    auto product = op.getLhs().getDefiningOp<arith::MulFOp>();
    if (!product)
      return false;
    OpBuilder builder(op);
    Value fused =
        math::FmaOp::create(builder, op.getLoc(), product.getLhs(), product.getRhs(), op.getRhs());
    op.replaceAllUsesWith(fused);
    op.erase();
    return true;
  });
}

/// A cast to a half and back is left out, as if it did not round.
bool dropRounding(KernelOp kernel) {
  return each<arith::ExtFOp>(kernel, [](arith::ExtFOp op) {
    auto narrow = op.getIn().getDefiningOp<arith::TruncFOp>();
    if (!narrow || narrow.getIn().getType() != op.getType())
      return false;
    op.replaceAllUsesWith(narrow.getIn());
    op.erase();
    return true;
  });
}

/// f64 arithmetic rounded to f32 on its way.
bool narrowDoubles(KernelOp kernel) {
  return each<arith::MulFOp>(kernel, [](arith::MulFOp op) {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF64())
      return false;
    OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
    Type narrow = isa<RankedTensorType>(op.getType())
                      ? Type(withElement(op.getType(), builder.getF32Type()))
                      : Type(builder.getF32Type());
    auto down = arith::TruncFOp::create(builder, op.getLoc(), narrow, op.getResult());
    Value up = arith::ExtFOp::create(builder, op.getLoc(), op.getType(), down.getResult());
    op.getResult().replaceAllUsesExcept(up, down);
    return true;
  });
}

bool dropRestricts(KernelOp kernel) {
  return each<RestrictOp>(kernel, [](RestrictOp op) {
    op.erase();
    return true;
  });
}

/// Each condition holds for one coordinate more.
bool widenRestricts(KernelOp kernel) {
  return each<RestrictOp>(kernel, [](RestrictOp op) {
    IntegerSet set = op.getConstraint();
    if (set.isEq(0))
      return false;
    op.setConstraint(IntegerSet::get(set.getNumDims(), set.getNumSymbols(),
                                     {set.getConstraint(0) + 1}, {false}));
    return true;
  });
}

bool dropUnless(KernelOp kernel) {
  return each<RestrictOp>(kernel, [](RestrictOp op) {
    if (!op.getUnless())
      return false;
    op.getUnlessMutable().clear();
    return true;
  });
}

/// Loops begin one later.
bool raiseLowerBounds(KernelOp kernel) {
  return each<ForOp>(kernel, [](ForOp op) {
    OpBuilder builder(op);
    Value one = arith::ConstantOp::create(builder, op.getLoc(), builder.getI64IntegerAttr(1));
    op.getLowerMutable().assign(arith::AddIOp::create(builder, op.getLoc(), op.getLower(), one));
    return true;
  });
}

/// The last coordinate of a loop is left out.
bool lowerUpperBounds(KernelOp kernel) {
  return each<ForOp>(kernel, [](ForOp op) {
    OpBuilder builder(op);
    Value one = arith::ConstantOp::create(builder, op.getLoc(), builder.getI64IntegerAttr(1));
    op.getUpperMutable().assign(arith::SubIOp::create(builder, op.getLoc(), op.getUpper(), one));
    return true;
  });
}

/// A block begins with what the loop began with, not with what the block before it left.
bool forgetCarried(KernelOp kernel) {
  return each<ForOp>(kernel, [](ForOp op) {
    if (op.getCarried().empty())
      return false;
    op.getCarried()[0].replaceAllUsesWith(op.getInits()[0]);
    return true;
  });
}

/// A carried value comes in with that of another.
bool crossCarried(KernelOp kernel) {
  return each<ForOp>(kernel, [](ForOp op) {
    YieldOp yield = op.getYield();
    for (unsigned n = 1; n < yield.getNumOperands(); ++n)
      if (yield.getOperand(n - 1).getType() == yield.getOperand(n).getType()) {
        Value first = yield.getOperand(n - 1);
        yield.setOperand(n - 1, yield.getOperand(n));
        yield.setOperand(n, first);
        return true;
      }
    return false;
  });
}

/// A loop gives its first values back.
bool forgetLoop(KernelOp kernel) {
  return each<scf::ForOp>(kernel, [](scf::ForOp op) {
    if (op.getNumResults() == 0)
      return false;
    op.getResult(0).replaceAllUsesWith(op.getInitArgs()[0]);
    return true;
  });
}

bool swapBranches(KernelOp kernel) {
  return each<scf::IfOp>(kernel, [](scf::IfOp op) {
    if (op.getElseRegion().empty())
      return false;
    Region then;
    then.takeBody(op.getThenRegion());
    op.getThenRegion().takeBody(op.getElseRegion());
    op.getElseRegion().takeBody(then);
    return true;
  });
}

bool flipSignedness(KernelOp kernel) {
  return each<DivOp>(kernel, [](DivOp op) {
    op.setIsUnsigned(!op.getIsUnsigned());
    return true;
  });
}

bool roundDivisions(KernelOp kernel) {
  return each<DivOp>(kernel, [](DivOp op) {
    if (op.getIsUnsigned())
      return false;
    op.setTruncates(!op.getTruncates());
    return true;
  });
}

bool roundRemainders(KernelOp kernel) {
  return each<RemOp>(kernel, [](RemOp op) {
    if (op.getIsUnsigned())
      return false;
    op.setTruncates(!op.getTruncates());
    return true;
  });
}

bool convertUnsigned(KernelOp kernel) {
  return each<FpToIntOp>(kernel, [](FpToIntOp op) {
    op.setIsUnsigned(!op.getIsUnsigned());
    return true;
  });
}

/// What is outside reads as the nearest element, not as the value given.
bool clampPads(KernelOp kernel) {
  return each<LoadOp>(kernel, [](LoadOp op) {
    if (op.getBounds() != BoundsMode::pad)
      return false;
    op.setBounds(BoundsMode::clamp);
    op.getPadMutable().clear();
    return true;
  });
}

/// A dot forgets what it accumulates onto.
bool forgetAccumulator(KernelOp kernel) {
  return each<DotOp>(kernel, [](DotOp op) {
    auto constant = op.getAcc().getDefiningOp<arith::ConstantOp>();
    Operation *producer = op.getAcc().getDefiningOp();
    if (constant || (producer && isa<BroadcastOp>(producer)))
      return false;
    OpBuilder builder(op);
    TypedAttr zero = builder.getZeroAttr(op.getAcc().getType());
    op.getAccMutable().assign(arith::ConstantOp::create(builder, op.getLoc(), zero));
    return true;
  });
}

bool flipArgReductions(KernelOp kernel) {
  return each<ArgReduceOp>(kernel, [](ArgReduceOp op) {
    if (op.getKind() != CombineKind::max)
      return false;
    op.setKind(CombineKind::min);
    return true;
  });
}

/// A domain counts one element more.
bool miscount(KernelOp kernel) {
  return each<CountOp>(kernel, [](CountOp op) {
    OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
    Value one;
    if (auto type = dyn_cast<RankedTensorType>(op.getType()))
      one = arith::ConstantOp::create(builder, op.getLoc(),
                                      DenseElementsAttr::get(type, builder.getI64IntegerAttr(1)));
    else
      one = arith::ConstantOp::create(builder, op.getLoc(), builder.getI64IntegerAttr(1));
    auto more = arith::AddIOp::create(builder, op.getLoc(), op.getResult(), one);
    op.getResult().replaceAllUsesExcept(more, more);
    return true;
  });
}

/// Coordinates count from one.
bool shiftCoordinates(KernelOp kernel) {
  return each<CoordsOp>(kernel, [](CoordsOp op) {
    OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape())
      return false;
    Value one = arith::ConstantOp::create(
        builder, op.getLoc(), DenseElementsAttr::get(type, builder.getI64IntegerAttr(1)));
    auto more = arith::AddIOp::create(builder, op.getLoc(), op.getResult(), one);
    op.getResult().replaceAllUsesExcept(more, more);
    return true;
  });
}

/// Seed and stream change places.
bool swapSeeds(KernelOp kernel) {
  return each<PhiloxOp>(kernel, [](PhiloxOp op) {
    Value seed = op.getSeed(), stream = op.getStream();
    op.getSeedMutable().assign(stream);
    op.getStreamMutable().assign(seed);
    return seed != stream;
  });
}

/// Random numbers of another word: each draw is another one of its pair, or the pair's other word.
bool shiftWords(KernelOp kernel) {
  return each<PhiloxOp>(kernel, [](PhiloxOp op) {
    op.setKind(op.getKind() == DrawKind::first ? DrawKind::second : DrawKind::first);
    return true;
  });
}

/// The identity of a sum is one.
bool wrongIdentity(KernelOp kernel) {
  return each<ReduceOp>(kernel, [](ReduceOp op) {
    Type element = getElementTypeOrSelf(op.getType());
    if (op.getKind() != CombineKind::add || !element.isIntOrFloat())
      return false;
    OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
    TypedAttr number = isa<FloatType>(element) ? TypedAttr(builder.getFloatAttr(element, 1))
                                               : TypedAttr(builder.getIntegerAttr(element, 1));
    if (auto type = dyn_cast<RankedTensorType>(op.getType())) {
      if (!type.hasStaticShape())
        return false;
      number = DenseElementsAttr::get(type, Attribute(number));
    }
    Value one = arith::ConstantOp::create(builder, op.getLoc(), number);
    Operation *more =
        isa<FloatType>(element)
            ? arith::AddFOp::create(builder, op.getLoc(), op.getResult(), one).getOperation()
            : arith::AddIOp::create(builder, op.getLoc(), op.getResult(), one).getOperation();
    op.getResult().replaceAllUsesExcept(more->getResult(0), more);
    return true;
  });
}
} // namespace

static std::vector<Mutation> mutationsOfElements() {
  using arith::CmpFPredicate;
  using arith::CmpIPredicate;
  return {
      {"addf becomes subf", swap<arith::AddFOp, arith::SubFOp>},
      {"addi becomes subi", swap<arith::AddIOp, arith::SubIOp>},
      {"muli becomes addi", swap<arith::MulIOp, arith::AddIOp>},
      {"operands of subf are swapped", swapOperands<arith::SubFOp>},
      {"operands of divf are swapped", swapOperands<arith::DivFOp>},
      {"maximumf ignores NaN", swap<arith::MaximumFOp, arith::MaxNumFOp>},
      {"minnumf propagates NaN", swap<arith::MinNumFOp, arith::MinimumFOp>},
      {"maxsi becomes maxui", swap<arith::MaxSIOp, arith::MaxUIOp>},
      {"shrsi becomes shrui", swap<arith::ShRSIOp, arith::ShRUIOp>},
      {"signed integers extend as unsigned ones", swap<arith::ExtSIOp, arith::ExtUIOp>},
      {"unsigned integers extend as signed ones",
       [](KernelOp kernel) {
         return each<arith::ExtUIOp>(kernel, [](arith::ExtUIOp op) {
           OpBuilder builder(op);
           op.replaceAllUsesWith(
               arith::ExtSIOp::create(builder, op.getLoc(), op.getType(), op.getIn()).getResult());
           op.erase();
           return true;
         });
       }},
      {"unsigned integers convert as signed ones", swap<arith::UIToFPOp, arith::SIToFPOp>},
      {"slt becomes ult",
       [](KernelOp kernel) {
         return flipPredicates(kernel, CmpIPredicate::slt, CmpIPredicate::ult);
       }},
      {"sle becomes slt",
       [](KernelOp kernel) {
         return flipPredicates(kernel, CmpIPredicate::sle, CmpIPredicate::slt);
       }},
      {"olt becomes ult",
       [](KernelOp kernel) {
         return flipPredicates(kernel, CmpFPredicate::OLT, CmpFPredicate::ULT);
       }},
      {"une becomes one",
       [](KernelOp kernel) {
         return flipPredicates(kernel, CmpFPredicate::UNE, CmpFPredicate::ONE);
       }},
      {"multiply-adds round twice", splitMultiplyAdds},
      {"products contract below", contract},
      {"a cast to a half and back does not round", dropRounding},
      {"products of f64 round to f32", narrowDoubles},
      {"floor becomes trunc", swap<math::FloorOp, math::TruncOp>},
      {"ties round away from zero", swap<math::RoundEvenOp, math::RoundOp>},
      {"sums multiply",
       [](KernelOp kernel) {
         return recombine<ReduceOp>(kernel, CombineKind::add, CombineKind::mul);
       }},
      {"max reduces as min",
       [](KernelOp kernel) {
         return recombine<ReduceOp>(kernel, CombineKind::max, CombineKind::min);
       }},
      {"umax reduces as max",
       [](KernelOp kernel) {
         return recombine<ReduceOp>(kernel, CombineKind::umax, CombineKind::max);
       }},
      {"fmax reduces as max",
       [](KernelOp kernel) {
         return recombine<ReduceOp>(kernel, CombineKind::fmax, CombineKind::max);
       }},
      {"any reduces as all",
       [](KernelOp kernel) {
         return recombine<ReduceOp>(kernel, CombineKind::ori, CombineKind::andi);
       }},
      {"sums start at one", wrongIdentity},
      {"updates add what they multiply",
       [](KernelOp kernel) {
         return recombine<UpdateOp>(kernel, CombineKind::mul, CombineKind::add);
       }},
      {"updates by xor are by or",
       [](KernelOp kernel) {
         return recombine<UpdateOp>(kernel, CombineKind::xori, CombineKind::ori);
       }},
      {"padded loads are off by one",
       [](KernelOp kernel) {
         return shift<LoadOp>(kernel, [](LoadOp op) { return op.getBounds() == BoundsMode::pad; });
       }},
      {"clamped loads are off by one",
       [](KernelOp kernel) {
         return shift<LoadOp>(kernel,
                              [](LoadOp op) { return op.getBounds() == BoundsMode::clamp; });
       }},
      {"padding clamps", clampPads},
      {"conditions are dropped", dropRestricts},
      {"conditions are off by one", widenRestricts},
      {"what lifts a condition is ignored", dropUnless},
      {"loops begin one late", raiseLowerBounds},
      {"loops end one early", lowerUpperBounds},
      {"blocks forget what they carry", forgetCarried},
      {"carried values cross", crossCarried},
      {"a counted loop's result is its start", forgetLoop},
      {"branches are swapped", swapBranches},
      {"divisions forget their sign", flipSignedness},
      {"divisions round the other way", roundDivisions},
      {"remainders have the other sign", roundRemainders},
      {"conversions to integers forget the sign", convertUnsigned},
      {"dots forget what they accumulate onto", forgetAccumulator},
      {"argmax is argmin", flipArgReductions},
      {"domains have one element more", miscount},
      {"coordinates count from one", shiftCoordinates},
      {"seed and stream change places", swapSeeds},
      {"random numbers are of another word", shiftWords},
  };
}

const std::vector<Mutation> &fuzz::mutations() {
  static const std::vector<Mutation> list = [] {
    std::vector<Mutation> all = mutationsOfElements();
    for (const Mutation &mutation : mutationsAlong())
      all.push_back(mutation);
    return all;
  }();
  return list;
}
