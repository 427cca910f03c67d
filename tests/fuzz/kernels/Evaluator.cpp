#include "tests/fuzz/kernels/Evaluator.h"
#include "tests/fuzz/kernels/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>
#include <optional>

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;
using namespace tile::ir;

namespace {
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
      : kernel(kernel), arguments(arguments), dims(dims) {}
  void run();
  Evaluation result;

private:
  bool hasStopped() const { return !result.problem.empty(); }
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
  llvm::DenseMap<Value, Tile> tiles;
  llvm::DenseMap<Value, Memory> memories;
  std::map<StringRef, Axis> axes;
  std::vector<Condition> conditions;
  int64_t steps = 0;
};
} // namespace

//===-- Values ------------------------------------------------------------===//

int64_t Machine::integer(Operation *op, Value value) {
  const NumberSet &scalar = at(value, {}, {});
  if (!scalar.isKnown)
    stop(op, "a number that is not known", /*isUndecided=*/true);
  return scalar.integer;
}

SmallVector<Tile> Machine::copy(ValueRange values) {
  SmallVector<Tile> copies;
  for (Value value : values) {
    if (auto op = value.getDefiningOp<arith::ConstantOp>())
      execute(op);
    copies.push_back(tiles[value]);
  }
  return copies;
}

void Machine::assign(ValueRange values, ArrayRef<Tile> from) {
  for (auto [value, tile] : llvm::zip_equal(values, from))
    tiles[value] = tile;
}

Tile Machine::newTile(Names names, DType type) {
  Tile tile;
  tile.axes.assign(names.begin(), names.end());
  tile.type = type;
  int64_t size = 1;
  for (StringAttr name : names) {
    tile.extents.push_back(axes[name.getValue()].count);
    size *= tile.extents.back();
  }
  constexpr int64_t most = 1 << 22;
  if (size > most)
    stop(kernel, "a tile is too large", /*isUndecided=*/true);
  NumberSet zero = runtime::isFloat(type) ? NumberSet::ofFloat(type, 0) : NumberSet::ofInt(type, 0);
  tile.elements.assign(size > most ? 0 : size, zero);
  return tile;
}

Tile Machine::newTile(Type type) {
  return newTile(axesOf(type), *dtypeOf(getElementTypeOrSelf(type)));
}

int64_t Machine::offset(const Tile &tile, Names names, ArrayRef<int64_t> position) {
  int64_t result = 0;
  for (auto [axis, extent] : llvm::zip(tile.axes, tile.extents)) {
    auto found = llvm::find(names, axis);
    result = result * extent + (found == names.end() ? 0 : position[found - names.begin()]);
  }
  return result;
}

const NumberSet &Machine::at(Value value, Names names, ArrayRef<int64_t> position) {
  static const NumberSet nothing = NumberSet::any(DType::I64);
  auto found = tiles.find(value);
  if (found == tiles.end())
    return nothing;
  int64_t element = offset(found->second, names, position);
  return element < int64_t(found->second.elements.size()) ? found->second.elements[element]
                                                          : nothing;
}

//===-- Domains -----------------------------------------------------------===//

/// In wrapping arithmetic; division rounds down, x / 0 = 0, x mod 0 = x.
int64_t Machine::evaluate(AffineExpr expr, ArrayRef<int64_t> dimValues, ArrayRef<int64_t> syms) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dimValues[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return syms[symbol.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t x = evaluate(binary.getLHS(), dimValues, syms);
  int64_t y = evaluate(binary.getRHS(), dimValues, syms);
  __int128 down = y == 0 ? 0 : __int128(x) / y - ((__int128(x) % y != 0) && ((x < 0) != (y < 0)));
  __int128 rest = x - down * y;
  auto low = [](__int128 value) { return static_cast<int64_t>(static_cast<uint64_t>(value)); };
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return low(__int128(x) + y);
  case AffineExprKind::Mul:
    return low(__int128(x) * y);
  case AffineExprKind::Mod:
    return low(rest);
  case AffineExprKind::FloorDiv:
    return low(down);
  default:
    return low(down + (y != 0 && rest != 0));
  }
}

bool Machine::isInside(Names names, ArrayRef<int64_t> position) {
  SmallVector<int64_t> coordinates;
  for (Condition &condition : conditions) {
    coordinates.clear();
    for (Type type : condition.op.getDims().getTypes()) {
      StringAttr name = cast<SpanType>(type).getName();
      auto found = llvm::find(names, name);
      if (found == names.end())
        break;
      coordinates.push_back(axes[name.getValue()].origin + position[found - names.begin()]);
    }
    if (coordinates.size() != condition.op.getDims().size())
      continue; // restricts other tiles
    IntegerSet set = condition.op.getConstraint();
    int64_t value = evaluate(set.getConstraint(0), coordinates, condition.syms);
    if (set.isEq(0) ? value != 0 : value < 0)
      return false;
  }
  return true;
}

//===-- Control flow ------------------------------------------------------===//

void Machine::run() {
  bindParameters();
  runBlock(kernel.getBody().front());
  if (!hasStopped())
    finish();
}

void Machine::bindParameters() {
  result.outputs.resize(arguments.size());
  for (auto [n, argument] : llvm::enumerate(arguments)) {
    Value parameter = kernel.getArgument(n);
    if (!isa<MemRefType>(parameter.getType())) {
      set(parameter, NumberSet::load(argument.type, argument.data));
      continue;
    }
    Memory memory;
    memory.type = argument.type;
    memory.mode = kernel.getParamMode(n);
    memory.shape = argument.shape;
    int64_t size = 1;
    for (int64_t extent : argument.shape)
      size *= extent;
    memory.isWritten.resize(size);
    memory.elements.resize(size, NumberSet::any(argument.type));
    if (memory.mode == ParamMode::In || memory.mode == ParamMode::InOut)
      for (int64_t element = 0; element < size; ++element)
        memory.elements[element] = NumberSet::load(
            argument.type, argument.data + element * runtime::sizeOf(argument.type));
    if (memory.mode == ParamMode::Reduce) {
      memory.kind = kernel.getParamReduce(n);
      // Halves combine in f32.
      DType type = runtime::isFloat(argument.type) && argument.type != DType::F64 ? DType::F32
                                                                                  : argument.type;
      memory.elements.assign(size, identityOf(memory.kind, type));
      memory.sums.assign(size, SumOf(type));
      memory.products.assign(size, ProductOf(type));
    }
    memories[parameter] = std::move(memory);
  }
}

void Machine::runBlock(Block &block) {
  for (Operation &op : block) {
    for (Value operand : op.getOperands())
      if (auto constant = operand.getDefiningOp<arith::ConstantOp>())
        execute(constant); // with the extents that its axes have here
    if (op.hasTrait<OpTrait::IsTerminator>() || hasStopped())
      return;
    if (++steps > 200000)
      return stop(&op, "too many steps", /*isUndecided=*/true);
    execute(&op);
  }
}

void Machine::execute(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ParallelOp op) { parallel(op, 0); })
      .Case([&](ForOp op) { loop(op); })
      .Case([&](AxisOp op) {
        int64_t lower = integer(op, op.getLower()), upper = integer(op, op.getUpper());
        axes[op.getSpan().getType().getName().getValue()] = {lower,
                                                             std::max<int64_t>(0, upper - lower)};
      })
      .Case([&](RestrictOp op) {
        if (op.getUnless() && integer(op, op.getUnless()))
          return;
        Condition condition{op, {}};
        for (Value sym : op.getSyms())
          condition.syms.push_back(integer(op, sym));
        conditions.push_back(std::move(condition));
      })
      .Case([&](RequireOp op) {
        if (!integer(op, op.getCondition()))
          stop(op, "a requirement does not hold");
      })
      .Case([&](DimOp op) {
        size_t position = llvm::find(kernel.getDims(), op.getNameAttr()) - kernel.getDims().begin();
        set(op, NumberSet::ofInt(DType::I64, dims[position]));
      })
      .Case([&](arith::ConstantOp op) {
        for (StringAttr axis : axesOf(op.getType()))
          if (!axes.contains(axis.getValue()))
            return; // waits for its user
        Tile tile = newTile(op.getType());
        constant(op, tile);
        tiles[op] = std::move(tile);
      })
      .Case([&](scf::ForOp op) { count(op); })
      .Case([&](scf::IfOp op) { branch(op); })
      .Case([&](scf::WhileOp op) { whileLoop(op); })
      .Case([&](LoadOp op) { load(op); })
      .Case<StoreOp, UpdateOp>([&](auto op) { write(op); })
      .Case([&](ReduceOp op) { reduce(op); })
      .Case([&](ArgReduceOp op) { argReduce(op); })
      .Case([&](CountOp op) { countDomain(op); })
      .Case([&](DotOp op) { dot(op); })
      .Default([&](Operation *op) { elementwise(op); });
}

void Machine::parallel(ParallelOp op, size_t binder) {
  if (binder == op.getNames().size())
    return runBlock(op.getBody().front());
  int64_t lower = integer(op, op.getLower()[binder]), upper = integer(op, op.getUpper()[binder]);
  int64_t size = op.getSizes()[binder];
  for (int64_t start = lower; start < upper && !hasStopped(); start += size) {
    Scope scope(*this);
    if (op.getEach()[binder])
      set(op.getBody().getArgument(binder), NumberSet::ofInt(DType::I64, start));
    else
      axes[cast<StringAttr>(op.getNames()[binder]).getValue()] = {start,
                                                                  std::min(size, upper - start)};
    parallel(op, binder + 1);
  }
}

void Machine::loop(ForOp op) {
  int64_t lower = integer(op, op.getLower()), upper = integer(op, op.getUpper());
  int64_t size = op.getSize();
  SmallVector<Tile> carried = copy(op.getInits());
  for (int64_t start = lower; start < upper && !hasStopped(); start += size) {
    Scope scope(*this);
    axes[op.getName()] = {start, std::min(size, upper - start)};
    assign(op.getCarried(), carried);
    runBlock(op.getBody().front());
    SmallVector<Tile> next = copy(op.getYield().getOperands());
    for (auto [before, after] : llvm::zip_equal(carried, next))
      merge(op, before, after);
    carried = std::move(next);
  }
  assign(op.getResults(), carried);
}

/// Where the block has no element for a coordinate, its old value stays.
void Machine::merge(ForOp op, const Tile &before, Tile &after) {
  SmallVector<StringAttr> names(before.axes);
  names.push_back(op.getNameAttr());
  int64_t length = axes[op.getName()].count;
  for (Walk walk(before.extents); !walk.isDone; walk.next()) {
    SmallVector<int64_t> position(walk.position);
    position.push_back(0);
    bool hasElement = false;
    for (int64_t lane = 0; lane < length && !hasElement; ++lane) {
      position.back() = lane;
      hasElement = isInside(names, position);
    }
    if (!hasElement)
      after.elements[offset(after, before.axes, walk.position)] =
          before.elements[offset(before, before.axes, walk.position)];
  }
}

void Machine::count(scf::ForOp op) {
  int64_t upper = integer(op, op.getUpperBound()), step = integer(op, op.getStep());
  SmallVector<Tile> carried = copy(op.getInitArgs());
  if (step <= 0)
    return stop(op, "a step that is not positive");
  for (int64_t at = integer(op, op.getLowerBound()); at < upper && !hasStopped(); at += step) {
    Scope scope(*this);
    set(op.getInductionVar(), NumberSet::ofInt(DType::I64, at));
    assign(op.getRegionIterArgs(), carried);
    runBlock(*op.getBody());
    carried = copy(op.getYieldedValues());
  }
  assign(op.getResults(), carried);
}

void Machine::branch(scf::IfOp op) {
  Region &region = integer(op, op.getCondition()) ? op.getThenRegion() : op.getElseRegion();
  if (region.empty() || hasStopped())
    return;
  Scope scope(*this);
  runBlock(region.front());
  assign(op.getResults(), copy(region.front().getTerminator()->getOperands()));
}

void Machine::whileLoop(scf::WhileOp op) {
  SmallVector<Tile> carried = copy(op.getInits());
  while (!hasStopped()) {
    Scope scope(*this);
    assign(op.getBeforeArguments(), carried);
    runBlock(*op.getBeforeBody());
    SmallVector<Tile> forwarded = copy(op.getConditionOp().getArgs());
    if (!integer(op, op.getConditionOp().getCondition()))
      return assign(op.getResults(), forwarded);
    assign(op.getAfterArguments(), forwarded);
    runBlock(*op.getAfterBody());
    carried = copy(op.getYieldOp()->getOperands());
  }
}

//===-- Memory ------------------------------------------------------------===//

Machine::Place Machine::place(AffineMap map, ValueRange mapDims, ValueRange mapSyms, Names names,
                              ArrayRef<int64_t> position) {
  Place result;
  SmallVector<int64_t> dimValues, symValues;
  auto take = [&](unsigned number, bool isDim, const NumberSet &range) {
    bool isUsed = llvm::any_of(map.getResults(), [&](AffineExpr expr) {
      return isDim ? expr.isFunctionOfDim(number) : expr.isFunctionOfSymbol(number);
    });
    result.isKnown &= range.isKnown || !isUsed;
    (isDim ? dimValues : symValues).push_back(range.integer);
  };
  for (auto [number, value] : llvm::enumerate(mapDims)) {
    if (auto span = dyn_cast<SpanType>(value.getType())) {
      auto found = llvm::find(names, span.getName());
      int64_t lane = found == names.end() ? 0 : position[found - names.begin()];
      dimValues.push_back(axes[span.getName().getValue()].origin + lane);
    } else {
      take(number, true, at(value, names, position));
    }
  }
  for (auto [number, value] : llvm::enumerate(mapSyms))
    take(number, false, at(value, {}, {}));
  for (AffineExpr expr : map.getResults())
    result.at.push_back(evaluate(expr, dimValues, symValues));
  return result;
}

std::optional<int64_t> Machine::elementOf(const Memory &memory, ArrayRef<int64_t> at) {
  int64_t element = 0;
  for (auto [coordinate, extent] : llvm::zip(at, memory.shape)) {
    if (coordinate < 0 || coordinate >= extent)
      return std::nullopt;
    element = element * extent + coordinate;
  }
  return element;
}

void Machine::load(LoadOp op) {
  Memory &memory = memories[op.getSource()];
  Tile tile = newTile(op.getType());
  size_t index = 0;
  for (Walk walk(tile.extents); !walk.isDone && !hasStopped(); walk.next(), ++index) {
    if (!isInside(tile.axes, walk.position))
      continue;
    Place place = this->place(op.getMap(), op.getDims(), op.getSyms(), tile.axes, walk.position);
    if (!place.isKnown) {
      tile.elements[index] = NumberSet::any(tile.type);
      continue;
    }
    std::optional<int64_t> element = elementOf(memory, place.at);
    if (!element && op.getBounds() == BoundsMode::clamp) {
      if (memory.elements.empty())
        continue; // zero
      for (auto [coordinate, extent] : llvm::zip(place.at, memory.shape))
        coordinate = std::clamp<int64_t>(coordinate, 0, extent - 1);
      element = elementOf(memory, place.at);
    }
    if (element)
      tile.elements[index] = memory.elements[*element];
    else if (op.getBounds() == BoundsMode::pad)
      tile.elements[index] = at(op.getPad(), {}, {});
    else
      stop(op, "reads outside a tensor");
  }
  tiles[op] = std::move(tile);
}

/// True where an index is or may be data: an update outside is dropped then.
bool Machine::isData(AffineMap map, ValueRange mapDims, ValueRange mapSyms, unsigned dimension) {
  AffineExpr expr = map.getResult(dimension);
  for (auto [number, value] : llvm::enumerate(mapDims))
    if (!isa<SpanType>(value.getType()) && expr.isFunctionOfDim(number))
      return true;
  for (auto [number, value] : llvm::enumerate(mapSyms))
    if (expr.isFunctionOfSymbol(number))
      return true;
  return false;
}

template <typename OpT>
void Machine::write(OpT op) {
  Memory &memory = memories[op.getTarget()];
  SmallVector<StringAttr> names(mapAxes(op.getMap(), op.getDims()).names);
  SmallVector<int64_t> extents;
  for (StringAttr name : names)
    extents.push_back(axes[name.getValue()].count);
  for (Walk walk(extents); !walk.isDone && !hasStopped(); walk.next()) {
    if (!isInside(names, walk.position))
      continue;
    Place place = this->place(op.getMap(), op.getDims(), op.getSyms(), names, walk.position);
    if (!place.isKnown)
      return stop(op, "an index that is not known", /*isUndecided=*/true);
    std::optional<int64_t> element = elementOf(memory, place.at);
    const NumberSet &value = at(op.getValue(), names, walk.position);
    if constexpr (std::is_same_v<OpT, UpdateOp>) {
      if (element)
        combine(memory, *element, value);
      for (auto [d, coordinate] : llvm::enumerate(place.at))
        if ((coordinate < 0 || coordinate >= memory.shape[d]) &&
            !isData(op.getMap(), op.getDims(), op.getSyms(), d))
          stop(op, "updates outside a tensor");
    } else {
      if (!element || memory.isWritten[*element])
        return stop(op, element ? "stores an element twice" : "stores outside a tensor");
      memory.isWritten[*element] = true;
      memory.elements[*element] = value;
    }
  }
}

void Machine::combine(Memory &memory, int64_t element, const NumberSet &value) {
  NumberSet &sum = memory.elements[element];
  if (!runtime::isFloat(memory.type)) {
    sum = sum.isKnown && value.isKnown
              ? NumberSet::ofInt(sum.type,
                                 combineIntegers(memory.kind, sum.type, sum.integer, value.integer))
              : NumberSet::any(sum.type);
  } else if (memory.kind == CombineKind::add) {
    memory.sums[element].add(value);
  } else if (memory.kind == CombineKind::mul) {
    memory.products[element].multiply(value);
  } else {
    sum = extreme(memory.kind, sum, value);
  }
}

void Machine::finish() {
  for (auto [n, parameter] : llvm::enumerate(kernel.getArguments())) {
    auto found = memories.find(parameter);
    if (found == memories.end() || found->second.mode == ParamMode::In)
      continue;
    Memory &memory = found->second;
    if (memory.mode != ParamMode::Reduce && llvm::is_contained(memory.isWritten, 0))
      return stop(kernel, "an element is never stored");
    for (auto [element, range] : llvm::enumerate(memory.elements)) {
      if (!range.isFloat() || memory.mode != ParamMode::Reduce)
        continue;
      if (memory.kind == CombineKind::add)
        range = memory.sums[element].result();
      else if (memory.kind == CombineKind::mul)
        range = memory.products[element].result();
      bool isRounded = !range.isNaN() && range.type != memory.type;
      range.type = memory.type;
      if (!isRounded)
        continue;
      range.lo = roundTo(memory.type, range.lo);
      range.hi = roundTo(memory.type, range.hi);
      if (std::isnan(range.lo) || std::isnan(range.hi)) // f8e4m3 has no infinities
        range = NumberSet::any(memory.type);
    }
    result.outputs[n] = std::move(memory.elements);
  }
}

//===-- Tiles -------------------------------------------------------------===//

void Machine::constant(arith::ConstantOp op, Tile &tile) {
  auto rangeOf = [&](Attribute attribute) {
    if (auto number = dyn_cast<FloatAttr>(attribute)) {
      APFloat value = number.getValue();
      bool losesInfo;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      return NumberSet::ofFloat(tile.type, value.convertToDouble());
    }
    return NumberSet::ofInt(
        tile.type, wrap(tile.type, cast<IntegerAttr>(attribute).getValue().getZExtValue()));
  };
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || elements.isSplat()) {
    tile.elements.assign(tile.elements.size(),
                         rangeOf(elements ? elements.getSplatValue<Attribute>() : op.getValue()));
    return;
  }
  size_t index = 0;
  for (Walk walk(tile.extents); !walk.isDone; walk.next(), ++index) {
    SmallVector<uint64_t> position(walk.position.begin(), walk.position.end());
    tile.elements[index] = rangeOf(elements.getValues<Attribute>()[position]);
  }
}

void Machine::elementwise(Operation *op) {
  for (OpResult value : op->getResults()) {
    if (!isTileValue(value.getType()) || op->getNumRegions() != 0)
      return stop(op, "an unknown op");
    Tile tile = newTile(value.getType());
    size_t index = 0;
    SmallVector<NumberSet> operands;
    for (Walk walk(tile.extents); !walk.isDone && !hasStopped(); walk.next(), ++index) {
      if (isa<CoordsOp>(op)) {
        int64_t origin = axes[tile.axes[0].getValue()].origin;
        tile.elements[index] = NumberSet::ofInt(tile.type, origin + walk.position[0]);
        continue;
      }
      operands.clear();
      for (Value operand : op->getOperands())
        operands.push_back(at(operand, tile.axes, walk.position));
      std::optional<NumberSet> result =
          isa<BroadcastOp>(op) ? operands[0]
                               : fuzz::evaluate(op, operands, tile.type, value.getResultNumber());
      if (!result)
        return stop(op, "an unknown op");
      tile.elements[index] = *result;
    }
    tiles[value] = std::move(tile);
  }
}

void Machine::reduce(ReduceOp op) {
  const Tile input = tiles[op.getInput()];
  Tile tile = newTile(op.getType());
  std::vector<SumOf> sums(tile.elements.size(), SumOf(tile.type));
  std::vector<ProductOf> products(tile.elements.size(), ProductOf(tile.type));
  tile.elements.assign(tile.elements.size(), identityOf(op.getKind(), tile.type));
  bool isFloat = runtime::isFloat(tile.type);
  CombineKind kind = op.getKind();
  size_t index = 0;
  for (Walk walk(input.extents); !walk.isDone; walk.next(), ++index) {
    if (!isInside(input.axes, walk.position))
      continue;
    int64_t into = offset(tile, input.axes, walk.position);
    const NumberSet &term = input.elements[index];
    NumberSet &sum = tile.elements[into];
    if (isFloat && kind == CombineKind::add)
      sums[into].add(term);
    else if (isFloat && kind == CombineKind::mul)
      products[into].multiply(term);
    else if (isFloat)
      sum = extreme(kind, sum, term);
    else
      sum = sum.isKnown && term.isKnown
                ? NumberSet::ofInt(tile.type,
                                   combineIntegers(kind, tile.type, sum.integer, term.integer))
                : NumberSet::any(tile.type);
  }
  for (size_t into = 0; isFloat && into < tile.elements.size(); ++into)
    if (kind == CombineKind::add)
      tile.elements[into] = sums[into].result();
    else if (kind == CombineKind::mul)
      tile.elements[into] = products[into].result();
  tiles[op] = std::move(tile);
}

void Machine::argReduce(ArgReduceOp op) {
  const Tile input = tiles[op.getInput()];
  Tile tile = newTile(op.getType());
  std::vector<std::optional<NumberSet>> best(tile.elements.size());
  for (NumberSet &at : tile.elements)
    at = NumberSet::ofInt(tile.type, -1);
  size_t along = llvm::find(input.axes, op.getAxisAttr()) - input.axes.begin();
  int64_t origin = axes[op.getAxis()].origin;
  CombineKind kind = op.getKind();
  size_t index = 0;
  // Row-major order visits each row in order of its coordinates.
  for (Walk walk(input.extents); !walk.isDone; walk.next(), ++index) {
    if (!isInside(input.axes, walk.position))
      continue;
    int64_t into = offset(tile, input.axes, walk.position);
    const NumberSet &term = input.elements[index];
    NumberSet here = NumberSet::ofInt(tile.type, origin + walk.position[along]);
    if (!term.isPoint() && !(term.isFloat() && term.isNaN())) {
      best[into] = term;
      tile.elements[into] = NumberSet::any(tile.type); // which is greatest is not certain
      continue;
    }
    bool isBetter = !best[into];
    if (!isBetter && term.isFloat())
      isBetter = !best[into]->isNaN() &&
                 (term.isNaN() ||
                  (kind == CombineKind::max ? term.lo > best[into]->lo : term.lo < best[into]->lo));
    else if (!isBetter)
      isBetter =
          term.integer != best[into]->integer &&
          combineIntegers(kind, term.type, term.integer, best[into]->integer) == term.integer;
    if (!tile.elements[into].isKnown || !isBetter)
      continue;
    best[into] = term;
    tile.elements[into] = here;
  }
  tiles[op] = std::move(tile);
}

void Machine::countDomain(CountOp op) {
  Tile tile = newTile(op.getType());
  SmallVector<StringAttr> names(tile.axes);
  SmallVector<int64_t> extents(tile.extents);
  for (Type span : op.getSpans().getTypes()) {
    names.push_back(cast<SpanType>(span).getName());
    extents.push_back(axes[names.back().getValue()].count);
  }
  for (Walk walk(extents); !walk.isDone; walk.next())
    if (isInside(names, walk.position))
      ++tile.elements[offset(tile, names, walk.position)].integer;
  tiles[op] = std::move(tile);
}

void Machine::dot(DotOp op) {
  Tile tile = newTile(op.getType());
  Names left = axesOf(op.getLhs().getType()), right = axesOf(op.getRhs().getType());
  SmallVector<StringAttr> names(tile.axes);
  names.push_back(op.getAxisAttr());
  int64_t length = axes[op.getAxis()].count;
  auto inside = [&](Names axesOfOperand, ArrayRef<int64_t> position) {
    SmallVector<int64_t> at;
    for (StringAttr axis : axesOfOperand)
      at.push_back(position[llvm::find(names, axis) - names.begin()]);
    return isInside(axesOfOperand, at);
  };
  size_t index = 0;
  for (Walk walk(tile.extents); !walk.isDone; walk.next(), ++index) {
    SmallVector<int64_t> position(walk.position);
    position.push_back(0);
    SumOf sum(tile.type);
    const NumberSet &start = at(op.getAcc(), tile.axes, walk.position);
    sum.add(start);
    uint64_t total = static_cast<uint64_t>(start.integer);
    bool isKnown = start.isKnown;
    for (int64_t k = 0; k < length; ++k) {
      position.back() = k;
      if (!inside(left, position) || !inside(right, position))
        continue;
      const NumberSet &x = at(op.getLhs(), names, position), &y = at(op.getRhs(), names, position);
      sum.addProduct(x, y);
      isKnown &= x.isKnown && y.isKnown;
      total += static_cast<uint64_t>(x.integer) * static_cast<uint64_t>(y.integer);
    }
    if (runtime::isFloat(tile.type))
      tile.elements[index] = sum.result();
    else
      tile.elements[index] =
          isKnown ? NumberSet::ofInt(tile.type, wrap(tile.type, total)) : NumberSet::any(tile.type);
  }
  tiles[op] = std::move(tile);
}

Evaluation fuzz::evaluate(KernelOp kernel, ArrayRef<Argument> arguments, ArrayRef<int64_t> dims) {
  Machine machine(kernel, arguments, dims);
  machine.run();
  return std::move(machine.result);
}
