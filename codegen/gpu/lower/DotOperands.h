//===- DotOperands.h - operands of contractions, and where they are -------===//
#ifndef TILE_CODEGEN_GPU_LOWER_DOTOPERANDS_H
#define TILE_CODEGEN_GPU_LOWER_DOTOPERANDS_H

#include "codegen/gpu/dialect/WarpMma.h"
#include "codegen/gpu/lower/Types.h"

#include <map>

namespace tile::codegen::gpu {

/// A load of a loop, of which copies bring blocks of turns to come (Stages.cpp): elements that one
/// copy moves; where its tile begins and ends in a slot, and steps along its axes there, of
/// elements.
struct StagedLoad {
  ir::LoadOp load;
  int64_t width = 1, start = 0, end = 0;
  llvm::SmallVector<int64_t> strides;
};
/// What a turn has of it.
struct StagedOperand {
  const StagedLoad *staged = nullptr;
  mlir::Value slot;
};

/// One operand of a dot: a tile, and where its elements go.
struct DotOperand {
  Tile tile;
  CodeBuilder::Values mask;
  mlir::Type element; // of the IR
  bool hasMask;       // whether elements in the middle may be outside
  bool isZeroOutside;
  int along; // the contracted axis
  llvm::SmallVector<int64_t> strides;
  int64_t start = 0, maskStart = 0, slots = 0;
  mlir::Value base, maskBase;
  bool isResident = false; // for all turns of its loop
  /// Where copies have brought it; without a slot, nowhere.
  StagedOperand copied;

  /// Lays it out with so many coordinates of the contracted axis at a time, from byte `offset` on;
  /// gives the end.
  int64_t layOut(int64_t offset, int64_t chunk, mlir::Type type,
                 llvm::ArrayRef<mlir::StringAttr> axes, const Layout &result);
};

/// An operand as the instruction takes it.
struct DotFragments {
  const Tile *source = nullptr;
  /// The source's, and what is multiplied.
  mlir::Type element, multiplied;
  mlir::Type type; // as registers have it
  /// Of the source's registers; none where copies bring them.
  CodeBuilder::Values numbers = {};
  /// Which of them count; empty: all that aren't zero.
  CodeBuilder::Values mask = {};
  Layout layout;   // the instruction's
  unsigned along;  // the contracted axis
  unsigned own;    // the one that is the result's rows or columns
  unsigned inner;  // the axis whose elements are neighbours in shared memory
  int64_t perWord; // elements in a register
  bool isStaged;
  llvm::SmallVector<int64_t> strides = {}; // in shared memory, of elements
  int64_t start = 0, bytes = 0;
  mlir::Value base = {};
  std::map<int64_t, CodeBuilder::Values> words =
      {}; // that were fetched, by the number of the first element

  int64_t elementBytes() const { return type.getIntOrFloatBitWidth() / 8; }
  void layOut(int64_t offset);
  /// Elements that lie together in a thread's registers and in shared memory, of 16 bytes at most.
  int64_t neighbours() const;
  /// Whether the instruction contracts more than the source's registers cover.
  bool needsClearing() const {
    return isStaged && layout.extent(along) > source->layout.extent(along);
  }
  /// Whether `ldmatrix` fetches it, and turns it.
  bool isTurned() const { return inner != along; }
  bool hasMatrices() const {
    return perWord * elementBytes() == 4 && (!isTurned() || elementBytes() == 2);
  }
  /// Elements that one instruction fetches.
  int64_t unit() const;
  /// Where lanes find the rows of the matrices that belong to the first unit of `layout`.
  Layout rowsOfMatrices() const;
};

/// Knows where operands of contractions are, and brings them where they are read.
class DotOperands : public Emitter {
public:
  using Emitter::Emitter;

  /// The operand as elements has registers and a mask where they are asked for.
  DotOperand operandOf(ir::DotOp op, unsigned number, bool hasRegisters);
  /// The operand as instructions of warps take it.
  DotFragments fragmentsOf(const DotOperand &operand, const WarpMma &mma, const Layout &layout);
  /// Whether a conversion is made where its dots are: what they need of it, by way of shared
  /// memory.
  bool isMadeByDots(ConvertOp op) const;
  /// Puts what an operand has of a chunk into shared memory, as numbers of the accumulator's type.
  void storeOperand(const DotOperand &operand, mlir::Type type, Value chunkStart, int64_t chunk);
  /// Puts what contractions by threads take of before their loop into shared memory once, for all
  /// turns, if there is room: registers are then free of it. Gives what `residents` has more.
  llvm::SmallVector<std::pair<ir::DotOp, unsigned>> placeResidents(ir::ForOp loop);
  /// Where a register's vector lies in a slot.
  Value placeInSlot(const StagedLoad &staged, Value slot, int64_t reg);
  /// What this thread has copied of a turn, as registers of the load.
  Values readStaged(const StagedOperand &operand);

  /// Loads whose tiles copies have brought to shared memory.
  llvm::DenseMap<mlir::Operation *, StagedOperand> stagedOperands;
  /// Where operands are that stay for all turns of a loop.
  std::map<std::pair<mlir::Operation *, unsigned>, Value> residents;

private:
  /// The operand of this number as it was made: a conversion for the op alone is made with it.
  Value sourceOf(ir::DotOp op, unsigned number) const;
};

/// How much of the contracted axis both operands' layouts cover.
int64_t coveredBy(llvm::ArrayRef<DotOperand> operands);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_DOTOPERANDS_H
