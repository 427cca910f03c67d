//===- Memory.cpp - index maps, loads and stores --------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;
using Values = CodeBuilder::Values;

//===-- Indices -----------------------------------------------------------===//

Value ScalarLowering::materialize(Lanes lanes, int width) {
  if (!lanes.counts || width == 1)
    return lanes.value;
  return b.add(lanes.value, b.iota(width));
}

static bool isPowerOfTwo(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && number.isPowerOf2();
}

/// Quotients and remainders of lanes that count up from `first`, by a scalar. Where the divisor is
/// not less than the lanes are, they pass at most one multiple of it: one division of scalars
/// suffices, where processors have none of vectors.
static std::pair<Value, Value> divideCounting(CodeBuilder &b, Value first, Value divisor,
                                              int width) {
  Value greatest = b.i64(std::numeric_limits<int64_t>::max() - width);
  Value isShort = b.both(b.compare(CmpIPredicate::sge, divisor, b.i64(width)),
                         b.compare(CmpIPredicate::sle, first, greatest));
  Values both = b.branch(
      isShort,
      [&]() -> Values {
        Value quotient = b.floorDiv(first, divisor);
        Value rest = b.add(b.sub(first, b.mul(quotient, divisor)), b.iota(width));
        // Unsigned: what follows a large rest may be no signed number.
        Value passes = b.compare(CmpIPredicate::uge, rest, divisor);
        return {b.add(quotient, b.select(passes, b.i64(1), b.i64(0))),
                b.select(passes, b.sub(rest, divisor), rest)};
      },
      [&]() -> Values {
        Value dividend = b.add(first, b.iota(width));
        Value quotient = b.floorDiv(dividend, divisor);
        return {quotient, b.sub(dividend, b.mul(quotient, divisor))};
      });
  return {both[0], both[1]};
}

/// Runs of lanes that count up from `first`, divided by a scalar.
static Lanes::Runs runsOf(CodeBuilder &b, Value first, Value divisor, int width, bool isRest) {
  Value quotient = b.floorDiv(first, divisor), rest = b.sub(first, b.mul(quotient, divisor));
  Value greatest = b.i64(std::numeric_limits<int64_t>::max() - width), lanes = b.i64(width);
  Value isTwo = b.both(b.compare(CmpIPredicate::sge, divisor, lanes),
                       b.compare(CmpIPredicate::sle, first, greatest));
  Value isOne = b.both(isTwo, b.compare(CmpIPredicate::sle, rest, b.sub(divisor, lanes)));
  return {isOne,
          isTwo,
          isRest ? rest : quotient,
          isRest ? b.sub(rest, divisor) : b.add(quotient, b.i64(1)),
          b.sub(divisor, rest),
          /*counts=*/isRest};
}

Lanes ScalarLowering::evaluate(AffineExpr expr, ArrayRef<Lanes> dims, ArrayRef<Value> syms,
                               bool asRuns) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return {syms[symbol.getPosition()]};
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {b.i64(constant.getValue())};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  bool isSum = expr.getKind() == AffineExprKind::Add;
  auto operand = [&](AffineExpr of, bool asRuns) { return evaluate(of, dims, syms, asRuns); };
  Lanes x = operand(binary.getLHS(), asRuns && isSum),
        y = operand(binary.getRHS(), asRuns && isSum);
  auto isNumber = [](const Lanes &l) { return !l.runs && !l.counts && widthOf(l.value) == 1; };
  if ((x.runs && isNumber(y)) || (y.runs && isNumber(x))) {
    Lanes::Runs runs = x.runs ? *x.runs : *y.runs;
    Value added = (x.runs ? y : x).value;
    runs.first = b.add(runs.first, added);
    runs.second = b.add(runs.second, added);
    return {Value(), /*counts=*/false, runs};
  }
  if (x.runs)
    x = operand(binary.getLHS(), /*asRuns=*/false);
  if (y.runs)
    y = operand(binary.getRHS(), /*asRuns=*/false);
  if (isSum && !(x.counts && y.counts) && widthOf(x.value) == 1 && widthOf(y.value) == 1)
    return {b.add(x.value, y.value), x.counts || y.counts};
  // Counting lanes have the width of the innermost vector level.
  int width = lanesHere();
  bool isDivision =
      expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::Mod;
  if (isDivision && x.counts && width > 1 && isNumber(y)) {
    bool isRest = expr.getKind() == AffineExprKind::Mod;
    if (asRuns)
      return {Value(), /*counts=*/false, runsOf(b, x.value, y.value, width, isRest)};
    if (mayBranch() && !isPowerOfTwo(y.value)) {
      auto [quotient, rest] = divideCounting(b, x.value, y.value, width);
      return {isRest ? rest : quotient};
    }
  }
  Value left = materialize(x, width), right = materialize(y, width);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return {b.add(left, right)};
  case AffineExprKind::Mul:
    return {b.mul(left, right)};
  case AffineExprKind::FloorDiv:
    return {b.floorDiv(left, right)};
  case AffineExprKind::Mod:
    return {b.floorMod(left, right)};
  case AffineExprKind::CeilDiv: {
    Value quotient = b.floorDiv(left, right);
    Value rest = b.sub(left, b.mul(quotient, right));
    Value zero = b.i64(0);
    Value more =
        b.both(b.compare(CmpIPredicate::ne, rest, zero), b.compare(CmpIPredicate::ne, right, zero));
    return {b.add(quotient, b.select(more, b.i64(1), zero))};
  }
  case AffineExprKind::Constant:
  case AffineExprKind::DimId:
  case AffineExprKind::SymbolId:
    break;
  }
  llvm_unreachable("a leaf is no operation");
}

SmallVector<Lanes> ScalarLowering::indicesOf(AffineMap map, ValueRange dims, ValueRange syms,
                                             DimValue dimValue, bool asRuns) {
  // A dim that the map does not read need not be a loop's.
  SmallVector<Lanes> dimLanes;
  for (auto [d, dim] : llvm::enumerate(dims))
    dimLanes.push_back(map.isFunctionOfDim(d) ? dimValue(dim) : Lanes{b.i64(0)});
  SmallVector<Value> symValues = llvm::map_to_vector(syms, [&](Value v) { return scalar(v); });
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
    return evaluate(expr, dimLanes, symValues, asRuns);
  });
}

Place ScalarLowering::locate(const Memory &memory, ArrayRef<Lanes> indices, int width) {
  Place place = {memory.pointer, {b.i64(0)}};
  if (indices.empty())
    return place;
  Type element = memoryType(memory.element);
  place.offset = indices.back();
  for (int d = static_cast<int>(indices.size()) - 2; d >= 0; --d) {
    // Neighbours, where all further extents are 1.
    bool isUnit = matchPattern(memory.strides[d], m_One());
    if (isUnit && indices[d].counts && !place.offset.counts && widthOf(place.offset.value) == 1) {
      place.offset = {b.add(indices[d].value, place.offset.value), true};
      continue;
    }
    Value part = b.mul(materialize(indices[d], width), memory.strides[d]);
    if (widthOf(part) > 1)
      place.offset = {b.add(part, materialize(place.offset, width))};
    else
      place.pointer = b.at(place.pointer, part, element);
  }
  return place;
}

Value ScalarLowering::insideOf(const Memory &memory, ArrayRef<Lanes> indices, int width,
                               const llvm::BitVector &proved) {
  Value inside;
  for (auto [d, index] : llvm::enumerate(indices)) {
    if (proved.test(d))
      continue;
    // Unsigned: a negative index is a huge one.
    Value value = materialize(index, width);
    inside = b.both(inside, b.compare(CmpIPredicate::ult, value, memory.extents[d]));
  }
  return inside;
}

llvm::BitVector ScalarLowering::provedInside(Value parameter, AffineMap map, ValueRange dims) {
  llvm::BitVector proved(map.getNumResults());
  unsigned number = cast<BlockArgument>(parameter).getArgNumber();
  auto type = cast<MemRefType>(parameter.getType());
  AffineMap shape = kernel.getParamShape(number);
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || !isa<SpanType>(dims[dim.getPosition()].getType()))
      continue;
    auto [lower, upper] = domains.boundsOf(axisOf(dims[dim.getPosition()]));
    APInt low, high;
    if (!matchPattern(lower, m_ConstantInt(&low)) || low.isNegative())
      continue;
    if (matchPattern(upper, m_ConstantInt(&high)))
      proved[d] = !type.isDynamicDim(d) && high.sle(type.getDimSize(d));
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(shape.getResult(d)))
      if (auto dimOp = upper.getDefiningOp<DimOp>())
        proved[d] = dimOp.getNameAttr() == kernel.getDims()[symbol.getPosition()];
  }
  return proved;
}

//===-- Elements ----------------------------------------------------------===//

Value ScalarLowering::fromMemory(Value raw, Type element) {
  if (!element.isInteger(1))
    return raw;
  return b.compare(CmpIPredicate::ne, raw, b.integer(raw.getType(), 0));
}

Value ScalarLowering::toMemory(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  return arith::ExtUIOp::create(b, lanesOf(b.getI8Type(), widthOf(value)), value);
}

Value ScalarLowering::sinkFor(Type) {
  if (!sink) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(prologue);
    Value one = b.i64(1);
    sink = LLVM::AllocaOp::create(b, b.ptr(), b.getI64Type(), one, 8);
    b.store(b.i64(0), sink);
  }
  return sink;
}

/// The mask of an access in order. LLVM 22 cuts one that takes several registers, and where all
/// lanes of one of them are known to be false, and others are not known, it may take them for true
/// (instruction sets without masks of their own): what is known of these lanes is kept from it.
Value ScalarLowering::orderedMask(Value mask, Type element, int width) {
  mask = b.splat(mask, width);
  int bits = static_cast<int>(element.getIntOrFloatBitWidth()) * width;
  if (target.vectorBits != 256 || bits <= target.vectorBits)
    return mask;
  assert(width <= 8 && "of one register");
  Type type = lanesOf(b.getI32Type(), width);
  Value wide = arith::ExtSIOp::create(b, type, mask);
  Value same =
      LLVM::InlineAsmOp::create(b, type, ValueRange{wide}, /*asm_string=*/"",
                                /*constraints=*/"=x,0", /*has_side_effects=*/false,
                                /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  return b.compare(CmpIPredicate::slt, same, b.integer(type, 0));
}

Value ScalarLowering::readElements(const Memory &memory, const Place &place, int width, Value mask,
                                   Value otherwise) {
  Type element = memoryType(memory.element), type = lanesOf(element, width);
  unsigned alignment = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  Value rest = mask && otherwise ? toMemory(b.splat(otherwise, width), memory.element) : Value();
  Value raw;
  if (width == 1 || (!place.offset.counts && widthOf(place.offset.value) == 1)) {
    // One element, for all lanes: it is read if any of them has it.
    Value pointer = b.at(place.pointer, place.offset.value, element);
    if (mask)
      pointer = b.select(b.any(mask), pointer, sinkFor(element));
    raw = memory.isShared ? b.loadShared(element, pointer)
                          : b.load(element, pointer, memory.isInvariant && !mask);
    if (rest)
      raw = b.select(mask, raw, otherwise ? toMemory(otherwise, memory.element) : rest);
    return fromMemory(raw, memory.element);
  }
  if (place.offset.counts) {
    Value pointer = b.at(place.pointer, place.offset.value, element);
    if (!mask) {
      raw = b.load(type, pointer, memory.isInvariant);
    } else {
      if (!rest)
        rest = isa<FloatType>(element) ? b.number(type, 0) : b.integer(type, 0);
      raw = LLVM::MaskedLoadOp::create(b, type, pointer, orderedMask(mask, element, width), rest,
                                       alignment);
    }
    return fromMemory(raw, memory.element);
  }
  Value pointers = b.at(place.pointer, place.offset.value, element);
  Value all = mask ? b.splat(mask, width) : b.integer(lanesOf(b.getI1Type(), width), 1);
  if (!rest)
    rest = isa<FloatType>(element) ? b.number(type, 0) : b.integer(type, 0);
  raw = LLVM::masked_gather::create(b, type, pointers, all, ValueRange{rest}, alignment);
  return fromMemory(raw, memory.element);
}

/// Whether a mask costs a read of lanes in order little.
static bool hasMaskedReads(const TargetInfo &target, Type element) {
  return target.vectorBits == 512 ||
         (target.vectorBits == 256 && element.getIntOrFloatBitWidth() >= 32);
}

Value ScalarLowering::readRuns(const Memory &memory, ArrayRef<Lanes> indices, int width, Value mask,
                               Value otherwise, llvm::function_ref<Value()> apart) {
  auto divided = llvm::find_if(indices, [](const Lanes &index) { return index.runs.has_value(); });
  for (const Lanes &index : indices)
    if (&index != divided && (index.runs || index.counts || widthOf(index.value) > 1))
      return {};
  const Lanes::Runs &runs = *divided->runs;
  auto placeOf = [&](Value first) {
    SmallVector<Lanes> run(indices);
    run[divided - indices.begin()] = {first, runs.counts};
    return locate(memory, run, width);
  };
  Place first = placeOf(runs.first);
  if (!first.offset.counts && widthOf(first.offset.value) > 1)
    return {};
  Place second = placeOf(runs.second);
  auto read = [&](const Place &from, Value lanes) {
    return b.splat(readElements(memory, from, width, lanes, otherwise), width);
  };
  auto readTwo = [&]() -> Values {
    Value isFirst = b.compare(CmpIPredicate::slt, b.iota(width), b.splat(runs.length, width));
    Value isSecond = b.fold<arith::XOrIOp>(isFirst, b.integer(isFirst.getType(), 1));
    return {b.select(isFirst, read(first, b.both(mask, isFirst)),
                     read(second, b.both(mask, isSecond)))};
  };
  auto readApart = [&]() -> Values { return {apart()}; };
  bool isTwoReads = !runs.counts || hasMaskedReads(target, memoryType(memory.element));
  return branchHere(
             runs.isOne, [&]() -> Values { return {read(first, mask)}; },
             [&] { return isTwoReads ? b.branch(runs.isTwo, readTwo, readApart) : readApart(); })
      .front();
}

void ScalarLowering::writeVector(const Memory &memory, const Place &place, Value mask,
                                 Value vector) {
  Type element = memoryType(memory.element);
  Value pointer = b.at(place.pointer, place.offset.value, element);
  if (!mask)
    b.store(vector, pointer);
  else
    LLVM::MaskedStoreOp::create(b, vector, pointer, orderedMask(mask, element, widthOf(vector)),
                                std::max(1u, element.getIntOrFloatBitWidth() / 8));
}

void ScalarLowering::writeElements(const Memory &memory, const Place &place, int width, Value mask,
                                   Value value) {
  Type element = memoryType(memory.element);
  unsigned alignment = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  value = toMemory(b.splat(value, width), memory.element);
  if (width == 1) {
    Value pointer = b.at(place.pointer, place.offset.value, element);
    if (mask)
      pointer = b.select(mask, pointer, sinkFor(element));
    if (memory.isShared)
      b.storeShared(value, pointer);
    else
      b.store(value, pointer);
    return;
  }
  if (place.offset.counts)
    return writeVector(memory, place, mask, value);
  Value pointer = b.at(place.pointer, place.offset.value, element);
  // Lanes go to different places, or all of them to one outside, where they are dropped.
  Value all = mask ? b.splat(mask, width) : b.integer(lanesOf(b.getI1Type(), width), 1);
  LLVM::masked_scatter::create(b, value, b.splat(pointer, width), all, alignment);
}

//===-- Loads -------------------------------------------------------------===//

int tile::codegen::lengthOfFew(const Memory &memory) {
  APInt stride, extent;
  size_t rank = memory.extents.size();
  bool isFew = rank > 1 && matchPattern(memory.strides[rank - 2], m_ConstantInt(&stride)) &&
               matchPattern(memory.extents[rank - 1], m_ConstantInt(&extent)) && stride == extent &&
               extent.sge(2) && extent.sle(mostOfFew);
  return isFew ? static_cast<int>(extent.getSExtValue()) : 0;
}

/// Rows that follow each other come as they lie there, and their elements are picked in registers.
Value ScalarLowering::readOfRows(const Memory &memory, ArrayRef<Lanes> indices, int width) {
  APInt place;
  size_t rank = indices.size();
  int length = lengthOfFew(memory);
  if (length == 0 || width == 1)
    return {};
  // Along one dimension there are lanes, and it is that of the rows.
  for (auto [d, index] : llvm::enumerate(indices))
    if (index.counts != (d == rank - 2) || widthOf(index.value) > 1)
      return {};
  if (!matchPattern(indices[rank - 1].value, m_ConstantInt(&place)) || place.uge(length))
    return {};
  SmallVector<Lanes> first(indices);
  first[rank - 2].counts = false;
  first[rank - 1] = {b.i64(0)};
  Type element = memoryType(memory.element);
  Place begin = locate(memory, first, 1);
  Value rows = b.load(lanesOf(element, width * length),
                      b.at(begin.pointer, begin.offset.value, element), memory.isInvariant);
  SmallVector<int32_t> lanes;
  for (int lane = 0; lane < width; ++lane)
    lanes.push_back(lane * length + static_cast<int>(place.getSExtValue()));
  return fromMemory(b.shuffle(rows, lanes), memory.element);
}

Value ScalarLowering::emitLoad(LoadOp op, DimValue dimValue, int width, Value mask) {
  Memory memory = memoryOf(op.getSource());
  auto indicesAs = [&](bool asRuns) {
    return indicesOf(op.getMap(), op.getDims(), op.getSyms(), dimValue, asRuns);
  };
  SmallVector<Lanes> runs;
  if (width > 1 && mayBranchHere())
    runs = indicesAs(/*asRuns=*/true);
  bool hasRuns = llvm::any_of(runs, [](const Lanes &index) { return index.runs.has_value(); });
  auto read = [&](Value mask, Value otherwise) -> Value {
    auto apart = [&] {
      return readElements(memory, locate(memory, indicesAs(/*asRuns=*/false), width), width, mask,
                          otherwise);
    };
    Value lanes = hasRuns ? readRuns(memory, runs, width, mask, otherwise, apart) : Value();
    return lanes ? lanes : apart();
  };
  // A sanitizer, which watches accesses, has no lanes.
  if (hasRuns && (op.getBounds() == BoundsMode::exact || op.getBounds() == BoundsMode::within))
    return read(mask, Value());
  SmallVector<Lanes> indices = indicesAs(/*asRuns=*/false);
  switch (op.getBounds()) {
  case BoundsMode::exact:
  case BoundsMode::within:
    mask = watched(op, indices, mask);
    if (Value element = mask || !memory.isInvariant ? Value() : readOfRows(memory, indices, width))
      return element;
    return read(mask, Value());
  case BoundsMode::pad: {
    Value inside =
        insideOf(memory, indices, width, provedInside(op.getSource(), op.getMap(), op.getDims()));
    mask = watched(op, indices, b.both(mask, inside));
    if (Value element = mask || !memory.isInvariant ? Value() : readOfRows(memory, indices, width))
      return element;
    return read(mask, scalar(op.getPad()));
  }
  case BoundsMode::clamp: {
    llvm::BitVector proved = provedInside(op.getSource(), op.getMap(), op.getDims());
    Value zero = b.i64(0);
    for (auto [d, index] : llvm::enumerate(indices)) {
      if (proved.test(d))
        continue;
      Value last = b.sub(memory.extents[d], b.i64(1));
      index = {b.maxS(b.minS(materialize(index, width), last), zero)};
      // Of an empty tensor: zero.
      mask = b.both(mask, b.compare(CmpIPredicate::sgt, memory.extents[d], zero));
    }
    mask = watched(op, indices, mask);
    Type element = registerType(memory.element);
    Value nothing = isa<FloatType>(element) ? b.number(element, 0) : b.integer(element, 0);
    return readElements(memory, locate(memory, indices, width), width, mask, nothing);
  }
  }
  llvm_unreachable("covered switch");
}
