//===- EmitElementwise.cpp - ops of each element by itself ----------------===//

#include "codegen/gpu/lower/ElementwiseEmitter.h"
#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/lower/Numbers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

ElementwiseEmitter::ElementwiseEmitter(LoweringContext &context) : Emitter(context, context.b) {
  ctx.onOp<BroadcastOp>([this](BroadcastOp op) { emitBroadcast(op); });
  ctx.onOp<CoordsOp>([this](CoordsOp op) { emitCoords(op); });
  ctx.onOp<PhiloxOp>([this](PhiloxOp op) { emitPhiloxOp(op); });
  ctx.onOther = [this](Operation *op) { emitElementwiseOp(op); };
}

/// Two numbers at a time, which is one instruction and leaves both in one word. Where a pipeline's
/// sums are rounded to f16 one by one, ptxas 13.0 serializes its products (C7514).
bool ElementwiseEmitter::emitPairsOfHalves(Operation *op) {
  auto round = dyn_cast<arith::TruncFOp>(op);
  Value result = op->getNumResults() == 1 ? op->getResult(0) : Value();
  if (!round || !isTile(result) || !isTile(round.getIn()) ||
      !getElementTypeOrSelf(round.getIn().getType()).isF32() ||
      round.getRoundingmode() == arith::RoundingMode::toward_zero)
    return false;
  Type half = getElementTypeOrSelf(result.getType());
  // Elsewhere f16 stays single: pairs made a sort of f16 spill.
  if (!half.isBF16() && !(half.isF16() && op->getParentOfType<RolesOp>()))
    return false;
  std::string instruction =
      half.isF16() ? "cvt.rn.f16x2.f32 $0, $2, $1;" : "cvt.rn.bf16x2.f32 $0, $2, $1;";
  Tile &made = ctx.tiles[result];
  const Values &numbers = ctx.tiles[round.getIn()].registers;
  made.axes.assign(axesOf(result.getType()).begin(), axesOf(result.getType()).end());
  made.layout = layoutOf(result.getType());
  made.registers.resize(made.layout.numRegisters());
  SmallVector<size_t> wanted;
  for (int64_t r = 0, count = made.layout.numRegisters(); r < count; ++r)
    if (ctx.isInSlice(made.axes, made.layout, r))
      wanted.push_back(r);
  Type i16 = b.getIntegerType(16), i32 = b.getI32Type();
  for (size_t n = 1; n < wanted.size(); n += 2) {
    size_t low = wanted[n - 1], high = wanted[n];
    Value word = inlineAsm(b, i32, {numbers[low], numbers[high]}, instruction, "=r,f,f",
                           /*hasSideEffects=*/false);
    made.registers[low] = arith::TruncIOp::create(b, i16, word);
    made.registers[high] =
        arith::TruncIOp::create(b, i16, b.fold<arith::ShRUIOp>(word, b.integer(i32, 16)));
  }
  if (wanted.size() % 2 != 0)
    made.registers[wanted.back()] = emitElementwise(b, ctx.target, op, numbers[wanted.back()]);
  return true;
}

void ElementwiseEmitter::emitElementwiseOp(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  bool isKnown =
      isa<arith::ConstantOp, arith::SelectOp>(op) || op->hasTrait<OpTrait::Elementwise>();
  if (!isKnown || op->getNumRegions() > 0)
    return ctx.fail(op, "the GPU backend does not have `" + op->getName().getStringRef() + "` yet");
  if (std::string reason = whyNoNumber(op); !reason.empty())
    return ctx.fail(op, reason);
  if (isa<math::SinOp, math::CosOp, math::TanOp>(op) && isTile(op->getResult(0)) &&
      !getElementTypeOrSelf(op->getResult(0).getType()).isF64())
    return emitAngles(op);
  if (emitRowDivision(op) || emitPairsOfHalves(op))
    return;
  for (Value result : op->getResults()) {
    if (!isTile(result)) {
      SmallVector<Value> operands = llvm::map_to_vector(
          op->getOperands(), [&](Value operand) { return ctx.scalar(operand); });
      ctx.scalars[result] = emitNumber(b, ctx.target, op, operands);
      continue;
    }
    Tile &made = ctx.tiles[result];
    made.axes.assign(axesOf(result.getType()).begin(), axesOf(result.getType()).end());
    made.layout = layoutOf(result.getType());
    Values registers = std::move(made.registers);
    registers.resize(made.layout.numRegisters());
    for (int64_t r = 0, count = made.layout.numRegisters(); r < count; ++r) {
      if (!ctx.isInSlice(axesOf(result.getType()), layoutOf(result.getType()), r))
        continue;
      SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
        return isTile(operand) ? ctx.tiles[operand].registers[r] : ctx.scalar(operand);
      });
      registers[r] = emitNumber(b, ctx.target, op, operands);
    }
    ctx.tiles[result].registers = std::move(registers);
  }
}

void ElementwiseEmitter::emitBroadcast(BroadcastOp op) {
  Tile made{SmallVector<StringAttr>(axesOf(op.getType())), layoutOf(op.getType()), {}};
  int64_t count = made.layout.numRegisters();
  if (ctx.slice)
    made.registers = ctx.tiles[op.getResult()].registers;
  if (!isTile(op.getInput())) {
    made.registers.assign(count, ctx.scalar(op.getInput()));
  } else {
    Tile input = ctx.tile(op.getInput());
    made.registers.resize(count);
    for (int64_t r = 0; r < count; ++r) {
      if (!ctx.isInSlice(made.axes, made.layout, r))
        continue;
      Layout::Coords place = made.layout.ofRegister(r), from;
      for (StringAttr axis : input.axes)
        from.push_back(place[made.axisIndex(axis)]);
      std::optional<int64_t> source = input.layout.registerAt(from);
      assert(source && "the input's layout is the result's projection");
      made.registers[r] = input.registers[*source];
    }
  }
  ctx.tiles[op.getResult()] = std::move(made);
}

void ElementwiseEmitter::emitCoords(CoordsOp op) {
  StringAttr axis = axisOf(op.getSpan());
  Tile &made = ctx.tiles[op.getResult()];
  made.axes = {axis};
  made.layout = layoutOf(op.getType());
  made.registers.resize(made.layout.numRegisters());
  for (int64_t r = 0, count = made.layout.numRegisters(); r < count; ++r)
    if (ctx.isInSlice(made.axes, made.layout, r))
      made.registers[r] = ctx.places.materialize(ctx.places.coordinate(axis, made.layout, 0, r));
}
