//===- ElaborateGraph.cpp - graphs: calls on whole tensors ----------------===//
//
// A call of a kernel or graph becomes a tile.call. Every other expression of
// tensors is pointwise: it becomes a kernel of its own that aligns its operands
// positionally from the right and rounds once, to its type.
//
//===----------------------------------------------------------------------===//

#include "dsl/BodyElaborator.h"
#include "dsl/ElaboratorImpl.h"
#include "dsl/Locations.h"

#include "mlir/IR/Verifier.h"

#include <set>

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

namespace {

/// A tensor or scalar of the graph.
struct GraphValue {
  Value value;
  ir::ElementType type = ir::ElementType::F32;
  bool isTensor = false;
  SmallVector<AffineExpr> shape; // over the graph's dims
};

/// What a pointwise expression reads, in order of first appearance.
struct Operand {
  const dsl::Expr *expr; // first occurrence
  std::string name;      // parameter of the generated kernel
  GraphValue value;
};

class GraphElaborator {
public:
  GraphElaborator(Elaborator &self, Elaborator::Impl::Parts parts, DeclRef decl,
                  Signature signature)
      : self(self), parts(parts), decl(decl), file(*decl.file), signature(std::move(signature)),
        builder(parts.context) {}

  /// The graph's symbol; empty after errors.
  std::string run();

private:
  dsl::Diagnostic &error(dsl::Range range, std::string message) {
    return parts.diags.error(&file.source, range, std::move(message));
  }
  Location at(dsl::Range range) { return toLocation(parts.context, file.source, range); }

  void open();
  void requires_(const dsl::Expr &condition);
  Value extentValue(AffineExpr expr, Location loc);
  Value condition(const dsl::Expr &expr);
  void statement(const Stmt &stmt);
  void bind(const Ident &name, GraphValue value);

  std::vector<GraphValue> evaluateTuple(const dsl::Expr &expr);
  std::optional<GraphValue> evaluate(const dsl::Expr &expr);
  std::optional<GraphValue> scalar(const dsl::Expr &expr, ir::ElementType type);
  std::vector<GraphValue> call(const dsl::Expr &expr, DeclRef callee);
  std::optional<GraphValue> dimValue(const dsl::Expr &expr);
  DeclRef calledKernel(const dsl::Expr &expr);

  bool collect(const dsl::Expr &expr, std::vector<Operand> &operands);
  std::optional<GraphValue> pointwise(const dsl::Expr &expr);
  std::optional<ir::ElementType> buildPointwise(ModuleOp module, const dsl::Expr &expr,
                                                ArrayRef<Operand> operands,
                                                const ir::KernelSpec &spec,
                                                ArrayRef<AffineExpr> extents);

  Elaborator &self;
  Elaborator::Impl::Parts parts;
  DeclRef decl;
  LoadedFile &file;
  Signature signature;
  OpBuilder builder;
  ir::GraphOp graph;
  std::map<std::string, GraphValue> names;
  std::map<std::string, GraphValue> results;
  unsigned pointwiseCount = 0;
};

//===-- The graph itself --------------------------------------------------===//

Type graphType(const ir::ParamSpec &param, MLIRContext *context) {
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
      requires_(*clause.value);
  for (const StmtPtr &stmt : decl.decl->body)
    statement(*stmt);
  SmallVector<Value> returned;
  for (const Param &output : decl.decl->outputs) {
    auto found = results.find(output.name.text);
    if (found != results.end())
      returned.push_back(found->second.value);
    else if (parts.diags.errorCount() == errorsBefore)
      error(output.range, "the graph does not assign its output " + quoted(output.name.text));
  }
  if (parts.diags.errorCount() == errorsBefore) {
    ir::ReturnOp::create(builder, graph.getLoc(), returned);
    if (succeeded(verify(graph)))
      return signature.spec.name;
  }
  graph->erase();
  return "";
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

void GraphElaborator::requires_(const dsl::Expr &expr) {
  if (Value value = condition(expr))
    ir::RequireOp::create(builder, at(expr.range), value,
                          builder.getStringAttr(file.source.text().substr(
                              expr.range.begin, expr.range.end - expr.range.begin)));
}

//===-- Statements --------------------------------------------------------===//

void GraphElaborator::bind(const Ident &name, GraphValue value) {
  bool isOutput = llvm::any_of(decl.decl->outputs,
                               [&](const Param &output) { return output.name.text == name.text; });
  if (names.count(name.text) || isOutput || signature.dimIndex(name.text))
    error(name.range, quoted(name.text) + " already means something here; nothing is shadowed");
  names[name.text] = std::move(value);
}

void GraphElaborator::statement(const Stmt &stmt) {
  if (stmt.kind == Stmt::Kind::Let) {
    std::vector<GraphValue> values = evaluateTuple(*stmt.value);
    if (values.size() != stmt.names.size() && !values.empty())
      error(stmt.value->range, "this gives " + std::to_string(values.size()) + " value" +
                                   (values.size() == 1 ? "" : "s") + " for " +
                                   std::to_string(stmt.names.size()) + " name" +
                                   (stmt.names.size() == 1 ? "" : "s"));
    values.resize(stmt.names.size());
    for (size_t n = 0; n < values.size(); ++n)
      bind(stmt.names[n], values[n]);
    return;
  }
  if (stmt.kind != Stmt::Kind::Assign || stmt.op != Stmt::AssignOp::Set ||
      stmt.target->kind != dsl::Expr::Kind::Name) {
    error(stmt.range, "a graph is made of `let h = …` and of assignments to whole outputs");
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
    return;
  }
  std::optional<GraphValue> value = evaluate(*stmt.value);
  if (!value || !value->value)
    return;
  if (results.count(name))
    error(stmt.range, quoted(name) + " is assigned twice");
  if (value->type != output->type || !value->isTensor ||
      value->shape.size() != output->shape.size())
    error(stmt.value->range,
          quoted(name) + " is a " + ir::nameOf(output->type).str() + " tensor of rank " +
              std::to_string(output->shape.size()) + "; this is a " +
              ir::nameOf(value->type).str() +
              (value->isTensor ? " tensor of rank " + std::to_string(value->shape.size())
                               : " scalar"));
  results[name] = *value;
  names[name] = *value; // later statements may read it
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

/// The argument of a scalar parameter.
std::optional<GraphValue> GraphElaborator::scalar(const dsl::Expr &expr, ir::ElementType type) {
  if (expr.kind == dsl::Expr::Kind::Name && expr.text != "inf" && expr.text != "nan") {
    std::optional<GraphValue> value;
    if (auto found = names.find(expr.text); found != names.end())
      value = found->second;
    else
      value = dimValue(expr);
    if (value && !value->isTensor && value->type == type)
      return value;
    if (value) {
      error(expr.range, "a scalar " + ir::nameOf(type).str() + " is needed; " + quoted(expr.text) +
                            " is a " + ir::nameOf(value->type).str() +
                            (value->isTensor ? " tensor" : ""));
      return std::nullopt;
    }
    error(expr.range, "nothing here is called " + quoted(expr.text));
    return std::nullopt;
  }
  const dsl::Expr *literal = &expr;
  bool negative = false;
  if (expr.kind == dsl::Expr::Kind::Unary && expr.unary == UnaryOp::Neg) {
    negative = true;
    literal = expr.children[0].get();
  }
  Type mlirType = ir::toMlir(type, parts.context);
  TypedAttr attr;
  std::optional<int64_t> integer;
  if (literal->kind == dsl::Expr::Kind::Int)
    integer = integerLiteral(literal->text);
  bool isFloatLiteral =
      literal->kind == dsl::Expr::Kind::Float || integer || literal->kind == dsl::Expr::Kind::Name;
  if (ir::isFloat(type) && isFloatLiteral) {
    double number = literal->kind != dsl::Expr::Kind::Name ? floatLiteral(literal->text)
                    : literal->text == "inf"               ? std::numeric_limits<double>::infinity()
                                             : std::numeric_limits<double>::quiet_NaN();
    attr = builder.getFloatAttr(mlirType, negative ? -number : number);
  } else if (type == ir::ElementType::Bool && literal->kind == dsl::Expr::Kind::Bool) {
    attr = builder.getIntegerAttr(mlirType, literal->text == "true");
  } else if (ir::isInteger(type) && integer) {
    attr = builder.getIntegerAttr(
        mlirType, APInt(ir::bitWidth(type), negative ? -*integer : *integer, true, true));
  } else {
    error(expr.range, "a scalar argument in a graph is a literal, a scalar parameter or a "
                      "dimension, here of type " +
                          ir::nameOf(type).str())
        .hints.push_back("give the graph a scalar parameter for it");
    return std::nullopt;
  }
  return GraphValue{arith::ConstantOp::create(builder, at(expr.range), attr), type, false, {}};
}

//===-- Calls -------------------------------------------------------------===//

std::vector<GraphValue> GraphElaborator::call(const dsl::Expr &expr, DeclRef callee) {
  const Decl &target = *callee.decl;
  // Constants are given by name; the rest are the parameters.
  std::map<std::string, const dsl::Expr *> constArgs;
  std::vector<const dsl::Expr *> arguments(target.params.size());
  size_t position = 0;
  for (const Arg &arg : expr.args) {
    bool isConst = arg.name && llvm::any_of(target.generics, [&](const Generic &generic) {
                     return generic.isConst && generic.name.text == arg.name->text;
                   });
    if (isConst) {
      constArgs[arg.name->text] = arg.value.get();
      continue;
    }
    size_t slot = position;
    if (arg.name)
      slot = llvm::find_if(target.params,
                           [&](const Param &param) { return param.name.text == arg.name->text; }) -
             target.params.begin();
    else
      ++position;
    if (slot >= arguments.size() || arguments[slot]) {
      error(arg.value->range,
            slot < arguments.size() ? quoted(target.params[slot].name.text) + " is given twice"
            : arg.name ? quoted(target.name.text) + " has no parameter " + quoted(arg.name->text)
                       : quoted(target.name.text) + " takes " + std::to_string(arguments.size()) +
                             " arguments");
      return {};
    }
    arguments[slot] = arg.value.get();
  }

  // Tensors first: they bind the generics.
  std::vector<GraphValue> values(arguments.size());
  std::vector<std::optional<ir::ElementType>> types(arguments.size());
  for (size_t n = 0; n < arguments.size(); ++n) {
    const Param &param = target.params[n];
    if (!arguments[n] && !param.defaultValue) {
      error(expr.range,
            quoted(target.name.text) + " needs an argument for " + quoted(param.name.text));
      return {};
    }
    if (!param.type.isTensor)
      continue;
    std::optional<GraphValue> value = evaluate(*arguments[n]);
    if (!value)
      return {};
    if (!value->isTensor) {
      error(arguments[n]->range, quoted(param.name.text) + " is a tensor; this is a scalar");
      return {};
    }
    values[n] = *value;
    types[n] = value->type;
  }
  std::optional<TypeBindings> bound =
      bindGenerics(parts.diags, file.source, expr.range, callee, types);
  if (!bound)
    return {};
  Signature inner = signatureOf(parts.context, parts.diags, callee, *bound);
  if (!inner.isValid)
    return {};

  // Bind the callee's dimensions to expressions over ours.
  SmallVector<AffineExpr> dims(inner.spec.dims.size());
  for (size_t n = 0; n < arguments.size(); ++n) {
    const ir::ParamSpec &param = inner.spec.params[n];
    if (!param.isTensor) {
      if (!arguments[n]) {
        auto attr = cast<TypedAttr>(param.defaultValue);
        values[n].value = arith::ConstantOp::create(builder, at(expr.range), attr);
        continue;
      }
      std::optional<GraphValue> value = scalar(*arguments[n], param.type);
      if (!value)
        return {};
      values[n] = *value;
      continue;
    }
    if (values[n].type != param.type) {
      error(arguments[n]->range, quoted(param.name) + " of " + quoted(target.name.text) +
                                     " holds " + ir::nameOf(param.type).str() + "; this is " +
                                     ir::nameOf(values[n].type).str())
          .hints.push_back("cast it: `" + ir::nameOf(param.type).str() + "(…)`");
      return {};
    }
    if (values[n].shape.size() != param.shape.size()) {
      error(arguments[n]->range, quoted(param.name) + " of " + quoted(target.name.text) + " has " +
                                     std::to_string(param.shape.size()) + " dimensions; this has " +
                                     std::to_string(values[n].shape.size()));
      return {};
    }
    for (auto [extent, actual] : llvm::zip(param.shape, values[n].shape)) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(extent)) {
        AffineExpr &slot = dims[symbol.getPosition()];
        if (slot && isa<AffineConstantExpr>(slot) && isa<AffineConstantExpr>(actual) &&
            slot != actual)
          error(arguments[n]->range,
                "dimension " + quoted(inner.spec.dims[symbol.getPosition()]) + " of " +
                    quoted(target.name.text) + " is " +
                    std::to_string(cast<AffineConstantExpr>(slot).getValue()) +
                    " in one argument and " +
                    std::to_string(cast<AffineConstantExpr>(actual).getValue()) + " here");
        if (!slot)
          slot = actual;
      }
    }
  }
  SmallVector<Value> constValues;
  SmallVector<Attribute> constNames;
  for (auto &[name, defaultValue] : inner.spec.consts) {
    unsigned index = *inner.dimIndex(name);
    AffineExpr value;
    if (auto given = constArgs.find(name); given != constArgs.end()) {
      value = extentExpr(parts.context, parts.diags, file.source, signature, *given->second);
      if (!value)
        return {};
      constNames.push_back(builder.getStringAttr(name));
      constValues.push_back(extentValue(value, at(given->second->range)));
    } else if (auto integer = dyn_cast_or_null<IntegerAttr>(defaultValue)) {
      value = getAffineConstantExpr(integer.getInt(), parts.context);
    }
    if (!dims[index])
      dims[index] = value;
    if (!dims[index]) {
      error(expr.range, quoted(target.name.text) + " needs its constant " + quoted(name))
          .hints.push_back("give it by name: `" + target.name.text + "(…, " + name + " = 64)`");
      return {};
    }
  }
  std::string symbol = self.elaborate(callee, *bound);
  if (symbol.empty())
    return {};

  std::vector<GraphValue> outputs;
  SmallVector<Type> outputTypes;
  for (const ir::ParamSpec &param : inner.spec.params) {
    if (param.mode == ir::ParamMode::In)
      continue;
    GraphValue &output = outputs.emplace_back();
    output.type = param.type;
    output.isTensor = true;
    for (AffineExpr extent : param.shape)
      output.shape.push_back(extent.replaceSymbols(dims));
    outputTypes.push_back(graphType(param, parts.context));
  }
  SmallVector<Value> inputs =
      llvm::map_to_vector(values, [](const GraphValue &value) { return value.value; });
  auto callOp = ir::CallOp::create(builder, at(expr.range), outputTypes,
                                   FlatSymbolRefAttr::get(parts.context, symbol), inputs,
                                   builder.getArrayAttr(constNames), constValues);
  for (auto [output, result] : llvm::zip(outputs, callOp.getResults()))
    output.value = result;
  return outputs;
}

//===-- Pointwise expressions ---------------------------------------------===//

/// Finds what the expression reads; calls of kernels in it are made here.
bool GraphElaborator::collect(const dsl::Expr &expr, std::vector<Operand> &operands) {
  if (calledKernel(expr)) {
    std::optional<GraphValue> value = evaluate(expr);
    if (!value)
      return false;
    operands.push_back({&expr, "t" + std::to_string(operands.size()), *value});
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
  bool ok = true;
  size_t first = expr.kind == dsl::Expr::Kind::Call ? 1 : 0; // not the callee
  for (size_t n = first; n < expr.children.size(); ++n)
    ok &= collect(*expr.children[n], operands);
  for (const Arg &arg : expr.args)
    ok &= collect(*arg.value, operands);
  return ok;
}

/// Builds the kernel; its type is the expression's, whatever the spec says of it.
std::optional<ir::ElementType>
GraphElaborator::buildPointwise(ModuleOp module, const dsl::Expr &expr, ArrayRef<Operand> operands,
                                const ir::KernelSpec &spec, ArrayRef<AffineExpr> extents) {
  ir::KernelBuilder kernel(module, spec, at(expr.range));
  Signature kernelSignature;
  kernelSignature.spec = spec;
  BodyElaborator body(kernel, parts.program, parts.diags, file, {}, kernelSignature);
  SmallVector<ir::BinderSpec> binders;
  for (auto [n, extent] : llvm::enumerate(extents))
    binders.push_back({"i" + std::to_string(n), false, ir::KernelBuilder::literal(int64_t(0)),
                       kernel.shapeExpr(extent), at(expr.range)});
  SmallVector<ir::Expr> spans = kernel.beginParallel(binders);
  for (const Operand &operand : operands) {
    if (!operand.value.isTensor)
      continue;
    const ir::TensorRef *tensor = kernel.tensor(operand.name);
    size_t offset = extents.size() - tensor->shape.size();
    SmallVector<ir::Index> indices;
    for (auto [n, extent] : llvm::enumerate(tensor->shape)) {
      // Only what is declared 1 broadcasts.
      bool broadcasts =
          extent == getAffineConstantExpr(1, parts.context) && extents[offset + n] != extent;
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
  std::vector<Operand> operands;
  if (!collect(expr, operands))
    return std::nullopt;
  size_t rank = 0;
  for (const Operand &operand : operands)
    rank = std::max(rank, operand.value.shape.size());
  if (llvm::none_of(operands, [](const Operand &operand) { return operand.value.isTensor; })) {
    if (expr.kind == dsl::Expr::Kind::Name)
      error(expr.range, "nothing here is called " + quoted(expr.text));
    else
      error(expr.range, "an expression of a graph has a tensor in it; this is a scalar");
    return std::nullopt;
  }
  // The result's extents over our dims, and the kernel's dims for them.
  AffineExpr one = getAffineConstantExpr(1, parts.context);
  SmallVector<AffineExpr> shape(rank, one), extents(rank, one);
  ir::KernelSpec spec;
  for (const Operand &operand : operands) {
    size_t offset = rank - operand.value.shape.size();
    for (auto [n, extent] : llvm::enumerate(operand.value.shape)) {
      AffineExpr &slot = shape[offset + n];
      if (extent == one)
        continue;
      if (slot == one) {
        slot = extent;
        extents[offset + n] = getAffineSymbolExpr(spec.dims.size(), parts.context);
        spec.dims.push_back("D" + std::to_string(offset + n));
      } else if (slot != extent && isa<AffineConstantExpr>(slot) &&
                 isa<AffineConstantExpr>(extent)) {
        error(operand.expr->range,
              "dimension " + std::to_string(n) + " is " +
                  std::to_string(cast<AffineConstantExpr>(extent).getValue()) + " here and " +
                  std::to_string(cast<AffineConstantExpr>(slot).getValue()) +
                  " in another operand; only a dimension declared 1 broadcasts");
        return std::nullopt;
      }
    }
  }
  for (const Operand &operand : operands) {
    ir::ParamSpec param{.name = operand.name,
                        .type = operand.value.type,
                        .isTensor = operand.value.isTensor,
                        .shape = {},
                        .defaultValue = {},
                        .loc = at(operand.expr->range)};
    size_t offset = rank - operand.value.shape.size();
    for (auto [n, extent] : llvm::enumerate(operand.value.shape))
      param.shape.push_back(extent == one ? one : extents[offset + n]);
    spec.params.push_back(std::move(param));
  }
  // Reading and writing many rows of one block keeps the inner axis long.
  Builder attrs(parts.context);
  NamedAttrList schedule;
  for (size_t n = 0; n < rank; ++n)
    schedule.set("i" + std::to_string(n), attrs.getI64IntegerAttr(n + 1 == rank   ? 1024
                                                                  : n + 2 == rank ? 4
                                                                                  : 1));
  spec.schedule = schedule.getDictionary(parts.context);
  std::string result = "result";
  while (llvm::any_of(operands, [&](const Operand &operand) { return operand.name == result; }))
    result += "_";
  spec.params.push_back({.name = result,
                         .type = ir::ElementType::F32,
                         .isTensor = true,
                         .mode = ir::ParamMode::Out,
                         .shape = extents,
                         .defaultValue = {},
                         .loc = at(expr.range)});
  spec.name = signature.spec.name + ".map" + std::to_string(pointwiseCount++);
  // Once for its type, in a module of its own; then for good.
  unsigned errorsBefore = parts.diags.errorCount();
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(at(expr.range)));
  std::optional<ir::ElementType> type = buildPointwise(*scratch, expr, operands, spec, extents);
  if (!type || parts.diags.errorCount() != errorsBefore)
    return std::nullopt;
  spec.params.back().type = *type;
  if (!buildPointwise(self.module(), expr, operands, spec, extents))
    return std::nullopt;

  SmallVector<Value> inputs =
      llvm::map_to_vector(operands, [](const Operand &operand) { return operand.value.value; });
  GraphValue value{Value(), *type, true, shape};
  auto callOp = ir::CallOp::create(builder, at(expr.range),
                                   TypeRange(graphType(spec.params.back(), parts.context)),
                                   FlatSymbolRefAttr::get(parts.context, spec.name), inputs,
                                   builder.getArrayAttr({}), ValueRange());
  value.value = callOp.getResult(0);
  return value;
}

} // namespace

std::string Elaborator::Impl::graph(Elaborator &self, DeclRef decl, const TypeBindings &types) {
  DiagnosticBridge bridge(self.context, self.program, self.diags);
  Signature signature = signatureOf(&self.context, self.diags, decl, types);
  if (!signature.isValid)
    return "";
  signature.spec.name = symbolFor(self, decl, types);
  Parts parts{&self.context, self.program, self.diags};
  return GraphElaborator(self, parts, decl, std::move(signature)).run();
}
