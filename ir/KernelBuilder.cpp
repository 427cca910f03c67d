//===- KernelBuilder.cpp - kernels, regions and variables -----------------===//

#include "ir/KernelBuilder.h"

using namespace mlir;
using namespace tile::ir;

//===-- Opening and closing a kernel --------------------------------------===//

static StringRef modeName(ParamMode mode) {
  switch (mode) {
  case ParamMode::In:
    return "in";
  case ParamMode::Out:
    return "out";
  case ParamMode::InOut:
    return "inout";
  case ParamMode::Reduce:
    return "reduce";
  }
  llvm_unreachable("covered switch");
}

KernelBuilder::KernelBuilder(ModuleOp module, KernelSpec givenSpec, Location loc)
    : ctx(module.getContext()), module(module), spec(std::move(givenSpec)),
      builder(module.getContext()), loc(loc) {
  counter = std::make_unique<ScopedDiagnosticHandler>(context(), [this](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // counted only; the next handler reports it
  });
  SmallVector<Type> types;
  SmallVector<Attribute> argAttrs;
  for (const ParamSpec &param : spec.params) {
    Type element = toMlir(param.type, context());
    NamedAttrList attrs;
    attrs.set("tile.name", builder.getStringAttr(param.name));
    attrs.set("tile.type", builder.getStringAttr(nameOf(param.type)));
    attrs.set("tile.mode", builder.getStringAttr(modeName(param.mode)));
    if (param.reduce)
      attrs.set("tile.reduce", CombineKindAttr::get(context(), *param.reduce));
    if (param.unordered)
      attrs.set("tile.unordered", builder.getUnitAttr());
    if (param.defaultValue)
      attrs.set("tile.default", param.defaultValue);
    if (param.isTensor) {
      AffineMap shape = AffineMap::get(0, spec.dims.size(), param.shape, context());
      attrs.set("tile.shape", AffineMapAttr::get(shape));
      element =
          MemRefType::get(SmallVector<int64_t>(param.shape.size(), ShapedType::kDynamic), element);
    }
    types.push_back(element);
    argAttrs.push_back(attrs.getDictionary(context()));
  }
  NamedAttrList consts;
  for (auto &[name, value] : spec.consts)
    consts.set(name, value ? value : builder.getUnitAttr());
  SmallVector<StringRef> dims(spec.dims.begin(), spec.dims.end());

  builder.setInsertionPointToEnd(module.getBody());
  op = KernelOp::create(builder, loc, spec.name, builder.getFunctionType(types, {}),
                        builder.getStrArrayAttr(dims),
                        consts.empty() ? DictionaryAttr() : consts.getDictionary(context()),
                        spec.schedule, StringAttr(), builder.getArrayAttr(argAttrs), ArrayAttr());
  Block &body = op.getBody().emplaceBlock();
  for (auto [n, param] : llvm::enumerate(spec.params)) {
    Value argument = body.addArgument(types[n], param.loc);
    if (param.isTensor)
      tensors.push_back({param.name, static_cast<unsigned>(n), param.type, argument, param.shape});
    else
      scalars[param.name] = n;
  }
  builder.setInsertionPointToEnd(&body);
  ReturnOp::create(builder, loc, ValueRange());
  builder.setInsertionPoint(body.getTerminator());
  for (auto &[first, second] : spec.sameDims) {
    Value left = dim(first).value;
    Value right = DimOp::create(builder, loc, builder.getI64Type(), builder.getStringAttr(second));
    Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, left, right);
    RequireOp::create(builder, loc, equal, builder.getStringAttr(first + " == " + second));
  }
}

bool KernelBuilder::finish() {
  assert(frames.empty() && "a region is still open");
  if (!parallelSeen) {
    error() << "kernel `" << spec.name << "` has no `parallel`";
  }
  return errors == 0;
}

OpBuilder::InsertPoint KernelBuilder::entryPoint() const {
  Block &entry = op->getRegion(0).front();
  return {&entry, entryEnd ? std::next(entryEnd->getIterator()) : entry.begin()};
}

//===-- Names -------------------------------------------------------------===//

const TensorRef *KernelBuilder::tensor(StringRef name) const {
  for (const TensorRef &tensor : tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

Expr KernelBuilder::scalarParam(StringRef name) {
  auto found = scalars.find(name);
  if (found == scalars.end())
    return {};
  unsigned position = found->second;
  return make(op.getBody().getArgument(position), spec.params[position].type);
}

std::string KernelBuilder::canonicalDim(StringRef name) const {
  for (auto &[first, second] : spec.sameDims)
    if (second == name)
      return canonicalDim(first);
  return name.str();
}

bool KernelBuilder::isDim(StringRef name) const { return llvm::is_contained(spec.dims, name); }

Expr KernelBuilder::dim(StringRef name) {
  assert(isDim(name) && "not a dimension of this kernel");
  std::string canonical = canonicalDim(name);
  Value &value = dimValues[canonical];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    builder.restoreInsertionPoint(entryPoint());
    value = DimOp::create(builder, loc, builder.getI64Type(), builder.getStringAttr(canonical));
    entryEnd = value.getDefiningOp();
  }
  return make(value, ElementType::I64);
}

static SmallVector<AffineExpr> symbolsOf(AffineExpr expr) {
  SmallVector<AffineExpr> symbols;
  expr.walk([&](AffineExpr part) {
    if (isa<AffineSymbolExpr>(part))
      symbols.push_back(part);
  });
  return symbols;
}

Expr KernelBuilder::shapeExpr(AffineExpr expr) {
  DenseMap<AffineExpr, AffineExpr> forms;
  for (AffineExpr symbol : symbolsOf(expr))
    forms[symbol] = dim(spec.dims[cast<AffineSymbolExpr>(symbol).getPosition()]).form;
  return makeForm(expr.replace(forms));
}

std::string KernelBuilder::axisNameOf(const Expr &x) const {
  auto atom = x.form ? dyn_cast<AffineDimExpr>(x.form) : AffineDimExpr(nullptr);
  auto span = atom ? dyn_cast<SpanType>(dimAtoms[atom.getPosition()].getType()) : SpanType();
  return span ? span.getName().str() : std::string();
}

SmallVector<std::string> KernelBuilder::axisNames() const {
  SmallVector<std::string> names;
  for (const auto &entry : axes)
    names.push_back(entry.getKey().str());
  llvm::sort(names);
  return names;
}

void KernelBuilder::addAxisName(StringRef name, Value span) {
  if (axes.count(name)) {
    error() << "the axis name `" << name << "` is taken in this kernel";
    return;
  }
  axes[name] = span;
}

//===-- Axes and program space --------------------------------------------===//

Expr KernelBuilder::spanExpr(Value span) { return makeForm(dimAtom(span)); }

static int64_t constantOr(Value value, int64_t otherwise) {
  IntegerAttr attr;
  return matchPattern(value, m_Constant(&attr)) ? attr.getInt() : otherwise;
}

Expr KernelBuilder::axis(StringRef name, Expr lower, Expr upper) {
  Value low = integerScalar(lower, "a bound"), high = integerScalar(upper, "a bound");
  if (!low || !high)
    return {};
  int64_t from = constantOr(low, ShapedType::kDynamic), to = constantOr(high, ShapedType::kDynamic);
  bool isStatic = !ShapedType::isDynamic(from) && !ShapedType::isDynamic(to);
  auto type = SpanType::get(context(), builder.getStringAttr(name),
                            isStatic ? std::max<int64_t>(to - from, 0) : ShapedType::kDynamic);
  Value span = AxisOp::create(builder, loc, type, low, high);
  unsigned before = errors;
  addAxisName(name, span);
  return errors == before ? spanExpr(span) : Expr();
}

Value KernelBuilder::colonAxis(const TensorRef &tensor, unsigned dimension) {
  AffineExpr extent = tensor.shape[dimension];
  std::string name;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(extent))
    name = canonicalDim(spec.dims[symbol.getPosition()]);
  for (auto &[derived, expr] : spec.derivedDims)
    if (expr == extent)
      name = derived;
  if (name.empty()) {
    auto diagnostic = error() << "`:` needs a dimension with a name; dimension " << dimension
                              << " of `" << tensor.name << "` is an expression";
    diagnostic.attachNote(loc) << "hint: name it with `dim P = …` after the outputs, or bind "
                                  "`let p = range(…)`";
    return {};
  }
  return wholeAxis(name, extent);
}

Expr KernelBuilder::dimAxis(StringRef name) {
  for (auto &[derived, expr] : spec.derivedDims)
    if (derived == name)
      return spanExpr(wholeAxis(name, expr));
  std::string canonical = canonicalDim(name);
  unsigned position = llvm::find(spec.dims, canonical) - spec.dims.begin();
  return spanExpr(wholeAxis(canonical, getAffineSymbolExpr(position, context())));
}

/// The axis of `:` over a dimension, made at the kernel's top when first needed.
Value KernelBuilder::wholeAxis(StringRef name, AffineExpr extent) {
  if (auto found = axes.find(name); found != axes.end())
    return found->second;
  OpBuilder::InsertionGuard guard(builder);
  for (AffineExpr symbol : symbolsOf(extent))
    (void)dim(spec.dims[cast<AffineSymbolExpr>(symbol).getPosition()]);
  builder.restoreInsertionPoint(entryPoint());
  Value upper = materialize(shapeExpr(extent));
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  auto type = SpanType::get(context(), builder.getStringAttr(name), ShapedType::kDynamic);
  auto axisOp = AxisOp::create(builder, loc, type, zero, upper);
  entryEnd = axisOp;
  axes[name] = axisOp;
  return axisOp;
}

SmallVector<Expr> KernelBuilder::beginParallel(ArrayRef<BinderSpec> binders) {
  SmallVector<Expr> result(binders.size());
  if (parallelSeen || !frames.empty())
    error() << "a kernel has one `parallel`, at its top";
  SmallVector<Value> lower, upper;
  SmallVector<StringRef> names;
  SmallVector<bool> each;
  SmallVector<int64_t> sizes;
  SmallVector<Type> types;
  SmallVector<Location> locs;
  Value zero;
  auto bound = [&](const Expr &x) {
    Value value = integerScalar(x, "a bound");
    if (!value) { // an error was reported; go on with an empty range
      zero = zero ? zero : constant(ElementType::I64, 0, 0);
      value = zero;
    }
    return value;
  };
  for (const BinderSpec &binder : binders) {
    setLoc(binder.loc);
    lower.push_back(bound(binder.lower));
    upper.push_back(bound(binder.upper));
    names.push_back(binder.name);
    each.push_back(binder.isEach);
    sizes.push_back(binder.isEach ? 1 : ShapedType::kDynamic);
    types.push_back(binder.isEach ? Type(builder.getI64Type())
                                  : SpanType::get(context(), builder.getStringAttr(binder.name),
                                                  ShapedType::kDynamic));
    locs.push_back(binder.loc);
  }
  parallelSeen = parallelOpen = true;
  auto parallel =
      ParallelOp::create(builder, loc, lower, upper, builder.getStrArrayAttr(names),
                         builder.getDenseBoolArrayAttr(each), builder.getDenseI64ArrayAttr(sizes));
  Block &body = parallel.getBody().emplaceBlock();
  body.addArguments(types, locs);
  openFrame(parallel);
  builder.setInsertionPointToEnd(&body);
  for (size_t n = 0; n < binders.size(); ++n) {
    setLoc(binders[n].loc);
    Value argument = body.getArgument(n);
    if (each[n]) {
      result[n] = make(argument, ElementType::I64);
      continue;
    }
    addAxisName(names[n], argument);
    result[n] = spanExpr(argument);
  }
  return result;
}

void KernelBuilder::endParallel() {
  closeFrame();
  parallelOpen = false;
}

void KernelBuilder::require(Expr condition, StringRef text) {
  if (!condition.isValid())
    return;
  Value value = materialize(condition);
  if (!value || !value.getType().isInteger(1)) {
    error() << "`requires` takes a scalar condition";
    return;
  }
  RequireOp::create(builder, loc, value, builder.getStringAttr(text));
}

bool KernelBuilder::checkInParallel(StringRef what) {
  if (parallelOpen)
    return true;
  error() << what << " stands inside `parallel`";
  return false;
}

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
  Value lower = integerScalar(binder.lower, "a bound"),
        upper = integerScalar(binder.upper, "a bound");
  if (!lower || !upper)
    lower = upper = constant(ElementType::I64, 0, 0);
  auto span = SpanType::get(context(), builder.getStringAttr(binder.name), loop.blockSize);
  SmallVector<Value> inits = currentValues(variables.size());
  auto forOp =
      ForOp::create(builder, loc, TypeRange(ValueRange(inits)), lower, upper, inits,
                    builder.getStringAttr(binder.name), builder.getI64IntegerAttr(loop.blockSize),
                    LoopKindAttr::get(context(), loop.kind),
                    loop.merge.empty() ? StringAttr() : builder.getStringAttr(loop.merge));
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

void KernelBuilder::endFor() {
  Frame &frame = frames.back();
  auto old = cast<ForOp>(frame.op);
  Block &body = old.getBody().front();
  SmallVector<Value> yielded = currentValues(frame.variables);
  llvm::BitVector changed = changedValues(yielded, body.getArguments().drop_front());
  YieldOp::create(builder, old.getLoc(), select(yielded, changed));
  SmallVector<Value> inits = select(old.getInits(), changed), after = frame.entry;
  dropArguments(body, 1, changed, frame.entry, dimAtoms, symbolAtoms);
  builder.setInsertionPoint(old);
  auto loop = ForOp::create(builder, old.getLoc(), TypeRange(ValueRange(inits)), old.getLower(),
                            old.getUpper(), inits, old.getNameAttr(), old.getSizeAttr(),
                            old.getKindAttr(), old.getMergeAttr());
  loop.getBody().takeBody(old.getBody());
  old.erase();
  closeFrame();
  for (auto [n, variable] : llvm::enumerate(changed.set_bits()))
    after[variable] = loop.getResult(n);
  setValues(after);
}

Expr KernelBuilder::beginCount(StringRef name, Expr lower, Expr upper, Expr step) {
  Value low = integerScalar(lower, "a bound"), high = integerScalar(upper, "a bound"),
        by = integerScalar(step, "a step");
  if (!low || !high || !by)
    low = high = by = constant(ElementType::I64, 1, 0);
  if (constantOr(by, 1) <= 0)
    error() << "a step has to be positive";
  auto forOp = scf::ForOp::create(builder, loc, low, high, by, currentValues(variables.size()));
  forOp.getBody()->clear(); // a terminator may have been made where nothing is carried
  openFrame(forOp);
  builder.setInsertionPointToEnd(forOp.getBody());
  setValues(forOp.getRegionIterArgs());
  return make(forOp.getInductionVar(), ElementType::I64);
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
    error() << "the condition of `if` has axes; it takes a scalar"
            << "";
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
  if (init.isLiteral())
    init = castTo(init.kind == Expr::Kind::Int ? ElementType::I64 : ElementType::F32, init);
  ElementType type = init.isValid() ? init.type : ElementType::F32;
  Value value = init.isValid() ? widen(init) : constant(ElementType::F32, 0, 0);
  variables.push_back({name.str(), type, value, loc});
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
  if (value.isLiteral())
    value = castTo(var.type, value);
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
