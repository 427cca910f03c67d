//===- AlongEmitter.h - scans, sorts and takes: what goes along an axis ---===//
#ifndef TILE_CODEGEN_GPU_LOWER_ALONGEMITTER_H
#define TILE_CODEGEN_GPU_LOWER_ALONGEMITTER_H

#include "codegen/gpu/lower/Context.h"

namespace tile::codegen::gpu {

class Scan;
struct ScanRun;
struct ScanLines;

/// Emits scans, sorts and takes.
class AlongEmitter : public Emitter {
public:
  explicit AlongEmitter(LoweringContext &context);

private:
  void emitScan(ir::ScanOp op);
  /// By number: states by register, and the last ones by register of the layout without the axis.
  struct Scanned {
    llvm::SmallVector<Values> states, last;
  };
  /// Combines along an axis of a layout that `layoutForScan` gave, from `inits` on. Where the mask
  /// of a register doesn't hold, the state stays.
  Scanned scanStates(const Layout &layout, unsigned axis, bool reverse,
                     llvm::ArrayRef<Values> states, llvm::ArrayRef<Value> mask,
                     llvm::ArrayRef<Values> inits, Combine combine);
  /// This layout, or if threads don't follow each other along the axis another one.
  Layout layoutForScan(const Layout &layout, unsigned axis) const;
  /// Joins a run's total with those of the other lanes; all runs' with those of the other warps,
  /// which have them by place of `left` and repeat.
  void joinLanes(const Scan &scan, ScanRun &run, llvm::ArrayRef<unsigned> bits);
  void joinWarps(const Scan &scan, const Layout &left, ScanLines &lines,
                 llvm::ArrayRef<unsigned> bits);

  void emitSort(ir::SortOp op);
  struct Sorting;
  /// Puts the elements of some lines into shared memory, sorted.
  void sortLines(const Sorting &sorting, const Tile &input, llvm::ArrayRef<Value> mask,
                 const Values &ranks, Value firstLine);
  void mergeStages(const Sorting &sorting);
  /// The n-th elements of lines: values and coordinates, by register of a result.
  std::pair<Values, Values> readSorted(const Sorting &sorting, Value result,
                                       mlir::ValueRange values, mlir::ValueRange coordinates,
                                       Value firstLine);
  /// How many coordinates inside stand before each one.
  Values ranksOf(const Tile &input, unsigned axis, llvm::ArrayRef<Value> mask);
  Value lineOf(const Sorting &sorting, Axes axes, const Layout &layout, int64_t reg);

  void emitTake(ir::TakeOp op);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_ALONGEMITTER_H
