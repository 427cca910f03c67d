//===- ElaborateGraph.cpp - graphs: statements and their values -----------===//

#include "dsl/GraphElaborator.h"

#include "dsl/Names.h"
#include "ir/dialect/AffineEval.h"
#include "ir/proofs/Spelling.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

//===-- The graph itself --------------------------------------------------===//

Type tile::dsl::graphType(const ir::ParamSpec &param, MLIRContext *context) {
  Type element = ir::toMlir(param.type, context);
  if (!param.isTensor)
    return element;
  return RankedTensorType::get(SmallVector<int64_t>(param.shape.size(), ShapedType::kDynamic),
                               element);
}

void GraphElaborator::open() {
  SmallVector<Type> inputs, outputs;
  SmallVector<Attribute> inputAttrs, outputAttrs;
  SmallVector<StringRef> dims(signature.spec.dims.begin(), signature.spec.dims.end());
  for (const ir::ParamSpec &param : signature.spec.params) {
    NamedAttrList attrs;
    attrs.set("tile.name", builder.getStringAttr(param.name));
    attrs.set("tile.type", builder.getStringAttr(ir::nameOf(param.type)));
    if (param.isTensor)
      attrs.set("tile.shape",
                AffineMapAttr::get(AffineMap::get(0, dims.size(), param.shape, parts.context)));
    if (param.defaultValue)
      attrs.set("tile.default", param.defaultValue);
    bool isInput = param.mode == ir::ParamMode::In;
    if (!isInput && param.mode != ir::ParamMode::Out)
      emitError(param.loc) << "a graph has plain inputs and outputs";
    (isInput ? inputs : outputs).push_back(graphType(param, parts.context));
    (isInput ? inputAttrs : outputAttrs).push_back(attrs.getDictionary(parts.context));
  }
  NamedAttrList consts;
  for (auto &[name, value] : signature.spec.consts)
    consts.set(name, value ? value : builder.getUnitAttr());
  builder.setInsertionPointToEnd(self.module().getBody());
  graph = ir::GraphOp::create(
      builder, at(decl.decl->name.range), signature.spec.name,
      builder.getFunctionType(inputs, outputs), builder.getStrArrayAttr(dims),
      consts.empty() ? DictionaryAttr() : consts.getDictionary(parts.context), DictionaryAttr(),
      StringAttr(), builder.getArrayAttr(inputAttrs), builder.getArrayAttr(outputAttrs));
  mlir::Block &body = graph.getBody().emplaceBlock();
  for (const ir::ParamSpec &param : signature.spec.params)
    if (param.mode == ir::ParamMode::In)
      names[param.name] = {body.addArgument(graphType(param, parts.context), param.loc), param.type,
                           param.isTensor, param.shape};
  builder.setInsertionPointToEnd(&body);
}

std::string GraphElaborator::run() {
  unsigned errorsBefore = parts.diags.errorCount();
  open();
  for (const Clause &clause : decl.decl->clauses)
    if (clause.kind == Clause::Kind::Requires)
      requirement(*clause.value);
  for (const StmtPtr &stmt : decl.decl->body)
    statement(*stmt);
  SmallVector<Value> returned;
  for (const Param &output : decl.decl->outputs) {
    auto found = results.find(output.name.text);
    if (found != results.end())
      returned.push_back(found->second.value);
    else if (!assigned.count(output.name.text) && parts.diags.errorCount() == errorsBefore)
      error(output.range, "the graph does not assign its output " + quoted(output.name.text))
          .hints.push_back("assign it, `" + output.name.text + " = …`, or leave it out");
  }
  if (parts.diags.errorCount() == errorsBefore && returned.size() == decl.decl->outputs.size()) {
    ir::ReturnOp::create(builder, graph.getLoc(), returned);
    if (succeeded(verify(graph)) && countLaunches())
      return signature.spec.name;
  }
  graph->erase();
  return "";
}

/// Graphs that call graphs stand for all that those launch: twice as much at each level soon
/// never ends.
bool GraphElaborator::countLaunches() {
  constexpr uint64_t most = 1 << 16;
  uint64_t count = 0;
  graph.walk([&](ir::CallOp call) {
    auto callee = parts.launches.find(call.getCallee().str());
    count = std::min(count + (callee == parts.launches.end() ? 1 : callee->second), 2 * most);
  });
  parts.launches[signature.spec.name] = count;
  if (count <= most)
    return true;
  error(decl.decl->name.range, "graph " + quoted(decl.decl->name.text) + " launches more than " +
                                   std::to_string(most) + " kernels")
      .hints.push_back("what repeats goes into a kernel, with `for`");
  return false;
}

/// An extent as an i64 value in the graph.
Value GraphElaborator::extentValue(AffineExpr expr, Location loc) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(constant.getValue()));
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return ir::DimOp::create(builder, loc, builder.getI64Type(),
                             builder.getStringAttr(signature.spec.dims[symbol.getPosition()]));
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value left = extentValue(binary.getLHS(), loc), right = extentValue(binary.getRHS(), loc);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, left, right);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, left, right);
  case AffineExprKind::FloorDiv:
    return ir::DivOp::create(builder, loc, left.getType(), left, right, false, false);
  case AffineExprKind::Mod:
    return ir::RemOp::create(builder, loc, left.getType(), left, right, false, false);
  default:
    llvm_unreachable("extents have no other kinds");
  }
}

Value GraphElaborator::condition(const dsl::Expr &expr) {
  using P = arith::CmpIPredicate;
  if (expr.kind == dsl::Expr::Kind::Binary) {
    const dsl::Expr &left = *expr.children[0], &right = *expr.children[1];
    if (expr.binary == BinaryOp::And || expr.binary == BinaryOp::Or) {
      Value a = condition(left), b = condition(right);
      if (!a || !b)
        return {};
      return expr.binary == BinaryOp::And
                 ? Value(arith::AndIOp::create(builder, at(expr.range), a, b))
                 : Value(arith::OrIOp::create(builder, at(expr.range), a, b));
    }
    static const std::map<BinaryOp, P> predicates = {
        {BinaryOp::Eq, P::eq},  {BinaryOp::Ne, P::ne},  {BinaryOp::Lt, P::slt},
        {BinaryOp::Le, P::sle}, {BinaryOp::Gt, P::sgt}, {BinaryOp::Ge, P::sge}};
    if (auto predicate = predicates.find(expr.binary); predicate != predicates.end()) {
      AffineExpr a = extentExpr(parts.context, parts.diags, file.source, signature, left);
      AffineExpr b = extentExpr(parts.context, parts.diags, file.source, signature, right);
      if (!a || !b)
        return {};
      Location loc = at(expr.range);
      return arith::CmpIOp::create(builder, loc, predicate->second, extentValue(a, loc),
                                   extentValue(b, loc));
    }
  }
  error(expr.range, "a graph requires comparisons of extents, joined by `&&` and `||`");
  return {};
}

void GraphElaborator::requirement(const dsl::Expr &expr) {
  if (Value value = condition(expr))
    ir::RequireOp::create(builder, at(expr.range), value,
                          builder.getStringAttr(file.source.text().substr(
                              expr.range.begin, expr.range.end - expr.range.begin)));
}

//===-- Statements --------------------------------------------------------===//

void GraphElaborator::bind(const Ident &name, GraphValue value) {
  if (std::optional<std::string> role = roleInLanguage(name.text);
      role && !isFunctionName(name.text))
    error(name.range, quoted(name.text) + " is " + *role + " of the language");
  bool isOutput = llvm::any_of(decl.decl->outputs,
                               [&](const Param &output) { return output.name.text == name.text; });
  if (names.count(name.text) || isOutput || signature.dimIndex(name.text))
    error(name.range, quoted(name.text) + " already means something here; nothing is shadowed");
  nameValue(value, name.text);
  names[name.text] = std::move(value);
}

/// What a call gives is called by the first name that it gets.
void GraphElaborator::nameValue(const GraphValue &value, StringRef name) {
  auto result = dyn_cast_or_null<OpResult>(value.value);
  if (result && isa<ir::CallOp>(result.getOwner()) && hasName.insert(result).second)
    ir::nameResult(result, name);
}

/// The place of a call, with what stands there: people know by that what has no name.
Location GraphElaborator::named(const dsl::Expr &expr) {
  constexpr size_t most = 40;
  StringRef text = file.source.text().substr(expr.range.begin, expr.range.end - expr.range.begin);
  SmallVector<StringRef> words;
  for (StringRef line : llvm::split(text, '\n'))
    llvm::SplitString(line.split("//").first, words, " \t\r"); // without comments
  std::string line = llvm::join(words, " ");
  if (line.size() > most) {
    size_t end = most;
    while ((line[end] & 0xc0) == 0x80) // within a character
      --end;
    line = line.substr(0, end) + "…";
  }
  return NameLoc::get(builder.getStringAttr(line), at(expr.range));
}

/// True for types, and for the graph's generics.
bool GraphElaborator::isType(const std::string &name) const {
  return isTypeName(name) || types.count(name);
}

/// Reports the names of an expression that mean nothing: all of them, also beside other errors.
void GraphElaborator::reportUnknown(const dsl::Expr &expr) {
  auto isDim = [&](const std::string &name) {
    return signature.dimIndex(name) || signature.derived(name);
  };
  auto report = [&](const dsl::Expr &name) {
    unknown.insert(&name);
    auto &error = this->error(name.range, "nothing here is called " + quoted(name.text));
    std::vector<std::string> known = parts.program.visibleNames(file);
    for (auto &[other, value] : names)
      known.push_back(other);
    llvm::append_range(known, signature.spec.dims);
    for (auto &[other, extent] : signature.spec.derivedDims)
      known.push_back(other);
    llvm::append_range(known, functionNames());
    if (std::optional<std::string> near = nearestName(name.text, known))
      error.hints.push_back("did you mean " + quoted(*near) + "?");
  };
  const dsl::Expr *callee = nullptr;
  if (expr.kind == dsl::Expr::Kind::Name && !names.count(expr.text) && !isDim(expr.text) &&
      !isConstantName(expr.text) && !isType(expr.text))
    report(expr);
  if (expr.kind == dsl::Expr::Kind::Call && expr.children[0]->kind == dsl::Expr::Kind::Name) {
    callee = expr.children[0].get();
    if (!isFunctionName(callee->text) && !isType(callee->text) && !names.count(callee->text) &&
        !parts.program.lookup(file, callee->text, callee->range, parts.diags))
      report(*callee);
  }
  for (const ExprPtr &child : expr.children)
    if (child.get() != callee)
      reportUnknown(*child);
  bool isCast = callee && isType(callee->text); // has words behind its value
  for (const Arg &arg : llvm::ArrayRef(expr.args).take_front(isCast ? 1 : expr.args.size()))
    reportUnknown(*arg.value);
}

void GraphElaborator::statement(const Stmt &stmt) {
  if (stmt.value)
    reportUnknown(*stmt.value);
  if (stmt.kind == Stmt::Kind::Let) {
    std::vector<GraphValue> values = evaluateTuple(*stmt.value);
    if (values.size() != stmt.names.size() && !values.empty())
      error(stmt.value->range, "this gives " + counted(values.size(), "value") + " for " +
                                   counted(stmt.names.size(), "name"))
          .hints.push_back(values.size() == 1 ? "name it: `let h = …`"
                                              : "name each of them: `let (a, b) = …`");
    values.resize(stmt.names.size());
    for (size_t n = 0; n < values.size(); ++n)
      bind(stmt.names[n], values[n]);
    return;
  }
  if (stmt.kind != Stmt::Kind::Assign || stmt.op != Stmt::AssignOp::Set ||
      stmt.target->kind != dsl::Expr::Kind::Name) {
    bool isCall = stmt.kind == Stmt::Kind::Expr && calledKernel(*stmt.value);
    error(stmt.range, "a graph is made of `let h = …` and of assignments to whole outputs")
        .hints.push_back(
            isCall ? "name what the call gives, or an `inout` as the call leaves it: `let h = " +
                         stmt.value->children[0]->text + "(…)`"
                   : "what works on elements, or repeats, stands in a kernel");
    return;
  }
  const std::string &name = stmt.target->text;
  auto output = llvm::find_if(signature.spec.params, [&](const ir::ParamSpec &param) {
    return param.name == name && param.mode != ir::ParamMode::In;
  });
  if (output == signature.spec.params.end()) {
    auto &report = error(stmt.target->range, quoted(name) + " is no output of this graph");
    std::vector<std::string> outputs;
    for (const Param &param : decl.decl->outputs)
      outputs.push_back(param.name.text);
    if (std::optional<std::string> near = nearestName(name, outputs))
      report.hints.push_back("did you mean `" + *near + "`?");
    else
      report.hints.push_back(names.count(name)
                                 ? "what has a name stays as it is: give this one of its own, "
                                   "`let h = …`"
                                 : "name what stands between with `let " + name + " = …`");
    return;
  }
  assigned.insert(name);
  std::optional<GraphValue> value = evaluate(*stmt.value);
  if (!value || !value->value) {
    names.try_emplace(name); // what reads it has no slip of its own
    return;
  }
  if (results.count(name))
    error(stmt.range, quoted(name) + " is assigned twice")
        .hints.push_back("give what comes before a name of its own, with `let`");
  if (value->type != output->type || !value->isTensor ||
      value->shape.size() != output->shape.size()) {
    std::string type = ir::nameOf(output->type).str();
    auto &report = error(
        stmt.value->range,
        quoted(name) + " is a " + type + " tensor of rank " + std::to_string(output->shape.size()) +
            "; this is a " + ir::nameOf(value->type).str() +
            (value->isTensor ? " tensor of rank " + std::to_string(value->shape.size())
                             : " scalar"));
    bool isOfShape = value->isTensor && value->shape.size() == output->shape.size();
    report.hints.push_back(isOfShape
                               ? "convert it, `" + type + "(…)`, or declare the output as it is"
                               : "declare the output as it is");
  } else {
    checkExtents(*value, *output, stmt.value->range);
  }
  nameValue(*value, name);
  results[name] = *value;
  names[name] = *value; // later statements may read it
}

/// What can't be equal for any dims; a launch checks the rest.
void GraphElaborator::checkExtents(const GraphValue &value, const ir::ParamSpec &output,
                                   dsl::Range range) {
  SmallVector<StringRef> dims(signature.spec.dims.begin(), signature.spec.dims.end());
  auto spelled = [&](ArrayRef<AffineExpr> shape) {
    return "[" +
           llvm::join(
               llvm::map_range(shape, [&](AffineExpr e) { return ir::formatAffine(e, dims); }),
               ", ") +
           "]";
  };
  for (auto [declared, actual] : llvm::zip(output.shape, value.shape)) {
    auto more = dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(actual - declared, 0, signature.spec.dims.size()));
    if (!more || more.getValue() == 0)
      continue;
    error(range, quoted(output.name) + " is declared as " + spelled(output.shape) +
                     "; this has the extents " + spelled(value.shape))
        .hints.push_back("declare the output as it is");
    return;
  }
}

//===-- Expressions -------------------------------------------------------===//

DeclRef GraphElaborator::calledKernel(const dsl::Expr &expr) {
  if (expr.kind != dsl::Expr::Kind::Call || expr.children[0]->kind != dsl::Expr::Kind::Name)
    return {};
  DeclRef callee =
      parts.program.lookup(file, expr.children[0]->text, expr.children[0]->range, parts.diags);
  if (callee && (callee.decl->kind == Decl::Kind::Kernel || callee.decl->kind == Decl::Kind::Graph))
    return callee;
  return {};
}

std::vector<GraphValue> GraphElaborator::evaluateTuple(const dsl::Expr &expr) {
  if (DeclRef callee = calledKernel(expr))
    return call(expr, callee);
  std::optional<GraphValue> value = evaluate(expr);
  return value ? std::vector{*value} : std::vector<GraphValue>();
}

std::optional<GraphValue> GraphElaborator::evaluate(const dsl::Expr &expr) {
  if (DeclRef callee = calledKernel(expr)) {
    std::vector<GraphValue> values = call(expr, callee);
    if (values.size() == 1)
      return values[0];
    if (!values.empty())
      error(expr.range,
            quoted(callee.decl->name.text) + " gives " + std::to_string(values.size()) + " tensors")
          .hints.push_back("bind them with `let (a, b) = …`");
    return std::nullopt;
  }
  if (expr.kind == dsl::Expr::Kind::Name)
    if (auto found = names.find(expr.text); found != names.end())
      return found->second.value ? std::optional(found->second) : std::nullopt;
  return pointwise(expr);
}

/// A dimension or constant of the graph as a scalar.
std::optional<GraphValue> GraphElaborator::dimValue(const dsl::Expr &expr) {
  AffineExpr extent;
  if (std::optional<unsigned> index = signature.dimIndex(expr.text))
    extent = getAffineSymbolExpr(*index, parts.context);
  else if (const AffineExpr *derived = signature.derived(expr.text))
    extent = *derived;
  else
    return std::nullopt;
  return GraphValue{extentValue(extent, at(expr.range)), ir::ElementType::I64, false, {}};
}

std::string Elaborator::Impl::graph(Elaborator &self, DeclRef decl, const TypeBindings &types) {
  DiagnosticBridge bridge(self.context, self.program, self.diags);
  Signature signature = signatureOf(&self.context, self.diags, decl, types);
  if (!signature.isValid)
    return "";
  signature.spec.name = symbolFor(self, decl, types);
  Parts parts{&self.context, self.program, self.diags, self.launches};
  return GraphElaborator(self, parts, decl, types, std::move(signature)).run();
}
