//===- Scan.h - scans, reductions by a function, sorts and shapes ---------===//
//
// What runs along one axis of a tile. A function given to `scan` or `reduce`
// combines two states, the earlier one first; it is called once, with scalars,
// while the kernel is built, and is made of elementwise operations. It has to
// be associative: that is the author's promise.
//
// Along the span of a loop a scan goes on where the block before ended: it
// begins with a variable, and its last state is assigned to that variable.
//
//   auto h = k.var("h", zeros(f32, i));
//   k.for_(tiles("t", T), [&](Span t) {
//     auto [all, last] = scan(plus, x[{i, t}], t, h);
//     y[{i, t}] = all;
//     h = last;
//   });
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TILE_SCAN_H
#define TILE_FRONTEND_TILE_SCAN_H

#include "frontend/tile/Value.h"

#include <utility>

namespace tile {

/// For each part of the state the tile of all states and, without the axis, the last one.
struct Scanned {
  std::vector<Value> tiles, last;
};

/// All states from `inits` on along the axis, in increasing order or in reverse. The elements are
/// states of their own, of the types that `inits` have. Coordinates outside the domain are left
/// out; of an empty domain the last state is `inits`.
Scanned scan(const Combination &combine, const std::vector<Operand> &elements, const Axis &axis,
             const std::vector<Operand> &inits, bool reverse = false,
             std::source_location place = std::source_location::current());
/// The last of those states.
std::vector<Value> reduce(const Combination &combine, const std::vector<Operand> &elements,
                          const Axis &axis, const std::vector<Operand> &inits,
                          std::source_location place = std::source_location::current());

namespace detail {
template <typename Fn>
Combination single(Fn combine) {
  return [combine](const std::vector<Value> &earlier, const std::vector<Value> &later) {
    return std::vector<Value>{combine(earlier[0], later[0])};
  };
}
} // namespace detail

/// The same with a state of one value: all states, and the last one.
template <std::invocable<Value, Value> Fn>
std::pair<Value, Value> scan(Fn combine, const Operand &x, const Axis &axis, const Operand &init,
                             bool reverse = false) {
  Scanned scanned = scan(detail::single(combine), std::vector<Operand>{x}, axis,
                         std::vector<Operand>{init}, reverse, x.where());
  return {scanned.tiles[0], scanned.last[0]};
}
template <std::invocable<Value, Value> Fn>
Value reduce(Fn combine, const Operand &x, const Axis &axis, const Operand &init) {
  return reduce(detail::single(combine), std::vector<Operand>{x}, axis, std::vector<Operand>{init},
                x.where())[0];
}

/// Running sums, products, greatest and least elements. Sums and products of halves are f32,
/// those of small integers 32 bits wide; max and min propagate NaN.
Value cumsum(const Operand &x, const Axis &axis, bool reverse = false);
Value cumprod(const Operand &x, const Axis &axis, bool reverse = false);
Value cummax(const Operand &x, const Axis &axis, bool reverse = false);
Value cummin(const Operand &x, const Axis &axis, bool reverse = false);

/// The elements in order, or the i64 coordinates where they stood. Equal ones stay in the order
/// of their coordinates; NaN is greater than all numbers. The axis is a whole one.
Value sort(const Operand &x, const Axis &axis, bool descending = false);
Value argsort(const Operand &x, const Axis &axis, bool descending = false);
/// The first elements of that order and their coordinates, as many as the axis `rank` is long,
/// which takes the place of `axis`. Where there are fewer: -inf or the least value (+inf or the
/// greatest, if not descending), and -1.
std::pair<Value, Value> topk(const Operand &x, const Axis &rank, const Axis &axis,
                             bool descending = true);

//===-- Shapes ------------------------------------------------------------===//
// Of whole axes without conditions. Lengths that don't agree are an error, of the launch where
// only it knows them.

/// The element at the last coordinate first.
Value flip(const Operand &x, const Axis &axis);
/// The elements of the axes `from`, in row-major order, on the axes `to`.
Value reshape(const Operand &x, const std::vector<Axis> &from, const std::vector<Axis> &to);
/// One after the other, each along an axis of its own, on the axis `into`.
Value concat(const std::vector<Operand> &xs, const std::vector<Axis> &along, const Axis &into);
/// Value n at coordinate n of an axis of constant length, `range("r", 2)`; and back.
Value join(const std::vector<Operand> &xs, const Axis &into);
std::vector<Value> split(const Operand &x, const Axis &axis);

} // namespace tile

#endif // TILE_FRONTEND_TILE_SCAN_H
