//===- IndexLimits.h - why index arithmetic is that of unbounded integers -===//
//
// Proofs reason with unbounded integers, machines with 64 bits. The two agree
// because everything that indices, bounds and conditions are made of is small:
//
//   - a launch refuses dimensions, constants and tensors beyond ±2^47, and
//     scalar parameters beyond that where they take part (Launch.h);
//   - bounds and conditions of spans that come from 64-bit data are saturated
//     at ±2^55, which moves no coordinate in or out (SaturateIndices.h);
//   - constants beside them with which an index, a bound or a condition could
//     leave 64 bits are refused (ProofsArithmetic.cpp);
//   - what data makes wrap elsewhere, proofs do not believe
//     (Coordinates::isExact).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_DIALECT_INDEXLIMITS_H
#define TILE_IR_DIALECT_INDEXLIMITS_H

#include <cstdint>

namespace tile::ir {

/// An address space of x86-64 has so many bytes.
inline constexpr int64_t maxExtent = int64_t(1) << 47;
inline constexpr int64_t saturatedIndex = int64_t(1) << 55;

} // namespace tile::ir

#endif // TILE_IR_DIALECT_INDEXLIMITS_H
