//===- Mma.h - what the tensor cores' instructions ask of tiles -----------===//
//
// `wgmma` (compute capability 9.0): four warps together multiply 64 rows of a matrix
// in shared memory with up to 256 columns of another one, and add to a tile in
// their registers.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_DIALECT_MMA_H
#define TILE_CODEGEN_GPU_DIALECT_MMA_H

#include "codegen/gpu/dialect/Layout.h"

#include "mlir/IR/Types.h"

namespace tile::codegen::gpu {

inline constexpr int64_t mmaRows = 64;
/// Of a row of an operand in shared memory (SharedType).
inline constexpr int64_t panelBytes = 128;
/// What a warp leaves of its results for copies to fetch (EmitSend.cpp): 16 rows, in one of so many
/// places by turns.
inline constexpr int64_t outboxBytes = 16 * panelBytes, outboxesOfWarp = 2;
/// Bytes of a row that one instruction contracts.
inline constexpr int64_t mmaDepthBytes = 32;

/// What the blocks of a cluster have of a tile: each its own rows, without repeats; its own
/// columns, powers of two of them; or all, each a sum of its own part of what is contracted.
enum class Sharing { Rows, Columns, Parts };

/// How the instruction has a tile of rows × columns in the registers of a number of warps, a
/// multiple of 4: each four have 64 rows, and all columns. `rows` is a multiple of the rows
/// that they have together, columns of 8. A lane has pairs of neighbours in two rows, 8 apart.
/// Source: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", accumulator D.
Layout mmaLayout(int64_t rows, int64_t columns, unsigned warps, unsigned blocks = 1,
                 Sharing sharing = Sharing::Rows);

/// Whether the instruction multiplies elements of a type, and adds to such sums. Of f32 it takes
/// those that are tf32; it cuts off what others have more.
bool canMultiply(mlir::Type element, mlir::Type sums);
/// Whether its sums of a type's products are too coarse to be added to for long: those of f8 keep
/// 13 bits below the greatest term's.
bool hasCoarseSums(mlir::Type element);

/// Columns that the layout has before it repeats: the greatest power of two up to 256 that divides
/// them.
int64_t mmaColumns(int64_t columns);
/// Columns that one instruction makes, of a multiple of 8: all, if there is one for so many.
int64_t mmaWidth(int64_t columns, mlir::Type element);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_DIALECT_MMA_H
