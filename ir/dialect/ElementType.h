//===- ElementType.h - the number types of the language -------------------===//
//
// The IR's integers are signless; the language's are not. An ElementType is
// the language's view: what a signature says and what type rules speak of.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_DIALECT_ELEMENTTYPE_H
#define TILE_IR_DIALECT_ELEMENTTYPE_H

#include "mlir/IR/Types.h"

#include <optional>

namespace tile::ir {

enum class ElementType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F8E4M3,
  F8E5M2,
  F16,
  BF16,
  F32,
  F64
};

/// All of them, in order.
llvm::ArrayRef<ElementType> allElementTypes();
/// `bf16`, `u8`, as sources spell it.
llvm::StringRef nameOf(ElementType type);
std::optional<ElementType> elementTypeNamed(llvm::StringRef name);

bool isFloat(ElementType type);
/// Integers without bool.
bool isInteger(ElementType type);
bool isUnsigned(ElementType type); // bool counts as unsigned
/// The types computed in f32 and rounded by casts and stores: f16, bf16, fp8.
bool isHalf(ElementType type);
unsigned bitWidth(ElementType type);

/// The signless type that holds it in the IR.
mlir::Type toMlir(ElementType type, mlir::MLIRContext *context);
/// What arithmetic on it is done in: f32 for halves, itself otherwise.
ElementType arithmeticType(ElementType type);
/// What sums and dots accumulate in: f32 for halves, i32/u32 for small integers
/// and bool.
ElementType accumulatorType(ElementType type);

} // namespace tile::ir

#endif // TILE_IR_DIALECT_ELEMENTTYPE_H
