//===- Barriers.h - where threads wait for each other ---------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_BARRIERS_H
#define TILE_CODEGEN_GPU_LOWER_BARRIERS_H

#include "codegen/gpu/lower/Types.h"

#include "llvm/ADT/MapVector.h"

namespace tile::codegen::gpu {

/// Has threads wait for each other, where accesses may meet.
class Barriers : public Emitter {
public:
  using Emitter::Emitter;

  /// All threads of the warps that run this come here.
  void meet();
  /// All threads of a cluster come here; `order`: with all that they have sent to each other.
  void meetBlocks(llvm::StringRef order);

  /// Finds the tensors whose accesses have an order: those that other programs may change.
  void findContended();
  /// An access comes: a barrier where it may meet one before it.
  void order(Value memory, bool writes);
  /// Afterwards any access may have happened, as at the ends of regions.
  void assumeAccesses();

  /// Which of the hardware's barriers the warps use that run this.
  unsigned number = 0;

private:
  /// What happened to a tensor of a grid kernel since the last barrier.
  struct Accesses {
    bool byTiles = false, isRead = false, isWritten = false;
  };
  llvm::MapVector<Value, Accesses> accesses;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_BARRIERS_H
