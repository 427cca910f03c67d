//===- ElementType.cpp - the number types of the language -----------------===//

#include "ir/dialect/ElementType.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace tile::ir;

namespace {
struct Row {
  ElementType type;
  StringLiteral name;
  unsigned bits;
  enum Class { Bool, Signed, Unsigned, Half, Float } kind;
};
constexpr Row table[] = {
    {ElementType::Bool, "bool", 1, Row::Bool},     {ElementType::I8, "i8", 8, Row::Signed},
    {ElementType::I16, "i16", 16, Row::Signed},    {ElementType::I32, "i32", 32, Row::Signed},
    {ElementType::I64, "i64", 64, Row::Signed},    {ElementType::U8, "u8", 8, Row::Unsigned},
    {ElementType::U16, "u16", 16, Row::Unsigned},  {ElementType::U32, "u32", 32, Row::Unsigned},
    {ElementType::U64, "u64", 64, Row::Unsigned},  {ElementType::F8E4M3, "f8e4m3", 8, Row::Half},
    {ElementType::F8E5M2, "f8e5m2", 8, Row::Half}, {ElementType::F16, "f16", 16, Row::Half},
    {ElementType::BF16, "bf16", 16, Row::Half},    {ElementType::F32, "f32", 32, Row::Float},
    {ElementType::F64, "f64", 64, Row::Float},
};
const Row &rowOf(ElementType type) { return table[static_cast<unsigned>(type)]; }
} // namespace

ArrayRef<ElementType> tile::ir::allElementTypes() {
  static const SmallVector<ElementType> all =
      llvm::map_to_vector(table, [](const Row &row) { return row.type; });
  return all;
}

StringRef tile::ir::nameOf(ElementType type) { return rowOf(type).name; }

std::optional<ElementType> tile::ir::elementTypeNamed(StringRef name) {
  for (const Row &row : table)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

bool tile::ir::isFloat(ElementType type) { return rowOf(type).kind >= Row::Half; }
bool tile::ir::isInteger(ElementType type) {
  return rowOf(type).kind == Row::Signed || rowOf(type).kind == Row::Unsigned;
}
bool tile::ir::isUnsigned(ElementType type) {
  return rowOf(type).kind == Row::Unsigned || rowOf(type).kind == Row::Bool;
}
bool tile::ir::isHalf(ElementType type) { return rowOf(type).kind == Row::Half; }
unsigned tile::ir::bitWidth(ElementType type) { return rowOf(type).bits; }

Type tile::ir::toMlir(ElementType type, MLIRContext *context) {
  switch (type) {
  case ElementType::F8E4M3:
    return Float8E4M3FNType::get(context);
  case ElementType::F8E5M2:
    return Float8E5M2Type::get(context);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F64:
    return Float64Type::get(context);
  default:
    return IntegerType::get(context, bitWidth(type));
  }
}

ElementType tile::ir::arithmeticType(ElementType type) {
  return isHalf(type) ? ElementType::F32 : type;
}

ElementType tile::ir::accumulatorType(ElementType type) {
  if (isHalf(type))
    return ElementType::F32;
  if (type == ElementType::Bool || (isInteger(type) && bitWidth(type) < 32))
    return type != ElementType::Bool && isUnsigned(type) ? ElementType::U32 : ElementType::I32;
  return type;
}
