//===- Grid.h - atomic operations of grid kernels -------------------------===//
//
// Programs of a `Kernel::grid` meet in elements of an `inout`. An atomic
// operation changes such an element as a whole and gives what it was before:
//
//   k.grid(count("p", 0, cdiv(N, 256)), [&](Span p) {
//     Span i = k.let(range("i", 256).when([&](Span i) { return 256 * p + i < N; }));
//     atomic_add(h.drop()[x[256 * p + i]], 1);
//   });
//
// Elements are numbers of 32 or 64 bits; `atomic_and`, `atomic_or` and
// `atomic_xor` take integers. On tiles each is one operation for each coordinate
// of the axes of index and values, in no particular order. It is a statement: it
// stands where it is called, whether its value is used or not.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TILE_GRID_H
#define TILE_FRONTEND_TILE_GRID_H

#include "frontend/tile/Value.h"

namespace tile {

/// What an atomic operation orders beside its element, as in C++.
enum class MemoryOrder { relaxed, acquire, release, acq_rel };

/// Adds; integers wrap.
Value atomic_add(const Element &element, const Operand &value,
                 MemoryOrder order = MemoryOrder::relaxed,
                 std::source_location place = std::source_location::current());
/// The greater one: NaN propagates, −0 < +0.
Value atomic_max(const Element &element, const Operand &value,
                 MemoryOrder order = MemoryOrder::relaxed,
                 std::source_location place = std::source_location::current());
Value atomic_min(const Element &element, const Operand &value,
                 MemoryOrder order = MemoryOrder::relaxed,
                 std::source_location place = std::source_location::current());
Value atomic_and(const Element &element, const Operand &value,
                 MemoryOrder order = MemoryOrder::relaxed,
                 std::source_location place = std::source_location::current());
Value atomic_or(const Element &element, const Operand &value,
                MemoryOrder order = MemoryOrder::relaxed,
                std::source_location place = std::source_location::current());
Value atomic_xor(const Element &element, const Operand &value,
                 MemoryOrder order = MemoryOrder::relaxed,
                 std::source_location place = std::source_location::current());
/// Puts the value into the element's place.
Value atomic_exchange(const Element &element, const Operand &value,
                      MemoryOrder order = MemoryOrder::relaxed,
                      std::source_location place = std::source_location::current());
/// The same if the element has the bits of `expected`: then that is what it gives.
Value atomic_cas(const Element &element, const Operand &expected, const Operand &desired,
                 MemoryOrder order = MemoryOrder::relaxed,
                 std::source_location place = std::source_location::current());

} // namespace tile

#endif // TILE_FRONTEND_TILE_GRID_H
