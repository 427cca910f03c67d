//===- ReduceEmitter.h - reductions, and tiles by other layouts -----------===//
#ifndef TILE_CODEGEN_GPU_LOWER_REDUCEEMITTER_H
#define TILE_CODEGEN_GPU_LOWER_REDUCEEMITTER_H

#include "codegen/gpu/lower/Context.h"

namespace tile::codegen::gpu {

/// Emits reductions and conversions.
class ReduceEmitter : public Emitter {
public:
  explicit ReduceEmitter(LoweringContext &context);

private:
  void emitConvert(ConvertOp op);
  void emitReduce(ir::ReduceOp op);
  void emitPartialReduce(PartialReduceOp op);
  void emitArgReduce(ir::ArgReduceOp op);
  void emitCountOp(ir::CountOp op);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_REDUCEEMITTER_H
