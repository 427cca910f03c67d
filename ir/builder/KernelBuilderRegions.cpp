//===- KernelBuilderRegions.cpp - loops, branches and variables -----------===//

#include "ir/builder/KernelBuilder.h"
#include "ir/transforms/Specialize.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

//===-- Regions -----------------------------------------------------------===//

KernelBuilder::Frame &KernelBuilder::openFrame(Operation *owner) {
  OpBuilder::InsertPoint after(owner->getBlock(), std::next(owner->getIterator()));
  Frame &frame = frames.emplace_back(after);
  frame.op = owner;
  frame.variables = variables.size();
  frame.entry = currentValues(frame.variables);
  return frame;
}

/// Back to after the region; the variables declared inside are gone.
void KernelBuilder::closeFrame() {
  Frame &frame = frames.back();
  variables.truncate(frame.variables);
  builder.restoreInsertionPoint(frame.after);
  frames.pop_back();
}

SmallVector<Value> KernelBuilder::currentValues(unsigned count) const {
  return llvm::map_to_vector(llvm::ArrayRef(variables).take_front(count),
                             [](const Variable &variable) { return variable.value; });
}

void KernelBuilder::setValues(ValueRange values) {
  for (auto [variable, value] : llvm::zip(variables, values))
    variable.value = value;
}

/// Which of the carried values a body changes: yielded ≠ its own argument.
static llvm::BitVector changedValues(ValueRange yielded, ValueRange arguments) {
  llvm::BitVector changed(yielded.size());
  for (size_t n = 0; n < yielded.size(); ++n)
    changed[n] = yielded[n] != arguments[n];
  return changed;
}

template <typename RangeT>
static SmallVector<Value> select(const RangeT &values, const llvm::BitVector &which) {
  SmallVector<Value> result;
  for (unsigned n : which.set_bits())
    result.push_back(values[n]);
  return result;
}

/// Drops the unchanged arguments of a body (the first `lead` are not carried),
/// whose uses become the values from before the loop.
static void dropArguments(Block &body, unsigned lead, const llvm::BitVector &changed,
                          ValueRange before, llvm::SmallVectorImpl<Value> &atoms1,
                          llvm::SmallVectorImpl<Value> &atoms2) {
  for (int n = changed.size() - 1; n >= 0; --n) {
    if (changed[n])
      continue;
    Value argument = body.getArgument(lead + n);
    argument.replaceAllUsesWith(before[n]);
    for (auto *atoms : {&atoms1, &atoms2})
      for (Value &atom : *atoms)
        if (atom == argument)
          atom = before[n];
    body.eraseArgument(lead + n);
  }
}

Expr KernelBuilder::beginFor(const BinderSpec &binder, const LoopSpec &loop) {
  setLoc(binder.loc);
  checkInParallel("a loop over spans");
  if (inGrid()) {
    auto diagnostic = error() << "a `grid` kernel has no loops over blocks of a size that is open";
    diagnostic.attachNote(loc) << "hint: count blocks of a constant size: `for " << binder.name
                               << " in 0..cdiv(n, 128)` with `let r = range(128)`";
  }
  if (!ShapedType::isDynamic(loop.blockSize) && loop.blockSize > maxTileSize)
    error() << "a block has from 1 to " << maxTileSize << " elements";
  Value lower = integerScalar(binder.lower, "a bound"),
        upper = integerScalar(binder.upper, "a bound");
  if (!lower || !upper)
    lower = upper = constant(ElementType::I64, 0, 0);
  auto span = SpanType::get(context(), builder.getStringAttr(binder.name), loop.blockSize);
  SmallVector<Value> inits = currentValues(variables.size());
  auto forOp =
      ForOp::create(builder, loc, TypeRange(ValueRange(inits)), lower, upper, inits,
                    builder.getStringAttr(binder.name), builder.getI64IntegerAttr(loop.blockSize),
                    LoopKindAttr::get(context(), loop.kind));
  Block &body = forOp.getBody().emplaceBlock();
  Value spanArgument = body.addArgument(span, loc);
  for (Variable &variable : variables)
    body.addArgument(variable.value.getType(), variable.loc);
  openFrame(forOp);
  builder.setInsertionPointToEnd(&body);
  setValues(body.getArguments().drop_front());
  addAxisName(binder.name, spanArgument);
  return spanExpr(spanArgument);
}

/// Builds what joins the values that a loop carries; false after an error.
bool KernelBuilder::mergeInto(ForOp loop, ArrayRef<unsigned> carried, Combination merge) {
  OpBuilder::InsertionGuard guard(builder);
  Block &body = loop.getMerge().emplaceBlock();
  std::string names;
  SmallVector<Expr> states;
  for (unsigned side = 0; side < 2; ++side)
    for (auto [n, variable] : llvm::enumerate(carried)) {
      const Variable &var = variables[variable];
      states.push_back(make(body.addArgument(loop.getResult(n).getType(), loc), var.type));
      if (side == 0)
        names += (n ? ", `" : "`") + var.name + "`";
    }
  builder.setInsertionPointToEnd(&body);
  SmallVector<Expr> joined = merge(states);
  if (llvm::any_of(joined, [](const Expr &x) { return !x.isValid(); }))
    return false;
  if (carried.empty() || joined.size() != carried.size()) {
    auto diagnostic = error() << "`merge` joins the " << carried.size() << " variable"
                              << (carried.size() == 1 ? "" : "s")
                              << " of the loop; its function gives " << joined.size() << " value"
                              << (joined.size() == 1 ? "" : "s");
    if (!carried.empty())
      diagnostic.attachNote(loc) << "the loop changes " << names;
    return false;
  }
  SmallVector<Value> results;
  for (auto [n, variable] : llvm::enumerate(carried)) {
    const Variable &var = variables[variable];
    Expr part = adapted(joined[n], var.type);
    if (!part.isValid())
      return false;
    Type type = loop.getResult(n).getType();
    Value value = widen(part);
    bool fits =
        part.type == var.type && llvm::all_of(axesOf(value.getType()), [&](StringAttr axis) {
          return llvm::is_contained(axesOf(type), axis);
        });
    if (!fits) {
      error() << "`merge` joins `" << var.name << "`, " << nameOf(var.type) << " with the axes "
              << axesText(type) << "; its function gives " << nameOf(part.type) << " with "
              << axesText(value.getType());
      return false;
    }
    results.push_back(axesOf(type).empty() ? value : broadcastTo(value, type));
  }
  for (Operation &inner : body)
    if (inner.getNumRegions() > 0 || isa<AlongAxes>(inner) || !isMemoryEffectFree(&inner)) {
      emitError(inner.getLoc())
          << "what joins two parts of a loop is made of operations on elements";
      return false;
    }
  YieldOp::create(builder, loc, results);
  return true;
}

void KernelBuilder::endFor(Combination merge) {
  Frame &frame = frames.back();
  auto old = cast<ForOp>(frame.op);
  Block &body = old.getBody().front();
  SmallVector<Value> yielded = currentValues(frame.variables);
  llvm::BitVector changed = changedValues(yielded, body.getArguments().drop_front());
  YieldOp::create(builder, old.getLoc(), select(yielded, changed));
  SmallVector<Value> inits = select(old.getInits(), changed), after = frame.entry;
  dropArguments(body, 1, changed, frame.entry, dimAtoms, symbolAtoms);
  builder.setInsertionPoint(old);
  auto loop =
      ForOp::create(builder, old.getLoc(), TypeRange(ValueRange(inits)), old.getLower(),
                    old.getUpper(), inits, old.getNameAttr(), old.getSizeAttr(), old.getKindAttr());
  loop.getBody().takeBody(old.getBody());
  old.erase();
  closeFrame();
  SmallVector<unsigned> carried(changed.set_bits());
  for (auto [n, variable] : llvm::enumerate(carried))
    after[variable] = loop.getResult(n);
  setValues(after);
  if (merge && !mergeInto(loop, carried, merge))
    loop.getMerge().getBlocks().clear();
}

/// Reports bounds that were exchanged because the loop goes backward.
void KernelBuilder::checkForward(const Expr &lower, const Expr &upper) {
  AffineExpr from = formOf(lower), to = formOf(upper);
  if (!from || !to)
    return;
  AffineExpr excess = from - to;
  auto number = dyn_cast<AffineConstantExpr>(excess);
  auto symbol = dyn_cast<AffineSymbolExpr>(excess);
  bool isDim = symbol && symbolAtoms[symbol.getPosition()].getDefiningOp<DimOp>();
  if (!isDim && !(number && number.getValue() > 0))
    return;
  auto diagnostic = error() << "this range is empty: the smaller bound comes first";
  diagnostic.attachNote(loc) << "hint: a negative step visits `lo..hi` from hi - 1 down";
}

Expr KernelBuilder::beginCount(StringRef name, Expr lower, Expr upper, Expr step) {
  Value low = integerScalar(lower, "a bound"), high = integerScalar(upper, "a bound"),
        by = integerScalar(step, "a step");
  if (!low || !high || !by) {
    low = high = by = constant(ElementType::I64, 1, 0);
    lower = upper = {};
  }
  APInt known;
  bool isKnown = matchPattern(by, m_ConstantInt(&known));
  if (isKnown && known.isZero())
    error() << "a step of 0 goes nowhere";
  // Backward from the end: n steps forward from 0 stand for upper − 1 − n.
  bool isBackward = isKnown && known.isNegative() && lower.isValid() && upper.isValid();
  if (isBackward) {
    checkForward(lower, upper);
    low = constant(ElementType::I64, 0, 0);
    high = materialize(binary(Binary::Sub, upper, lower), ElementType::I64);
    if (!high) // an error was reported
      high = low;
    by = constant(ElementType::I64,
                  known.getSExtValue() == INT64_MIN ? INT64_MAX : -known.getSExtValue(), 0);
  }
  auto forOp = scf::ForOp::create(builder, loc, low, high, by, currentValues(variables.size()));
  forOp.getBody()->clear(); // a terminator may have been made where nothing is carried
  forOp->setAttr("tile.name", builder.getStringAttr(isBackward ? (name + "'").str() : name.str()));
  for (auto [argument, variable] : llvm::zip(forOp.getRegionIterArgs(), variables))
    argument.setLoc(variable.loc);
  openFrame(forOp);
  builder.setInsertionPointToEnd(forOp.getBody());
  setValues(forOp.getRegionIterArgs());
  Expr counter = make(forOp.getInductionVar(), ElementType::I64);
  if (!isBackward)
    return counter;
  return binary(Binary::Sub, binary(Binary::Sub, upper, literal(int64_t(1))), counter);
}

void KernelBuilder::endCount() {
  Frame &frame = frames.back();
  auto old = cast<scf::ForOp>(frame.op);
  SmallVector<Value> yielded = currentValues(frame.variables);
  llvm::BitVector changed = changedValues(yielded, old.getRegionIterArgs());
  scf::YieldOp::create(builder, old.getLoc(), select(yielded, changed));
  SmallVector<Value> inits = select(old.getInitArgs(), changed), after = frame.entry;
  dropArguments(*old.getBody(), 1, changed, frame.entry, dimAtoms, symbolAtoms);
  builder.setInsertionPoint(old);
  auto loop = scf::ForOp::create(builder, old.getLoc(), old.getLowerBound(), old.getUpperBound(),
                                 old.getStep(), inits);
  loop->setAttrs(old->getAttrs());
  loop.getRegion().takeBody(old.getRegion());
  old.erase();
  closeFrame();
  for (auto [n, variable] : llvm::enumerate(changed.set_bits()))
    after[variable] = loop.getResult(n);
  setValues(after);
}

void KernelBuilder::beginIf(Expr condition) {
  Value value = condition.isValid() ? materialize(condition) : Value();
  if (value && !axesOf(value.getType()).empty())
    error() << "the condition of `if` has axes; it takes a scalar";
  if (!value || !value.getType().isInteger(1)) {
    if (value && axesOf(value.getType()).empty())
      error() << "the condition of `if` has to be a bool";
    value = constant(ElementType::Bool, 0, 0);
  }
  auto ifOp = scf::IfOp::create(builder, loc, TypeRange(), value, /*addThenBlock=*/true,
                                /*addElseBlock=*/true);
  openFrame(ifOp);
  builder.setInsertionPointToEnd(ifOp.thenBlock());
}

void KernelBuilder::beginElse() {
  Frame &frame = frames.back();
  frame.thenValues = currentValues(frame.variables);
  variables.truncate(frame.variables);
  setValues(frame.entry);
  builder.setInsertionPointToEnd(cast<scf::IfOp>(frame.op).elseBlock());
}

void KernelBuilder::endIf() {
  if (frames.back().thenValues.empty() && frames.back().variables != 0)
    beginElse();
  Frame &frame = frames.back();
  auto old = cast<scf::IfOp>(frame.op);
  SmallVector<Value> elseValues = currentValues(frame.variables), after = frame.entry;
  llvm::BitVector changed(frame.variables);
  for (unsigned n = 0; n < frame.variables; ++n)
    changed[n] = frame.thenValues[n] != frame.entry[n] || elseValues[n] != frame.entry[n];
  SmallVector<Value> thenKept = select(frame.thenValues, changed),
                     elseKept = select(elseValues, changed);
  builder.setInsertionPointToEnd(old.thenBlock());
  scf::YieldOp::create(builder, old.getLoc(), thenKept);
  builder.setInsertionPointToEnd(old.elseBlock());
  scf::YieldOp::create(builder, old.getLoc(), elseKept);
  builder.setInsertionPoint(old);
  auto ifOp = scf::IfOp::create(builder, old.getLoc(), TypeRange(ValueRange(thenKept)),
                                old.getCondition(), /*addThenBlock=*/false, /*addElseBlock=*/false);
  ifOp.getThenRegion().takeBody(old.getThenRegion());
  ifOp.getElseRegion().takeBody(old.getElseRegion());
  old.erase();
  closeFrame();
  for (auto [n, variable] : llvm::enumerate(changed.set_bits()))
    after[variable] = ifOp.getResult(n);
  setValues(after);
}

void KernelBuilder::beginWhile() {
  SmallVector<Value> inits = currentValues(variables.size());
  SmallVector<Location> locs =
      llvm::map_to_vector(variables, [](const Variable &variable) { return variable.loc; });
  TypeRange types{ValueRange(inits)};
  auto whileOp = scf::WhileOp::create(builder, loc, types, inits);
  Block &before = whileOp.getBefore().emplaceBlock();
  before.addArguments(types, locs);
  whileOp.getAfter().emplaceBlock().addArguments(types, locs);
  openFrame(whileOp);
  builder.setInsertionPointToEnd(&before);
  setValues(before.getArguments());
}

void KernelBuilder::whileBody(Expr condition) {
  auto whileOp = cast<scf::WhileOp>(frames.back().op);
  Value value = condition.isValid() ? materialize(condition) : Value();
  if (!value || !value.getType().isInteger(1)) {
    if (value)
      error() << "the condition of `while` has to be a bool without axes";
    value = constant(ElementType::Bool, 0, 0);
  }
  scf::ConditionOp::create(builder, loc, value, whileOp.getBeforeBody()->getArguments());
  builder.setInsertionPointToEnd(whileOp.getAfterBody());
  MayNotEndOp::create(builder, loc);
  setValues(whileOp.getAfterBody()->getArguments());
}

void KernelBuilder::endWhile() {
  Frame &frame = frames.back();
  auto old = cast<scf::WhileOp>(frame.op);
  Block &before = *old.getBeforeBody(), &body = *old.getAfterBody();
  SmallVector<Value> yielded = currentValues(frame.variables);
  llvm::BitVector changed = changedValues(yielded, body.getArguments());
  scf::YieldOp::create(builder, old.getLoc(), select(yielded, changed));
  SmallVector<Value> inits = select(old.getInits(), changed), after = frame.entry;
  auto condition = cast<scf::ConditionOp>(before.getTerminator());
  condition.getArgsMutable().assign(select(before.getArguments(), changed));
  dropArguments(body, 0, changed, frame.entry, dimAtoms, symbolAtoms);
  dropArguments(before, 0, changed, frame.entry, dimAtoms, symbolAtoms);
  builder.setInsertionPoint(old);
  auto loop = scf::WhileOp::create(builder, old.getLoc(), TypeRange(ValueRange(inits)), inits);
  loop.getBefore().takeBody(old.getBefore());
  loop.getAfter().takeBody(old.getAfter());
  old.erase();
  closeFrame();
  for (auto [n, variable] : llvm::enumerate(changed.set_bits()))
    after[variable] = loop.getResult(n);
  setValues(after);
}

//===-- Variables ---------------------------------------------------------===//

unsigned KernelBuilder::declare(StringRef name, Expr init) {
  init = settled(init);
  ElementType type = init.isValid() ? init.type : ElementType::F32;
  Value value = init.isValid() ? widen(init) : constant(ElementType::F32, 0, 0);
  variables.push_back({name.str(), type, value, NameLoc::get(builder.getStringAttr(name), loc)});
  return variables.size() - 1;
}

Expr KernelBuilder::read(unsigned variable) {
  Variable &var = variables[variable];
  Expr result;
  result.kind = Expr::Kind::Value;
  result.type = var.type;
  result.value = var.value;
  return result; // data: no affine form
}

void KernelBuilder::assign(unsigned variable, Expr value) {
  if (!value.isValid())
    return;
  Variable &var = variables[variable];
  value = adapted(value, var.type);
  if (!value.isValid())
    return;
  if (value.type != var.type) {
    auto diagnostic = error() << "`" << var.name << "` is " << nameOf(var.type) << "; this is "
                              << nameOf(value.type);
    diagnostic.attachNote(var.loc) << "`" << var.name << "` gets its type here";
    diagnostic.attachNote(loc) << "hint: cast it: `" << nameOf(var.type) << "(…)`";
    return;
  }
  Value assigned = widen(value);
  ArrayRef<StringAttr> have = axesOf(assigned.getType()), want = axesOf(var.value.getType());
  for (StringAttr axis : have) {
    if (llvm::is_contained(want, axis))
      continue;
    auto diagnostic = error() << "`" << var.name << "` has no axis `" << axis.getValue()
                              << "`, which this value has";
    diagnostic.attachNote(var.loc) << "`" << var.name << "` gets its axes here";
    return;
  }
  var.value = broadcastTo(assigned, var.value.getType());
}
