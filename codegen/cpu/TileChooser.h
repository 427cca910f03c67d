//===- TileChooser.h - the model that chooses tile sizes for a CPU --------===//
//
// What ChooseTiles.cpp reads of a kernel, and what ElementTiles.cpp and
// ContractionTiles.cpp choose by it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_CPU_TILECHOOSER_H
#define TILE_CODEGEN_CPU_TILECHOOSER_H

#include "codegen/cpu/ChooseTiles.h"
#include "ir/proofs/Domain.h"

#include "llvm/ADT/MapVector.h"

namespace tile::codegen {

/// An axis of unknown extent counts as long.
inline constexpr int64_t unknownExtent = 4096;
struct AxisInfo {
  int64_t extent = unknownExtent;
  bool isSizable = false, isProgram = false;
  /// Neighbours along it are neighbours in memory; of something with more than one axis.
  bool isInner = false, isRowEnd = false;
  /// The largest tensor that has the axis has so many elements, and so many dimensions further in.
  double mostElements = 0;
  unsigned furtherIn = 0;
  /// What it is in contractions.
  bool isRow = false, isColumn = false, isDepth = false;
  /// To choose from, and what is chosen.
  llvm::SmallVector<int64_t> candidates;
  int64_t size = 1, least = 1;
};

/// An op that is not for nothing: an element, by axes.
struct Arithmetic {
  llvm::ArrayRef<mlir::StringAttr> axes;
  llvm::SmallVector<ir::ForOp, 1> loops; // of dear ones
  int cost;                              // as costOf counts
};

/// A reduction of a tile, by axes, and the loops that it stands in.
struct Reduction {
  llvm::ArrayRef<mlir::StringAttr> axes;
  llvm::SmallVector<ir::ForOp, 1> loops;
};

/// A contraction by axes, and the loops over blocks that it stands in.
struct Contraction {
  llvm::SmallVector<mlir::StringAttr> rows, columns;
  llvm::SmallVector<ir::ForOp> loops;
  mlir::StringAttr depth;
  double bytes; // of an element of the result, and of packed operands
  /// It reads the rows of some tensors a block at a time: these are the bytes of their elements.
  llvm::SmallVector<double, 1> inBlocks;
};

/// Sizes of one kernel for one machine.
class TileChooser {
public:
  TileChooser(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
              const llvm::StringMap<int64_t> &given, const CpuMachine &machine)
      : kernel(kernel), domains(kernel), dims(dims), given(given), machine(machine) {}
  llvm::StringMap<int64_t> choose();
  /// After `choose`: whether some sum may add up in another order where the binder's size is the
  /// other one.
  bool decidesOrder(mlir::StringAttr binder, int64_t size, int64_t other);
  /// After `choose`: of a program, those of all contractions, and of the tiles that it keeps.
  double cyclesOfContractions();
  double keptBytes();

private:
  std::optional<int64_t> evaluate(mlir::Value value);
  void collectAxes();
  void collectRoles();
  void collectArithmetic(mlir::Operation *op);
  void collectCandidates();
  /// Takes the candidate nearest to `wanted`, by ratio.
  void take(AxisInfo &axis, double wanted);
  double rowsAtOnce();
  double sideOfSquare(int innerAxes);
  double bytesOfRows();
  void chooseForElements();
  void takeLongPieces(mlir::StringAttr rows);
  void avoidRepeats();
  double bytesOf(mlir::Type type);
  int64_t mostAlong(mlir::StringAttr axis);
  void chooseForContractions();
  double length(mlir::StringAttr axis);
  double blocksOf(ir::ForOp loop);
  /// What a program takes for a contraction: cycles, and bytes that it works on.
  struct DotCycles {
    double multiply = 0, move = 0, bytes = 0;
    double sum = 0; // of products, in vectors
  };
  DotCycles cyclesOf(const Contraction &dot);
  double cyclesOfReading(const Contraction &dot, double vectors, double bytes);
  double costOfContractions();
  double descend(llvm::ArrayRef<AxisInfo *> open);
  double programs() const;

  ir::KernelOp kernel;
  ir::Domains domains;
  llvm::ArrayRef<int64_t> dims;
  const llvm::StringMap<int64_t> &given;
  const CpuMachine &machine;
  // Sizes are taken from short lists, so that shapes near each other share their code.
  llvm::MapVector<mlir::StringAttr, AxisInfo> axes;
  llvm::SmallVector<Contraction> dots;
  llvm::SmallVector<Arithmetic> arithmetic;
  llvm::SmallVector<Reduction> reductions;
  llvm::SmallVector<llvm::ArrayRef<mlir::StringAttr>> stored; // the axes of each tile
  double eachPrograms = 1; // of the binders that take one element at a time
  double costEach = 0;     // of an element, as costOf counts
};

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_TILECHOOSER_H
