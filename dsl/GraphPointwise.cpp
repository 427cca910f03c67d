//===- GraphPointwise.cpp - pointwise expressions of whole tensors --------===//

#include "dsl/GraphPointwise.h"

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

/// A pointwise expression on its way to a kernel.
struct GraphElaborator::Pointwise {
  const dsl::Expr &expr;
  std::vector<Operand> operands;
  std::set<std::string> taken;     // names that mean something in the expression, or in the kernel
  SmallVector<AffineExpr> shape;   // of the result, over the graph's dims
  SmallVector<AffineExpr> extents; // the same over the kernel's dims
  ir::KernelSpec spec;

  /// The name, or one that begins with it and that nothing has.
  std::string unique(const std::string &name) {
    std::string result = name;
    for (unsigned n = 2; !taken.insert(result).second; ++n)
      result = name + "_" + std::to_string(n);
    return result;
  }
};

static void collectNames(const dsl::Expr &expr, std::set<std::string> &names) {
  if (expr.kind == dsl::Expr::Kind::Name)
    names.insert(expr.text);
  for (const dsl::ExprPtr &child : expr.children)
    collectNames(*child, names);
  for (const Arg &arg : expr.args)
    collectNames(*arg.value, names);
}

/// Finds what the expression reads; calls of kernels in it are made here.
bool GraphElaborator::collect(const dsl::Expr &expr, std::vector<Operand> &operands) {
  if (unknown.count(&expr))
    return false;
  if (calledKernel(expr)) {
    std::optional<GraphValue> value = evaluate(expr);
    if (!value)
      return false;
    operands.push_back({&expr, "", *value});
    return true;
  }
  if (expr.kind == dsl::Expr::Kind::Name) {
    if (llvm::any_of(operands, [&](const Operand &known) { return known.name == expr.text; }))
      return true;
    std::optional<GraphValue> value;
    if (auto found = names.find(expr.text); found != names.end())
      value = found->second;
    else
      value = dimValue(expr);
    if (value && !value->value)
      return false; // an error was reported at its definition
    if (value)
      operands.push_back({&expr, expr.text, *value});
    return true;
  }
  if (expr.kind == dsl::Expr::Kind::Index || expr.kind == dsl::Expr::Kind::Colon) {
    error(expr.range, "a graph works on whole tensors; tiles are a kernel's business")
        .hints.push_back("move the indexing into a kernel, and call that");
    return false;
  }
  size_t first = expr.kind == dsl::Expr::Kind::Call ? 1 : 0; // not the callee
  bool ok = first == 0 || !unknown.count(expr.children[0].get());
  for (size_t n = first; n < expr.children.size(); ++n)
    ok &= collect(*expr.children[n], operands);
  bool isCast = first == 1 && isType(expr.children[0]->text);
  for (const Arg &arg : llvm::ArrayRef(expr.args).take_front(isCast ? 1 : expr.args.size()))
    ok &= collect(*arg.value, operands); // what follows the value of a cast are words
  return ok;
}

/// What the kernel calls a dimension: as the graph does, if it has a name there.
std::string GraphElaborator::dimensionName(AffineExpr extent, size_t position) const {
  auto symbol = dyn_cast<AffineSymbolExpr>(extent);
  return symbol ? signature.spec.dims[symbol.getPosition()] : "extent" + std::to_string(position);
}

/// The result's extents: the operands' aligned from the right, where only what
/// is declared 1 broadcasts.
bool GraphElaborator::findExtents(Pointwise &map) {
  size_t rank = 0;
  for (const Operand &operand : map.operands)
    rank = std::max(rank, operand.value.shape.size());
  AffineExpr one = getAffineConstantExpr(1, parts.context);
  map.shape.assign(rank, one);
  map.extents.assign(rank, one);
  for (const Operand &operand : map.operands) {
    size_t offset = rank - operand.value.shape.size();
    for (auto [n, extent] : llvm::enumerate(operand.value.shape)) {
      AffineExpr &slot = map.shape[offset + n];
      if (extent == one)
        continue;
      auto before = dyn_cast<AffineConstantExpr>(slot);
      auto now = dyn_cast<AffineConstantExpr>(extent);
      if (slot == one) {
        slot = extent;
        map.extents[offset + n] = getAffineSymbolExpr(map.spec.dims.size(), parts.context);
        map.spec.dims.push_back(map.unique(dimensionName(extent, offset + n)));
      } else if (before && now && before != now) {
        error(operand.expr->range, "dimension " + std::to_string(n) + " is " +
                                       std::to_string(now.getValue()) + " here and " +
                                       std::to_string(before.getValue()) +
                                       " in another operand; only a dimension declared 1 "
                                       "broadcasts");
        return false;
      }
    }
  }
  return true;
}

/// The kernel's name and parameters; the result's type is not known yet.
void GraphElaborator::specify(Pointwise &map) {
  AffineExpr one = getAffineConstantExpr(1, parts.context);
  size_t rank = map.shape.size();
  for (const Operand &operand : map.operands) {
    ir::ParamSpec param{.name = operand.name,
                        .type = operand.value.type,
                        .isTensor = operand.value.isTensor,
                        .shape = {},
                        .defaultValue = {},
                        .loc = at(operand.expr->range)};
    size_t offset = rank - operand.value.shape.size();
    for (auto [n, extent] : llvm::enumerate(operand.value.shape))
      param.shape.push_back(extent == one ? one : map.extents[offset + n]);
    map.spec.params.push_back(std::move(param));
  }
  map.spec.params.push_back({.name = map.unique("result"),
                             .type = ir::ElementType::F32,
                             .isTensor = true,
                             .mode = ir::ParamMode::Out,
                             .shape = map.extents,
                             .defaultValue = {},
                             .loc = at(map.expr.range)});
  map.spec.name = signature.spec.name + ".map" + std::to_string(pointwiseCount++);
}

/// Builds the kernel; its type is the expression's, whatever the spec says of it.
std::optional<ir::ElementType> GraphElaborator::build(ModuleOp module, const Pointwise &map) {
  const dsl::Expr &expr = map.expr;
  const ir::KernelSpec &spec = map.spec;
  ir::KernelBuilder kernel(module, spec, at(expr.range));
  Signature kernelSignature;
  kernelSignature.spec = spec;
  BodyElaborator body(kernel, parts.program, parts.diags, file, types, kernelSignature);
  SmallVector<ir::BinderSpec> binders;
  for (auto [n, extent] : llvm::enumerate(map.extents))
    binders.push_back({"i" + std::to_string(n), false, ir::KernelBuilder::literal(int64_t(0)),
                       kernel.shapeExpr(extent), at(expr.range)});
  SmallVector<ir::Expr> spans = kernel.beginParallel(binders);
  std::vector<std::string> axes;
  for (const ir::BinderSpec &binder : binders)
    axes.push_back(binder.name);
  body.drawBy(axes);
  for (const Operand &operand : map.operands) {
    if (!operand.value.isTensor)
      continue;
    const ir::TensorRef *tensor = kernel.tensor(operand.name);
    size_t offset = spans.size() - tensor->shape.size();
    SmallVector<ir::Index> indices;
    for (auto [n, extent] : llvm::enumerate(tensor->shape)) {
      bool broadcasts =
          extent == getAffineConstantExpr(1, parts.context) && map.extents[offset + n] != extent;
      indices.push_back({false,
                         broadcasts ? ir::KernelBuilder::literal(int64_t(0)) : spans[offset + n],
                         at(operand.expr->range)});
    }
    kernel.setLoc(at(operand.expr->range));
    ir::Expr loaded = kernel.load(*tensor, indices);
    if (operand.expr->kind == dsl::Expr::Kind::Name)
      body.bind(operand.name, loaded);
    else
      body.override(*operand.expr, loaded);
  }
  ir::Expr value = body.evaluate(expr);
  std::optional<ir::ElementType> type;
  if (value.isValid() && !value.isLiteral())
    type = value.type;
  kernel.setLoc(at(expr.range));
  if (type && *type == spec.params.back().type) {
    SmallVector<ir::Index> indices;
    for (const ir::Expr &span : spans)
      indices.push_back({false, span, at(expr.range)});
    kernel.store(*kernel.tensor(spec.params.back().name), indices, value);
  }
  kernel.endParallel();
  kernel.finish();
  return type;
}

std::optional<GraphValue> GraphElaborator::pointwise(const dsl::Expr &expr) {
  Pointwise map{expr, {}, {}, {}, {}, {}};
  if (!collect(expr, map.operands))
    return std::nullopt;
  collectNames(expr, map.taken);
  for (auto [n, operand] : llvm::enumerate(map.operands))
    if (operand.name.empty()) // a call
      operand.name = map.unique("t" + std::to_string(n));
  if (llvm::none_of(map.operands, [](const Operand &operand) { return operand.value.isTensor; }))
    return scalarOf(expr, map.operands, std::nullopt);
  if (!findExtents(map))
    return std::nullopt;
  specify(map);
  // Once for its type, in a module of its own; then for good.
  unsigned errorsBefore = parts.diags.errorCount();
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(at(expr.range)));
  std::optional<ir::ElementType> type = build(*scratch, map);
  if (!type || parts.diags.errorCount() != errorsBefore)
    return std::nullopt;
  map.spec.params.back().type = *type;
  if (!build(self.module(), map))
    return std::nullopt;

  SmallVector<Value> inputs =
      llvm::map_to_vector(map.operands, [](const Operand &operand) { return operand.value.value; });
  auto callOp = ir::CallOp::create(builder, named(expr),
                                   TypeRange(graphType(map.spec.params.back(), parts.context)),
                                   FlatSymbolRefAttr::get(parts.context, map.spec.name), inputs,
                                   builder.getArrayAttr({}), ValueRange());
  return GraphValue{callOp.getResult(0), *type, true, map.shape};
}
