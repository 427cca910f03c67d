//===- EmitReport.cpp - assertions and prints -----------------------------===//

#include "codegen/Reports.h"
#include "codegen/cpu/Lowering.h"
#include "ir/dialect/ElementType.h"
#include "runtime/artifact/CpuReport.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using tile::runtime::CpuReportField;

//===-- The report --------------------------------------------------------===//

void BodyLowering::bindReport(Value params) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(prologue);
  unsigned behind = kernel.getBody().getNumArguments();
  report = b.load(b.ptr(), b.at(params, b.i64(behind), b.ptr()), true);
  for (auto [n, op] : llvm::enumerate(reportSites(kernel)))
    siteNumbers[op] = n;
}

/// A field of the report, which stays as it is.
Value BodyLowering::reportField(unsigned field) {
  return b.load(b.ptr(), b.at(report, b.i64(field), b.getI64Type()), true);
}

Value BodyLowering::callReport(unsigned field, ArrayRef<Value> arguments, Type result) {
  SmallVector<Value> operands = {reportField(field), report};
  llvm::append_range(operands, arguments);
  SmallVector<Type> types(ValueRange(operands).drop_front().getTypes());
  Type returned = result ? result : LLVM::LLVMVoidType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(returned, types);
  auto call = LLVM::CallOp::create(b, type, operands);
  return result ? call.getResult() : Value();
}

/// A text that stands in the code.
Value BodyLowering::siteConstant(Operation *op) {
  unsigned number = siteNumbers.at(op);
  std::string bytes = encodeSite(op, number);
  std::string name = (kernel.getSymName() + ".site" + Twine(number)).str();
  auto module = function->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           b.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, b.ptr(), name);
}

/// Memory for so many words, that of one call.
Value BodyLowering::newWords(int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(prologue);
  Value words = b.i64(std::max<int64_t>(count, 1));
  return LLVM::AllocaOp::create(b, b.ptr(), b.getI64Type(), words, 8);
}

void BodyLowering::storeWord(Value words, int64_t index, Value value) {
  b.store(value, b.at(words, b.i64(index), b.getI64Type()));
}

Value BodyLowering::programCoordinate(unsigned binder) {
  ParallelOp parallel = kernel.getParallel();
  BlockArgument argument = parallel.getBody().getArgument(binder);
  return parallel.getEach()[binder] ? scalar(argument) : blocks.lookup(axisOf(argument)).first;
}

//===-- Watching ----------------------------------------------------------===//

void BodyLowering::enterProgram() {
  if (!target.sanitizes)
    return;
  unsigned count = kernel.getParallel().getBody().getNumArguments();
  Value words = newWords(count);
  for (unsigned n = 0; n < count; ++n)
    storeWord(words, n, programCoordinate(n));
  callReport(unsigned(CpuReportField::Enter), {program, words});
}

Value BodyLowering::watched(Operation *op, ArrayRef<Lanes> indices, Value mask) {
  if (!target.sanitizes)
    return mask;
  Value words = newWords(static_cast<int64_t>(indices.size()));
  for (auto [d, index] : llvm::enumerate(indices))
    storeWord(words, static_cast<int64_t>(d), index.value);
  Value happens = mask ? Value(arith::ExtUIOp::create(b, b.getI64Type(), mask)) : b.i64(1);
  Value may = callReport(unsigned(CpuReportField::Access),
                         {b.i64(siteNumbers.at(op)), words, happens}, b.getI64Type());
  return b.compare(arith::CmpIPredicate::ne, may, b.i64(0));
}

//===-- Assertions --------------------------------------------------------===//

void BodyLowering::leaveIfFailed(Value program) {
  Value failed =
      b.load(b.getI64Type(), reportField(unsigned(CpuReportField::FailedProgram)), false);
  failed.getDefiningOp<LLVM::LoadOp>().setOrdering(LLVM::AtomicOrdering::monotonic);
  leaveIf(b.compare(arith::CmpIPredicate::sle, failed, program), [] {});
}

void BodyLowering::leaveIf(Value condition, llvm::function_ref<void()> before) {
  Block *current = b.getInsertionBlock(), *leaves = b.newBlock({});
  b.setInsertionPointToStart(leaves);
  before();
  Block *goesOn = b.newBlock({});
  LLVM::ReturnOp::create(b, ValueRange());
  b.setInsertionPointToEnd(current);
  LLVM::CondBrOp::create(b, condition, leaves, ValueRange(), goesOn, ValueRange());
  b.setInsertionPointToStart(goesOn);
}

void BodyLowering::reportFailure(AssertOp op) {
  ArrayRef<StringAttr> axes = axesOf(op.getCondition().getType());
  ParallelOp parallel = kernel.getParallel();
  size_t binders = parallel.getNames().size();
  Value words = newWords(static_cast<int64_t>(binders + axes.size()));
  int64_t index = 0;
  for (size_t n = 0; n < binders; ++n)
    storeWord(words, index++, programCoordinate(n));
  for (StringAttr axis : axes)
    storeWord(words, index++, coordinateOf(axis).value);
  callReport(unsigned(CpuReportField::Fail), {siteConstant(op), program, words});
}

void BodyLowering::emitAssert(AssertOp op) {
  Value condition = op.getCondition();
  ArrayRef<StringAttr> axes = axesOf(condition.getType());
  auto failsHere = [&] {
    Value holds = emit(condition);
    Value isFalse = b.compare(arith::CmpIPredicate::eq, holds, b.integer(holds.getType(), 0));
    return axes.empty() ? isFalse : b.both(isFalse, domainMask(axes));
  };
  if (axes.empty())
    return leaveIf(failsHere(), [&] { reportFailure(op); });
  // First whether any element fails, on vectors; which one is only asked then.
  StringAttr vectorAxis = chooseVectorAxis(axes, condition, std::nullopt, nullptr);
  auto join = [&](Value x, Value y) { return b.either(x, y); };
  auto step = [&](Value any) { return b.either(any, failsHere()); };
  Values any = reductionNest({{}, SmallVector<StringAttr>(axes), vectorAxis, 1},
                             simpleFold(b.i1(false), step, join, nullptr));
  leaveIf(any.back(), [&] {
    nest(axes, StringAttr(), Values{b.i1(false)}, [&](ValueRange carried) {
      Value isFound = carried[0], fails = failsHere();
      Value isFirst = b.both(fails, b.compare(arith::CmpIPredicate::eq, isFound, b.i1(false)));
      auto tell = [&]() -> Values {
        apart([&] { reportFailure(op); });
        return {};
      };
      b.branch(isFirst, tell, []() -> Values { return {}; });
      return Values{b.either(isFound, fails)};
    });
  });
}

//===-- Prints ------------------------------------------------------------===//

/// Where the value's elements are, in scratch.
Buffer *BodyLowering::shownBuffer(Value value) {
  if (Buffer *buffer = bufferOf(value))
    return buffer;
  Buffer *buffer = newBuffer(getElementTypeOrSelf(value.getType()), axesOf(value.getType()));
  keep(value, buffer);
  return buffer;
}

Buffer *BodyLowering::maskBuffer(Axes axes) {
  if (domains.restrictsOn(axes).empty())
    return nullptr;
  Buffer *buffer = newBuffer(b.getI1Type(), axes);
  nest(axes, axes.back(), {}, [&](ValueRange) {
    writeBuffer(*buffer, restrictMask(axes));
    return Values();
  });
  return buffer;
}

void BodyLowering::emitPrint(PrintOp op) {
  int64_t count = 0;
  for (Value value : op.getValues()) {
    auto rank = static_cast<int64_t>(axesOf(value.getType()).size());
    count += rank ? 2 + 3 * rank : 1;
  }
  Value words = newWords(count);
  int64_t index = 0;
  for (Value value : op.getValues()) {
    Axes axes = axesOf(value.getType());
    if (axes.empty()) {
      storeWord(words, index++, toMemory(scalar(value), value.getType()));
      continue;
    }
    Buffer *buffer = shownBuffer(value), *mask = maskBuffer(buffer->axes);
    storeWord(words, index++, buffer->memory.pointer);
    storeWord(words, index++, mask ? mask->memory.pointer : LLVM::ZeroOp::create(b, b.ptr()));
    for (auto [d, axis] : llvm::enumerate(axes)) {
      auto [lower, upper] = rangeOf(axis);
      storeWord(words, index++, lower);
      storeWord(words, index++, upper);
      storeWord(words, index++,
                buffer->memory.strides[llvm::find(buffer->axes, axis) - buffer->axes.begin()]);
    }
  }
  callReport(unsigned(CpuReportField::Print), {siteConstant(op), words});
}
