//===- InterpreterImpl.h - the interpreter from inside --------------------===//
//
// One machine that walks the IR. Its rules stand in these files: control flow
// and programs (Interpreter.cpp), domains (InterpreterDomain.cpp), memory
// (InterpreterMemory.cpp), tiles (InterpreterTiles.cpp), what loops add up
// (InterpreterSums.cpp), scans and sorts (InterpreterAlong.cpp), assertions and prints
// (InterpreterReports.cpp) and elementwise ops (InterpreterElementwise.cpp). How far other
// executions may be from this one stands beside each value (InterpreterErrors.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_INTERPRETER_INTERPRETERIMPL_H
#define TILE_IR_INTERPRETER_INTERPRETERIMPL_H

#include "ir/interpreter/Interpreter.h"
#include "ir/interpreter/InterpreterErrors.h"
#include "ir/interpreter/InterpreterNumbers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <vector>

namespace tile::ir::interpreter {

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::LogicalResult;

/// One number an axis, or a coordinate: tiles have few axes.
using Extents = SmallVector<int64_t, 4>;

/// The coordinates of a tile, in row-major order, and which are in its domain.
struct Box {
  ArrayRef<mlir::StringAttr> axes;
  Extents extents;
  int64_t size = 1;
  /// By coordinate; null where the domain is the whole box.
  std::shared_ptr<const std::vector<char>> defined;

  bool contains(int64_t index) const { return !defined || (*defined)[index]; }
  /// Calls `visit(index, position)` for each coordinate of the domain, in order,
  /// until one fails.
  template <typename VisitT>
  LogicalResult forEach(VisitT visit) const {
    Extents position(extents.size(), 0);
    for (int64_t index = 0; index < size; ++index) {
      if (contains(index) && failed(visit(index, ArrayRef<int64_t>(position))))
        return mlir::failure();
      for (size_t d = extents.size(); d > 0; --d) {
        if (++position[d - 1] < extents[d - 1])
          break;
        position[d - 1] = 0;
      }
    }
    return mlir::success();
  }
};

/// A tile or scalar: the elements outside the box's domain mean nothing.
struct Tile : Box {
  Number number = Number::I1;
  std::shared_ptr<std::vector<char>> data;
  /// Of a sum that a loop carries: the elements before they are rounded; null elsewhere.
  std::shared_ptr<std::vector<Wide>> wide;
  /// What is known of its terms, if errors are tracked.
  std::shared_ptr<std::vector<TermSum>> terms;
  /// Axes along which blocks of other sizes add up other parts of what is a sum here, and the
  /// terms of these sums, where they are no sums that a loop carries.
  SmallVector<mlir::StringAttr, 2> cutAlong;
  std::shared_ptr<std::vector<TermSum>> parts;
  /// A product has here what is known of its factors, if errors are tracked.
  std::shared_ptr<std::vector<FactorProduct>> factors;
  /// A Bound an element; null: other executions have the same bits.
  std::shared_ptr<std::vector<char>> bounds;
  /// Axes along which the shared errors come from one place.
  SmallVector<mlir::StringAttr, 2> sharedAlong;

  Bound boundAt(int64_t index) const {
    return bounds ? readAs<Bound>(bounds->data() + index * sizeof(Bound)) : Bound();
  }
  void setBound(int64_t index, Bound bound) {
    writeAs(bounds->data() + index * sizeof(Bound), bound);
  }
  void shareAlong(ArrayRef<mlir::StringAttr> names);
  void addCuts(ArrayRef<mlir::StringAttr> names);
  double asDouble(int64_t index) const {
    return isFloat(number) ? readFloat(number, at(index))
                           : static_cast<double>(readSigned(number, at(index)));
  }

  char *at(int64_t index) const { return data->data() + index * byteWidth(number); }
  /// The terms of a sum so far; those of any other value are the value itself.
  TermSum termsAt(int64_t index) const;
  /// The terms of what other blocks add up in other parts; null elsewhere.
  const TermSum *partsAt(int64_t index) const {
    return cutAlong.empty() ? nullptr
           : parts          ? &(*parts)[index]
           : terms          ? &(*terms)[index]
                            : nullptr;
  }
  const FactorProduct *factorsAt(int64_t index) const {
    return factors ? &(*factors)[index] : nullptr;
  }
  Wide wideAt(int64_t index) const { return wide ? (*wide)[index] : readFloat(number, at(index)); }
  /// How far apart elements are along each of `axes`; 0 for an axis it has not.
  Extents stridesAlong(ArrayRef<mlir::StringAttr> axes) const;
};

inline int64_t offsetOf(ArrayRef<int64_t> position, ArrayRef<int64_t> strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < position.size(); ++d)
    offset += position[d] * strides[d];
  return offset;
}

/// A span in scope, and how many lanes a tile has along it: lane l has the
/// coordinate origin + l. Where a block sticks out of its range there are none.
struct Axis {
  int64_t origin = 0, count = 0;
  /// A loop's block, which other tile sizes cut elsewhere.
  bool isBlock = false;
};

/// A tile.restrict in scope.
struct Restriction {
  RestrictOp op;
  SmallVector<int64_t> syms;
};

/// A tensor parameter.
struct Memory {
  llvm::StringRef name;
  ParamMode mode;
  Number number;
  char *data;
  Extents shape;
  int64_t size = 1;
  /// Of outputs: the program that stored each element, counted from 1; 0 for none.
  std::vector<int64_t> writers;
  /// Of reduce outputs: what has been combined so far, halves in f32; sums and products of floats
  /// in `wide`.
  CombineKind kind = CombineKind::add;
  Number sumNumber;
  std::vector<char> sums;
  std::vector<Wide> wide;
  /// By element; null if nobody asks. Of reduce outputs, what is known of the terms so far.
  float *errors = nullptr, *deviations = nullptr;
  std::vector<TermSum> terms;
  std::vector<FactorProduct> factors;

  Bound boundAt(int64_t element) const {
    return {errors[element], 0, deviations ? deviations[element] : 0};
  }
  /// What elements share is forgotten.
  void setBound(int64_t element, Bound bound);
};

/// The result of a broadcast gets what is known of the sums that are broadcast.
void spreadSums(const Tile &input, const Extents &strides, Tile &result);
/// The result of a linear op keeps the parts that its operands are the sums of.
void keepParts(mlir::Operation *op, ArrayRef<const Tile *> operands, Tile &result);

class Machine {
public:
  Machine(KernelOp kernel, ArrayRef<InterpreterArgument> args, ArrayRef<int64_t> dims,
          const InterpreterOptions &options)
      : kernel(kernel), args(args), dims(dims), options(options) {}

  void run();
  bool overflows(mlir::Operation *op) const;
  void runRequires(RequireOp *failed);
  InterpreterResult result;

private:
  /// Reports the first error, with the program it happened in.
  LogicalResult fail(mlir::Operation *op, const llvm::Twine &message);
  /// The author promised what does not hold.
  LogicalResult failPromise(mlir::Operation *op, const llvm::Twine &message);
  LogicalResult failForMemory(mlir::Operation *op, int64_t bytes);
  std::string describeProgram() const;

  //===-- Interpreter.cpp -------------------------------------------------===//
  LogicalResult bindArguments();
  LogicalResult bindMemory(unsigned param, mlir::MemRefType type);
  LogicalResult runBlock(mlir::Block &block);
  LogicalResult execute(mlir::Operation *op);
  LogicalResult executePrograms(ParallelOp op);
  LogicalResult executeFor(ForOp op);
  LogicalResult runBlocks(ForOp op, int64_t start, int64_t length,
                          llvm::SmallVectorImpl<Tile> &carried);
  LogicalResult mergeCarried(ForOp op, mlir::Value before, mlir::Value after, Tile &merged);
  LogicalResult executeCount(mlir::scf::ForOp op);
  LogicalResult executeIf(mlir::scf::IfOp op);
  LogicalResult executeWhile(mlir::scf::WhileOp op);
  void leaveOpen(mlir::ValueRange results);
  LogicalResult executeRequire(RequireOp op);
  SmallVector<Tile> tilesOf(mlir::ValueRange range) const;
  void setTiles(mlir::ValueRange range, ArrayRef<Tile> tiles);
  void setScalar(mlir::Value value, uint64_t bits, Bound bound = {});
  int64_t integer(mlir::Value value) const;
  bool truth(mlir::Value value) const;

  //===-- InterpreterDomain.cpp -------------------------------------------===//
  /// Ends what was bound and restricted since it began.
  class Scope {
  public:
    explicit Scope(Machine &machine)
        : machine(machine), axes(machine.boundAxes.size()),
          restrictions(machine.restrictions.size()) {}
    ~Scope() { machine.leave(axes, restrictions); }

  private:
    Machine &machine;
    size_t axes, restrictions;
  };
  void leave(size_t axisCount, size_t restrictionCount);
  void bindAxis(mlir::StringAttr name, Axis axis);
  LogicalResult executeAxis(AxisOp op);
  LogicalResult executeRestrict(RestrictOp op);
  void forgetDomains(llvm::function_ref<bool(ArrayRef<mlir::StringAttr>)> concerns);
  LogicalResult makeBox(mlir::Operation *op, ArrayRef<mlir::StringAttr> axes, Box &box);
  LogicalResult computeDomain(mlir::Operation *op, Box &box);
  /// A tile of this type with elements yet to be computed.
  LogicalResult makeTile(mlir::Operation *op, mlir::Type type, Tile &tile);
  LogicalResult makeTile(mlir::Operation *op, mlir::Type element, const Box &box, Tile &tile);
  /// Zeros, which count as memory of tiles as long as they live.
  LogicalResult allocate(mlir::Operation *op, int64_t bytes,
                         std::shared_ptr<std::vector<char>> &data);
  /// Reports if the tile has other extents than its axes in scope.
  LogicalResult checkExtents(mlir::Operation *op, const Tile &tile);
  /// Reports if an element of `tile` that `op` uses over `box` does not exist.
  LogicalResult checkDefined(mlir::Operation *op, const Tile &tile, const Box &box);
  std::string describe(const Box &box, ArrayRef<int64_t> position) const;

  //===-- InterpreterMemory.cpp -------------------------------------------===//
  LogicalResult executeLoad(LoadOp op);
  LogicalResult executeStore(StoreOp op);
  LogicalResult executeUpdate(UpdateOp op);
  LogicalResult executeAtomic(AtomicOp op);
  LogicalResult finishOutputs();
  LogicalResult finish(FinishOp op);
  void noteTouch(mlir::Operation *op, int64_t element) {
    if (options.touch)
      options.touch(op, program - 1, element);
  }
  /// No proof says that a grid kernel stays inside: that its author promises.
  LogicalResult failOutside(mlir::Operation *op, const Memory &memory, ArrayRef<int64_t> at);
  LogicalResult noteStore(StoreOp op, Memory &memory, ArrayRef<int64_t> at, int64_t element);

  //===-- InterpreterReports.cpp ------------------------------------------===//
  LogicalResult executeAssert(AssertOp op);
  LogicalResult executePrint(PrintOp op);

  //===-- InterpreterTiles.cpp --------------------------------------------===//
  LogicalResult executeConstant(mlir::arith::ConstantOp op);
  /// The constants among the operands, with the extents that their axes have here.
  LogicalResult makeConstants(mlir::ValueRange operands);
  LogicalResult makeConstant(mlir::arith::ConstantOp op);
  LogicalResult executeBroadcast(BroadcastOp op);
  LogicalResult executeCoords(CoordsOp op);
  LogicalResult executeReduce(ReduceOp op);
  LogicalResult executeArgReduce(ArgReduceOp op);
  LogicalResult executeCount(CountOp op);
  LogicalResult executeDot(DotOp op);

  //===-- InterpreterAlong.cpp --------------------------------------------===//
  LogicalResult executeScan(ScanOp op);
  LogicalResult combine(ScanOp op, ArrayRef<Tile> inputs, int64_t index,
                        llvm::SmallVectorImpl<Tile> &state);
  LogicalResult executeSort(SortOp op);
  LogicalResult executeTake(TakeOp op);

  //===-- Errors ----------------------------------------------------------===//
  /// Gives the tile bounds, all 0, if some are to be set.
  LogicalResult makeBounds(mlir::Operation *op, Tile &tile, bool isNeeded);
  /// Forgets them where all are 0.
  static void settleBounds(Tile &tile);
  /// Sums and products of a fold: the order of the steps is open.
  bool isStepOfFold(mlir::Operation *op) const;

  //===-- InterpreterSums.cpp ---------------------------------------------===//
  /// One of `sumSteps` but a dot.
  LogicalResult executeSumStep(mlir::Operation *op, unsigned sumSoFar);
  /// Bounds the result of an addition to what a loop carries by all terms so far.
  LogicalResult boundSumStep(mlir::Operation *op, ArrayRef<const Tile *> operands,
                             unsigned sumSoFar, Tile &result);
  void boundDot(DotOp op, const Tile &lhs, const Tile &rhs, const Tile &acc, Tile &result);
  /// The result is a sum along these axes.
  void noteCuts(ArrayRef<mlir::StringAttr> summed, Tile &result) const;

  //===-- InterpreterElementwise.cpp --------------------------------------===//
  LogicalResult executeElementwise(mlir::Operation *op);
  friend class Elementwise;
  friend class AccessWalk;

  KernelOp kernel;
  ArrayRef<InterpreterArgument> args;
  ArrayRef<int64_t> dims;
  const InterpreterOptions &options;

  /// Additions to what loops carry, which round nothing before the loop is over (LongSums.h).
  llvm::DenseMap<mlir::Operation *, unsigned> sumSteps;
  int64_t tileBytes = 0; // outlives the tiles
  llvm::DenseMap<mlir::Value, Tile> values;
  llvm::DenseMap<mlir::Value, Memory> memories;
  llvm::DenseMap<mlir::StringAttr, Axis> axes;
  SmallVector<mlir::StringAttr> boundAxes;
  SmallVector<Restriction> restrictions;
  /// Domains by axes, until a span or restriction among them changes.
  llvm::DenseMap<AxesAttr, std::shared_ptr<const std::vector<char>>> domains;
  /// The coordinates that the current program works on, by binder.
  SmallVector<std::pair<llvm::StringRef, int64_t>> programAt;
  int64_t program = 0; // counted from 1, in row-major order
  uint64_t steps = 0;
  /// Regions around that may run in other steps than here: roundings are others there.
  unsigned freeRegions = 0;
};

} // namespace tile::ir::interpreter

#endif // TILE_IR_INTERPRETER_INTERPRETERIMPL_H
