//===- EmitAngles.cpp - sines of f32, fast where arguments are moderate ---===//

#include "codegen/gpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpFPredicate;

void KernelLowering::emitAngles(Operation *op) {
  Tile made = tile(op->getOperand(0));
  Values given = made.registers;
  auto element = cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  TargetInfo small = target;
  small.hasSmallAngles = true;
  for (Value &number : made.registers)
    number = emitElementwise(b, small, op, {number});
  bool mayBeLarge =
      APFloat::getLargest(element.getFloatSemantics()).convertToDouble() > mostF32Angle;
  if (mayBeLarge) {
    Values isLarge, usual = made.registers;
    Value any;
    for (Value number : given) {
      Value wide = isNarrowFloat(element) ? widenToF32(b, target, number, element) : number;
      Value magnitude = math::AbsFOp::create(b, wide);
      isLarge.push_back(arith::CmpFOp::create(b, CmpFPredicate::OGT, magnitude,
                                              b.number(wide.getType(), mostF32Angle)));
      any = any ? b.either(any, isLarge.back()) : isLarge.back();
    }
    std::string name = ("tile_" + op->getName().stripDialect() + "_").str();
    llvm::raw_string_ostream(name) << element;
    auto body = [&](ValueRange argument) {
      return Values{emitElementwise(b, target, op, argument[0])};
    };
    auto withLarge = [&] {
      Values all;
      for (auto [number, large, result] : llvm::zip(given, isLarge, usual))
        all.push_back(b.select(large, callApart(b, name, number, body)[0], result));
      return all;
    };
    made.registers = b.branch(any, withLarge, [&] { return usual; });
  }
  tiles[op->getResult(0)] = std::move(made);
}
