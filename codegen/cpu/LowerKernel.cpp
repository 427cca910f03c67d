//===- LowerKernel.cpp - the functions of one kernel ----------------------===//

#include "codegen/Reports.h"
#include "codegen/cpu/Lowering.h"
#include "runtime/artifact/CpuEntry.h"
#include "runtime/artifact/CpuReport.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

//===-- Program space -----------------------------------------------------===//

/// How many blocks a binder has.
static Value blockCount(CodeBuilder &b, Value lower, Value upper, int64_t size) {
  Value length = b.maxS(b.sub(upper, lower), b.i64(0));
  // ⌈length / size⌉ without overflow.
  Value full = b.fold<arith::DivSIOp>(length, b.i64(size));
  Value rest = b.sub(length, b.mul(full, b.i64(size)));
  return b.add(full, b.minS(rest, b.i64(1)));
}

SmallVector<unsigned> BodyLowering::programOrder() {
  ParallelOp parallel = kernel.getParallel();
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, parallel.getNames().size()));
  StringAttr rows = plan.rowsReadAcross();
  // Sums, and what programs say or a sanitizer reports, come in the order of the kernel; programs
  // of a grid meet.
  bool mayChange = rows && !kernel.isGrid() && !target.sanitizes && !hasReports(kernel);
  parallel.walk([&](Operation *op) { mayChange &= !isa<UpdateOp, AtomicOp>(op); });
  if (mayChange)
    std::stable_partition(order.begin(), order.end(), [&](unsigned n) {
      return parallel.getEach()[n] || axisOf(parallel.getBody().getArgument(n)) != rows;
    });
  return order;
}

void BodyLowering::emitPrograms(Value programLo, Value programHi) {
  ParallelOp parallel = kernel.getParallel();
  size_t binders = parallel.getNames().size();
  SmallVector<Value> lower, upper, counts;
  for (size_t n = 0; n < binders; ++n) {
    lower.push_back(scalar(parallel.getLower()[n]));
    upper.push_back(scalar(parallel.getUpper()[n]));
    counts.push_back(blockCount(b, lower[n], upper[n], parallel.getSizes()[n]));
  }
  SmallVector<unsigned> order = programOrder();
  bool hasAssertions = false;
  parallel.walk([&](AssertOp) { hasAssertions = true; });
  b.loop(programLo, programHi, b.i64(1), {}, [&](Value number, ValueRange) {
    program = number;
    if (hasAssertions)
      leaveIfFailed(program);
    Value rest = program;
    for (unsigned n : llvm::reverse(order)) {
      BlockArgument argument = parallel.getBody().getArgument(n);
      // With constants as its ends, a single block has code for just as many elements.
      if (!parallel.getEach()[n] && matchPattern(counts[n], m_One())) {
        blocks[axisOf(argument)] = {lower[n], upper[n]};
        continue;
      }
      Value number = rest;
      if (n != order.front()) {
        Value quotient = arith::DivSIOp::create(b, rest, counts[n]);
        number = b.sub(rest, b.mul(quotient, counts[n]));
        rest = quotient;
      }
      Value size = b.i64(parallel.getSizes()[n]);
      Value base = b.add(lower[n], b.mul(number, size));
      if (parallel.getEach()[n])
        scalars[argument] = base;
      else
        blocks[axisOf(argument)] = {base, b.add(base, b.minS(size, b.sub(upper[n], base)))};
    }
    enterProgram();
    emitBlock(parallel.getBody().front());
    return Values();
  });
  // Streamed stores may be late, but not for who is told that all is done.
  if (streams)
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::seq_cst, StringRef());
}

//===-- Functions ---------------------------------------------------------===//

namespace {
class KernelFunctions {
public:
  KernelFunctions(KernelOp kernel, const TargetInfo &target, ModuleOp module, FoldOrders &orders)
      : kernel(kernel), target(target), domains(kernel), plan(kernel),
        b(kernel.getLoc(), kernel.getContext()), module(module), orders(orders) {}

  LogicalResult emit() {
    LLVM::LLVMFuncOp body = emitBody();
    emitEntry(body);
    emitPrograms();
    emitScratch();
    emitWork();
    if (hasReduceOutputs())
      emitApart();
    if (hasReports(kernel))
      emitReportsSymbol();
    return failure(failed);
  }

private:
  LLVM::LLVMFuncOp newFunction(const Twine &suffix, Type result, ArrayRef<Type> arguments) {
    b.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(result, arguments);
    auto function = LLVM::LLVMFuncOp::create(b, (kernel.getSymName() + suffix).str(), type);
    b.setInsertionPointToStart(function.addEntryBlock(b));
    return function;
  }
  Type voidType() { return LLVM::LLVMVoidType::get(b.getContext()); }

  /// Starts a function whose scalars come from the C interface's arrays.
  LLVM::LLVMFuncOp emitBody();
  void emitEntry(LLVM::LLVMFuncOp body);
  void emitPrograms();
  void emitScratch();
  void emitWork();
  bool hasReduceOutputs();
  /// The function CpuEntry::apart.
  void emitApart();
  /// How often a block of the kernel's runs in a program, as far as bounds tell.
  Value roundsOf(ScalarLowering &scalars, Block *block);
  /// Tells loaders that the kernel speaks.
  void emitReportsSymbol();
  /// Emits into a query function: the result, and whether it overflowed.
  void emitQuery(StringRef suffix,
                 llvm::function_ref<std::pair<Value, Value>(ScalarLowering &)> result);
  /// Bytes of a scratch buffer, rounded up to whole cache lines.
  Value bytesOf(ScalarLowering &scalars, const BodyLowering::BufferShape &shape, Value &overflow);
  Value checkedMul(Value x, Value y, Value &overflow);
  Value toDouble(Value x) { return b.fold<arith::SIToFPOp>(b.getF64Type(), x); }

  KernelOp kernel;
  const TargetInfo &target;
  Domains domains;
  Plan plan;
  CodeBuilder b;
  ModuleOp module;
  FoldOrders &orders;
  SmallVector<BodyLowering::BufferShape> buffers;
  bool failed = false;
};
} // namespace

LLVM::LLVMFuncOp KernelFunctions::emitBody() {
  Type i64 = b.getI64Type();
  SmallVector<Type> types = {b.ptr(), b.ptr(), i64, i64};
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (isa<MemRefType>(argument.getType()))
      types.push_back(b.ptr());
  LLVM::LLVMFuncOp function = newFunction(".body", voidType(), types);
  function.setLinkage(LLVM::Linkage::Internal);
  Block *prologue = b.getInsertionBlock();
  BodyLowering lowering(b, kernel, target, domains, plan, prologue, function, orders);
  auto arguments = prologue->getArguments();
  lowering.bindArrays(arguments[0], arguments[1], ValueRange(arguments).drop_front(4));
  if (target.sanitizes || hasReports(kernel))
    lowering.bindReport(arguments[0]);
  Block *start = b.newBlock({});
  b.setInsertionPointToStart(start);
  lowering.emitPrograms(arguments[2], arguments[3]);
  LLVM::ReturnOp::create(b, ValueRange());
  b.setInsertionPointToEnd(prologue);
  LLVM::BrOp::create(b, ValueRange(), start);

  buffers.assign(lowering.bufferShapes().begin(), lowering.bufferShapes().end());
  types.append(buffers.size(), b.ptr());
  function.setFunctionType(LLVM::LLVMFunctionType::get(voidType(), types));
  // No tensor and no buffer overlaps another.
  for (unsigned n = 4; n < types.size(); ++n)
    function.setArgAttr(n, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  failed |= lowering.hasFailed();
  return function;
}

Value KernelFunctions::checkedMul(Value x, Value y, Value &overflow) {
  auto product = arith::MulUIExtendedOp::create(b, x, y);
  Value tooLarge = b.either(b.compare(CmpIPredicate::ne, product.getHigh(), b.i64(0)),
                            b.compare(CmpIPredicate::slt, product.getLow(), b.i64(0)));
  overflow = b.either(overflow, tooLarge);
  return product.getLow();
}

Value KernelFunctions::bytesOf(ScalarLowering &scalars, const BodyLowering::BufferShape &shape,
                               Value &overflow) {
  SmallVector<Value> extents = scalars.bufferShape(shape.axes, shape.multiple);
  for (int64_t extent : shape.fixed)
    extents.push_back(b.i64(extent));
  Value bytes = b.i64(std::max(1u, memoryType(shape.element).getIntOrFloatBitWidth() / 8));
  Value exceeds = b.i1(false);
  for (Value extent : extents)
    bytes = checkedMul(bytes, extent, exceeds);
  if (Value most = b.i64(shape.mostBytes); shape.mostBytes > 0)
    bytes = b.select(exceeds, most, b.minS(bytes, most));
  else
    overflow = b.either(overflow, exceeds);
  constexpr int64_t line = 64;
  Value rounded = b.fold<arith::AndIOp>(b.add(bytes, b.i64(line - 1)), b.i64(-line));
  overflow = b.either(overflow, b.compare(CmpIPredicate::slt, rounded, b.i64(0)));
  return rounded;
}

void KernelFunctions::emitEntry(LLVM::LLVMFuncOp body) {
  Type i64 = b.getI64Type();
  newFunction(hasWideSums(kernel) ? tile::runtime::wideSumsSuffix : "", voidType(),
              {b.ptr(), b.ptr(), i64, i64, b.ptr()});
  Block *prologue = b.getInsertionBlock();
  auto arguments = prologue->getArguments();
  ScalarLowering scalars(b, kernel, target, domains, prologue);
  scalars.bindArrays(arguments[0], arguments[1]);
  Block *start = b.newBlock({});
  b.setInsertionPointToStart(start);
  auto finish = [&] {
    for (FinishOp op : kernel.getBody().front().getOps<FinishOp>())
      scalars.emitFinish(op);
    return CodeBuilder::Values();
  };
  if (!kernel.getBody().front().getOps<FinishOp>().empty()) {
    Value areDone = b.compare(CmpIPredicate::eq, arguments[2], b.i64(tile::runtime::cpuAfterAll));
    b.branch(areDone, finish, [] { return CodeBuilder::Values(); });
  }
  SmallVector<Value> operands(arguments.begin(), arguments.begin() + 4);
  for (auto [n, argument] : llvm::enumerate(kernel.getBody().getArguments()))
    if (isa<MemRefType>(argument.getType()))
      operands.push_back(b.load(b.ptr(), b.at(arguments[0], b.i64(n), b.ptr()), true));
  Value offset = b.i64(0), overflow = b.i1(false);
  for (const BodyLowering::BufferShape &shape : buffers) {
    operands.push_back(b.at(arguments[4], offset, b.getI8Type()));
    offset = b.add(offset, bytesOf(scalars, shape, overflow));
  }
  LLVM::CallOp::create(b, body, operands); // of no program, where all are done
  LLVM::ReturnOp::create(b, ValueRange());
  b.setInsertionPointToEnd(prologue);
  LLVM::BrOp::create(b, ValueRange(), start);
  failed |= scalars.hasFailed();
}

void KernelFunctions::emitQuery(
    StringRef suffix, llvm::function_ref<std::pair<Value, Value>(ScalarLowering &)> result) {
  newFunction(suffix, b.getI64Type(), {b.ptr(), b.ptr()});
  Block *prologue = b.getInsertionBlock();
  ScalarLowering scalars(b, kernel, target, domains, prologue);
  scalars.bindArrays(prologue->getArgument(0), prologue->getArgument(1));
  auto [value, overflow] = result(scalars);
  LLVM::ReturnOp::create(b, ValueRange{b.select(overflow, b.i64(-1), value)});
  failed |= scalars.hasFailed();
}

void KernelFunctions::emitPrograms() {
  emitQuery(".programs", [&](ScalarLowering &scalars) {
    ParallelOp parallel = kernel.getParallel();
    // An empty binder leaves no program, however many the others have.
    Value count = b.i64(1), overflow = b.i1(false), isEmpty = b.i1(false);
    for (auto [lower, upper, size] :
         llvm::zip(parallel.getLower(), parallel.getUpper(), parallel.getSizes())) {
      Value blocks = blockCount(b, scalars.scalar(lower), scalars.scalar(upper), size);
      isEmpty = b.either(isEmpty, b.compare(CmpIPredicate::eq, blocks, b.i64(0)));
      count = checkedMul(count, blocks, overflow);
    }
    return std::pair(b.select(isEmpty, b.i64(0), count), b.select(isEmpty, b.i1(false), overflow));
  });
}

void KernelFunctions::emitScratch() {
  emitQuery(".scratch", [&](ScalarLowering &scalars) {
    Value total = b.i64(0), overflow = b.i1(false);
    for (const BodyLowering::BufferShape &shape : buffers) {
      total = b.add(total, bytesOf(scalars, shape, overflow));
      overflow = b.either(overflow, b.compare(CmpIPredicate::slt, total, b.i64(0)));
    }
    return std::pair(total, overflow);
  });
}

//===-- Work --------------------------------------------------------------===//

/// The axes that an op runs over.
static SmallVector<StringAttr> iterationAxes(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return mapAxes(store.getMap(), store.getDims()).names;
  if (auto update = dyn_cast<UpdateOp>(op))
    return mapAxes(update.getMap(), update.getDims()).names;
  SmallVector<StringAttr> axes;
  auto add = [&](TypeRange types) {
    for (Type type : types)
      for (StringAttr axis : axesOf(type))
        if (!llvm::is_contained(axes, axis))
          axes.push_back(axis);
  };
  if (isa<AlongAxes, DotOp>(op))
    add(op->getOperandTypes());
  add(op->getResultTypes());
  return axes;
}

Value KernelFunctions::roundsOf(ScalarLowering &scalars, Block *block) {
  constexpr double unknown = 16;
  Value rounds = b.number(b.getF64Type(), 1);
  auto times = [&](Value factor) { rounds = b.fold<arith::MulFOp>(rounds, factor); };
  auto isKnown = [](ValueRange values) {
    return llvm::all_of(values, ScalarLowering::isEntryValue);
  };
  for (Operation *op = block->getParentOp(); !isa<ParallelOp>(op); op = op->getParentOp()) {
    auto loop = dyn_cast<ForOp>(op);
    auto count = dyn_cast<scf::ForOp>(op);
    if (loop && isKnown({loop.getLower(), loop.getUpper()})) {
      Value length = scalars.lengthOf(loop.getName());
      int64_t size = cast<SpanType>(loop.getSpan().getType()).getExtent();
      times(toDouble(blockCount(b, b.i64(0), length, size)));
    } else if (count && isKnown({count.getLowerBound(), count.getUpperBound(), count.getStep()})) {
      Value length =
          b.sub(scalars.scalar(count.getUpperBound()), scalars.scalar(count.getLowerBound()));
      Value step = b.maxS(scalars.scalar(count.getStep()), b.i64(1));
      times(toDouble(b.maxS(b.fold<arith::DivSIOp>(length, step), b.i64(0))));
    } else if (loop || isa<LoopLikeOpInterface>(op)) {
      times(b.number(b.getF64Type(), unknown));
    }
  }
  return rounds;
}

/// Each op costs what it does, for each element: what the vectors have lanes for at once.
void KernelFunctions::emitWork() {
  constexpr int64_t unknownExtent = 4096;
  // Ops at the same place over the same axes together.
  llvm::MapVector<std::pair<Block *, ArrayAttr>, int64_t> costs;
  kernel.getParallel().getBody().walk([&](Operation *op) {
    SmallVector<StringAttr> axes = iterationAxes(op);
    SmallVector<Attribute> key(axes.begin(), axes.end());
    if (!key.empty())
      costs[{op->getBlock(), b.getArrayAttr(key)}] += costOf(op);
  });
  emitQuery(".work", [&](ScalarLowering &scalars) {
    Value total = b.number(b.getF64Type(), 100);
    for (const auto &[place, cost] : costs) {
      double share = static_cast<double>(cost) / target.lanes();
      Value elements = b.number(b.getF64Type(), share);
      for (StringAttr axis : place.second.getAsRange<StringAttr>()) {
        auto [lower, upper] = domains.boundsOf(axis.getValue());
        bool isKnown = domains.isBlock(axis.getValue()) ||
                       (ScalarLowering::isEntryValue(lower) && ScalarLowering::isEntryValue(upper));
        Value extent = isKnown ? scalars.extentBound(axis) : b.i64(unknownExtent);
        elements = b.fold<arith::MulFOp>(elements, toDouble(extent));
      }
      elements = b.fold<arith::MulFOp>(elements, roundsOf(scalars, place.first));
      total = b.fold<arith::AddFOp>(total, elements);
    }
    constexpr double most = 1e18;
    Value limited = arith::MinimumFOp::create(b, total, b.number(b.getF64Type(), most));
    return std::pair(Value(arith::FPToSIOp::create(b, b.getI64Type(), limited)), b.i1(false));
  });
}

//===-- Programs that share a copy of `reduce` outputs --------------------===//

bool KernelFunctions::hasReduceOutputs() {
  return llvm::any_of(llvm::seq<unsigned>(0, kernel.getNumArguments()),
                      [&](unsigned n) { return kernel.getParamMode(n) == ParamMode::Reduce; });
}

/// The binders of which other numbers update other elements of all outputs.
static llvm::SmallBitVector bindersApart(KernelOp kernel) {
  Block &programs = kernel.getParallel().getBody().front();
  llvm::SmallBitVector apart(programs.getNumArguments(), !kernel.isGrid());
  llvm::SmallDenseSet<Value> outputs;
  kernel.walk([&](UpdateOp op) {
    llvm::SmallBitVector own(programs.getNumArguments());
    for (AffineExpr expr : op.getMap().getResults()) {
      Value index;
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        index = op.getDims()[dim.getPosition()];
      else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        index = op.getSyms()[symbol.getPosition()];
      if (auto binder = dyn_cast_or_null<BlockArgument>(index);
          binder && binder.getOwner() == &programs)
        own.set(binder.getArgNumber());
    }
    // Two updates of one output may meet.
    if (!outputs.insert(op.getTarget()).second)
      own.reset();
    apart &= own;
  });
  return apart;
}

void KernelFunctions::emitApart() {
  emitQuery(tile::runtime::apartSuffix, [&](ScalarLowering &scalars) {
    ParallelOp parallel = kernel.getParallel();
    llvm::SmallBitVector isApart = bindersApart(kernel);
    Value count = b.i64(1), overflow = b.i1(false), isLast = b.i1(false);
    for (unsigned n = isApart.size(); n-- > 0;) {
      Value blocks = blockCount(b, scalars.scalar(parallel.getLower()[n]),
                                scalars.scalar(parallel.getUpper()[n]), parallel.getSizes()[n]);
      if (!isApart[n])
        isLast = b.either(isLast, b.compare(CmpIPredicate::ne, blocks, b.i64(1)));
      else
        count = checkedMul(count, b.select(isLast, b.i64(1), blocks), overflow);
    }
    return std::pair(count, overflow);
  });
}

void KernelFunctions::emitReportsSymbol() {
  b.setInsertionPointToEnd(module.getBody());
  LLVM::GlobalOp::create(b, b.getI8Type(), /*isConstant=*/true, LLVM::Linkage::External,
                         (kernel.getSymName() + tile::runtime::reportsSuffix).str(),
                         b.getI8IntegerAttr(1));
}

bool tile::codegen::hasWideSums(KernelOp kernel) {
  return llvm::any_of(llvm::seq<unsigned>(0, kernel.getNumArguments()), [&](unsigned n) {
    auto type = dyn_cast<MemRefType>(kernel.getArgumentTypes()[n]);
    return type && isa<FloatType>(type.getElementType()) &&
           kernel.getParamMode(n) == ParamMode::Reduce &&
           kernel.getParamReduce(n) == CombineKind::add;
  });
}

FailureOr<OwningOpRef<ModuleOp>>
tile::codegen::lowerKernel(KernelOp kernel, const TargetInfo &target, FoldOrders &orders) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  if (failed(KernelFunctions(kernel, target, *module, orders).emit()))
    return failure();
  return module;
}
