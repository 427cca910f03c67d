#include "tests/fuzz/kernels/Elementwise.h"
#include "tests/fuzz/kernels/EvaluatorImpl.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;
using namespace tile::fuzz::evaluator;

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

void Machine::count(int64_t more, Operation *op) {
  constexpr int64_t most = 1 << 25;
  elements += more;
  if (elements > most)
    stop(op, "too many elements", /*isUndecided=*/true);
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
  count(size, kernel);
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
      .Case([&](ScanOp op) { scan(op); })
      .Case([&](SortOp op) { sort(op); })
      .Case([&](TakeOp op) { take(op); })
      .Case([&](AtomicOp op) { atomic(op); })
      .Case([&](AssertOp op) { check(op); })
      .Case([&](PrintOp op) { print(op); })
      .Case([](MayNotEndOp) {})
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

Evaluation fuzz::evaluate(KernelOp kernel, ArrayRef<Argument> arguments, ArrayRef<int64_t> dims) {
  Machine machine(kernel, arguments, dims);
  machine.run();
  return std::move(machine.result);
}
