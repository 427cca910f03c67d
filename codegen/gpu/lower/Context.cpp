//===- Context.cpp - what all parts of a lowering share -------------------===//

#include "codegen/gpu/lower/Context.h"
#include "codegen/Neighbours.h"
#include "codegen/gpu/dialect/Sites.h"
#include "codegen/gpu/plan/OutputCopies.h"
#include "codegen/gpu/plan/PlanProgram.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

Type tile::codegen::gpu::tileTypeOf(Value value) {
  auto pending = dyn_cast<PendingType>(value.getType());
  return pending ? pending.getTile() : value.getType();
}

bool tile::codegen::gpu::isTile(Value value) { return !axesOf(tileTypeOf(value)).empty(); }

Value tile::codegen::gpu::readSpecial(CodeBuilder &b, StringRef name) {
  std::string intrinsic = ("llvm.nvvm.read.ptx.sreg." + name).str();
  return LLVM::CallIntrinsicOp::create(b, b.getI32Type(), b.getStringAttr(intrinsic), ValueRange())
      .getResult(0);
}

Value tile::codegen::gpu::packPair(CodeBuilder &b, Value first, Value second) {
  Value pair = LLVM::PoisonOp::create(b, VectorType::get(2, first.getType()));
  pair = LLVM::InsertElementOp::create(b, pair, first, b.i64(0));
  pair = LLVM::InsertElementOp::create(b, pair, second, b.i64(1));
  return LLVM::BitcastOp::create(b, b.getI32Type(), pair);
}

LoweringContext::LoweringContext(CodeBuilder &b, KernelOp kernel, LLVM::LLVMFuncOp function,
                                 const runtime::GpuTarget &gpuTarget, int64_t room)
    : b(b), kernel(kernel), function(function), domains(kernel), divisors(kernel, domains),
      room(room), prologue(&function.getBody().front()),
      warps(kernel->getAttrOfType<IntegerAttr>(warpsAttrName).getInt()), blocks(numBlocks(kernel)) {
  target.vectorBits = 32;
  target.isThread = target.hasRareCalls = true;
  target.hasF16c = target.hasBf16Rounding = target.hasFma = true;
  target.hasF8Conversions = gpuTarget.hasF8Conversions;
}

void LoweringContext::emitOp(Operation *op) {
  auto known = emitters.find(op->getName().getTypeID());
  if (known != emitters.end())
    known->second(op);
  else
    onOther(op);
}

void LoweringContext::fail(Operation *op, const Twine &what) {
  if (!failed)
    op->emitError(what);
  failed = true;
}

Value LoweringContext::scalar(Value value) const {
  Value known = scalars.lookup(value);
  assert(known && "values are emitted in order");
  return known;
}

Tile LoweringContext::tile(Value value) const {
  auto known = tiles.find(value);
  assert(known != tiles.end() && "values are emitted in order");
  return known->second;
}

CodeBuilder::Values LoweringContext::flatten(ValueRange values) const {
  Values result;
  for (Value value : values) {
    if (isTile(value))
      llvm::append_range(result, tile(value).registers);
    else
      result.push_back(scalar(value));
  }
  return result;
}

void LoweringContext::bind(ValueRange values, ValueRange registers) {
  for (Value value : values) {
    size_t count = 1;
    if (isTile(value)) {
      Layout layout = layoutOf(tileTypeOf(value));
      count = layout.numRegisters();
      tiles[value] = {SmallVector<StringAttr>(axesOf(tileTypeOf(value))), layout,
                      Values(registers.take_front(count))};
    } else {
      scalars[value] = registers.front();
    }
    registers = registers.drop_front(count);
  }
}

Layout LoweringContext::layoutOfScalar() const {
  Layout layout(0);
  for (unsigned bit = 0; bit < laneBits; ++bit)
    layout.addBasis(Part::Lane, {});
  for (unsigned n = 1; n < warps; n *= 2)
    layout.addBasis(Part::Warp, {});
  for (unsigned n = 1; n < blocks; n *= 2)
    layout.addBasis(Part::Block, {});
  return layout;
}

Layout LoweringContext::layoutOfValue(Value value) const {
  Type type = value.getType();
  return axesOf(type).empty() ? layoutOfScalar() : layoutOf(type);
}

bool LoweringContext::isInSlice(Axes axes, const Layout &layout, int64_t reg) const {
  if (!slice)
    return true;
  const auto *found = llvm::find(axes, slice->axis);
  if (found == axes.end()) // made once
    return slice->begin == 0;
  int64_t place = layout.ofRegister(reg)[found - axes.begin()];
  return place >= slice->begin && place < slice->end;
}

ValueRange LoweringContext::bindParameters() {
  unsigned numParams = kernel.getNumArguments();
  ValueRange behind(prologue->getArguments().drop_front(numParams));
  dims = Values(behind.take_front(kernel.getDims().size()));
  behind = behind.drop_front(dims.size());
  watches = kernel->hasAttr(watchedAttrName);
  if (speaks(kernel)) {
    records.report = behind.front();
    behind = behind.drop_front();
  }
  bool isEarly = startsEarly(kernel);
  for (auto [n, argument] : llvm::enumerate(kernel.getBody().getArguments())) {
    Value given = prologue->getArgument(n);
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      scalars[argument] = memory.fromMemory(given, argument.getType());
      continue;
    }
    Tensor &tensor = tensors[argument];
    tensor.pointer = given;
    tensor.element = type.getElementType();
    tensor.isInvariant = kernel.getParamMode(n) == ParamMode::In;
    tensor.isEarly = isEarly;
    tensor.isContended = kernel.isGrid() && kernel.getParamMode(n) == ParamMode::InOut;
    SmallVector<Index> none;
    for (auto [d, expr] : llvm::enumerate(kernel.getParamShape(n).getResults())) {
      Value extent = type.isDynamicDim(d) ? places.materialize(places.evaluate(expr, none, dims))
                                          : b.i64(type.getDimSize(d));
      tensor.extents.push_back(extent);
    }
    Value stride = b.i64(1);
    tensor.strides.resize(tensor.extents.size());
    tensor.strideDivisors = divisors.ofStrides(n);
    tensor.innermost = innermostDimension(type);
    for (size_t d = tensor.extents.size(); d-- > 0;) {
      tensor.strides[d] = stride;
      stride = b.mul(stride, tensor.extents[d]);
    }
  }
  return behind;
}
