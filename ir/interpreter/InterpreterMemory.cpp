//===- InterpreterMemory.cpp - loads, stores and updates ------------------===//

#include "ir/dialect/AffineEval.h"
#include "ir/interpreter/InterpreterImpl.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::interpreter;

//===-- Index maps --------------------------------------------------------===//

namespace tile::ir::interpreter {
/// The operands of an index map over a box of coordinates.
class AccessWalk {
public:
  AccessWalk(Machine &machine, const Box &box, AffineMap map, ValueRange mapDims,
             ValueRange mapSyms)
      : machine(machine), map(map) {
    for (Value value : mapDims) {
      Dim &dim = dims.emplace_back();
      if (auto span = dyn_cast<SpanType>(value.getType())) {
        dim.position = llvm::find(box.axes, span.getName()) - box.axes.begin();
        // A span that no result uses gives the tile no axis and is not read.
        if (dim.position == box.axes.size())
          dim.position = 0, dim.isUnused = true;
        dim.origin = machine.axes.lookup(span.getName()).origin;
      } else {
        dim.tile = &machine.values.at(value);
        dim.strides = dim.tile->stridesAlong(box.axes);
      }
    }
    for (Value value : mapSyms) {
      syms.push_back(machine.integer(value));
      symError = std::max(symError, machine.values.at(value).boundAt(0).total());
      symIsData.push_back(comesFromData(value));
    }
  }

  /// Whether some are open.
  bool isOff() const {
    return symError > 0 ||
           llvm::any_of(dims, [](const Dim &dim) { return dim.tile && dim.tile->bounds; });
  }

  /// By how much the indices may be others in another execution: they are integers, so 0 or more.
  double error(ArrayRef<int64_t> position) const {
    double most = symError;
    for (const Dim &dim : dims)
      if (dim.tile)
        most = std::max(most, dim.tile->boundAt(offsetOf(position, dim.strides)).total());
    return most;
  }

  /// Reports if an index tile lacks an element that is needed.
  LogicalResult check(Operation *op, const Box &box) {
    for (const Dim &dim : dims)
      if (dim.tile && failed(machine.checkDefined(op, *dim.tile, box)))
        return failure();
    return success();
  }

  /// The tensor coordinates of a tile coordinate.
  void at(ArrayRef<int64_t> position, Extents &coordinates) {
    values.clear();
    for (const Dim &dim : dims)
      values.push_back(
          dim.tile ? readSigned(dim.tile->number, dim.tile->at(offsetOf(position, dim.strides)))
          : dim.isUnused ? 0
                         : dim.origin + position[dim.position]);
    coordinates.clear();
    for (AffineExpr result : map.getResults())
      coordinates.push_back(evaluateIndex(result, values, syms));
  }

  /// True if the coordinate in this dimension of the tensor depends on data.
  bool isData(size_t dimension) const {
    for (auto [position, dim] : llvm::enumerate(dims))
      if (dim.tile && map.getResult(dimension).isFunctionOfDim(position))
        return true;
    for (auto [position, isData] : llvm::enumerate(symIsData))
      if (isData && map.getResult(dimension).isFunctionOfSymbol(position))
        return true;
    return false;
  }

private:
  /// True unless it is made of dimensions, scalar parameters and counters.
  static bool comesFromData(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *owner = argument.getOwner()->getParentOp();
      bool isCounter = isa<scf::ForOp>(owner) && argument.getArgNumber() == 0;
      return !isCounter && !isa<KernelOp, ParallelOp>(owner);
    }
    Operation *op = value.getDefiningOp();
    return op->getNumRegions() > 0 || isa<LoadOp, AlongAxes>(op) ||
           llvm::any_of(op->getOperands(), comesFromData);
  }

  struct Dim {
    const Tile *tile = nullptr; // of integers, or a span
    Extents strides;
    size_t position = 0; // of the span in the box
    int64_t origin = 0;
    bool isUnused = false;
  };
  Machine &machine;
  AffineMap map;
  SmallVector<Dim> dims;
  SmallVector<int64_t> syms, values;
  SmallVector<bool> symIsData;
  double symError = 0;
};
} // namespace tile::ir::interpreter

static bool isInside(const Memory &memory, ArrayRef<int64_t> at) {
  for (auto [coordinate, extent] : llvm::zip(at, memory.shape))
    if (coordinate < 0 || coordinate >= extent)
      return false;
  return true;
}

static int64_t elementAt(const Memory &memory, ArrayRef<int64_t> at) {
  int64_t element = 0;
  for (auto [coordinate, extent] : llvm::zip(at, memory.shape))
    element = element * extent + coordinate;
  return element;
}

static char *addressOf(const Memory &memory, int64_t element) {
  return memory.data + element * byteWidth(memory.number);
}

/// "`x[3, 9]`"
static std::string nameOf(const Memory &memory, ArrayRef<int64_t> at) {
  std::string text = ("`" + memory.name + "[").str();
  for (auto [d, coordinate] : llvm::enumerate(at))
    text += (d ? ", " : "") + std::to_string(coordinate);
  return text + "]`";
}

/// "`x[3, 9]` is outside [0, 3) × [0, 9)"
static std::string describeOutside(const Memory &memory, ArrayRef<int64_t> at) {
  std::string text = nameOf(memory, at) + " is outside ";
  for (auto [d, extent] : llvm::enumerate(memory.shape))
    text += (d ? " × " : "") + ("[0, " + std::to_string(extent) + ")");
  return text;
}

LogicalResult Machine::failOutside(Operation *op, const Memory &memory, ArrayRef<int64_t> at) {
  std::string message = describeOutside(memory, at);
  return kernel.isGrid() ? failPromise(op, message) : fail(op, message);
}

//===-- Loads -------------------------------------------------------------===//

LogicalResult Machine::executeLoad(LoadOp op) {
  const Memory &memory = memories.at(op.getSource());
  if (memory.mode == ParamMode::Out || memory.mode == ParamMode::Reduce)
    return fail(op, "`" + memory.name + "` is an output, it cannot be read");
  Tile result;
  if (failed(makeTile(op, op.getType(), result)))
    return failure();
  AccessWalk walk(*this, result, op.getMap(), op.getDims(), op.getSyms());
  if (failed(walk.check(op, result)))
    return failure();
  if (failed(makeBounds(op, result, memory.errors || walk.isOff())))
    return failure();
  int64_t width = byteWidth(memory.number);
  const char *pad = op.getPad() ? values.at(op.getPad()).at(0) : nullptr;
  Extents at;
  LogicalResult loaded = result.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    walk.at(position, at);
    if (op.getBounds() == BoundsMode::clamp && memory.size == 0)
      return success(); // zero: nothing is nearest
    if (op.getBounds() == BoundsMode::clamp)
      for (auto [coordinate, extent] : llvm::zip(at, memory.shape))
        coordinate = std::clamp<int64_t>(coordinate, 0, extent - 1);
    bool inside = isInside(memory, at);
    if (!inside && op.getBounds() == BoundsMode::within)
      return failPromise(op,
                         describeOutside(memory, at) + ", though `within` promises it is inside");
    if (!inside && op.getBounds() == BoundsMode::exact)
      return failOutside(op, memory, at);
    int64_t element = inside ? elementAt(memory, at) : 0;
    if (inside)
      noteTouch(op, element);
    if (inside && !memory.writers.empty() && memory.writers[element] &&
        memory.writers[element] != program && !kernel.isGrid())
      return fail(op, nameOf(memory, at) + " was stored by another program");
    std::memcpy(result.at(index), inside ? addressOf(memory, element) : pad, width);
    if (result.bounds && walk.error(position) > 0)
      result.setBound(index, undecided);
    else if (inside && memory.errors)
      result.setBound(index, memory.boundAt(element));
    return success();
  });
  settleBounds(result);
  values[op.getResult()] = std::move(result);
  return loaded;
}

//===-- Stores ------------------------------------------------------------===//

void Memory::setBound(int64_t element, Bound bound) {
  errors[element] = roundUp(bound.total());
  if (deviations)
    deviations[element] = roundUp(std::hypot(deviationOf(bound), deviationOf({bound.shared})));
}

LogicalResult Machine::noteStore(StoreOp op, Memory &memory, ArrayRef<int64_t> at,
                                 int64_t element) {
  int64_t &writer = memory.writers[element];
  if (writer && !kernel.isGrid() && (memory.mode == ParamMode::Out || writer != program))
    return fail(op, nameOf(memory, at) + " is stored twice" +
                        (writer != program ? ", by different programs" : ""));
  writer = program;
  return success();
}

LogicalResult Machine::executeStore(StoreOp op) {
  Memory &memory = memories.at(op.getTarget());
  if (memory.mode == ParamMode::In || memory.mode == ParamMode::Reduce)
    return fail(op, "`" + memory.name + "` is no output that can be stored to");
  const Tile &value = values.at(op.getValue());
  AxisList axes = mapAxes(op.getMap(), op.getDims());
  Box box;
  if (failed(makeBox(op, axes.names, box)) || failed(checkDefined(op, value, box)))
    return failure();
  AccessWalk walk(*this, box, op.getMap(), op.getDims(), op.getSyms());
  if (failed(walk.check(op, box)))
    return failure();
  Extents strides = value.stridesAlong(box.axes), at;
  return box.forEach([&](int64_t, ArrayRef<int64_t> position) {
    walk.at(position, at);
    if (!isInside(memory, at))
      return op.getDrops() ? success() : failOutside(op, memory, at);
    int64_t element = elementAt(memory, at);
    noteTouch(op, element);
    int64_t from = offsetOf(position, strides);
    std::memcpy(addressOf(memory, element), value.at(from), byteWidth(memory.number));
    if (memory.errors)
      memory.setBound(element, walk.error(position) > 0 ? undecided : value.boundAt(from));
    return noteStore(op, memory, at, element);
  });
}

/// Whether a value is made of what a program adds up or folds, so that with tiles of other sizes it
/// is another part of the whole.
static bool isPartial(Value value) {
  SmallVector<Value> open = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || isa<LoadOp>(op))
      continue;
    if (isa<ReduceOp, DotOp>(op) || op->getNumRegions() > 0)
      return true;
    for (Value operand : op->getOperands())
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
  return false;
}

/// What else combines than by sums and products is one of its terms, or made of bits.
static void noteTerm(Memory &memory, int64_t element, const Tile &value, int64_t from,
                     bool isElsewhere, bool isPartial) {
  Bound bound = isElsewhere ? undecided : value.boundAt(from);
  float &error = memory.errors[element];
  if (!memory.terms.empty()) {
    double term = value.asDouble(from);
    memory.terms[element].add(term, bound);
    if (isPartial && isFloat(memory.sumNumber))
      memory.terms[element].roundPart(memory.sumNumber, term);
  } else if (!memory.factors.empty())
    memory.factors[element].add(value.asDouble(from), bound, value.factorsAt(from));
  else if (memory.kind == CombineKind::add)
    error = roundUp(error + bound.total());
  else
    error = std::max(error, roundUp(bound.total()));
}

LogicalResult Machine::executeUpdate(UpdateOp op) {
  Memory &memory = memories.at(op.getTarget());
  if (memory.mode != ParamMode::Reduce || memory.kind != op.getKind())
    return fail(op, "`" + memory.name + "` is not declared to combine by `" +
                        stringifyCombineKind(op.getKind()) + "`");
  const Tile &value = values.at(op.getValue());
  AxisList axes = mapAxes(op.getMap(), op.getDims());
  Box box;
  if (failed(makeBox(op, axes.names, box)) || failed(checkDefined(op, value, box)))
    return failure();
  AccessWalk walk(*this, box, op.getMap(), op.getDims(), op.getSyms());
  if (failed(walk.check(op, box)))
    return failure();
  Extents strides = value.stridesAlong(box.axes), at;
  bool isPart = memory.errors && isPartial(op.getValue());
  return box.forEach([&](int64_t, ArrayRef<int64_t> position) {
    walk.at(position, at);
    if (!isInside(memory, at)) {
      for (auto [d, coordinate] : llvm::enumerate(at))
        if (!walk.isData(d) && (coordinate < 0 || coordinate >= memory.shape[d]))
          return failOutside(op, memory, at);
      return success(); // dropped: the index is data
    }
    Number number = memory.sumNumber;
    int64_t element = elementAt(memory, at);
    noteTouch(op, element);
    int64_t from = offsetOf(position, strides);
    const char *term = value.at(from);
    if (memory.errors)
      noteTerm(memory, element, value, from, walk.error(position) > 0, isPart);
    if (!memory.wide.empty()) {
      memory.wide[element] =
          combineWide(memory.kind, memory.wide[element], readFloat(value.number, term));
      return success();
    }
    char *sum = memory.sums.data() + element * byteWidth(number);
    if (isFloat(number))
      writeFloat(number, sum,
                 combineFloats(memory.kind, readFloat(number, sum), readFloat(value.number, term)));
    else
      writeInteger(
          number, sum,
          combineIntegers(memory.kind, readSigned(number, sum), readSigned(value.number, term)));
    return success();
  });
}

//===-- Atomics -----------------------------------------------------------===//

/// What an atomic operation makes of an element.
static void applyAtomic(AtomicKind kind, Number number, char *element, const char *value,
                        const char *expected) {
  auto combine = [&](CombineKind combination) {
    if (isFloat(number))
      writeFloat(number, element,
                 combineFloats(combination, readFloat(number, element), readFloat(number, value)));
    else
      writeInteger(
          number, element,
          combineIntegers(combination, readSigned(number, element), readSigned(number, value)));
  };
  switch (kind) {
  case AtomicKind::add:
    return combine(CombineKind::add);
  case AtomicKind::max:
    return combine(CombineKind::max);
  case AtomicKind::min:
    return combine(CombineKind::min);
  case AtomicKind::umax:
    return combine(CombineKind::umax);
  case AtomicKind::umin:
    return combine(CombineKind::umin);
  case AtomicKind::andi:
    return combine(CombineKind::andi);
  case AtomicKind::ori:
    return combine(CombineKind::ori);
  case AtomicKind::xori:
    return combine(CombineKind::xori);
  case AtomicKind::cas:
    if (std::memcmp(element, expected, byteWidth(number)) != 0)
      return;
    [[fallthrough]];
  case AtomicKind::exchange:
    std::memcpy(element, value, byteWidth(number));
    return;
  }
  llvm_unreachable("covered switch");
}

/// Whether it leaves one of the numbers that there are: then no order rounds differently.
static bool isSelection(AtomicKind kind) {
  return kind == AtomicKind::max || kind == AtomicKind::min;
}

LogicalResult Machine::executeAtomic(AtomicOp op) {
  Memory &memory = memories.at(op.getTarget());
  if (memory.mode != ParamMode::InOut)
    return fail(op, "`" + memory.name + "` is no `inout` that an atomic operation can change");
  const Tile value = values.at(op.getValue());
  const Tile expected = op.getExpected() ? values.at(op.getExpected()) : Tile();
  Tile result;
  if (failed(makeTile(op, op.getType(), result)) || failed(checkDefined(op, value, result)) ||
      (op.getExpected() && failed(checkDefined(op, expected, result))))
    return failure();
  AccessWalk walk(*this, result, op.getMap(), op.getDims(), op.getSyms());
  if (failed(walk.check(op, result)))
    return failure();
  Extents strides = value.stridesAlong(result.axes), at;
  Extents expectedStrides = expected.stridesAlong(result.axes);
  int64_t width = byteWidth(memory.number);
  if (failed(makeBounds(op, result, memory.errors != nullptr)))
    return failure();
  LogicalResult done = result.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    walk.at(position, at);
    if (!isInside(memory, at)) {
      std::memset(result.at(index), 0, width);
      return op.getDrops() ? success() : failOutside(op, memory, at);
    }
    int64_t number = elementAt(memory, at);
    noteTouch(op, number);
    char *element = addressOf(memory, number);
    std::memcpy(result.at(index), element, width);
    if (memory.errors)
      result.setBound(index, memory.boundAt(number));
    applyAtomic(op.getKind(), memory.number, element, value.at(offsetOf(position, strides)),
                op.getExpected() ? expected.at(offsetOf(position, expectedStrides)) : nullptr);
    if (memory.errors) {
      // The order of programs is open, and the bounds of what they leave with it.
      Bound changed = value.boundAt(offsetOf(position, strides));
      double before = memory.errors[number];
      if (isFloat(memory.number) && !isSelection(op.getKind()))
        before = std::hypot(before,
                            growthOfErrors * errorOfStep(memory.number,
                                                         readFloat(memory.number, result.at(index)),
                                                         readFloat(memory.number, element)));
      memory.setBound(number,
                      walk.error(position) > 0 ? undecided : ownBound(before + changed.total()));
    }
    return success();
  });
  settleBounds(result);
  values[op.getResult()] = std::move(result);
  return done;
}

/// Every element of an output has been stored; sums go to memory.
LogicalResult Machine::finishOutputs() {
  for (BlockArgument argument : kernel.getArguments()) {
    auto found = memories.find(argument);
    if (found == memories.end())
      continue;
    Memory &memory = found->second;
    if (memory.mode == ParamMode::Out)
      for (int64_t element = 0; element < memory.size; ++element)
        if (!memory.writers[element]) {
          Extents at(memory.shape.size());
          int64_t rest = element;
          for (size_t d = at.size(); d-- > 0; rest /= memory.shape[d])
            at[d] = rest % memory.shape[d];
          std::string message = nameOf(memory, at) + " is never stored";
          return kernel.isGrid() ? failPromise(kernel, message) : fail(kernel, message);
        }
    if (memory.mode == ParamMode::Reduce)
      for (int64_t element = 0; element < memory.size; ++element) {
        if (!memory.wide.empty()) {
          auto sum = static_cast<double>(memory.wide[element]);
          writeFloat(memory.number, addressOf(memory, element), sum);
          if (memory.errors)
            memory.setBound(element,
                            memory.terms.empty()
                                ? memory.factors[element].finish(memory.number, sum)
                                : memory.terms[element].finish(memory.number, /*isShared=*/true));
          continue;
        }
        const char *sum = memory.sums.data() + element * byteWidth(memory.sumNumber);
        if (memory.sumNumber == memory.number)
          std::memcpy(addressOf(memory, element), sum, byteWidth(memory.number));
        else
          writeFloat(memory.number, addressOf(memory, element), readFloat(memory.sumNumber, sum));
      }
  }
  for (FinishOp op : kernel.getBody().front().getOps<FinishOp>())
    if (failed(finish(op)))
      return failure();
  return success();
}

LogicalResult Machine::finish(FinishOp op) {
  Memory &memory = memories.at(op.getOutput());
  for (int64_t element = 0; element < memory.size; ++element) {
    char *address = addressOf(memory, element);
    Bound bound = memory.errors ? memory.boundAt(element) : Bound();
    setScalar(op.getBody().getArgument(0), readUnsigned(memory.number, address), bound);
    if (failed(runBlock(op.getBody().front())))
      return failure();
    const Tile &finished = values.at(op.getFinished());
    std::memcpy(address, finished.at(0), byteWidth(memory.number));
    if (memory.errors)
      memory.setBound(element, finished.boundAt(0));
  }
  return success();
}
