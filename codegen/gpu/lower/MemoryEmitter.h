//===- MemoryEmitter.h - loads and stores of tiles ------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_MEMORYEMITTER_H
#define TILE_CODEGEN_GPU_LOWER_MEMORYEMITTER_H

#include "codegen/gpu/lower/Context.h"
#include "codegen/gpu/plan/PlanProgram.h"

namespace tile::codegen::gpu {

/// Emits loads and stores.
class MemoryEmitter : public Emitter {
public:
  explicit MemoryEmitter(LoweringContext &context);

private:
  void emitLoad(ir::LoadOp op);
  void emitScalarLoad(ir::LoadOp op);
  void emitStore(ir::StoreOp op);
  /// The tile as it is in memory; where parts of it are kept (LoopAxis.h), and where from.
  Values readTile(ir::LoadOp op, const Access &access, int64_t width);
  Values readKept(ir::LoadOp op, const Access &access, int64_t width);
  /// Asks for the rows of a program that comes later, after the last load of rows, if the kernel's
  /// plan says so (Prefetch.cpp).
  void prefetchAfter(ir::LoadOp load);
  void prefetchRows(const PrefetchedRows &rows, Value exists);

  struct Kept {
    Layout layout;
    int64_t width = 0;
    Value base;
  };
  llvm::DenseMap<int64_t, Kept> kept;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_MEMORYEMITTER_H
