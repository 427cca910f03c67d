//===- Type.h - element types and tensors of the C++ API ------------------===//
#ifndef TILE_FRONTEND_TILE_TYPE_H
#define TILE_FRONTEND_TILE_TYPE_H

#include "runtime/tensor/Npy.h"
#include "runtime/tensor/Tensor.h"

namespace tile {

class Operand;
class Value;

/// A dense row-major tensor in host memory (see runtime/tensor/Tensor.h).
using runtime::Tensor;
/// Extents of a tensor, outermost first.
using runtime::Shape;
/// A value or an Error; test it before taking the value.
using runtime::Result;
/// Reads and writes NumPy's .npy files.
using runtime::readNpy;
using runtime::writeNpy;

/// How a cast to a narrower type goes about it, as in the language: `f8e4m3(x, sat, toward_zero)`.
enum class CastModifier : uint8_t { None, Saturate, TowardZero };
/// What is too large, infinities too, becomes the greatest number of the type.
inline constexpr CastModifier sat = CastModifier::Saturate;
/// Rounds toward zero, not to nearest.
inline constexpr CastModifier toward_zero = CastModifier::TowardZero;

/// An element type. Called on a value it casts, as in the language: `f32(x)`.
class Type {
public:
  constexpr Type(runtime::DType type) : type(type) {}
  constexpr operator runtime::DType() const { return type; }

  /// "f32", as the language spells it.
  std::string_view name() const { return runtime::nameOf(type); }

  /// The value in this type. Floats round to nearest even, floats become integers toward zero and
  /// saturate, integers wrap; anything becomes bool by comparison with zero. An error: a float
  /// literal to an integer, a literal that doesn't fit, a modifier that says nothing.
  Value operator()(const Operand &x, CastModifier modifier = CastModifier::None,
                   CastModifier another = CastModifier::None) const;

private:
  runtime::DType type;
};

inline constexpr Type boolean = runtime::DType::Bool;
inline constexpr Type i8 = runtime::DType::I8;
inline constexpr Type i16 = runtime::DType::I16;
inline constexpr Type i32 = runtime::DType::I32;
inline constexpr Type i64 = runtime::DType::I64;
inline constexpr Type u8 = runtime::DType::U8;
inline constexpr Type u16 = runtime::DType::U16;
inline constexpr Type u32 = runtime::DType::U32;
inline constexpr Type u64 = runtime::DType::U64;
inline constexpr Type f16 = runtime::DType::F16;
inline constexpr Type bf16 = runtime::DType::BF16;
inline constexpr Type f32 = runtime::DType::F32;
inline constexpr Type f64 = runtime::DType::F64;
inline constexpr Type f8e4m3 = runtime::DType::F8E4M3;
inline constexpr Type f8e5m2 = runtime::DType::F8E5M2;

} // namespace tile

#endif // TILE_FRONTEND_TILE_TYPE_H
