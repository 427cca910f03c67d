// The evaluator's machine: values and domains, control flow (Evaluator.cpp), memory
// (EvaluatorMemory.cpp), tiles (EvaluatorTiles.cpp), and what runs along axes (EvaluatorAlong.cpp).
#pragma once

#include "ir/transforms/LongSums.h"
#include "tests/fuzz/kernels/Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>
#include <optional>

namespace tile::fuzz::evaluator {
using namespace ir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;
using mlir::AffineExpr;
using mlir::AffineMap;
using mlir::Block;
using mlir::Operation;
using mlir::StringAttr;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
namespace arith = mlir::arith;
namespace scf = mlir::scf;
using Names = ArrayRef<StringAttr>;

struct Tile {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> extents;
  DType type = DType::F32;
  std::vector<NumberSet> elements;
};

struct Axis {
  int64_t origin = 0, count = 0;
};

struct Condition {
  RestrictOp op;
  SmallVector<int64_t> syms;
};

struct Memory {
  DType type = DType::F32;
  ParamMode mode = ParamMode::In;
  std::vector<int64_t> shape;
  std::vector<NumberSet> elements;
  std::vector<char> isWritten;
  // Of reduce outputs.
  CombineKind kind = CombineKind::add;
  std::vector<SumOf> sums;
  std::vector<ProductOf> products;
};

/// Steps through the coordinates of axes in row-major order.
class Walk {
public:
  Walk(ArrayRef<int64_t> extents) : extents(extents), position(extents.size(), 0) {
    isDone = llvm::is_contained(extents, 0);
  }
  void next() {
    for (size_t d = extents.size(); d-- > 0; position[d] = 0)
      if (++position[d] < extents[d])
        return;
    isDone = true;
  }
  ArrayRef<int64_t> extents;
  SmallVector<int64_t> position;
  bool isDone;
};

class Machine {
public:
  Machine(KernelOp kernel, ArrayRef<Argument> arguments, ArrayRef<int64_t> dims)
      : kernel(kernel), arguments(arguments), dims(dims), sumSteps(ir::sumSteps(kernel)) {}
  void run();
  Evaluation result;

private:
  bool hasStopped() const { return !result.problem.empty() || result.failure; }
  void stop(Operation *op, const Twine &why, bool isUndecided = false) {
    if (hasStopped())
      return;
    result.problem = (why + " at " + op->getName().getStringRef()).str();
    result.isUndecided = isUndecided;
  }

  //===-- Values ----------------------------------------------------------===//
  /// The value of a scalar that has to be known.
  int64_t integer(Operation *op, Value value);
  void set(Value value, NumberSet scalar) { tiles[value] = {{}, {}, scalar.type, {scalar}}; }
  SmallVector<Tile> copy(ValueRange values);
  void assign(ValueRange values, ArrayRef<Tile> from);
  /// Every axis as long as it is in scope, elements of the type's zero.
  Tile newTile(Type type);
  Tile newTile(Names axes, DType type);
  static int64_t offset(const Tile &tile, Names axes, ArrayRef<int64_t> position);
  const NumberSet &at(Value value, Names axes, ArrayRef<int64_t> position);

  //===-- Domains ---------------------------------------------------------===//
  bool isInside(Names axes, ArrayRef<int64_t> position);
  int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dimValues, ArrayRef<int64_t> syms);

  //===-- Ops -------------------------------------------------------------===//
  void bindParameters();
  void runBlock(Block &block);
  void execute(Operation *op);
  void parallel(ParallelOp op, size_t binder);
  void loop(ForOp op);
  void merge(ForOp op, const Tile &before, Tile &after);
  void count(scf::ForOp op);
  void branch(scf::IfOp op);
  void whileLoop(scf::WhileOp op);
  void constant(arith::ConstantOp op, Tile &tile);
  void load(LoadOp op);
  template <typename OpT>
  void write(OpT op);
  void combine(Memory &memory, int64_t element, const NumberSet &value);
  void reduce(ReduceOp op);
  void argReduce(ArgReduceOp op);
  void countDomain(CountOp op);
  void dot(DotOp op);
  void elementwise(Operation *op);
  SmallVector<NumberSet> combine(ScanOp op, ArrayRef<NumberSet> state, ArrayRef<NumberSet> element);
  void scan(ScanOp op);
  void sort(SortOp op);
  void take(TakeOp op);
  void atomic(AtomicOp op);
  void check(AssertOp op);
  void print(PrintOp op);
  std::string show(Value value, DType type);
  void finish();

  /// Where an access goes; none outside, or where an index isn't known (then stops).
  struct Place {
    SmallVector<int64_t> at;
    bool isKnown = true;
  };
  Place place(AffineMap map, ValueRange mapDims, ValueRange mapSyms, Names axes,
              ArrayRef<int64_t> position);
  static std::optional<int64_t> elementOf(const Memory &memory, ArrayRef<int64_t> at);
  /// Whether an index may go outside an output.
  static bool isData(AffineMap map, ValueRange mapDims, ValueRange mapSyms, unsigned dimension);

  /// Restores axes and conditions at its end.
  struct Scope {
    explicit Scope(Machine &machine)
        : machine(machine), axes(machine.axes), conditions(machine.conditions.size()) {}
    ~Scope() {
      machine.axes = std::move(axes);
      machine.conditions.resize(conditions);
    }
    Machine &machine;
    std::map<StringRef, Axis> axes;
    size_t conditions;
  };

  KernelOp kernel;
  ArrayRef<Argument> arguments;
  ArrayRef<int64_t> dims;
  /// Additions to sums that loops carry.
  llvm::DenseMap<Operation *, unsigned> sumSteps;
  llvm::DenseMap<Value, Tile> tiles;
  llvm::DenseMap<Value, Memory> memories;
  std::map<StringRef, Axis> axes;
  std::vector<Condition> conditions;
  int64_t steps = 0;
  /// Elements that were made or written. Those of a large kernel take minutes.
  int64_t elements = 0;
  void count(int64_t more, mlir::Operation *op);
};

} // namespace tile::fuzz::evaluator
