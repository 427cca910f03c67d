//===- KernelBuilder.cpp - kernels, their names and program spaces --------===//

#include "ir/builder/KernelBuilder.h"
#include "ir/builder/Schedule.h"
#include "ir/transforms/Specialize.h"

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

/// Bits are combined of integers and bools, all else of numbers.
static bool canCombine(CombineKind kind, ElementType type) {
  switch (kind) {
  case CombineKind::andi:
  case CombineKind::ori:
  case CombineKind::xori:
    return !isFloat(type);
  default:
    return type != ElementType::Bool;
  }
}

/// As in `reduce +`.
static StringRef operatorOf(CombineKind kind) {
  switch (kind) {
  case CombineKind::add:
    return "+";
  case CombineKind::mul:
    return "*";
  case CombineKind::andi:
    return "&";
  case CombineKind::ori:
    return "|";
  case CombineKind::xori:
    return "^";
  case CombineKind::umax:
    return "max";
  case CombineKind::umin:
    return "min";
  default:
    return stringifyCombineKind(kind);
  }
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
    if (param.reduce && !canCombine(*param.reduce, param.type))
      emitError(param.loc) << "`" << operatorOf(*param.reduce) << "` does not combine "
                           << nameOf(param.type);
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
  if (spec.schedulePlaces)
    setPlacesOfSchedule(op, spec.schedulePlaces);
  Block &body = op.getBody().emplaceBlock();
  for (auto [n, param] : llvm::enumerate(spec.params)) {
    Value argument = body.addArgument(types[n], param.loc);
    std::string type = param.typeName.empty() ? nameOf(param.type).str() : param.typeName;
    if (param.isTensor)
      tensors.push_back(
          {param.name, static_cast<unsigned>(n), param.type, type, argument, param.shape});
    else
      scalars[param.name] = n;
  }
  builder.setInsertionPointToEnd(&body);
  ReturnOp::create(builder, loc, ValueRange());
  builder.setInsertionPoint(body.getTerminator());
  for (auto &[first, second] : spec.sameDims) {
    auto extent = [&](StringRef name) { // itself, not the dimension it is one with
      return DimOp::create(builder, loc, builder.getI64Type(), builder.getStringAttr(name));
    };
    Value left = extent(first), right = extent(second);
    Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, left, right);
    RequireOp::create(builder, loc, equal, builder.getStringAttr(first + " == " + second));
  }
}

bool KernelBuilder::finish() {
  assert(frames.empty() && "a region is still open");
  if (!parallelSeen && !hasMisplaced)
    error() << "kernel `" << spec.name << "` has no `parallel` and no `grid`";
  bool isScheduled = !parallelSeen || succeeded(checkSchedule(op));
  return errors == 0 && isScheduled;
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
  // All that are required to be equal, through others too; the first declared is meant.
  llvm::SetVector<StringRef> same;
  same.insert(name);
  for (size_t n = 0; n < same.size(); ++n)
    for (auto &[first, second] : spec.sameDims) {
      if (first == same[n])
        same.insert(second);
      if (second == same[n])
        same.insert(first);
    }
  if (same.size() == 1)
    return name.str();
  return *llvm::find_if(spec.dims, [&](const std::string &dim) { return same.contains(dim); });
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
  if (isStatic && to < from)
    error() << "`" << name << "` would have a negative number of coordinates";
  auto type = SpanType::get(context(), builder.getStringAttr(name),
                            isStatic ? std::max<int64_t>(to - from, 0) : ShapedType::kDynamic);
  Value span = AxisOp::create(builder, loc, type, low, high);
  lengths[name] = formOf(upper) - formOf(lower);
  unsigned before = errors;
  addAxisName(name, span);
  return errors == before ? spanExpr(span) : Expr();
}

std::string KernelBuilder::nameOfExtent(AffineExpr extent) const {
  for (auto &[derived, expr] : spec.derivedDims)
    if (expr == extent)
      return derived;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(extent))
    return canonicalDim(spec.dims[symbol.getPosition()]);
  return "";
}

Value KernelBuilder::colonAxis(const TensorRef &tensor, unsigned dimension) {
  AffineExpr extent = tensor.shape[dimension];
  std::string name = nameOfExtent(extent);
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
  lengths[name] = shapeExpr(extent).form;
  return axisOp;
}

SmallVector<Expr> KernelBuilder::beginParallel(ArrayRef<BinderSpec> binders) {
  SmallVector<Expr> result(binders.size());
  if (parallelSeen || !frames.empty())
    error() << "a kernel has one `parallel` or `grid`, at its top";
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
  parallelOpen = gridOpen = false;
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
  if (!hasMisplaced) { // once a kernel: all of it stands at the wrong place
    auto diagnostic = error() << what << " stands inside `parallel`";
    diagnostic.attachNote(loc) << "hint: a kernel's body is `parallel i in tiles(N) { … }`";
  }
  hasMisplaced = true;
  return false;
}
