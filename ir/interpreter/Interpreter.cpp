//===- Interpreter.cpp - programs, loops and control flow -----------------===//

#include "ir/dialect/AffineEval.h"
#include "ir/dialect/LoopOrder.h"
#include "ir/interpreter/InterpreterImpl.h"
#include "ir/transforms/LongSums.h"
#include "ir/transforms/Specialize.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::interpreter;

InterpreterResult tile::ir::interpret(KernelOp kernel, ArrayRef<InterpreterArgument> args,
                                      ArrayRef<int64_t> dims, const InterpreterOptions &options) {
  Machine machine(kernel, args, dims, options);
  machine.run();
  return std::move(machine.result);
}

InterpreterResult tile::ir::interpretRequires(KernelOp kernel, ArrayRef<InterpreterArgument> args,
                                              ArrayRef<int64_t> dims, RequireOp *failed) {
  InterpreterOptions options;
  Machine machine(kernel, args, dims, options);
  machine.runRequires(failed);
  return std::move(machine.result);
}

//===-- Errors ------------------------------------------------------------===//

LogicalResult Machine::fail(Operation *op, const Twine &message) {
  if (!result.ok())
    return failure();
  result.message = message.str() + describeProgram();
  result.loc = op->getLoc();
  return failure();
}

LogicalResult Machine::failPromise(Operation *op, const Twine &message) {
  result.isPromiseBroken |= result.ok();
  return fail(op, message);
}

LogicalResult Machine::failForMemory(Operation *op, int64_t bytes) {
  int64_t left = options.maxTileBytes - tileBytes;
  if (result.ok())
    result.shortage = {bytes, left};
  return fail(op, "a tile of " + Twine(bytes) + " bytes, where " + Twine(left) + " are left");
}

/// " (in the program at i = 64, b = 2)"
std::string Machine::describeProgram() const {
  if (programAt.empty())
    return "";
  std::string text;
  for (auto [name, coordinate] : programAt)
    text += (Twine(text.empty() ? "" : ", ") + name + " = " + Twine(coordinate)).str();
  return " (in the program at " + text + ")";
}

//===-- Values ------------------------------------------------------------===//

SmallVector<Tile> Machine::tilesOf(ValueRange range) const {
  return llvm::map_to_vector(range, [&](Value value) { return values.at(value); });
}

void Machine::setTiles(ValueRange range, ArrayRef<Tile> tiles) {
  for (auto [value, tile] : llvm::zip_equal(range, tiles))
    values[value] = tile;
}

void Machine::setScalar(Value value, uint64_t bits, Bound bound) {
  Tile scalar;
  scalar.number = *numberOf(value.getType());
  scalar.data = std::make_shared<std::vector<char>>(byteWidth(scalar.number));
  std::memcpy(scalar.data->data(), &bits, scalar.data->size());
  if (!bound.isExact()) {
    scalar.bounds = std::make_shared<std::vector<char>>(sizeof(Bound));
    scalar.setBound(0, bound);
  }
  values[value] = std::move(scalar);
}

int64_t Machine::integer(Value value) const {
  const Tile &scalar = values.at(value);
  return readSigned(scalar.number, scalar.at(0));
}

bool Machine::truth(Value value) const { return integer(value) != 0; }

//===-- The kernel --------------------------------------------------------===//

LogicalResult Machine::bindArguments() {
  if (args.size() != kernel.getNumArguments() || dims.size() != kernel.getDims().size())
    return fail(kernel, "the kernel takes " + Twine(kernel.getNumArguments()) + " arguments and " +
                            Twine(kernel.getDims().size()) + " dimensions, not " +
                            Twine(args.size()) + " and " + Twine(dims.size()));
  if (DictionaryAttr bound = boundDims(kernel))
    for (auto [name, value] : llvm::zip(kernel.getDims().getAsValueRange<StringAttr>(), dims))
      if (auto expected = bound.getAs<IntegerAttr>(name); expected && expected.getInt() != value)
        return fail(kernel, "the kernel is specialized to " + name + " = " +
                                Twine(expected.getInt()) + ", not " + Twine(value));
  for (auto [param, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (auto memory = dyn_cast<MemRefType>(type)) {
      if (failed(bindMemory(param, memory)))
        return failure();
    } else if (numberOf(type)) {
      setScalar(kernel.getArgument(param), args[param].bits);
    } else {
      return fail(kernel, "parameter " + Twine(param) + " has a type without numbers");
    }
  }
  return success();
}

LogicalResult Machine::bindMemory(unsigned param, MemRefType type) {
  Memory memory;
  memory.name = kernel.getParamName(param);
  memory.mode = kernel.getParamMode(param);
  memory.data = static_cast<char *>(args[param].data);
  memory.shape.assign(args[param].shape.begin(), args[param].shape.end());
  std::optional<Number> number = numberOf(type.getElementType());
  if (!number)
    return fail(kernel, "`" + memory.name + "` has elements without numbers");
  memory.number = *number;
  AffineMap shape = kernel.getParamShape(param);
  bool fits = memory.shape.size() == shape.getNumResults();
  for (size_t d = 0; fits && d < memory.shape.size(); ++d)
    fits = memory.shape[d] >= 0 && evaluateAffine(shape.getResult(d), {}, dims) == memory.shape[d];
  std::optional<int64_t> bytes = byteWidth(*number);
  for (int64_t extent : memory.shape)
    bytes = bytes ? llvm::checkedMul(*bytes, extent) : std::nullopt;
  if (!fits || !bytes)
    return fail(kernel, "the argument for `" + memory.name + "` has another shape than declared");
  memory.size = *bytes / byteWidth(*number);
  memory.errors = options.tracksErrors ? args[param].errors : nullptr;
  memory.deviations = memory.errors ? args[param].deviations : nullptr;
  if (memory.size > 0 && !memory.data)
    return fail(kernel, "no data is given for `" + memory.name + "`");

  if (memory.mode == ParamMode::Out || memory.mode == ParamMode::InOut)
    memory.writers.resize(memory.size);
  if (memory.mode == ParamMode::Reduce) {
    memory.kind = kernel.getParamReduce(param);
    memory.sumNumber = isFloat(*number) && bitWidth(*number) < 32 ? Number::F32 : *number;
    if (!canCombine(memory.kind, memory.sumNumber))
      return fail(kernel, "`" + memory.name + "` combines in a way its type has not");
    if (combinesWide(memory.kind, memory.sumNumber)) {
      bool isSum = memory.kind == CombineKind::add;
      memory.wide.assign(memory.size, isSum ? 0 : 1);
      if (memory.errors && isSum)
        // Of programs; the CPU has f64 for what is narrower.
        memory.terms.assign(memory.size, options.errorsOfGpu || *number == Number::F64
                                             ? TermSum::inRuns(64)
                                             : TermSum::inF64());
      else if (memory.errors)
        memory.factors.resize(memory.size);
      memories[kernel.getArgument(param)] = std::move(memory);
      return success();
    }
    memory.sums.resize(memory.size * byteWidth(memory.sumNumber));
    for (int64_t index = 0; index < memory.size; ++index)
      writeIdentity(memory.kind, memory.sumNumber,
                    memory.sums.data() + index * byteWidth(memory.sumNumber));
  }
  memories[kernel.getArgument(param)] = std::move(memory);
  return success();
}

void Machine::run() {
  sumSteps = tile::ir::sumSteps(kernel);
  if (succeeded(bindArguments()) && succeeded(runBlock(kernel.getBody().front())))
    (void)finishOutputs();
}

/// True if integer arithmetic would wrap.
bool Machine::overflows(Operation *op) const {
  if (op->getNumOperands() != 2 || !op->getOperand(0).getType().isInteger(64))
    return false;
  int64_t x = integer(op->getOperand(0)), y = integer(op->getOperand(1)), unused;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::AddIOp) { return llvm::AddOverflow(x, y, unused) != 0; })
      .Case([&](arith::SubIOp) { return llvm::SubOverflow(x, y, unused) != 0; })
      .Case([&](arith::MulIOp) { return llvm::MulOverflow(x, y, unused) != 0; })
      .Default(false);
}

void Machine::runRequires(RequireOp *failedRequire) {
  Block &body = kernel.getBody().front();
  for (auto [param, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (!isa<MemRefType>(type) && numberOf(type))
      setScalar(kernel.getArgument(param), args[param].bits);
  // Only what the conditions need: tiles and memory may not exist yet.
  for (RequireOp require : body.getOps<RequireOp>()) {
    SetVector<Operation *> needed;
    BackwardSliceOptions sliceOptions;
    sliceOptions.inclusive = true;
    sliceOptions.omitUsesFromAbove = false;
    (void)getBackwardSlice(require.getOperation(), &needed, sliceOptions);
    for (Operation &op : body) {
      if (!needed.contains(&op))
        continue;
      result.hasOverflow = overflows(&op);
      if (!result.hasOverflow && succeeded(execute(&op)))
        continue;
      if (result.hasOverflow)
        (void)fail(require, "requires " + require.getMessage() + ", which exceeds 64 bits");
      if (failedRequire)
        *failedRequire = require;
      return;
    }
  }
}

//===-- Ops ---------------------------------------------------------------===//

LogicalResult Machine::runBlock(Block &block) {
  for (Operation &op : block) {
    if (failed(makeConstants(op.getOperands())))
      return failure();
    if (op.hasTrait<OpTrait::IsTerminator>())
      return success();
    if (options.maxSteps && ++steps > options.maxSteps)
      return fail(&op, "gave up after " + Twine(options.maxSteps) + " steps");
    if (failed(execute(&op)))
      return failure();
  }
  return success();
}

LogicalResult Machine::execute(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ParallelOp op) { return executePrograms(op); })
      .Case([&](ForOp op) { return executeFor(op); })
      .Case([&](AxisOp op) { return executeAxis(op); })
      .Case([&](RestrictOp op) { return executeRestrict(op); })
      .Case([&](RequireOp op) { return executeRequire(op); })
      .Case([&](DimOp op) {
        size_t position = llvm::find(kernel.getDims(), op.getNameAttr()) - kernel.getDims().begin();
        setScalar(op, dims[position]);
        return success();
      })
      .Case([&](LoadOp op) { return executeLoad(op); })
      .Case([&](StoreOp op) { return executeStore(op); })
      .Case([&](UpdateOp op) { return executeUpdate(op); })
      .Case([&](FinishOp) { return success(); }) // by finishOutputs
      .Case([&](MayNotEndOp) { return success(); })
      .Case([&](AtomicOp op) { return executeAtomic(op); })
      .Case([&](AssertOp op) { return executeAssert(op); })
      .Case([&](PrintOp op) { return executePrint(op); })
      .Case([&](BroadcastOp op) { return executeBroadcast(op); })
      .Case([&](CoordsOp op) { return executeCoords(op); })
      .Case([&](ReduceOp op) { return executeReduce(op); })
      .Case([&](ArgReduceOp op) { return executeArgReduce(op); })
      .Case([&](CountOp op) { return executeCount(op); })
      .Case([&](DotOp op) { return executeDot(op); })
      .Case([&](ScanOp op) { return executeScan(op); })
      .Case([&](SortOp op) { return executeSort(op); })
      .Case([&](TakeOp op) { return executeTake(op); })
      .Case([&](arith::ConstantOp op) { return executeConstant(op); })
      .Case([&](scf::ForOp op) { return executeCount(op); })
      .Case([&](scf::IfOp op) { return executeIf(op); })
      .Case([&](scf::WhileOp op) { return executeWhile(op); })
      .Default([&](Operation *op) { return executeElementwise(op); });
}

LogicalResult Machine::executeRequire(RequireOp op) {
  if (truth(op.getCondition()))
    return success();
  return fail(op, "requires " + op.getMessage());
}

//===-- Programs ----------------------------------------------------------===//

LogicalResult Machine::executePrograms(ParallelOp op) {
  size_t binders = op.getNames().size();
  SmallVector<int64_t> lower, upper, counts;
  std::optional<int64_t> programs = 1;
  for (size_t n = 0; n < binders; ++n) {
    lower.push_back(integer(op.getLower()[n]));
    upper.push_back(std::max(integer(op.getUpper()[n]), lower[n]));
    std::optional<int64_t> length = llvm::checkedSub(upper[n], lower[n]);
    if (ShapedType::isDynamic(op.getSizes()[n]))
      return fail(op, "the kernel is not specialized: a tile size is open");
    counts.push_back(length ? llvm::divideCeil(*length, op.getSizes()[n]) : 0);
    programs = programs && length ? llvm::checkedMul(*programs, counts[n]) : std::nullopt;
  }
  if (!programs)
    return fail(op, "more programs than 64 bits can count");

  std::vector<int64_t> shuffled;
  if (options.order == InterpreterOptions::Order::Shuffled) {
    shuffled.resize(*programs);
    std::iota(shuffled.begin(), shuffled.end(), 0);
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(options.seed));
  }
  for (int64_t turn = 0; turn < *programs; ++turn) {
    int64_t index = options.order == InterpreterOptions::Order::Shuffled   ? shuffled[turn]
                    : options.order == InterpreterOptions::Order::Reversed ? *programs - 1 - turn
                                                                           : turn;
    program = index + 1;
    Scope scope(*this);
    programAt.clear();
    for (size_t n = binders; n-- > 0; index /= counts[n]) {
      int64_t size = op.getSizes()[n], start = lower[n] + index % counts[n] * size;
      auto name = cast<StringAttr>(op.getNames()[n]);
      programAt.insert(programAt.begin(), {name.getValue(), start});
      if (op.getEach()[n])
        setScalar(op.getBody().getArgument(n), start);
      else
        bindAxis(name, {start, std::min(size, upper[n] - start)});
    }
    if (failed(runBlock(op.getBody().front())))
      return failure();
  }
  programAt.clear();
  return success();
}

//===-- Loops over blocks -------------------------------------------------===//

namespace {
/// While it lives, roundings are others in other executions.
class FreeRegion {
public:
  FreeRegion(unsigned &count, bool isFree) : count(count), isFree(isFree) { count += isFree; }
  ~FreeRegion() { count -= isFree; }

private:
  unsigned &count;
  bool isFree;
};
} // namespace

LogicalResult Machine::executeFor(ForOp op) {
  FreeRegion region(freeRegions, op.getKind() == LoopKind::reassociable);
  int64_t lower = integer(op.getLower()), upper = std::max(integer(op.getUpper()), lower);
  int64_t size = op.getSize();
  if (ShapedType::isDynamic(size))
    return fail(op,
                "the kernel is not specialized: the tile size of `" + op.getName() + "` is open");
  std::optional<int64_t> length = llvm::checkedSub(upper, lower);
  if (!length)
    return fail(op, "the range of `" + op.getName() + "` is longer than 64 bits can count");
  SmallVector<Tile> carried = tilesOf(op.getInits());
  if (op.getMerge().empty() || *length <= size) {
    if (failed(runBlocks(op, lower, *length, carried)))
      return failure();
  } else {
    // Two parts on their own, and joined: the author's promise is that this is the same.
    SmallVector<Tile> later(carried);
    int64_t half = llvm::divideCeil(*length, size) / 2 * size;
    if (failed(runBlocks(op, lower, half, carried)) ||
        failed(runBlocks(op, lower + half, *length - half, later)))
      return failure();
    llvm::append_range(carried, later);
    Block &merge = op.getMerge().front();
    setTiles(merge.getArguments(), carried);
    if (failed(runBlock(merge)))
      return failure();
    carried = tilesOf(merge.getTerminator()->getOperands());
  }
  for (Tile &whole : carried)
    llvm::erase(whole.cutAlong, op.getNameAttr());
  setTiles(op.getResults(), carried);
  return success();
}

/// Runs the blocks of `length` coordinates from `start` on.
LogicalResult Machine::runBlocks(ForOp op, int64_t start, int64_t length,
                                 SmallVectorImpl<Tile> &carried) {
  int64_t size = op.getSize(), last = length > 0 ? (length - 1) / size * size : 0;
  for (int64_t done = 0; done < length; done += size) {
    Scope scope(*this);
    int64_t first = isDecreasing(op) ? last - done : done;
    setTiles(op.getCarried(), carried);
    bindAxis(op.getNameAttr(), {start + first, std::min(size, length - first), /*isBlock=*/true});
    if (failed(runBlock(op.getBody().front())))
      return failure();
    for (auto [tile, before, after] :
         llvm::zip_equal(carried, op.getCarried(), op.getYield().getOperands()))
      if (failed(mergeCarried(op, before, after, tile)))
        return failure();
  }
  return success();
}

/// The carried value after a block: the new one where the block has an element
/// for that coordinate, the old one elsewhere.
LogicalResult Machine::mergeCarried(ForOp op, Value before, Value after, Tile &merged) {
  const Tile &old = values.at(before), &next = values.at(after);
  SmallVector<StringAttr> names = {op.getNameAttr()};
  llvm::append_range(names, old.axes);
  Box block;
  if (failed(makeBox(op, names, block)) || failed(checkExtents(op, old)) ||
      failed(checkExtents(op, next)))
    return failure();
  merged = next;
  if (!block.defined)
    return success();
  merged.factors = nullptr; // those that stay have others
  int64_t width = byteWidth(old.number);
  if (failed(allocate(op, static_cast<int64_t>(old.data->size()), merged.data)))
    return failure();
  *merged.data = *old.data;
  if (next.wide) {
    merged.wide = std::make_shared<std::vector<Wide>>(old.size);
    for (int64_t index = 0; index < old.size; ++index)
      (*merged.wide)[index] = old.wideAt(index);
  }
  if (next.terms) {
    merged.terms = std::make_shared<std::vector<TermSum>>(old.size);
    for (int64_t index = 0; index < old.size; ++index)
      (*merged.terms)[index] = old.termsAt(index);
  }
  std::vector<char> hasElement(old.size);
  for (int64_t index = 0; index < block.size; ++index)
    hasElement[index % old.size] |= block.contains(index); // the span is outermost
  merged.bounds = nullptr;
  if (failed(makeBounds(op, merged, old.bounds || next.bounds)))
    return failure();
  merged.shareAlong(old.sharedAlong);
  for (int64_t index = 0; index < old.size; ++index) {
    if (merged.bounds)
      merged.setBound(index, (hasElement[index] ? next : old).boundAt(index));
    if (!hasElement[index])
      continue;
    std::memcpy(merged.at(index), next.at(index), width);
    if (next.wide)
      (*merged.wide)[index] = (*next.wide)[index];
    if (next.terms)
      (*merged.terms)[index] = (*next.terms)[index];
  }
  return success();
}

//===-- Ordinary control flow ---------------------------------------------===//

LogicalResult Machine::executeCount(scf::ForOp op) {
  int64_t lower = integer(op.getLowerBound()), upper = integer(op.getUpperBound());
  int64_t step = integer(op.getStep());
  if (step <= 0)
    return fail(op, "the step of the loop is " + Twine(step) + ", it has to be positive");
  auto isBefore = [&](int64_t x, int64_t y) {
    return op.getUnsignedCmp() ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y) : x < y;
  };
  SmallVector<Tile> carried = tilesOf(op.getInitArgs());
  for (std::optional<int64_t> at = lower; at && isBefore(*at, upper);
       at = llvm::checkedAdd(*at, step)) {
    Scope scope(*this);
    setScalar(op.getInductionVar(), *at);
    setTiles(op.getRegionIterArgs(), carried);
    if (failed(runBlock(*op.getBody())))
      return failure();
    carried = tilesOf(op.getYieldedValues());
  }
  setTiles(op.getResults(), carried);
  return success();
}

LogicalResult Machine::executeIf(scf::IfOp op) {
  bool isDecided = values.at(op.getCondition()).boundAt(0).isExact();
  Region &region = truth(op.getCondition()) ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  Scope scope(*this);
  if (failed(runBlock(region.front())))
    return failure();
  setTiles(op.getResults(), tilesOf(region.front().getTerminator()->getOperands()));
  if (!isDecided)
    leaveOpen(op.getResults());
  return success();
}

/// The results of control flow that other executions may take another way through.
void Machine::leaveOpen(ValueRange results) {
  for (Value result : results) {
    Tile &tile = values[result];
    tile.bounds = std::make_shared<std::vector<char>>(tile.size * sizeof(Bound));
    for (int64_t index = 0; index < tile.size; ++index)
      tile.setBound(index, undecided);
  }
}

LogicalResult Machine::executeWhile(scf::WhileOp op) {
  SmallVector<Tile> carried = tilesOf(op.getInits());
  bool isDecided = true;
  while (true) {
    Scope scope(*this);
    setTiles(op.getBeforeArguments(), carried);
    if (failed(runBlock(*op.getBeforeBody())))
      return failure();
    scf::ConditionOp condition = op.getConditionOp();
    SmallVector<Tile> forwarded = tilesOf(condition.getArgs());
    isDecided &= values.at(condition.getCondition()).boundAt(0).isExact();
    if (!truth(condition.getCondition())) {
      setTiles(op.getResults(), forwarded);
      if (!isDecided)
        leaveOpen(op.getResults());
      return success();
    }
    setTiles(op.getAfterArguments(), forwarded);
    if (failed(runBlock(*op.getAfterBody())))
      return failure();
    carried = tilesOf(op.getYieldOp()->getOperands());
  }
}
