// Mistakes in what runs along axes, in atomic operations and in what kernels say.
#include "tests/fuzz/kernels/Mutations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <optional>

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;
using namespace tile::ir;

namespace {
/// The whole axis of that name, and its length; none for blocks and where a condition joins in.
std::optional<std::pair<Value, Value>> wholeAxis(KernelOp kernel, StringRef name,
                                                 OpBuilder &builder) {
  std::optional<std::pair<Value, Value>> found;
  bool isRestricted = false;
  kernel.walk([&](RestrictOp op) {
    for (Type type : op.getDims().getTypes())
      isRestricted |= cast<SpanType>(type).getName().getValue() == name;
  });
  kernel.walk([&](AxisOp op) {
    if (op.getSpan().getType().getName().getValue() == name && !isRestricted)
      found = {op.getSpan(), op.getUpper()};
  });
  return found;
}

/// A tile with the elements that stand, on one axis, where `place` says.
Value moved(OpBuilder &builder, Location loc, Value tile, StringRef axis, Value span, Value length,
            llvm::function_ref<AffineExpr(AffineExpr, AffineExpr)> place) {
  SmallVector<Value> dims;
  SmallVector<AffineExpr> results;
  AffineExpr symbol = builder.getAffineSymbolExpr(0);
  for (StringAttr name : axesOf(tile.getType())) {
    AffineExpr dim = builder.getAffineDimExpr(dims.size());
    results.push_back(name.getValue() == axis ? place(dim, symbol) : dim);
    Value its;
    tile.getParentRegion()->getParentOfType<KernelOp>().walk([&](Operation *op) {
      auto isIt = [&](Value value) {
        auto type = dyn_cast<SpanType>(value.getType());
        return type && type.getName() == name;
      };
      for (Value result : op->getResults())
        its = isIt(result) ? result : its;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            its = isIt(argument) ? argument : its;
    });
    dims.push_back(its);
  }
  AffineMap map = AffineMap::get(dims.size(), 1, results, builder.getContext());
  return TakeOp::create(builder, loc, tile.getType(), tile, map, dims, {length}, "take");
}

/// Of a state what it was before the element.
bool scanLate(KernelOp kernel) {
  return each<ScanOp>(kernel, [&](ScanOp op) {
    OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
    auto axis = wholeAxis(kernel, op.getAxis(), builder);
    Value states = op.getScanned()[0];
    if (!axis || op.getReverse() || states.use_empty())
      return false;
    Value late = moved(builder, op.getLoc(), states, op.getAxis(), axis->first, axis->second,
                       [](AffineExpr at, AffineExpr) { return at - 1; });
    states.replaceAllUsesExcept(late, late.getDefiningOp());
    return true;
  });
}

bool reverseScans(KernelOp kernel) {
  return each<ScanOp>(kernel, [](ScanOp op) {
    op.setReverse(!op.getReverse());
    return true;
  });
}

/// The later state comes first.
bool swapStates(KernelOp kernel) {
  return each<ScanOp>(kernel, [](ScanOp op) {
    Block &body = op.getCombine().front();
    unsigned count = op.getCount();
    for (unsigned n = 0; n < count; ++n) {
      Value earlier = body.getArgument(n), later = body.getArgument(count + n);
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : later.getUses())
        uses.push_back(&use);
      earlier.replaceAllUsesWith(later);
      for (OpOperand *use : uses)
        use->set(earlier);
    }
    return true;
  });
}

/// The last state of an empty domain is that of a sum.
bool forgetBeginnings(KernelOp kernel) {
  return each<ScanOp>(kernel, [](ScanOp op) {
    OpBuilder builder(op);
    bool changed = false;
    for (OpOperand &init : op.getInitsMutable()) {
      Type type = init.get().getType();
      if (auto tile = dyn_cast<RankedTensorType>(type); tile && !tile.hasStaticShape())
        continue;
      init.set(arith::ConstantOp::create(builder, op.getLoc(), builder.getZeroAttr(type)));
      changed = true;
    }
    return changed;
  });
}

/// Equal elements come in the other order: sorted the other way and then turned around.
bool turnTies(KernelOp kernel) {
  return each<SortOp>(kernel, [&](SortOp op) {
    OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
    auto axis = wholeAxis(kernel, op.getAxis(), builder);
    if (!axis || op.getAxis() != op.getRank() || op.getCoordinates().use_empty())
      return false;
    op.setDescending(!op.getDescending());
    for (Value result : op->getResults()) {
      Value turned = moved(builder, op.getLoc(), result, op.getAxis(), axis->first, axis->second,
                           [](AffineExpr at, AffineExpr length) { return length - 1 - at; });
      result.replaceAllUsesExcept(turned, turned.getDefiningOp());
    }
    return true;
  });
}

bool turnSorts(KernelOp kernel) {
  return each<SortOp>(kernel, [](SortOp op) {
    op.setDescending(!op.getDescending());
    return true;
  });
}

bool sortUnsigned(KernelOp kernel) {
  return each<SortOp>(kernel, [](SortOp op) {
    op.setIsUnsigned(!op.getIsUnsigned());
    return isa<IntegerType>(getElementTypeOrSelf(op.getInput().getType()));
  });
}

/// Elements come from one coordinate further.
bool takeNext(KernelOp kernel) {
  return each<TakeOp>(kernel, [](TakeOp op) {
    AffineMap map = op.getMap();
    SmallVector<AffineExpr> results(map.getResults());
    for (AffineExpr &result : results)
      if (!isa<AffineDimExpr>(result)) {
        result = result + 1;
        op.setMap(AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext()));
        return true;
      }
    return false;
  });
}

//===-- Grid kernels and reports ------------------------------------------===//

bool addWrongly(KernelOp kernel) {
  return each<AtomicOp>(kernel, [](AtomicOp op) {
    if (op.getKind() != AtomicKind::add)
      return false;
    op.setKind(AtomicKind::ori);
    return true;
  });
}

bool flipAtomics(KernelOp kernel) {
  return each<AtomicOp>(kernel, [](AtomicOp op) {
    bool isMax = op.getKind() == AtomicKind::max, isUnsigned = op.getKind() == AtomicKind::umax;
    if (!isMax && !isUnsigned)
      return false;
    op.setKind(isMax ? AtomicKind::min : AtomicKind::max);
    return true;
  });
}

bool keepDropped(KernelOp kernel) {
  return each<AtomicOp>(kernel, [](AtomicOp op) {
    op.setDrops(false);
    return true;
  });
}

template <typename OpT>
bool drop(KernelOp kernel) {
  return each<OpT>(kernel, [](OpT op) {
    op.erase();
    return true;
  });
}

/// What is wrong is right.
bool negateAssertions(KernelOp kernel) {
  return each<AssertOp>(kernel, [](AssertOp op) {
    OpBuilder builder(op);
    Type type = op.getCondition().getType();
    Type bit = builder.getI1Type();
    auto tile = dyn_cast<RankedTensorType>(type);
    if (tile && !tile.hasStaticShape())
      return false;
    TypedAttr one = builder.getIntegerAttr(bit, 1);
    if (tile)
      one = DenseElementsAttr::get(tile, Attribute(one));
    Value yes = arith::ConstantOp::create(builder, op.getLoc(), one);
    op.getConditionMutable().assign(
        arith::XOrIOp::create(builder, op.getLoc(), op.getCondition(), yes));
    return true;
  });
}
} // namespace

std::vector<Mutation> fuzz::mutationsAlong() {
  return {
      {"scans give the state before", scanLate},
      {"scans run the other way", reverseScans},
      {"the later state comes first", swapStates},
      {"scans begin with zero", forgetBeginnings},
      {"equal elements are sorted the other way", turnTies},
      {"sorts are the other way round", turnSorts},
      {"sorts forget the sign", sortUnsigned},
      {"shapes are off by one", takeNext},
      {"atomic additions are of bits", addWrongly},
      {"atomic extremes are the others", flipAtomics},
      {"what is to be dropped is not", keepDropped},
      {"assertions are dropped", drop<AssertOp>},
      {"assertions are the other way round", negateAssertions},
      {"prints are lost", drop<PrintOp>},
  };
}
