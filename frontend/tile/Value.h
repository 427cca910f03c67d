//===- Value.h - what the statements of a kernel compute with -------------===//
//
// Values are tiles: numbers at the coordinates of named axes. Elementwise
// operations align axes by identity, so a tile with axes [i] meets one with
// [i, j] without reshaping; a scalar is a tile without axes. Types don't convert
// by themselves: `f32(x)` casts. Literals take the type of what they meet.
//
// A mistake (types that don't meet, an axis that isn't there, an index out of
// proof) is an Error of the module, at the line that made it; the result is then
// an invalid value, and operations on it stay silent. Nothing here throws.
//
// A value belongs to the kernel whose body is being built on this thread, and to
// the block it was computed in: to carry a number out of a loop or an `if_`, use
// a Var.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TILE_VALUE_H
#define TILE_FRONTEND_TILE_VALUE_H

#include "frontend/tile/Extent.h"
#include "frontend/tile/Type.h"

#include <functional>
#include <initializer_list>
#include <limits>
#include <source_location>
#include <vector>

namespace tile {

namespace detail {
struct Node;
using NodePtr = std::shared_ptr<Node>;
} // namespace detail

class Var;
class Value;

/// Combines two states, given part by part, the earlier one first.
using Combination = std::function<std::vector<Value>(const std::vector<Value> &earlier,
                                                     const std::vector<Value> &later)>;

/// A tile or a scalar. Copies stand for the same numbers.
class Value {
public:
  /// No value; an error where it is used.
  Value() = default;
  explicit Value(detail::NodePtr node) : node(std::move(node)) {}
  /// What the variable holds now.
  Value(const Var &variable);

  const detail::NodePtr &get() const { return node; }

protected:
  detail::NodePtr node;
};

/// What a binder binds: a block of a dimension (`tiles`), one element (`each`), an integer
/// (`count`), or a whole axis (`whole`, `range`). As an index it selects, as an axis it is named
/// in reductions, as a value it is the i64 tile of its coordinates.
class Span : public Value {
public:
  Span() = default;
  explicit Span(detail::NodePtr node) : Value(std::move(node)) {}
};

struct Colon {};
/// The index `:`, a whole dimension: `x[{i, colon}]`.
inline constexpr Colon colon{};

inline constexpr double inf = std::numeric_limits<double>::infinity();

/// An argument of an operation: a value, variable, span, extent or number, with its source line.
class Operand {
public:
  using Place = std::source_location;

  Operand(const Value &value, Place place = Place::current());
  Operand(Value &&value, Place place = Place::current());
  Operand(const Var &variable, Place place = Place::current());
  Operand(const Extent &extent, Place place = Place::current());
  Operand(const Condition &condition, Place place = Place::current());
  Operand(Colon, Place place = Place::current());
  template <std::same_as<bool> T>
  Operand(T literal, Place place = Place::current()) : Operand(Truth{literal}, place) {}
  template <IntegerLiteral T>
  Operand(T literal, Place place = Place::current())
      : Operand(Integer{static_cast<int64_t>(literal), std::unsigned_integral<T>}, place) {}
  template <std::floating_point T>
  Operand(T literal, Place place = Place::current())
      : Operand(Real{static_cast<double>(literal)}, place) {}

  const detail::NodePtr &get() const { return node; }
  const Place &where() const { return place; }

private:
  struct Truth {
    bool value;
  };
  struct Integer {
    int64_t value; // its bits, where it is unsigned
    bool isUnsigned;
  };
  struct Real {
    double value;
  };
  Operand(Truth literal, Place place);
  Operand(Integer literal, Place place);
  Operand(Real literal, Place place);

  detail::NodePtr node;
  Place place;
};

/// The axis that an operation names: a span, or a dimension whose `:` it means.
class Axis {
public:
  using Place = std::source_location;
  Axis(const Span &span, Place place = Place::current());
  Axis(const Extent &dimension, Place place = Place::current());

  const detail::NodePtr &span() const { return node; }
  const detail::ExtentPtr &dimension() const { return extent; }
  const Place &where() const { return place; }

private:
  detail::NodePtr node;
  detail::ExtentPtr extent;
  Place place;
};

/// A variable (`Kernel::var`): keeps the type and axes of its first value. What a loop or an
/// `if_` assigns to a variable from outside is carried. Not copied: `Value old = v;` reads it.
class Var {
public:
  Var(const Var &) = delete;
  void operator=(const Var &value) { assign(Operand(value, place)); }
  void operator=(const Operand &value) { assign(value); }
  void operator+=(const Operand &value);
  void operator-=(const Operand &value);
  void operator*=(const Operand &value);
  void operator/=(const Operand &value);
  void operator&=(const Operand &value);
  void operator|=(const Operand &value);
  void operator^=(const Operand &value);
  /// `v max= value` and `v min= value`.
  void maximize(const Operand &value);
  void minimize(const Operand &value);

private:
  friend class Kernel;
  friend class Operand;
  friend class Value;
  Var(uint64_t kernel, unsigned index, uint64_t identity, std::source_location place)
      : kernel(kernel), index(index), identity(identity), place(place) {}
  void assign(const Operand &value);
  detail::NodePtr read(const std::source_location &place) const;

  uint64_t kernel;
  unsigned index;
  uint64_t identity;
  /// Of its declaration: where C++ tells no better one.
  std::source_location place;
};

/// Elements of a parameter, `x[{i, colon}]`. As a value they are loaded; assigning to them stores
/// to an output, and an update combines into a `reduce` output. Stored values have the type of
/// the parameter, and no axis that the index lacks; missing ones broadcast.
class Element : public Value {
public:
  explicit Element(detail::NodePtr node) : Value(std::move(node)) {}
  Element(const Element &) = default;
  void operator=(const Element &value);
  void operator=(const Operand &value) { store(value); }
  void operator+=(const Operand &value);
  /// Adds the negative.
  void operator-=(const Operand &value);
  void operator*=(const Operand &value);
  void operator&=(const Operand &value);
  void operator|=(const Operand &value);
  void operator^=(const Operand &value);
  void maximize(const Operand &value);
  void minimize(const Operand &value);

private:
  void store(const Operand &value);
};

//===-- Operators ---------------------------------------------------------===//
// On integers `/` and `%` round toward minus infinity, x / 0 is 0 and x % 0 is x; they wrap, and
// `>>` is arithmetic on signed types. Arithmetic on halves is f32, rounded where it is cast or
// stored. `&&` and `||` evaluate both sides.

Value operator+(const Operand &a, const Operand &b);
Value operator-(const Operand &a, const Operand &b);
Value operator*(const Operand &a, const Operand &b);
Value operator/(const Operand &a, const Operand &b);
Value operator%(const Operand &a, const Operand &b);
Value operator<<(const Operand &a, const Operand &b);
Value operator>>(const Operand &a, const Operand &b);
Value operator&(const Operand &a, const Operand &b);
Value operator|(const Operand &a, const Operand &b);
Value operator^(const Operand &a, const Operand &b);
Value operator==(const Operand &a, const Operand &b);
Value operator!=(const Operand &a, const Operand &b);
Value operator<(const Operand &a, const Operand &b);
Value operator<=(const Operand &a, const Operand &b);
Value operator>(const Operand &a, const Operand &b);
Value operator>=(const Operand &a, const Operand &b);
Value operator&&(const Operand &a, const Operand &b);
Value operator||(const Operand &a, const Operand &b);
Value operator-(const Operand &x);
Value operator!(const Operand &x);
Value operator~(const Operand &x);

//===-- Functions of elements ---------------------------------------------===//

Value abs(const Operand &x);
Value ceil(const Operand &x);
Value cos(const Operand &x);
Value erf(const Operand &x);
Value exp(const Operand &x);
Value exp2(const Operand &x);
Value expm1(const Operand &x);
Value floor(const Operand &x);
Value isinf(const Operand &x);
Value isnan(const Operand &x);
Value log(const Operand &x);
Value log10(const Operand &x);
Value log1p(const Operand &x);
Value log2(const Operand &x);
/// To the nearest integer, ties to even.
Value round(const Operand &x);
Value rsqrt(const Operand &x);
Value sigmoid(const Operand &x);
Value sin(const Operand &x);
Value sqrt(const Operand &x);
Value tan(const Operand &x);
/// Toward zero.
Value trunc(const Operand &x);
/// Of integers: how many bits are one; how many zeros lead or trail (of 0, all its bits).
Value popcount(const Operand &x);
Value clz(const Operand &x);
Value ctz(const Operand &x);
Value tanh(const Operand &x);
/// The quotient of integers, rounded up.
Value cdiv(const Operand &a, const Operand &b);
/// The magnitude of a with the sign of b.
Value copysign(const Operand &a, const Operand &b);
/// The upper half of the product of two integers, which is twice as wide.
Value mulhi(const Operand &a, const Operand &b);
/// The same bits as a number of another type of that width.
Value bitcast(Type type, const Operand &x);
/// exp(a - b), and 0 where a is minus infinity.
Value expdiff(const Operand &a, const Operand &b);
/// Propagate NaN; fmax and fmin don't.
Value max(const Operand &a, const Operand &b);
Value min(const Operand &a, const Operand &b);
Value fmax(const Operand &a, const Operand &b);
Value fmin(const Operand &a, const Operand &b);
Value pow(const Operand &a, const Operand &b);
/// Division of integers toward zero, and its remainder: C++'s `/` and `%`.
Value tdiv(const Operand &a, const Operand &b);
Value trem(const Operand &a, const Operand &b);
Value clamp(const Operand &x, const Operand &low, const Operand &high);
/// x * y + z, rounded once.
Value fma(const Operand &x, const Operand &y, const Operand &z);
/// a where the condition holds, b elsewhere. Both are evaluated.
Value where(const Operand &condition, const Operand &a, const Operand &b);

//===-- Tiles -------------------------------------------------------------===//

namespace detail {
Value reduce(const char *function, const Operand &x, std::initializer_list<Axis> axes);
/// Reduces if `axis` is one, and else calls the function of two elements.
Value reduceOrCall(const char *function, const Operand &x, const Span &axis,
                   std::source_location place);
Value reduceOrCall(const char *function, const Operand &x, const Extent &axis,
                   std::source_location place);
Value full(Type type, const Operand &value, std::initializer_list<Axis> axes,
           std::source_location place);
Value random(const char *function, const Operand &seed, const Operand &stream,
             std::initializer_list<Axis> coordinates);
} // namespace detail

/// Reductions over one or more axes of x, over the elements that exist. Of none, sum is 0, prod
/// 1, max and min the least and greatest value, any false, all true, mean NaN, argmax and argmin
/// -1. Halves accumulate in f32, small integers and bools in 32 bits.
template <std::convertible_to<Axis>... Axes>
Value sum(const Operand &x, const Axis &axis, const Axes &...more) {
  return detail::reduce("sum", x, {axis, more...});
}
template <std::convertible_to<Axis>... Axes>
Value prod(const Operand &x, const Axis &axis, const Axes &...more) {
  return detail::reduce("prod", x, {axis, more...});
}
template <std::convertible_to<Axis>... Axes>
Value mean(const Operand &x, const Axis &axis, const Axes &...more) {
  return detail::reduce("mean", x, {axis, more...});
}
template <std::convertible_to<Axis>... Axes>
Value any(const Operand &x, const Axis &axis, const Axes &...more) {
  return detail::reduce("any", x, {axis, more...});
}
template <std::convertible_to<Axis>... Axes>
Value all(const Operand &x, const Axis &axis, const Axes &...more) {
  return detail::reduce("all", x, {axis, more...});
}
/// Exclusive or of integers' bits, or of bools.
template <std::convertible_to<Axis>... Axes>
Value xor_(const Operand &x, const Axis &axis, const Axes &...more) {
  return detail::reduce("xor", x, {axis, more...});
}
/// The coordinate of the greatest (least) element; the lowest of equals, the first NaN.
Value argmax(const Operand &x, const Axis &axis);
Value argmin(const Operand &x, const Axis &axis);

/// With a span or dimension last these reduce, as in the language; a span that is an integer and
/// a dimension that is no axis here are operands like others. Integers are not taken for
/// dimensions: `max(x, 0)` is a maximum of two.
inline Value max(const Operand &x, const Span &axis,
                 std::source_location place = std::source_location::current()) {
  return detail::reduceOrCall("max", x, axis, place);
}
template <std::same_as<Extent> E>
Value max(const Operand &x, const E &axis,
          std::source_location place = std::source_location::current()) {
  return detail::reduceOrCall("max", x, axis, place);
}
inline Value min(const Operand &x, const Span &axis,
                 std::source_location place = std::source_location::current()) {
  return detail::reduceOrCall("min", x, axis, place);
}
template <std::same_as<Extent> E>
Value min(const Operand &x, const E &axis,
          std::source_location place = std::source_location::current()) {
  return detail::reduceOrCall("min", x, axis, place);
}
inline Value fmax(const Operand &x, const Span &axis,
                  std::source_location place = std::source_location::current()) {
  return detail::reduceOrCall("fmax", x, axis, place);
}
template <std::same_as<Extent> E>
Value fmax(const Operand &x, const E &axis,
           std::source_location place = std::source_location::current()) {
  return detail::reduceOrCall("fmax", x, axis, place);
}
inline Value fmin(const Operand &x, const Span &axis,
                  std::source_location place = std::source_location::current()) {
  return detail::reduceOrCall("fmin", x, axis, place);
}
template <std::same_as<Extent> E>
Value fmin(const Operand &x, const E &axis,
           std::source_location place = std::source_location::current()) {
  return detail::reduceOrCall("fmin", x, axis, place);
}

/// The sum over an axis of products: the result has the other axes of a, then those of b.
/// Halves accumulate in f32, small integers in 32 bits. `t + dot(…)` accumulates onto t.
/// `precision` says how f32 operands are multiplied: as they are; rounded to tf32; in three
/// products of tf32 parts.
enum class Precision { Ieee, Tf32, Tf32x3 };
Value dot(const Operand &a, const Operand &b, const Axis &axis,
          Precision precision = Precision::Ieee);

/// A type, with the source line where it is written.
struct PlacedType {
  Type type;
  std::source_location place;
  PlacedType(Type type, std::source_location place = std::source_location::current())
      : type(type), place(place) {}
};

/// A tile of one value on the given axes (spans and dimensions).
template <std::convertible_to<Axis>... Axes>
Value full(Type type, const Operand &value, const Axes &...axes) {
  return detail::full(type, value, {axes...}, value.where());
}
template <std::convertible_to<Axis>... Axes>
Value zeros(PlacedType type, const Axes &...axes) {
  return detail::full(type.type, 0, {axes...}, type.place);
}

/// Random numbers that depend on seed, stream and coordinates alone: those are spans, axes and
/// dimensions, and make the row-major number of an element. rand: f32, uniform in [0, 1); randn:
/// f32, standard normal; rand_bits: u32.
template <std::convertible_to<Axis>... Axes>
Value rand(const Operand &seed, const Operand &stream, const Axes &...coordinates) {
  return detail::random("rand", seed, stream, {coordinates...});
}
template <std::convertible_to<Axis>... Axes>
Value randn(const Operand &seed, const Operand &stream, const Axes &...coordinates) {
  return detail::random("randn", seed, stream, {coordinates...});
}
template <std::convertible_to<Axis>... Axes>
Value rand_bits(const Operand &seed, const Operand &stream, const Axes &...coordinates) {
  return detail::random("rand_bits", seed, stream, {coordinates...});
}

} // namespace tile

#endif // TILE_FRONTEND_TILE_VALUE_H
