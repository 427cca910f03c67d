//===- SharedMemory.h - shared memory of a block --------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_SHAREDMEMORY_H
#define TILE_CODEGEN_GPU_LOWER_SHAREDMEMORY_H

#include "codegen/gpu/lower/Types.h"

namespace tile::codegen::gpu {

/// Shares out a block's shared memory, and reads and writes it.
class SharedMemory : public Emitter {
public:
  using Emitter::Emitter;

  /// Address of the first byte that is free; asks for so many bytes from there on. What is taken so
  /// is used by turns: the next one to take some gets the same.
  Value take(int64_t bytes);
  /// Address of memory that nothing else gets, after that which is taken by turns.
  Value reserve(int64_t bytes);
  /// Address of element `index`, if that is given, and `constant` elements further.
  Value at(Value base, Value index, mlir::Type element, int64_t constant = 0);
  /// Address of byte `offset` of the program's shared memory, as i32.
  Value addressOf(int64_t offset);
  /// One number; bool takes 8 bits.
  void store(Value value, Value address);
  Value load(mlir::Type element, Value address);

  /// How much of it the function needs, in bytes.
  int64_t bytes() const { return reservedBytes ? llvm::alignTo(most, 128) + reservedBytes : most; }
  /// The function's code is there: what is reserved begins behind all that is taken.
  void finish();

  /// What is taken for good, or for all turns of a loop.
  int64_t floor = 0;
  /// The most that is taken at a time, and the op that takes so much.
  int64_t most = 0;
  mlir::Operation *largestOp = nullptr;
  int64_t reservedBytes = 0;
  Value reservedBase; // i32, set at the end
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_SHAREDMEMORY_H
