//===- ReportEmitter.h - assertions and prints ----------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_REPORTEMITTER_H
#define TILE_CODEGEN_GPU_LOWER_REPORTEMITTER_H

#include "codegen/gpu/lower/Context.h"

namespace tile::codegen::gpu {

/// Emits assertions and prints.
class ReportEmitter : public Emitter {
public:
  explicit ReportEmitter(LoweringContext &context);

private:
  void emitAssert(ir::AssertOp op);
  void emitPrint(ir::PrintOp op);
  /// The program ends where the condition holds, which is the same in all of its threads.
  void leaveIf(Value condition, llvm::function_ref<void()> before);
  void reportFailure(ir::AssertOp op, mlir::ValueRange coordinates);
  void storeShown(const Tile &tile, Value record, int64_t data, int64_t defined);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_REPORTEMITTER_H
