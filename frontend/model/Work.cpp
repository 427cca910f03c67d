//===- Work.cpp - what a launch has to move and to compute ----------------===//

#include "frontend/model/Work.h"

#include "codegen/gpu/loops/VectorDots.h"
#include "ir/dialect/AffineEval.h"
#include "ir/proofs/Domain.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using runtime::DType;

double Work::totalOperations() const {
  double sum = 0;
  for (const auto &[unit, count] : operations)
    sum += count;
  return sum;
}

Work &Work::operator+=(const Work &other) {
  bytesRead += other.bytesRead;
  bytesWritten += other.bytesWritten;
  bytesAccessed += other.bytesAccessed;
  bytesAbreast += other.bytesAbreast;
  llvm::append_range(rereads, other.rereads);
  restOfPieces += other.restOfPieces;
  functions += other.functions;
  functionsOfFew += other.functionsOfFew;
  reduced += other.reduced;
  carriedBytes = std::max(carriedBytes, other.carriedBytes);
  contractedBytes = std::max(contractedBytes, other.contractedBytes);
  programs = std::max(programs, other.programs);
  llvm::append_range(contractions, other.contractions);
  for (const auto &[unit, count] : other.operations)
    operations[unit] += count;
  isExact &= other.isExact;
  return *this;
}

double Work::rereadBeyond(double cache) const {
  std::vector<Reread> shortFirst = rereads;
  llvm::sort(shortFirst, [](const Reread &x, const Reread &y) { return x.span < y.span; });
  double span = 0, beyond = 0;
  for (const Reread &reread : shortFirst) {
    span += reread.span;
    beyond += span > cache ? reread.bytes : 0;
  }
  return beyond;
}

double Work::computeSeconds(const DeviceDescription &device) const {
  double seconds = 0;
  for (const auto &[key, count] : operations) {
    auto [unit, type] = key;
    double rate = device.operations(unit, type);
    // What has no unit of its own is done by the vectors.
    if (rate == 0)
      rate = device.operations(Unit::Vector, type);
    if (rate > 0 && std::isfinite(count))
      seconds += count / rate;
  }
  return seconds;
}

namespace {
class Counter {
public:
  Counter(ir::KernelOp kernel, ArrayRef<int64_t> dims, ArrayRef<ArrayRef<int64_t>> shapes,
          ArrayRef<uint64_t> scalars, const llvm::StringMap<int64_t> &sizes, double unknownCount)
      : kernel(kernel), domains(kernel), dims(dims), shapes(shapes), scalars(scalars), sizes(sizes),
        unknownCount(unknownCount) {}
  Work count();

private:
  using Axes = ArrayRef<StringAttr>;
  /// Values of what a bound or condition is computed from.
  using Point = llvm::DenseMap<Value, double>;

  std::optional<double> evaluate(Value value, const Point &point);
  std::optional<double> evaluateArgument(BlockArgument argument, const Point &point);
  std::pair<double, double> range(Value lower, Value upper);
  std::pair<double, double> rangeOf(StringAttr axis);
  double extentOf(StringAttr axis);
  std::optional<std::pair<double, double>> rangeOfInteger(BlockArgument argument);

  double sizeOf(StringAttr binder, int64_t given) const;
  double shareInside(Axes axes);
  double times(Operation *op, Axes axes);
  double neighbours(unsigned parameter, AffineMap map, ValueRange indices);
  double reached(Operation *op, AffineMap map, ValueRange indices, ValueRange symbols);
  void collectSources(Value value, llvm::SetVector<Value> &sources);

  void access(Operation *op, Value memory, AffineMap map, ValueRange indices, ValueRange symbols,
              bool reads, bool writes);
  void compute(Operation *op);
  double countPrograms();
  double blockOf(StringAttr axis);
  double bytesOfBlocks(ValueRange values);
  void contract(ir::DotOp dot, bool isOfVectors);

  ir::KernelOp kernel;
  ir::Domains domains;
  ArrayRef<int64_t> dims;
  ArrayRef<ArrayRef<int64_t>> shapes;
  ArrayRef<uint64_t> scalars;
  const llvm::StringMap<int64_t> &sizes;
  const double unknownCount;
  std::map<std::vector<std::string>, double> shares;
  Work work;
  /// Elements accessed, by axes, and the bytes of the widest.
  llvm::MapVector<ArrayAttr, std::pair<double, double>> abreast;
  /// Elements reached, by parameter.
  std::map<unsigned, double> read, written;
};

/// 0 · ∞ is 0: what doesn't run doesn't run often.
double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

std::optional<DType> typeOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth() == 8    ? DType::I8
           : integer.getWidth() == 16 ? DType::I16
           : integer.getWidth() == 32 ? DType::I32
                                      : DType::I64;
  return element.isF16()                  ? std::optional(DType::F16)
         : element.isBF16()               ? std::optional(DType::BF16)
         : element.isF32()                ? std::optional(DType::F32)
         : element.isF64()                ? std::optional(DType::F64)
         : isa<Float8E4M3FNType>(element) ? std::optional(DType::F8E4M3)
         : isa<Float8E5M2Type>(element)   ? std::optional(DType::F8E5M2)
                                          : std::nullopt;
}

bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

/// How many operations an elementwise op on floats counts for: casts and choices compute nothing.
double operationsOf(Operation *op) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
      !isFloat(op->getResult(0).getType()) || isa<CastOpInterface, SelectLikeOpInterface>(op))
    return 0;
  return isa<math::FmaOp>(op) ? 2 : 1;
}

/// Whether no instruction does it.
bool isFunction(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) &&
         !isa<math::FmaOp, math::AbsFOp, math::SqrtOp, math::FloorOp, math::CeilOp,
              math::RoundEvenOp, math::TruncOp>(op);
}

/// The i-th point of a sequence that fills [0, 1) evenly in each of several bases.
double halton(unsigned index, unsigned base) {
  double result = 0, scale = 1;
  for (; index; index /= base)
    result += (scale /= base) * (index % base);
  return result;
}
} // namespace

//===-- Bounds ------------------------------------------------------------===//

/// A value that bounds and conditions are computed from; none if data decides. What the point
/// doesn't have stands in its middle, where linear bounds have their mean.
std::optional<double> Counter::evaluate(Value value, const Point &point) {
  if (auto known = point.find(value); known != point.end())
    return known->second;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return evaluateArgument(argument, point);
  Operation *op = value.getDefiningOp();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getBitWidth() == 1 ? constant.getZExtValue()
                                       : static_cast<double>(constant.getSExtValue());
  if (auto dim = dyn_cast<ir::DimOp>(op))
    return static_cast<double>(
        dims[llvm::find(kernel.getDims(), dim.getNameAttr()) - kernel.getDims().begin()]);
  SmallVector<double> operands;
  for (Value operand : op->getOperands()) {
    auto known = evaluate(operand, point);
    if (!known)
      return {};
    operands.push_back(*known);
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return operands[0];
  if (isa<arith::SelectOp>(op))
    return operands[0] != 0 ? operands[1] : operands[2];
  if (operands.size() != 2)
    return {};
  auto [x, y] = std::pair(operands[0], operands[1]);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    switch (compare.getPredicate()) {
    case arith::CmpIPredicate::eq:
      return x == y;
    case arith::CmpIPredicate::ne:
      return x != y;
    case arith::CmpIPredicate::slt:
    case arith::CmpIPredicate::ult:
      return x < y;
    case arith::CmpIPredicate::sle:
    case arith::CmpIPredicate::ule:
      return x <= y;
    case arith::CmpIPredicate::sgt:
    case arith::CmpIPredicate::ugt:
      return x > y;
    case arith::CmpIPredicate::sge:
    case arith::CmpIPredicate::uge:
      return x >= y;
    }
  bool isBit = value.getType().isInteger(1);
  return isa<arith::AddIOp>(op)            ? std::optional(x + y)
         : isa<arith::SubIOp>(op)          ? std::optional(x - y)
         : isa<arith::MulIOp>(op)          ? std::optional(x * y)
         : isa<arith::MinSIOp>(op)         ? std::optional(std::min(x, y))
         : isa<arith::MaxSIOp>(op)         ? std::optional(std::max(x, y))
         : isa<ir::DivOp>(op)              ? std::optional(y == 0 ? 0 : std::floor(x / y))
         : isa<ir::RemOp>(op)              ? std::optional(y == 0 ? x : x - std::floor(x / y) * y)
         : isBit && isa<arith::XOrIOp>(op) ? std::optional<double>(x != y)
         : isBit && isa<arith::AndIOp>(op) ? std::optional<double>(x != 0 && y != 0)
         : isBit && isa<arith::OrIOp>(op)  ? std::optional<double>(x != 0 || y != 0)
                                           : std::nullopt;
}

std::optional<double> Counter::evaluateArgument(BlockArgument argument, const Point &) {
  if (argument.getOwner() == &kernel.getBody().front()) {
    auto type = dyn_cast<IntegerType>(argument.getType());
    if (!type)
      return {};
    uint64_t bits = scalars[argument.getArgNumber()];
    unsigned unused = 64 - type.getWidth();
    return type.getWidth() == 1
               ? static_cast<double>(bits & 1)
               : static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
  }
  if (auto known = rangeOfInteger(argument)) {
    auto [lower, upper] = *known;
    return (lower + std::max(lower, upper - 1)) / 2;
  }
  return {};
}

/// From here to there; as far as is taken for it if data decides where that is.
std::pair<double, double> Counter::range(Value lower, Value upper) {
  auto from = evaluate(lower, Point()), to = evaluate(upper, Point());
  if (from && to)
    return {*from, std::max(*from, *to)};
  work.isExact = false;
  return {0, unknownCount};
}

std::pair<double, double> Counter::rangeOf(StringAttr axis) {
  auto [lower, upper] = domains.boundsOf(axis);
  return range(lower, upper);
}

double Counter::extentOf(StringAttr axis) {
  auto [lower, upper] = rangeOf(axis);
  return upper - lower;
}

/// Of an integer that counts programs or trips.
std::optional<std::pair<double, double>> Counter::rangeOfInteger(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto parallel = dyn_cast<ir::ParallelOp>(parent)) {
    unsigned n = argument.getArgNumber();
    return range(parallel.getLower()[n], parallel.getUpper()[n]);
  }
  if (auto loop = dyn_cast<scf::ForOp>(parent); loop && argument == loop.getInductionVar())
    return range(loop.getLowerBound(), loop.getUpperBound());
  return {};
}

//===-- How often ---------------------------------------------------------===//

/// The share of the points with these coordinates that all conditions on them let pass: tried at
/// points that are spread evenly.
double Counter::shareInside(Axes axes) {
  SmallVector<ir::RestrictOp> restricts = domains.restrictsOn(axes);
  if (restricts.empty())
    return 1;
  work.isExact = false;
  std::vector<std::string> key;
  for (StringAttr axis : axes)
    key.push_back(axis.str());
  auto [known, isNew] = shares.try_emplace(key, 1);
  if (!isNew)
    return known->second;
  // All that the conditions speak of: coordinates, and integers that count.
  llvm::SetVector<Value> sources;
  for (ir::RestrictOp restriction : restricts)
    for (Value operand : restriction->getOperands())
      collectSources(operand, sources);
  constexpr unsigned bases[] = {2, 3, 5, 7, 11, 13, 17, 19};
  // A template is counted for a choice between kernels: that needs less than figures to be shown.
  const unsigned tries = sizes.empty() ? 1 << 13 : 1 << 9;
  unsigned inside = 0;
  for (unsigned n = 1; n <= tries; ++n) {
    Point point;
    for (auto [k, source] : llvm::enumerate(sources)) {
      auto bounds = isa<ir::SpanType>(source.getType())
                        ? std::optional(rangeOf(ir::axisOf(source)))
                        : rangeOfInteger(cast<BlockArgument>(source));
      if (!bounds || !std::isfinite(bounds->second))
        continue;
      double at = halton(n, bases[k % std::size(bases)]) * (bounds->second - bounds->first);
      point[source] = bounds->first + std::floor(at);
    }
    inside += llvm::all_of(restricts, [&](ir::RestrictOp restriction) {
      if (Value unless = restriction.getUnless())
        if (evaluate(unless, point).value_or(0) != 0)
          return true;
      SmallVector<int64_t> values;
      for (Value operand : llvm::concat<Value>(llvm::to_vector(restriction.getDims()),
                                               llvm::to_vector(restriction.getSyms()))) {
        auto value = evaluate(operand, point);
        if (!value)
          return true; // data decides: it may pass
        values.push_back(static_cast<int64_t>(*value));
      }
      IntegerSet set = restriction.getConstraint();
      auto result =
          ir::evaluateAffine(set.getConstraint(0), ArrayRef(values).take_front(set.getNumDims()),
                             ArrayRef(values).drop_front(set.getNumDims()));
      return !result || (set.isEq(0) ? *result == 0 : *result >= 0);
    });
  }
  return known->second = static_cast<double>(inside) / tries;
}

/// The tile size of a binder: the one in the IR, or the one that was given for it.
double Counter::sizeOf(StringAttr binder, int64_t given) const {
  return static_cast<double>(ShapedType::isDynamic(given) ? sizes.lookup(binder) : given);
}

/// The elements on these axes that an op works on, over all programs and trips.
double Counter::times(Operation *op, Axes axes) {
  double count = shareInside(axes);
  for (StringAttr axis : axes)
    count = product(count, extentOf(axis));
  auto blocks = [](double extent, double size) {
    return std::isfinite(extent) ? std::ceil(extent / size) : extent;
  };
  for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<ir::ForOp>(parent)) {
      if (!llvm::is_contained(axes, loop.getNameAttr()))
        count = product(count, blocks(extentOf(loop.getNameAttr()),
                                      sizeOf(loop.getNameAttr(), loop.getSize())));
    } else if (auto parallel = dyn_cast<ir::ParallelOp>(parent)) {
      for (auto [n, name] : llvm::enumerate(parallel.getNames().getAsRange<StringAttr>())) {
        auto [lower, upper] = range(parallel.getLower()[n], parallel.getUpper()[n]);
        if (parallel.getEach()[n])
          count = product(count, upper - lower);
        else if (!llvm::is_contained(axes, name))
          count = product(count, blocks(upper - lower, sizeOf(name, parallel.getSizes()[n])));
      }
    } else if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      auto [lower, upper] = range(loop.getLowerBound(), loop.getUpperBound());
      count = product(count, blocks(upper - lower, evaluate(loop.getStep(), Point()).value_or(1)));
    } else {
      // A condition, or a loop that data ends.
      work.isExact = false;
      if (isa<scf::WhileOp>(parent))
        count = product(count, unknownCount);
    }
  }
  return count;
}

/// What a value is computed from: spans, and integers that count programs and trips.
void Counter::collectSources(Value value, llvm::SetVector<Value> &sources) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (isa<ir::SpanType>(next.getType())) {
      sources.insert(next);
    } else if (op) {
      llvm::append_range(open, op->getOperands());
    } else if (rangeOfInteger(cast<BlockArgument>(next))) {
      sources.insert(next);
    } else if (auto loop =
                   dyn_cast<ir::ForOp>(cast<BlockArgument>(next).getOwner()->getParentOp())) {
      sources.insert(loop.getSpan()); // carried: another one with each block
    }
  }
}

/// The different elements that an access reaches: one for each value of what its index is computed
/// from. Programs that don't take part in the index reach the same ones.
double Counter::reached(Operation *op, AffineMap map, ValueRange indices, ValueRange symbols) {
  llvm::SetVector<Value> sources;
  for (Value operand : llvm::concat<Value>(llvm::to_vector(indices), llvm::to_vector(symbols)))
    collectSources(operand, sources);
  SmallVector<StringAttr> axes = ir::mapAxes(map, indices).names;
  double count = shareInside(axes);
  for (StringAttr axis : axes)
    count = product(count, extentOf(axis));
  for (Value source : sources) {
    if (!isa<ir::SpanType>(source.getType())) {
      auto [lower, upper] = *rangeOfInteger(cast<BlockArgument>(source));
      count = product(count, upper - lower);
    } else if (!llvm::is_contained(axes, ir::axisOf(source))) {
      count = product(count, extentOf(ir::axisOf(source)));
    }
  }
  return std::min(count, times(op, axes));
}

/// How many elements, side by side in memory, a block reaches at a time.
double Counter::neighbours(unsigned parameter, AffineMap map, ValueRange indices) {
  double count = 1;
  for (size_t n = shapes[parameter].size(); n-- > 0;) {
    auto extent = static_cast<double>(shapes[parameter][n]);
    double block = 1;
    for (auto [d, index] : llvm::enumerate(indices))
      if (isa<ir::SpanType>(index.getType()) && map.getResult(n).isFunctionOfDim(d))
        block = std::max(block, std::min(extent, blockOf(ir::axisOf(index))));
    count *= block;
    if (block < extent) // the next ones stand elsewhere
      break;
  }
  return count;
}

//===-- What counts -------------------------------------------------------===//

void Counter::access(Operation *op, Value memory, AffineMap map, ValueRange indices,
                     ValueRange symbols, bool reads, bool writes) {
  unsigned parameter = cast<BlockArgument>(memory).getArgNumber();
  double elements = reached(op, map, indices, symbols);
  double size =
      static_cast<double>(runtime::sizeOf(*runtime::parseDType(kernel.getParamType(parameter))));
  SmallVector<StringAttr> axes = ir::mapAxes(map, indices).names;
  double each = times(op, axes), accessed = each * (reads + writes);
  work.bytesAccessed += product(accessed, size);
  if (double again = each - elements; reads && again > 0 && std::isfinite(again))
    work.rereads.push_back({again * size, elements * size});
  auto &[all, widest] =
      abreast[ArrayAttr::get(op->getContext(), SmallVector<Attribute>(axes.begin(), axes.end()))];
  all += accessed;
  widest = std::max(widest, size);
  double pieces = Work::bytesOfPiece / (neighbours(parameter, map, indices) * size);
  work.restOfPieces += product(elements, size) * std::max(0.0, pieces - 1) * (reads + writes);
  if (reads)
    read[parameter] += elements;
  if (writes)
    written[parameter] += elements;
}

void Counter::compute(Operation *op) {
  auto add = [&](Unit unit, Type type, double count) {
    if (auto known = typeOf(type); known && count > 0)
      work.operations[{unit, *known}] += count;
  };
  if (auto dot = dyn_cast<ir::DotOp>(op)) {
    SmallVector<StringAttr> axes(ir::axesOf(dot.getResult().getType()));
    axes.push_back(dot.getAxisAttr());
    double count = 2 * times(op, axes);
    add(Unit::Matrix, dot.getLhs().getType(), count);
    bool isOfVectors = codegen::gpu::isOfVectors(dot);
    if (auto type = typeOf(dot.getLhs().getType()))
      work.contractions.push_back({*type, count, isOfVectors});
    contract(dot, isOfVectors);
  } else if (auto reduce = dyn_cast<ir::ReduceOp>(op)) {
    // Along other axes lanes are sums of their own.
    StringAttr last = ir::axesOf(reduce.getInput().getType()).back();
    double given = times(op, ir::axesOf(reduce.getType()));
    if (llvm::is_contained(reduce.getAxes(), last) && std::isfinite(given))
      work.reduced += given;
    if (isFloat(reduce.getInput().getType()))
      add(Unit::Vector, reduce.getInput().getType(),
          times(op, ir::axesOf(reduce.getInput().getType())));
  } else if (auto scan = dyn_cast<ir::ScanOp>(op)) {
    double each = 0;
    scan.getCombine().walk([&](Operation *inner) { each += operationsOf(inner); });
    Type type = scan.getInputs().front().getType();
    add(Unit::Vector, type, product(each, times(op, ir::axesOf(type))));
  } else if (isa<ir::PhiloxOp>(op)) {
    // Of ten rounds that make four words. Integers aren't counted as operations.
    double elements = times(op, ir::axesOf(op->getResult(0).getType()));
    work.functions += std::isfinite(elements) ? elements / 2 : 0;
  } else if (double each = operationsOf(op)) {
    Type type = op->getResult(0).getType();
    double elements = times(op, ir::axesOf(type));
    add(Unit::Vector, type, product(each, elements));
    if (isFunction(op) && std::isfinite(elements)) {
      bool isShort = isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::RsqrtOp>(op);
      double share = isShort ? 0.25 : 1;
      work.functions += share * elements;
      work.functionsOfFew +=
          share * std::max(0.0, Work::elementsOfFunction * times(op, {}) - elements);
    }
  }
}

double Counter::countPrograms() {
  ir::ParallelOp parallel = kernel.getParallel();
  double programs = 1;
  for (auto [n, name] : llvm::enumerate(parallel.getNames().getAsRange<StringAttr>())) {
    auto [lower, upper] = range(parallel.getLower()[n], parallel.getUpper()[n]);
    double size = parallel.getEach()[n] ? 1 : sizeOf(name, parallel.getSizes()[n]);
    programs = product(programs, std::ceil((upper - lower) / std::max(1.0, size)));
  }
  return programs;
}

/// How many coordinates of an axis a program has at a time.
double Counter::blockOf(StringAttr axis) {
  double extent = extentOf(axis);
  ir::ParallelOp parallel = kernel.getParallel();
  for (auto [name, size] : llvm::zip(parallel.getNames(), parallel.getSizes()))
    if (name == axis)
      return std::min(extent, sizeOf(axis, size));
  kernel.walk([&](ir::ForOp loop) {
    if (loop.getNameAttr() == axis)
      extent = std::min(extent, sizeOf(axis, loop.getSize()));
  });
  return extent;
}

/// Of a program's blocks of these tiles.
double Counter::bytesOfBlocks(ValueRange values) {
  double bytes = 0;
  for (Value value : values) {
    double each = std::max(1U, getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8);
    for (StringAttr axis : ir::axesOf(value.getType()))
      each = product(each, blockOf(axis));
    bytes += each;
  }
  return bytes;
}

/// Whether a value is computed from what loops or reductions make.
static bool isReduced(Value value) {
  SmallVector<Value> open = {value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (isa_and_nonnull<ir::DotOp, ir::ReduceOp, ir::ScanOp, ir::ForOp>(op))
      return true;
    if (op && seen.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

void Counter::contract(ir::DotOp dot, bool isOfVectors) {
  work.carriedBytes = std::max(work.carriedBytes, bytesOfBlocks(dot->getResults()));
  Value span = domains.spanOf(dot.getAxisAttr());
  bool isWhole = span && span.getDefiningOp<ir::AxisOp>();
  if (isWhole && !isOfVectors && (isReduced(dot.getLhs()) || isReduced(dot.getRhs())))
    work.contractedBytes =
        std::max(work.contractedBytes, bytesOfBlocks({dot.getLhs(), dot.getRhs()}));
}

Work Counter::count() {
  work.programs = countPrograms();
  kernel.getParallel().getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    // How parts of a loop would be joined doesn't run.
    if (auto loop = dyn_cast<ir::ForOp>(op->getParentOp());
        loop && op->getParentRegion() == &loop.getMerge())
      return WalkResult::skip();
    if (auto load = dyn_cast<ir::LoadOp>(op))
      access(op, load.getSource(), load.getMap(), load.getDims(), load.getSyms(), true, false);
    else if (auto store = dyn_cast<ir::StoreOp>(op))
      access(op, store.getTarget(), store.getMap(), store.getDims(), store.getSyms(), false, true);
    else if (auto update = dyn_cast<ir::UpdateOp>(op))
      access(op, update.getTarget(), update.getMap(), update.getDims(), update.getSyms(), false,
             true);
    else if (auto atomic = dyn_cast<ir::AtomicOp>(op))
      access(op, atomic.getTarget(), atomic.getMap(), atomic.getDims(), atomic.getSyms(), true,
             true);
    else
      compute(op);
    if (isa<ir::ForOp, scf::ForOp, scf::WhileOp>(op))
      work.carriedBytes = std::max(work.carriedBytes, bytesOfBlocks(op->getResults()));
    // A scan's combination was counted with it.
    return isa<ir::ScanOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  auto bytes = [&](const std::map<unsigned, double> &reached) {
    double sum = 0;
    for (auto [parameter, elements] : reached) {
      double all = 1;
      for (int64_t extent : shapes[parameter])
        all *= static_cast<double>(extent);
      sum += std::min(elements, all) * static_cast<double>(runtime::sizeOf(
                                           *runtime::parseDType(kernel.getParamType(parameter))));
    }
    return sum;
  };
  for (const auto &[axes, accessed] : abreast)
    work.bytesAbreast += product(accessed.first, accessed.second);
  work.bytesRead = bytes(read);
  work.bytesWritten = bytes(written);
  return std::move(work);
}

Work tile::frontend::countWork(ir::KernelOp kernel, ArrayRef<int64_t> dims,
                               ArrayRef<ArrayRef<int64_t>> shapes, ArrayRef<uint64_t> scalars,
                               const llvm::StringMap<int64_t> &sizes, double unknownCount) {
  return Counter(kernel, dims, shapes, scalars, sizes, unknownCount).count();
}
