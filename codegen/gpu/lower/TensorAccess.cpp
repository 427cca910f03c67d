//===- TensorAccess.cpp - elements of tensors, read and written by threads ===//
//
// Registers that are neighbours in memory are read and written together, up to 16
// bytes at once, where the address is known to be a multiple of that and all of
// them are inside or none is.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/Context.h"
#include "codegen/gpu/lower/InlineAsm.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

Access TensorAccess::accessOf(Value memory, AffineMap map, ValueRange dimValues, ValueRange syms,
                              Axes axes, const Layout &layout) {
  Access access{ctx.tensors.lookup(memory),    map,    dimValues, {}, {},
                SmallVector<StringAttr>(axes), layout, Values()};
  for (Value sym : syms) {
    access.syms.push_back(ctx.scalar(sym));
    access.symSources.push_back(sym);
  }
  access.mask = ctx.places.domainMask(axes, layout);
  return access;
}

SmallVector<Index> TensorAccess::indicesAt(const Access &access, int64_t reg) {
  SmallVector<Index> at;
  for (auto [n, dim] : llvm::enumerate(access.dims)) {
    if (!access.map.isFunctionOfDim(n)) {
      at.push_back({});
    } else if (isa<SpanType>(dim.getType())) {
      StringAttr axis = axisOf(dim);
      at.push_back(ctx.places.coordinate(axis, access.layout,
                                         llvm::find(access.axes, axis) - access.axes.begin(), reg));
    } else {
      // A tile of integers, whose layout is this one's projection.
      Value element;
      if (axesOf(dim.getType()).empty()) {
        element = ctx.scalar(dim);
      } else {
        Tile index = ctx.tile(dim);
        Layout::Coords place = access.layout.ofRegister(reg), from;
        for (StringAttr axis : index.axes)
          from.push_back(place[llvm::find(access.axes, axis) - access.axes.begin()]);
        element = index.registers[*index.layout.registerAt(from)];
      }
      if (!element.getType().isInteger(64))
        element = b.fold<arith::ExtSIOp>(b.getI64Type(), element);
      at.push_back({element});
    }
  }
  return llvm::map_to_vector(access.map.getResults(), [&](AffineExpr expr) {
    return ctx.places.evaluate(expr, at, access.syms);
  });
}

Value tile::codegen::gpu::elementAt(CodeBuilder &b, Value pointer, Value offset, Type element) {
  return LLVM::GEPOp::create(b, pointer.getType(), element, pointer, ValueRange{offset});
}

Value TensorAccess::addressOf(const Access &access, ArrayRef<Index> indices) {
  Value base, constant;
  auto add = [&](Value &sum, Value term) { sum = sum ? b.add(sum, term) : term; };
  for (auto [index, stride] : llvm::zip(indices, access.tensor.strides)) {
    if (index.base)
      add(base, b.mul(index.base, stride));
    if (index.constant)
      add(constant, b.mul(b.i64(index.constant), stride));
  }
  Type element = memoryType(access.tensor.element);
  Value address = access.tensor.pointer;
  if (base)
    address = elementAt(b, address, base, element);
  return constant ? elementAt(b, address, constant, element) : address;
}

//===-- Vectors -----------------------------------------------------------===//

int64_t TensorAccess::vectorFor(const Access &access, bool isChecked) {
  Divisors::Place place{access.map, access.dims, access.symSources, access.tensor.strideDivisors,
                        access.tensor.innermost};
  auto positionOf = [&](StringAttr axis) {
    return static_cast<unsigned>(llvm::find(access.axes, axis) - access.axes.begin());
  };
  // The span along which registers are neighbours.
  std::optional<unsigned> along;
  for (unsigned n = 0; n < access.dims.size(); ++n)
    if (Divisors::areNeighbours(place, n) &&
        access.layout.contiguity(positionOf(axisOf(access.dims[n]))) > 1)
      along = n;
  if (!along || isChecked)
    return 1;
  StringAttr axis = axisOf(access.dims[*along]);
  for (RestrictOp restrict : ctx.domains.restrictsOn(access.axes))
    for (Value span : restrict.getDims())
      if (axisOf(span) == axis)
        return 1;
  unsigned position = positionOf(axis);
  int64_t bytes = std::max(1u, memoryType(access.tensor.element).getIntOrFloatBitWidth() / 8);
  int64_t width = std::min(
      {16 / bytes, access.layout.contiguity(position), ctx.divisors.ofAddress(place, *along)});
  // One mask for all: the end of the axis does not fall between them.
  if (ctx.places.limitFor(axis, access.layout, position))
    width = std::min(width, ctx.divisors.ofEnd(axis));
  return std::max<int64_t>(1, width);
}

//===-- Elements ----------------------------------------------------------===//

Value TensorAccess::fromMemory(Value raw, Type element) {
  return element.isInteger(1) ? b.compare(CmpIPredicate::ne, raw, b.integer(raw.getType(), 0))
                              : raw;
}

Value TensorAccess::toMemory(Value value, Type element) {
  return element.isInteger(1) ? Value(arith::ExtUIOp::create(b, b.getI8Type(), value)) : value;
}

/// A vector of elements as words of 16, 32 or 64 bits, which is what accesses move.
static SmallVector<Value> toWords(CodeBuilder &b, Value vector, unsigned bits, unsigned most) {
  unsigned wordBits = std::min(bits, most);
  Type word = b.getIntegerType(std::max(wordBits, 16u));
  if (bits < 16)
    return {b.fold<arith::ExtUIOp>(word, b.bitcast(vector, b.getIntegerType(bits)))};
  unsigned count = bits / wordBits;
  if (count == 1)
    return {LLVM::BitcastOp::create(b, word, vector)};
  Value words = LLVM::BitcastOp::create(b, VectorType::get(count, word), vector);
  SmallVector<Value> result;
  for (unsigned n = 0; n < count; ++n)
    result.push_back(LLVM::ExtractElementOp::create(b, words, b.i64(n)));
  return result;
}

/// A predicated access of so many bits: registers, or one of 8 bits, which PTX keeps in one of 16.
struct AccessForm {
  std::string suffix, constraint;
  unsigned words;
  Type word;
};

/// Words have 32 bits; 64 where elements of so many may not be torn.
static unsigned wordBitsOf(const Tensor &tensor) {
  return tensor.isContended && tensor.element.getIntOrFloatBitWidth() == 64 ? 64 : 32;
}

static AccessForm formFor(CodeBuilder &b, unsigned bits, unsigned most) {
  if (bits == 8)
    return {".b8", "h", 1, b.getI16Type()};
  if (bits == 16)
    return {".b16", "h", 1, b.getI16Type()};
  unsigned words = bits / most;
  std::string vector = words == 1 ? "" : ".v" + std::to_string(words);
  return {vector + ".b" + std::to_string(most), most == 64 ? "l" : "r", words,
          b.getIntegerType(most)};
}

/// Reads where the predicate holds; elsewhere the words are `otherwise`.
static SmallVector<Value> readPredicated(CodeBuilder &b, const Tensor &tensor, Value address,
                                         Value predicate, unsigned bits,
                                         ArrayRef<Value> otherwise) {
  AccessForm form = formFor(b, bits, wordBitsOf(tensor));
  std::string constraints, ties;
  SmallVector<Value> operands = {address, predicate};
  SmallVector<Type> types(form.words, form.word);
  for (unsigned n = 0; n < form.words; ++n) {
    constraints += "=" + form.constraint + ",";
    ties += "," + std::to_string(n);
    operands.push_back(otherwise[n]);
  }
  bool invariant = tensor.isInvariant && !tensor.isEarly;
  std::string text = "@$" + std::to_string(form.words + 1) + " ld" +
                     (tensor.isContended ? ".relaxed.gpu.global"
                      : invariant        ? ".global.nc"
                                         : ".global") +
                     form.suffix + " " + operandList(0, form.words) + ", [$" +
                     std::to_string(form.words) + "];";
  Type result =
      form.words == 1 ? form.word : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), types));
  // What may change is read where it stands.
  Value read = inlineAsm(b, result, operands, text, constraints + "l,b" + ties, !invariant);
  SmallVector<Value> words;
  for (unsigned n = 0; n < form.words; ++n)
    words.push_back(form.words == 1 ? read : Value(LLVM::ExtractValueOp::create(b, read, n)));
  return words;
}

static Value fromWords(CodeBuilder &b, ArrayRef<Value> words, Type type, unsigned bits) {
  if (bits == 8) {
    Value narrow = b.fold<arith::TruncIOp>(b.getI8Type(), words[0]);
    return type.isInteger(8) ? narrow : Value(LLVM::BitcastOp::create(b, type, narrow));
  }
  Value joined = words[0];
  if (words.size() > 1) {
    joined = LLVM::PoisonOp::create(b, VectorType::get(words.size(), words[0].getType()));
    for (auto [n, word] : llvm::enumerate(words))
      joined = LLVM::InsertElementOp::create(b, joined, word, b.i64(n));
  }
  return joined.getType() == type ? joined : Value(LLVM::BitcastOp::create(b, type, joined));
}

CodeBuilder::Values TensorAccess::read(const Tensor &tensor, Value address, int64_t count,
                                       Value mask, Value otherwise) {
  Type element = memoryType(tensor.element), type = lanesOf(element, count);
  unsigned bits = element.getIntOrFloatBitWidth() * count;
  Value raw;
  if (!mask && tensor.isContended)
    mask = b.i1(true);
  if (!mask) {
    raw = LLVM::LoadOp::create(b, type, address, bits / 8, false, false,
                               tensor.isInvariant && !tensor.isEarly);
  } else {
    Value rest = isa<FloatType>(element) ? b.number(element, 0) : b.integer(element, 0);
    if (otherwise)
      rest = toMemory(otherwise, tensor.element);
    rest = b.splat(rest, count);
    SmallVector<Value> words =
        readPredicated(b, tensor, address, mask, bits, toWords(b, rest, bits, wordBitsOf(tensor)));
    raw = fromWords(b, words, type, bits);
  }
  Values elements;
  for (int64_t n = 0; n < count; ++n)
    elements.push_back(fromMemory(b.lane(raw, n), tensor.element));
  return elements;
}

void TensorAccess::write(const Tensor &tensor, Value address, ValueRange elements, Value mask) {
  Type element = memoryType(tensor.element);
  int64_t count = elements.size();
  unsigned bits = element.getIntOrFloatBitWidth() * count;
  Value raw = toMemory(elements[0], tensor.element);
  if (count > 1) {
    raw = LLVM::PoisonOp::create(b, lanesOf(element, count));
    for (auto [n, value] : llvm::enumerate(elements))
      raw = b.insert(raw, toMemory(value, tensor.element), n);
  }
  if (!mask && tensor.isContended)
    mask = b.i1(true);
  if (!mask) {
    LLVM::StoreOp::create(b, raw, address, bits / 8);
    return;
  }
  unsigned most = wordBitsOf(tensor);
  AccessForm form = formFor(b, bits, most);
  SmallVector<Value> operands = {address, mask};
  llvm::append_range(operands, toWords(b, raw, bits, most));
  std::string constraints = "l,b";
  for (unsigned n = 0; n < form.words; ++n)
    constraints += "," + form.constraint;
  inlineAsm(b, Type(), operands,
            std::string("@$1 st") + (tensor.isContended ? ".relaxed.gpu" : "") + ".global" +
                form.suffix + " [$0], " + operandList(2, form.words) + ";",
            constraints + ",~{memory}", /*hasSideEffects=*/true);
}

Value TensorAccess::insideOf(const Access &access, ArrayRef<Index> indices, Value mask) {
  for (auto [index, extent] : llvm::zip(indices, access.tensor.extents)) // a negative one is huge
    mask = b.both(mask, b.compare(CmpIPredicate::ult, ctx.places.materialize(index), extent));
  return mask;
}

void TensorAccess::applyBounds(LoadOp op, const Access &access, SmallVectorImpl<Index> &indices,
                               Value &mask) {
  if (op.getBounds() == BoundsMode::exact || op.getBounds() == BoundsMode::within)
    return;
  if (op.getBounds() == BoundsMode::pad) {
    mask = insideOf(access, indices, mask);
    return;
  }
  for (auto [index, extent] : llvm::zip(indices, access.tensor.extents)) {
    Value value = ctx.places.materialize(index), zero = b.i64(0), last = b.sub(extent, b.i64(1));
    index = {b.maxS(b.minS(value, last), zero)};
    // Of an empty tensor: zero.
    mask = b.both(mask, b.compare(CmpIPredicate::sgt, extent, zero));
  }
}

/// How many registers a thread has of a load: those of an access together are packed.
int64_t TensorAccess::registersOf(LoadOp op) {
  Layout layout = layoutOf(op.getType());
  Access access = accessOf(op.getSource(), op.getMap(), op.getDims(), op.getSyms(),
                           axesOf(op.getType()), layout);
  bool isChecked = op.getBounds() == BoundsMode::pad || op.getBounds() == BoundsMode::clamp;
  int64_t width = vectorFor(access, isChecked);
  int64_t bits = std::max(8u, getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth());
  return layout.numRegisters() / width * std::max<int64_t>(1, width * bits / 32);
}
