//===- AtomicEmitter.h - what other programs read and write meanwhile -----===//
#ifndef TILE_CODEGEN_GPU_LOWER_ATOMICEMITTER_H
#define TILE_CODEGEN_GPU_LOWER_ATOMICEMITTER_H

#include "codegen/gpu/lower/Context.h"

namespace tile::codegen::gpu {

/// Emits atomic operations.
class AtomicEmitter : public Emitter {
public:
  explicit AtomicEmitter(LoweringContext &context);

private:
  void emitAtomic(ir::AtomicOp op);
  /// The operation on one element where the predicate holds (null: always); gives the old one.
  Value emitAtomicElement(ir::AtomicOp op, Value address, Value predicate, Value value,
                          Value expected);
  Value emitFloatExtreme(ir::AtomicOp op, Value address, Value predicate, Value value);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_ATOMICEMITTER_H
