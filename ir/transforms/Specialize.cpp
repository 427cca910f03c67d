//===- Specialize.cpp - binds dimensions and tile sizes of a kernel -------===//

#include "ir/transforms/Specialize.h"
#include "ir/dialect/AffineEval.h"
#include "ir/dialect/IndexLimits.h"
#include "ir/dialect/UserError.h"
#include "ir/proofs/Spelling.h"
#include "ir/transforms/SaturateIndices.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tile::ir;

static constexpr StringLiteral boundAttrName = "tile.bound";

//===-- Binders -----------------------------------------------------------===//

SmallVector<StringAttr> tile::ir::sizableBinders(KernelOp kernel) {
  SmallVector<StringAttr> names;
  ParallelOp parallel = kernel.getParallel();
  for (auto [name, each] : llvm::zip(parallel.getNames(), parallel.getEach()))
    if (!each)
      names.push_back(cast<StringAttr>(name));
  parallel.walk<WalkOrder::PreOrder>([&](ForOp loop) {
    if (loop.getKind() != LoopKind::sequential)
      names.push_back(loop.getNameAttr());
  });
  return names;
}

/// What a dictionary of the schedule's form has for an entry; null for nothing.
static Attribute entryOf(DictionaryAttr schedule, StringRef key, StringRef target) {
  auto own = target.empty() ? DictionaryAttr()
                            : schedule.getAs<DictionaryAttr>(("target." + target).str());
  Attribute value = own ? own.get(key) : Attribute();
  return value ? value : schedule.get(key);
}

SmallVector<int64_t> tile::ir::scheduledSizes(KernelOp kernel, StringRef binder, StringRef target) {
  DictionaryAttr schedule = kernel.getScheduleAttr();
  if (!schedule)
    return {};
  Attribute value = entryOf(schedule, binder, target);
  auto list = dyn_cast_or_null<ArrayAttr>(value);
  SmallVector<int64_t> sizes;
  for (Attribute one : list ? list.getValue() : value ? ArrayRef(value) : ArrayRef<Attribute>())
    if (auto size = dyn_cast<IntegerAttr>(one))
      sizes.push_back(size.getInt());
  return sizes;
}

/// Its location with the schedule's places; null for none.
static FusedLocWith<DictionaryAttr> scheduledLoc(KernelOp kernel) {
  return dyn_cast<FusedLocWith<DictionaryAttr>>(kernel.getLoc());
}

void tile::ir::setPlacesOfSchedule(KernelOp kernel, DictionaryAttr places) {
  kernel->setLoc(FusedLoc::get({kernel.getLoc()}, places, kernel.getContext()));
}

Location tile::ir::placeOfEntry(KernelOp kernel, StringRef key, StringRef target) {
  auto loc = scheduledLoc(kernel);
  auto place = loc ? dyn_cast_or_null<LocationAttr>(entryOf(loc.getMetadata(), key, target))
                   : LocationAttr();
  return place ? Location(place) : kernel.getLoc();
}

bool tile::ir::isCountSetting(KernelOp kernel, StringRef name) {
  return llvm::is_contained(countSettings, name) &&
         !llvm::is_contained(sizableBinders(kernel), StringAttr::get(kernel.getContext(), name));
}

bool tile::ir::isFused(KernelOp kernel) {
  return isa<FusedLoc>(kernel.getLoc()) && !scheduledLoc(kernel);
}

namespace {
InFlightDiagnostic failWithHint(KernelOp kernel, const Twine &message, const Twine &hint) {
  InFlightDiagnostic diagnostic = emitError(kernel.getLoc(), message);
  diagnostic.attachNote(kernel.getLoc()) << "hint: " << hint;
  return diagnostic;
}

LogicalResult checkBinderName(KernelOp kernel, StringRef name) {
  SmallVector<StringRef> known;
  for (StringAttr binder : sizableBinders(kernel))
    known.push_back(binder.getValue());
  if (llvm::is_contained(known, name))
    return success();
  std::string kernelName = "kernel `" + nameInSource(kernel.getSymName()) + "`";
  std::string advice = adviseName(name, known, kernelName + " has the tile sizes");
  ParallelOp parallel = kernel.getParallel();
  for (auto [binder, each] : llvm::zip(parallel.getNames(), parallel.getEach()))
    if (each && cast<StringAttr>(binder).getValue() == name)
      return failWithHint(kernel, "`" + name + "` takes one element at a time, it has no tile size",
                          advice);
  bool isSequential = false;
  parallel.walk([&](ForOp loop) { isSequential |= loop.getName() == name; });
  if (isSequential)
    return failWithHint(
        kernel, "the blocks of `" + name + "` are `sequential`: their size is part of the meaning",
        advice);
  return failWithHint(kernel, kernelName + " has no binder `" + name + "`", advice);
}

/// The size that a binder has in the IR; dynamic if it is open.
int64_t sizeInIR(KernelOp kernel, StringRef binder) {
  ParallelOp parallel = kernel.getParallel();
  for (auto [name, size] : llvm::zip(parallel.getNames(), parallel.getSizes()))
    if (cast<StringAttr>(name).getValue() == binder)
      return size;
  int64_t result = ShapedType::kDynamic;
  parallel.walk([&](ForOp loop) {
    if (loop.getName() == binder)
      result = loop.getSize();
  });
  return result;
}

} // namespace

FailureOr<llvm::StringMap<int64_t>> tile::ir::tileSizes(KernelOp kernel, const Bindings &bindings) {
  for (StringRef name : bindings.sizes.keys())
    if (!isCountSetting(kernel, name) && failed(checkBinderName(kernel, name)))
      return failure();
  llvm::StringMap<int64_t> sizes;
  size_t parallelBinders = llvm::count(kernel.getParallel().getEach(), false);
  for (auto [position, binder] : llvm::enumerate(sizableBinders(kernel))) {
    int64_t given = sizeInIR(kernel, binder), &size = sizes[binder];
    auto wanted = bindings.sizes.find(binder);
    bool isGiven = !ShapedType::isDynamic(given), isWanted = wanted != bindings.sizes.end();
    if (isGiven && isWanted && given != wanted->second)
      return emitError(kernel.getLoc(), "`") << binder.getValue() << "` is specialized to tiles of "
                                             << given << " already, not " << wanted->second;
    SmallVector<int64_t> candidates = scheduledSizes(kernel, binder);
    size = isGiven                      ? given
           : isWanted                   ? wanted->second
           : !candidates.empty()        ? candidates[0]
           : position < parallelBinders ? defaultParallelSize
                                        : defaultLoopSize;
    if (size < 1 || size > maxTileSize)
      return emitError(kernel.getLoc(), "tile size ")
             << size << " of `" << binder.getValue() << "` is not in 1 .. " << maxTileSize;
  }
  return sizes;
}

/// A dictionary of the schedule's form without an entry, for whatever target.
static NamedAttrList without(DictionaryAttr schedule, StringRef name) {
  NamedAttrList entries(schedule);
  entries.erase(name);
  for (StringRef target : scheduleTargets) {
    std::string key = ("target." + target).str();
    NamedAttrList own(dyn_cast_or_null<DictionaryAttr>(entries.get(key)));
    if (own.erase(name))
      entries.set(key, own.getDictionary(schedule.getContext()));
  }
  return entries;
}

/// Settings that bindings give, into the schedule: for every target, in place of what it says,
/// whose place in the source is not theirs.
static void bindSettings(KernelOp kernel, const Bindings &bindings) {
  Builder builder(kernel.getContext());
  for (StringRef name : countSettings) {
    auto given = bindings.sizes.find(name);
    if (given == bindings.sizes.end() || !isCountSetting(kernel, name))
      continue;
    DictionaryAttr old = kernel.getScheduleAttr();
    NamedAttrList schedule = without(old ? old : builder.getDictionaryAttr({}), name);
    schedule.set(name, builder.getI64IntegerAttr(given->second));
    kernel.setScheduleAttr(schedule.getDictionary(kernel.getContext()));
    if (auto loc = scheduledLoc(kernel))
      kernel->setLoc(FusedLoc::get(
          loc.getLocations(), without(loc.getMetadata(), name).getDictionary(kernel.getContext()),
          kernel.getContext()));
  }
}

//===-- Dimensions --------------------------------------------------------===//

namespace {

/// All dims bound so far, by this and earlier calls; failure on bad ones.
FailureOr<DictionaryAttr> chooseDims(KernelOp kernel, const Bindings &bindings) {
  SmallVector<StringRef> known(kernel.getDims().getAsValueRange<StringAttr>());
  NamedAttrList bound(boundDims(kernel));
  Builder builder(kernel.getContext());
  for (const auto &[name, value] : bindings.dims) {
    if (!llvm::is_contained(known, name))
      return failWithHint(kernel,
                          "kernel `" + nameInSource(kernel.getSymName()) + "` has no dimension `" +
                              name + "`",
                          adviseName(name, known, "it has"));
    if (value > maxExtent || value < -maxExtent)
      return emitError(kernel.getLoc(), "`")
             << StringRef(name) << "` is " << value << ", beyond 2^47";
    auto before = dyn_cast_or_null<IntegerAttr>(bound.get(name));
    if (before && before.getInt() != value)
      return emitError(kernel.getLoc(), "`") << StringRef(name) << "` is specialized to "
                                             << before.getInt() << " already, not " << value;
    bound.set(name, builder.getI64IntegerAttr(value));
  }
  return bound.getDictionary(kernel.getContext());
}

bool dependsOnlyOn(AffineExpr expr, const llvm::SmallBitVector &symbols) {
  bool result = true;
  expr.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      result &= symbols.test(symbol.getPosition());
  });
  return result;
}

/// A tensor parameter's extents, dynamic where they are not known.
FailureOr<SmallVector<int64_t>> extentsOf(KernelOp kernel, unsigned param, DictionaryAttr bound) {
  SmallVector<int64_t> values;
  llvm::SmallBitVector known;
  for (Attribute name : kernel.getDims()) {
    auto value = bound.getAs<IntegerAttr>(cast<StringAttr>(name));
    values.push_back(value ? value.getInt() : 0);
    known.push_back(static_cast<bool>(value));
  }
  SmallVector<int64_t> extents;
  for (AffineExpr expr : kernel.getParamShape(param).getResults()) {
    if (!dependsOnlyOn(expr, known)) {
      extents.push_back(ShapedType::kDynamic);
      continue;
    }
    std::optional<int64_t> extent = evaluateAffine(expr, {}, values);
    if (!extent || *extent < 0)
      return emitError(kernel.getLoc(), "an extent of `")
             << kernel.getParamName(param) << "` is "
             << (extent ? std::to_string(*extent) : "beyond 64 bits") << " with these dimensions";
    extents.push_back(*extent);
  }
  return extents;
}

/// Whether the extents that are known leave a tensor no more bytes than an address space has. A
/// launch asks the same (Launch.h): what is refused here none would take.
bool fitsAddressSpace(ArrayRef<int64_t> extents, Type element) {
  std::optional<int64_t> bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  for (int64_t extent : extents)
    if (bytes && !ShapedType::isDynamic(extent))
      bytes = llvm::checkedMul(*bytes, std::max<int64_t>(extent, 1));
  return bytes && *bytes <= maxExtent;
}

FailureOr<SmallVector<Type>> parameterTypes(KernelOp kernel, DictionaryAttr bound) {
  SmallVector<Type> types;
  for (auto [param, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto memory = dyn_cast<MemRefType>(type);
    if (!memory) {
      types.push_back(type);
      continue;
    }
    auto extents = extentsOf(kernel, param, bound);
    if (failed(extents))
      return failure();
    if (!fitsAddressSpace(*extents, memory.getElementType()))
      return emitError(kernel.getLoc(), "`")
             << kernel.getParamName(param)
             << "` has more bytes than an address space, 2^47, with these dimensions";
    types.push_back(MemRefType::Builder(memory).setShape(*extents));
  }
  return types;
}

void bindDims(KernelOp kernel, DictionaryAttr bound) {
  kernel.walk([&](DimOp dim) {
    auto value = bound.getAs<IntegerAttr>(dim.getNameAttr());
    if (!value)
      return;
    OpBuilder builder(dim);
    dim.replaceAllUsesWith(arith::ConstantOp::create(builder, dim.getLoc(), value).getResult());
    dim.erase();
  });
  if (!bound.empty())
    kernel->setAttr(boundAttrName, bound);
}

//===-- Index maps --------------------------------------------------------===//

/// True if nothing is divided by a constant that is not positive: upstream's
/// affine analyses have no meaning for that, so such a divisor stays a symbol.
bool dividesByPositives(AffineExpr expr) {
  bool result = true;
  expr.walk([&](AffineExpr part) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (!binary || part.getKind() == AffineExprKind::Add || part.getKind() == AffineExprKind::Mul)
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    result &= !divisor || divisor.getValue() > 0;
  });
  return result;
}

/// Puts the symbols that are constants into the expressions, if they are accepted so. `syms` keeps
/// the others.
void foldSymbols(
    SmallVectorImpl<AffineExpr> &exprs, MutableOperandRange syms,
    llvm::function_ref<bool(ArrayRef<AffineExpr>)> accepts = [](auto) { return true; }) {
  MLIRContext *context = syms.getOwner()->getContext();
  SmallVector<AffineExpr> replacements;
  SmallVector<Value> kept;
  for (OpOperand &symbol : syms) {
    APInt value;
    bool isConstant = matchPattern(symbol.get(), m_ConstantInt(&value));
    replacements.push_back(isConstant ? getAffineConstantExpr(value.getSExtValue(), context)
                                      : getAffineSymbolExpr(kept.size(), context));
    if (!isConstant)
      kept.push_back(symbol.get());
  }
  auto folded = llvm::map_to_vector(
      exprs, [&](AffineExpr expr) { return expr.replaceSymbols(replacements); });
  if (!llvm::all_of(folded, dividesByPositives) || !accepts(folded))
    return;
  exprs.assign(folded);
  syms.assign(kept);
}

/// Index maps and conditions without symbols that are constants: affine ones.
void foldMaps(KernelOp kernel) {
  auto foldMap = [](auto op) {
    AffineMap map = op.getMap();
    SmallVector<AffineExpr> exprs(map.getResults());
    // Of `(d + 1) % N` nothing is left where N is 1, but the tile has the axis d still.
    foldSymbols(exprs, op.getSymsMutable(), [&](ArrayRef<AffineExpr> folded) {
      auto axesOf = [&](ArrayRef<AffineExpr> results) {
        return mapAxes(
                   AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, op.getContext()),
                   op.getDims())
            .names;
      };
      return axesOf(folded) == axesOf(exprs);
    });
    op.setMap(AffineMap::get(map.getNumDims(), op.getSyms().size(), exprs, op.getContext()));
  };
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<LoadOp, StoreOp, UpdateOp, AtomicOp>(foldMap).Case(
        [](RestrictOp restrict) {
          IntegerSet set = restrict.getConstraint();
          SmallVector<AffineExpr> exprs(set.getConstraints());
          foldSymbols(exprs, restrict.getSymsMutable());
          restrict.setConstraint(IntegerSet::get(set.getNumDims(), restrict.getSyms().size(), exprs,
                                                 set.getEqFlags()));
        });
  });
}

//===-- Types -------------------------------------------------------------===//

/// The extents that are known: block sizes, and whole axes with constant bounds.
llvm::StringMap<int64_t> knownExtents(KernelOp kernel, const llvm::StringMap<int64_t> &sizes) {
  llvm::StringMap<int64_t> extents;
  for (const auto &[name, size] : sizes)
    extents[name] = size;
  kernel.walk([&](AxisOp axis) {
    APInt lower, upper;
    if (!ShapedType::isDynamic(axis.getSpan().getType().getExtent()) ||
        !matchPattern(axis.getLower(), m_ConstantInt(&lower)) ||
        !matchPattern(axis.getUpper(), m_ConstantInt(&upper)))
      return;
    if (auto extent = llvm::checkedSub(upper.getSExtValue(), lower.getSExtValue()))
      extents[axis.getSpan().getType().getName()] = std::max<int64_t>(*extent, 0);
  });
  return extents;
}

Type retype(Type type, const llvm::StringMap<int64_t> &extents) {
  auto extentOr = [&](StringAttr name, int64_t old) {
    auto found = extents.find(name);
    return found == extents.end() ? old : found->second;
  };
  if (auto span = dyn_cast<SpanType>(type))
    return SpanType::get(type.getContext(), span.getName(),
                         extentOr(span.getName(), span.getExtent()));
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || axesOf(type).empty())
    return type;
  SmallVector<int64_t> shape;
  for (auto [axis, extent] : llvm::zip(axesOf(type), tensor.getShape()))
    shape.push_back(extentOr(axis, extent));
  return tensor.clone(shape);
}

} // namespace

void tile::ir::retypeSpans(KernelOp kernel, const llvm::StringMap<int64_t> &extents) {
  auto sizeOf = [&](StringAttr name, int64_t old) {
    auto found = extents.find(name);
    return found == extents.end() ? old : found->second;
  };
  // A constant's value has its type in it.
  SmallVector<arith::ConstantOp> constants;
  kernel.walk([&](arith::ConstantOp constant) {
    if (retype(constant.getType(), extents) != constant.getType() &&
        isa<SplatElementsAttr>(constant.getValue()))
      constants.push_back(constant);
  });
  for (arith::ConstantOp constant : constants) {
    OpBuilder builder(constant);
    auto number = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<TypedAttr>();
    Value scalar = arith::ConstantOp::create(builder, constant.getLoc(), number);
    constant.getResult().replaceAllUsesWith(BroadcastOp::create(
        builder, constant.getLoc(), retype(constant.getType(), extents), scalar));
    constant.erase();
  }
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      result.setType(retype(result.getType(), extents));
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        argument.setType(retype(argument.getType(), extents));
    if (auto loop = dyn_cast<ForOp>(op))
      loop.setSize(sizeOf(loop.getNameAttr(), loop.getSize()));
    if (auto parallel = dyn_cast<ParallelOp>(op)) {
      SmallVector<int64_t> sizes;
      for (auto [name, each, size] :
           llvm::zip(parallel.getNames(), parallel.getEach(), parallel.getSizes()))
        sizes.push_back(each ? size : sizeOf(cast<StringAttr>(name), size));
      parallel.setSizes(sizes);
    }
  });
}

namespace {
void setParameterTypes(KernelOp kernel, ArrayRef<Type> types) {
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), types, {}));
  for (auto [argument, type] : llvm::zip(kernel.getBody().getArguments(), types))
    argument.setType(type);
}
} // namespace

//===-- Entry points ------------------------------------------------------===//

DictionaryAttr tile::ir::boundDims(KernelOp kernel) {
  return kernel->getAttrOfType<DictionaryAttr>(boundAttrName);
}

/// The dimension that an open axis is as long as; null if it isn't just one.
static StringAttr dimOfOpenAxis(AxisOp axis) {
  auto upper = axis.getUpper().getDefiningOp<DimOp>();
  bool isOpen = ShapedType::isDynamic(axis.getSpan().getType().getExtent());
  return isOpen && upper && matchPattern(axis.getLower(), m_Zero()) ? upper.getNameAttr()
                                                                    : StringAttr();
}

SmallVector<StringAttr> tile::ir::dimsOfOpenAxes(KernelOp kernel) {
  SmallVector<StringAttr> found;
  llvm::SmallPtrSet<Attribute, 4> names;
  kernel.walk([&](AxisOp axis) {
    if (StringAttr dim = dimOfOpenAxis(axis))
      names.insert(dim);
  });
  for (StringAttr dim : kernel.getDims().getAsRange<StringAttr>())
    if (names.contains(dim))
      found.push_back(dim);
  return found;
}

void tile::ir::limitAxes(KernelOp kernel, const llvm::StringMap<int64_t> &dims) {
  llvm::StringMap<int64_t> extents;
  kernel.walk([&](AxisOp axis) {
    StringAttr dim = dimOfOpenAxis(axis);
    if (auto limit = dim ? dims.find(dim.getValue()) : dims.end(); limit != dims.end())
      extents[axis.getSpan().getType().getName()] = limit->second;
  });
  retypeSpans(kernel, extents);
}

void tile::ir::simplify(KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  llvm::SmallSetVector<Dialect *, 4> dialects;
  kernel.walk([&](Operation *op) { dialects.insert(op->getDialect()); });
  for (Dialect *dialect : dialects)
    dialect->getCanonicalizationPatterns(patterns);
  // All ops of these dialects, in registration order: patterns create new ones.
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (dialects.contains(&name.getDialect()))
      name.getCanonicalizationPatterns(patterns, context);
  // Without convergence the kernel is valid still, just less simple.
  (void)applyPatternsGreedily(kernel, std::move(patterns));
}

LogicalResult tile::ir::checkDims(KernelOp kernel, const Bindings &bindings) {
  FailureOr<DictionaryAttr> bound = chooseDims(kernel, bindings);
  return success(succeeded(bound) && succeeded(parameterTypes(kernel, *bound)));
}

LogicalResult tile::ir::specialize(KernelOp kernel, const Bindings &bindings) {
  FailureOr<llvm::StringMap<int64_t>> sizes = tileSizes(kernel, bindings);
  FailureOr<DictionaryAttr> bound = chooseDims(kernel, bindings);
  if (failed(sizes) || failed(bound))
    return failure();
  FailureOr<SmallVector<Type>> types = parameterTypes(kernel, *bound);
  if (failed(types))
    return failure();

  bindSettings(kernel, bindings);
  saturateIndices(kernel);
  // Scalars first, while all types still agree: they give the axes' bounds.
  bindDims(kernel, *bound);
  simplify(kernel);
  setParameterTypes(kernel, *types);
  retypeSpans(kernel, knownExtents(kernel, *sizes));
  foldMaps(kernel);
  simplify(kernel);
  return verify(kernel);
}
