//===- PipelineEmitter.h - roles, channels, and what tensor cores do ------===//
#ifndef TILE_CODEGEN_GPU_LOWER_PIPELINEEMITTER_H
#define TILE_CODEGEN_GPU_LOWER_PIPELINEEMITTER_H

#include "codegen/gpu/lower/Context.h"
#include "codegen/gpu/target/GpuCode.h"

namespace tile::codegen::gpu {

/// What one copy of a warp's rows moves.
TensorBox boxOf(SendOp op);
/// The boxes that a kernel's copies move, each once, in the order of their first use.
llvm::SmallVector<TensorBox> tensorMapsOf(ir::KernelOp kernel);

/// Emits roles, channels and what tensor cores do between them.
class PipelineEmitter : public Emitter {
public:
  explicit PipelineEmitter(LoweringContext &context);

private:
  //===-- Channels and roles (EmitPipeline.cpp) ----------------------------===//
  void emitChannel(ChannelOp op);
  void emitPut(PutOp op);
  struct Item;
  Item itemOf(mlir::TypedValue<ChannelType> channel, Value number);
  void copyPart(PutOp op, size_t n, const Item &item, Values place);
  void emitGet(GetOp op);
  void emitRelease(ReleaseOp op);
  void emitRoles(ir::ParallelOp parallel, RolesOp roles);
  void emitRole(ir::ParallelOp parallel, RolesOp roles, unsigned number);
  /// Waits for the warpgroup's turn, or passes it on.
  void emitTurn(bool waits);
  void giveFirstTurn(mlir::Region &role);
  /// The parameter that is the map of a box, and where a box begins, as i32, innermost first.
  Value tensorMap(const TensorBox &box);
  Values placeOfBox(mlir::AffineMap map, mlir::ValueRange dims);

  //===-- Tensor cores (EmitMma.cpp, EmitCombine.cpp) -----------------------===//
  void emitRead(ReadOp op);
  /// Two matrices, the first one in shared memory or in registers, and how their product is in
  /// registers.
  struct MmaSource {
    Value a, b;
    bool aByColumns, bByColumns;
    const Layout &layout;
  };
  Values startMma(const MmaSource &source, mlir::ValueRange registers, int64_t rowRepeat,
                  Value adds, bool commits);
  void emitMma(MmaOp op);
  void emitFresh(MmaFreshOp op);
  /// Waits for groups; the registers are those of the pending tile.
  Values waitForMma(mlir::ValueRange registers, int64_t pending);
  void combineBlocks(CombineOp op);

  //===-- Copies to tensors (EmitSend.cpp) ----------------------------------===//
  /// Room in which warps leave their rows for copies to fetch.
  void makeOutboxes(RolesOp roles);
  void emitSend(SendOp op);
  /// Leaves the warp's 16 rows from `row` and `column` of the tile on there.
  void fillOutbox(SendOp op, Value outbox, int64_t row, int64_t column);
  void finishSends(unsigned role);

  /// Where the channels' slots begin, and their barriers.
  struct ChannelPlace {
    int64_t slots, barriers;
  };
  llvm::DenseMap<Value, ChannelPlace> channels;
  llvm::DenseMap<Value, Value> matrices; // addresses in shared memory, i32
  llvm::SmallVector<TensorBox> tensorMaps;
  /// Where the outboxes of the roles' warps begin, by role; negative: there are none.
  llvm::SmallVector<int64_t> outboxes;
  /// Copies from a warp's outboxes that were emitted for a program.
  int64_t numSent = 0;
  /// From which one on the hardware's barriers are those of warpgroups' turns.
  unsigned firstTurnBarrier = 0;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_PIPELINEEMITTER_H
