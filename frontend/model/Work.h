//===- Work.h - what a launch has to move and to compute ------------------===//
//
// Counted on a kernel's IR and the dimensions of a launch, not measured: the
// elements that its accesses reach and the arithmetic that it is written with.
// The same numbers for every device, so that runs, predictions and rooflines
// can be compared (docs/bench.md says what counts).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_MODEL_WORK_H
#define TILE_FRONTEND_MODEL_WORK_H

#include "frontend/model/DeviceDescription.h"
#include "ir/dialect/TileOps.h"

#include "llvm/ADT/StringMap.h"

#include <limits>

namespace tile::frontend {

struct Work {
  /// Each element that is read counts once, and once each that is written: what a memory has to
  /// move at least.
  double bytesRead = 0, bytesWritten = 0;
  /// Each access counts each time: what caches and shared memory have to serve.
  double bytesAccessed = 0;
  /// It counts the same as if all elements of a tile's axes were as wide as the widest: a thread
  /// has vectors of as many of each, and waits for them.
  double bytesAbreast = 0;
  /// What of `bytesAccessed` was read before by another program, or in another turn of a loop, by
  /// access; and its elements, each once: so much of it lies between two readings at most.
  struct Reread {
    double bytes = 0, span = 0;
  };
  std::vector<Reread> rereads;
  /// What of them doesn't come from a cache of so many bytes, which keeps what is short.
  double rereadBeyond(double cache) const;
  /// What comes with them for nothing: memories move whole pieces, also for few elements side by
  /// side.
  double restOfPieces = 0;
  static constexpr double bytesOfPiece = 64;
  /// Arithmetic by the unit that could do it and the type: a multiply-add is two, a function one.
  /// Infinite where data decides how often.
  std::map<std::pair<Unit, runtime::DType>, double> operations;
  /// Of those the functions of floats that take many instructions each: tanh, sin, erf …; one that
  /// takes few, such as exp, is a quarter of one. A random number is half of one.
  double functions = 0;
  /// What functions of fewer elements lack of so many at each time: on a CPU they take as long as
  /// for these, as there is nothing else to do meanwhile.
  double functionsOfFew = 0;
  static constexpr double elementsOfFunction = 40;
  /// Elements that reductions along an innermost axis give: each ends with what its lanes have,
  /// however short it is.
  double reduced = 0;
  /// The most that a program's loop carries from block to block, or that a contraction adds up at a
  /// time: what has to stay in registers.
  double carriedBytes = 0;
  /// Programs of the launch.
  double programs = 1;
  /// The contractions, in the order in which they stand in the kernel, with the type of what they
  /// multiply; their operations are among `operations`.
  struct Contraction {
    runtime::DType type;
    double operations = 0;
    /// A GPU makes its sums as others (VectorDots.h).
    bool isOfVectors = false;
  };
  std::vector<Contraction> contractions;
  /// The most that a product of a whole axis has of its operands at a time, where one of them
  /// is made by loops or reductions itself, so that it can't go block by block.
  double contractedBytes = 0;
  /// False if conditions or data decide, so that something is an estimate.
  bool isExact = true;

  double bytes() const { return bytesRead + bytesWritten; }
  double totalOperations() const;
  /// Operations for each byte.
  double intensity() const { return totalOperations() / bytes(); }
  Work &operator+=(const Work &other);

  /// Seconds that a device's arithmetic takes at least; 0 where the description has no figure for
  /// it.
  double computeSeconds(const DeviceDescription &device) const;
};

/// A launch of a kernel. By parameter: shapes (empty for scalars) and the bits of scalars. `sizes`
/// has the tile sizes of the binders that are open in it; a specialized kernel needs none. What
/// data decides happens `unknownCount` times.
Work countWork(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
               llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes, llvm::ArrayRef<uint64_t> scalars,
               const llvm::StringMap<int64_t> &sizes = {},
               double unknownCount = std::numeric_limits<double>::infinity());

} // namespace tile::frontend

#endif // TILE_FRONTEND_MODEL_WORK_H
