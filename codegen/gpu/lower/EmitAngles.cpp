//===- EmitAngles.cpp - sines of f32, fast where arguments are moderate ---===//

#include "codegen/gpu/lower/ElementwiseEmitter.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpFPredicate;

void ElementwiseEmitter::emitAngles(Operation *op) {
  Value result = op->getResult(0);
  Tile made = ctx.tile(op->getOperand(0));
  SmallVector<int64_t> here;
  Values given, usual;
  for (auto [r, number] : llvm::enumerate(made.registers))
    if (ctx.isInSlice(axesOf(result.getType()), made.layout, r)) {
      here.push_back(r);
      given.push_back(number);
    }
  if (here.empty()) // rows' alone, which were made for the first columns
    return;
  auto element = cast<FloatType>(getElementTypeOrSelf(result.getType()));
  TargetInfo small = ctx.target;
  small.hasSmallAngles = true;
  for (Value number : given)
    usual.push_back(emitElementwise(b, small, op, {number}));
  bool mayBeLarge =
      APFloat::getLargest(element.getFloatSemantics()).convertToDouble() > mostF32Angle;
  if (mayBeLarge) {
    Values isLarge;
    Value any;
    for (Value number : given) {
      Value wide = isNarrowFloat(element) ? widenToF32(b, ctx.target, number, element) : number;
      Value magnitude = math::AbsFOp::create(b, wide);
      isLarge.push_back(arith::CmpFOp::create(b, CmpFPredicate::OGT, magnitude,
                                              b.number(wide.getType(), mostF32Angle)));
      any = any ? b.either(any, isLarge.back()) : isLarge.back();
    }
    std::string name = ("tile_" + op->getName().stripDialect() + "_").str();
    llvm::raw_string_ostream(name) << element;
    auto body = [&](ValueRange argument) {
      return Values{emitElementwise(b, ctx.target, op, argument[0])};
    };
    auto withLarge = [&] {
      Values all;
      for (auto [number, large, result] : llvm::zip(given, isLarge, usual))
        all.push_back(b.select(large, callApart(b, name, number, body)[0], result));
      return all;
    };
    usual = b.branch(any, withLarge, [&] { return usual; });
  }
  made.registers = std::move(ctx.tiles[result].registers); // of other slices
  made.registers.resize(made.layout.numRegisters());
  for (auto [r, number] : llvm::zip(here, usual))
    made.registers[r] = number;
  ctx.tiles[result] = std::move(made);
}
