//===- Exchange.h - elements that move between threads --------------------===//
//
// Within a thread nothing has to be done, within a warp shuffles do it, between warps
// the block's shared memory, and between the blocks of a cluster theirs (Clusters.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_EXCHANGE_H
#define TILE_CODEGEN_GPU_LOWER_EXCHANGE_H

#include "codegen/gpu/lower/Types.h"

namespace tile::codegen::gpu {

/// Moves elements between threads.
class Exchange : public Emitter {
public:
  using Emitter::Emitter;

  /// The value of the lane whose number differs in these bits.
  Value shuffleXor(Value value, unsigned mask);
  /// Whether a condition that differs by thread holds in any of the program.
  Value anyThread(Value condition);
  /// Returns the tile by another layout.
  Tile convert(const Tile &tile, const Layout &layout);
  /// The registers of the thread whose copy acts, in all threads with copies.
  Values shareFirst(const Layout &layout, Values registers);

  /// Folds states of several numbers, each a list of registers, along axes. Every register is taken
  /// to be inside; gives the layout of what is left, and the states.
  std::pair<Layout, llvm::SmallVector<Values>> reduceStates(const Layout &layout,
                                                            llvm::ArrayRef<Values> states,
                                                            llvm::ArrayRef<unsigned> kept,
                                                            Combine combine);
  /// The states of a thread's registers that end in one place, folded as a tree; by register of
  /// what is left.
  static llvm::SmallVector<Values> foldRegisters(const Layout &layout, const Layout &left,
                                                 llvm::ArrayRef<Values> states,
                                                 llvm::ArrayRef<unsigned> kept, Combine combine);
  /// Between the threads of a program.
  void foldThreads(const Layout &layout, llvm::ArrayRef<unsigned> kept,
                   llvm::MutableArrayRef<Values> folded, Combine combine);
  /// A reduction's input, with the identity for what is not inside.
  Values identityOutside(ir::ReduceOp op);

  /// Whether blocks of the cluster have folded something together: then each announces itself.
  bool hasClusterFolds = false;
  /// At the end of the prologue: this block may be written to. The others are waited for where they
  /// are written to first.
  void announceBlock();

private:
  /// The value of another lane of the warp.
  Value shuffleFrom(Value value, Value lane);
  Value shuffle(Value value, llvm::StringRef intrinsic, Value operand);
  Values exchangeLanes(const WarpExchange &exchange, mlir::ValueRange registers);
  /// Between warps: each leaves its states in shared memory, and all read all of them.
  void foldWarps(const Layout &left, unsigned warpMask, llvm::MutableArrayRef<Values> folded,
                 Combine combine);
  /// Between the blocks of a cluster, in the order of their numbers (Clusters.cpp).
  void foldBlocks(const Layout &left, unsigned blockMask, llvm::MutableArrayRef<Values> folded,
                  Combine combine);
  Value arrivalOf(int64_t bytes);
  void waitForBlocks();
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_EXCHANGE_H
