//===- BodyElaborator.cpp - statements ------------------------------------===//

#include "dsl/BodyElaborator.h"

#include "dsl/Locations.h"
#include "dsl/Names.h"

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

BodyElaborator::BodyElaborator(ir::KernelBuilder &builder, Program &program,
                               DiagnosticEngine &diags, LoadedFile &file, TypeBindings types,
                               const Signature &signature)
    : builder(builder), program(program), diags(diags), file(&file), types(std::move(types)),
      signature(signature), scopes(1) {}

void BodyElaborator::at(dsl::Range range) {
  builder.setLoc(toLocation(builder.context(), file->source, range));
}

//===-- Names -------------------------------------------------------------===//

const BodyElaborator::Binding *BodyElaborator::lookup(const std::string &name) const {
  for (size_t n = scopes.size(); n-- > scopeBase;)
    if (auto found = scopes[n].find(name); found != scopes[n].end())
      return &found->second;
  return nullptr;
}

/// Binds a name that must be new here. It may be that of a function, which then can't be called.
void BodyElaborator::declare(const Ident &ident, Binding binding) {
  const std::string &name = ident.text;
  if (name == "_") // a value that isn't wanted
    return;
  std::optional<std::string> role = roleInLanguage(name);
  if (role && !isFunctionName(name))
    error(ident.range, quoted(name) + " is " + *role + " of the language");
  bool taken = lookup(name) || types.count(name);
  if (scopeBase == 0)
    taken = taken || builder.tensor(name) || builder.scalarParam(name).isValid() ||
            builder.isDim(name) || signature.derived(name);
  if (taken)
    error(ident.range, quoted(name) + " already means something here; nothing is shadowed");
  binding.range = ident.range;
  scopes.back()[name] = std::move(binding);
}

std::vector<std::string> BodyElaborator::visibleNames() const {
  std::vector<std::string> names = program.visibleNames(*file);
  for (size_t n = scopeBase; n < scopes.size(); ++n)
    for (const auto &[name, binding] : scopes[n])
      names.push_back(name);
  for (const ir::ParamSpec &param : signature.spec.params)
    names.push_back(param.name);
  names.insert(names.end(), signature.spec.dims.begin(), signature.spec.dims.end());
  for (auto &[name, expr] : signature.spec.derivedDims)
    names.push_back(name);
  llvm::append_range(names, functionNames());
  return names;
}

//===-- Statements --------------------------------------------------------===//

void BodyElaborator::elaborate(const dsl::Block &body) {
  for (const StmtPtr &stmt : body)
    statement(*stmt);
}

void BodyElaborator::block(const dsl::Block &body) {
  scopes.emplace_back();
  for (const StmtPtr &stmt : body)
    statement(*stmt);
  scopes.pop_back();
}

/// `atomic_add(x[i], v)`
bool BodyElaborator::isAtomicCall(const dsl::Expr &expr) {
  return expr.kind == dsl::Expr::Kind::Call && expr.children[0]->kind == dsl::Expr::Kind::Name &&
         ir::KernelBuilder::isAtomic(expr.children[0]->text) && !lookup(expr.children[0]->text);
}

void BodyElaborator::statement(const Stmt &stmt) {
  at(stmt.range);
  if (returned)
    error(stmt.range, "nothing follows a `return`");
  switch (stmt.kind) {
  case Stmt::Kind::Let:
    return letStatement(stmt);
  case Stmt::Kind::Var: {
    ir::Expr init = evaluate(*stmt.value);
    at(stmt.names[0].range);
    Binding binding;
    binding.kind = Binding::Kind::Variable;
    binding.variable = builder.declare(stmt.names[0].text, init);
    return declare(stmt.names[0], binding);
  }
  case Stmt::Kind::Assign:
    return assignStatement(stmt);
  case Stmt::Kind::Parallel:
    return parallelStatement(stmt);
  case Stmt::Kind::For:
    return forStatement(stmt);
  case Stmt::Kind::If:
    return ifStatement(stmt);
  case Stmt::Kind::While:
    return whileStatement(stmt);
  case Stmt::Kind::Return:
    if (expanding.empty())
      error(stmt.range, "`return` stands in a `fn`; a kernel stores to its outputs");
    else
      returned = evaluateTuple(*stmt.value);
    return;
  case Stmt::Kind::Grid:
    return gridStatement(stmt);
  case Stmt::Kind::Expr:
    if (reportStatement(*stmt.value))
      return;
    evaluate(*stmt.value);
    if (isAtomicCall(*stmt.value)) // for what it does
      return;
    error(stmt.range, "this value is not used")
        .hints.push_back("bind it with `let`, or store it to an output");
    return;
  }
}

/// `whole(N)` and `range(128)` bind a named axis; empty for other values.
static bool isAxisCall(const dsl::Expr &value) {
  return value.kind == dsl::Expr::Kind::Call && value.children[0]->kind == dsl::Expr::Kind::Name &&
         (value.children[0]->text == "whole" || value.children[0]->text == "range");
}

ir::Expr BodyElaborator::axisBinding(const Stmt &stmt) {
  const dsl::Expr &call = *stmt.value;
  const std::string &function = call.children[0]->text;
  if (call.args.size() != 1 || call.args[0].name) {
    error(call.range, quoted(function) + " takes one length, as in `" + function +
                          (function == "whole" ? "(N)`" : "(128)`"));
    return {};
  }
  ir::Expr length = evaluate(*call.args[0].value);
  at(stmt.names[0].range);
  // An expansion of a `fn` makes an axis of its own each time.
  std::string axisName = stmt.names[0].text;
  if (!expanding.empty())
    axisName += "." + std::to_string(expansions);
  return builder.axis(axisName, ir::KernelBuilder::literal(int64_t(0)), length);
}

void BodyElaborator::letStatement(const Stmt &stmt) {
  if (isAxisCall(*stmt.value) && stmt.names.size() == 1) {
    ir::Expr axis = axisBinding(stmt);
    declare(stmt.names[0], Binding(axis));
    if (stmt.condition) {
      ir::Expr condition = evaluate(*stmt.condition);
      at(stmt.condition->range);
      builder.restrict(condition, axis);
    }
    return;
  }
  if (stmt.condition)
    error(stmt.condition->range, "a condition stands after `whole(…)` and `range(…)` only")
        .hints.push_back("use `where(condition, value, other)`");
  std::vector<ir::Expr> values = evaluateTuple(*stmt.value);
  bool failed = values.size() == 1 && !values[0].isValid();
  if (values.size() != stmt.names.size() && !failed)
    error(stmt.value->range, "this gives " + counted(values.size(), "value") + " for " +
                                 counted(stmt.names.size(), "name"));
  values.resize(stmt.names.size());
  for (size_t n = 0; n < values.size(); ++n)
    declare(stmt.names[n], Binding(values[n]));
}

static std::optional<ir::KernelBuilder::Binary> arithmeticOf(Stmt::AssignOp op) {
  using Binary = ir::KernelBuilder::Binary;
  switch (op) {
  case Stmt::AssignOp::Add:
    return Binary::Add;
  case Stmt::AssignOp::Sub:
    return Binary::Sub;
  case Stmt::AssignOp::Mul:
    return Binary::Mul;
  case Stmt::AssignOp::Div:
    return Binary::Div;
  case Stmt::AssignOp::And:
    return Binary::BitAnd;
  case Stmt::AssignOp::Or:
    return Binary::BitOr;
  case Stmt::AssignOp::Xor:
    return Binary::BitXor;
  case Stmt::AssignOp::Set:
  case Stmt::AssignOp::Max:
  case Stmt::AssignOp::Min:
    return std::nullopt;
  }
  llvm_unreachable("covered switch");
}

static std::optional<ir::CombineKind> combineOf(Stmt::AssignOp op, ir::ElementType type) {
  bool ofUnsigned = ir::isUnsigned(type);
  switch (op) {
  case Stmt::AssignOp::Add:
    return ir::CombineKind::add;
  case Stmt::AssignOp::Mul:
    return ir::CombineKind::mul;
  case Stmt::AssignOp::Max:
    return ofUnsigned ? ir::CombineKind::umax : ir::CombineKind::max;
  case Stmt::AssignOp::Min:
    return ofUnsigned ? ir::CombineKind::umin : ir::CombineKind::min;
  case Stmt::AssignOp::And:
    return ir::CombineKind::andi;
  case Stmt::AssignOp::Or:
    return ir::CombineKind::ori;
  case Stmt::AssignOp::Xor:
    return ir::CombineKind::xori;
  default:
    return std::nullopt;
  }
}

void BodyElaborator::assignStatement(const Stmt &stmt) {
  const dsl::Expr &target = *stmt.target;
  if (target.kind == dsl::Expr::Kind::Index) {
    ir::Expr value = evaluate(*stmt.value);
    std::optional<Place> to = writePlace(target);
    if (!to)
      return;
    at(stmt.range);
    if (stmt.op == Stmt::AssignOp::Set)
      return builder.store(*to->tensor, to->indices, value, to->drops);
    if (to->drops) {
      error(stmt.opRange, "`.drop` stands with `=` and in atomic operations");
      return;
    }
    // `h -= x` adds the negative.
    Stmt::AssignOp op = stmt.op;
    if (op == Stmt::AssignOp::Sub) {
      value = builder.unary(ir::KernelBuilder::Unary::Neg, value);
      op = Stmt::AssignOp::Add;
    }
    if (std::optional<ir::CombineKind> kind = combineOf(op, to->tensor->type))
      return builder.update(*to->tensor, to->indices, *kind, value);
    error(stmt.opRange, "an output is not combined by this operator");
    return;
  }
  if (target.kind != dsl::Expr::Kind::Name) {
    error(target.range, "only a variable or an element of an output is assigned");
    return;
  }
  const Binding *binding = lookup(target.text);
  ir::Expr value = evaluate(*stmt.value);
  if (!binding || binding->kind != Binding::Kind::Variable) {
    if (!binding && !tensorNamed(target))
      return (void)unknownName(target);
    auto &report = error(target.range, quoted(target.text) +
                                           (binding ? " is not a variable" : " is a whole tensor"));
    report.hints.push_back(binding ? "declare it with `var`"
                                   : "index it, as in `" + target.text + "[i, :]`");
    return;
  }
  unsigned variable = binding->variable;
  at(stmt.range);
  if (stmt.op == Stmt::AssignOp::Set)
    return builder.assign(variable, value);
  ir::Expr current = builder.read(variable);
  if (std::optional<ir::KernelBuilder::Binary> op = arithmeticOf(stmt.op))
    return builder.assign(variable, builder.binary(*op, current, value));
  builder.assign(variable,
                 builder.call(stmt.op == Stmt::AssignOp::Max ? "max" : "min", {current, value}));
}

ir::BinderSpec BodyElaborator::binderSpec(const Binder &binder) {
  ir::Expr lower = binder.lo ? evaluate(*binder.lo) : ir::KernelBuilder::literal(int64_t(0));
  ir::Expr upper = evaluate(*binder.hi);
  return {binder.name.text, binder.kind == Binder::Kind::Each, lower, upper,
          toLocation(builder.context(), file->source, binder.range)};
}

void BodyElaborator::parallelStatement(const Stmt &stmt) {
  if (builder.inParallel() || !expanding.empty()) {
    error(stmt.range, "`parallel` stands once, at the top of a kernel");
    return;
  }
  SmallVector<ir::BinderSpec> specs;
  for (const Binder &binder : stmt.binders) {
    if (binder.kind == Binder::Kind::Count)
      error(binder.range, "`parallel` binds blocks, `tiles(N)`, or elements, `each(N)`");
    specs.push_back(binderSpec(binder));
  }
  at(stmt.range);
  SmallVector<ir::Expr> values = builder.beginParallel(specs);
  scopes.emplace_back();
  for (size_t n = 0; n < values.size(); ++n)
    declare(stmt.binders[n].name, Binding(values[n]));
  for (size_t n = 0; n < values.size(); ++n)
    if (stmt.binders[n].condition) {
      ir::Expr condition = evaluate(*stmt.binders[n].condition);
      at(stmt.binders[n].condition->range);
      if (specs[n].isEach)
        builder.error() << "an `each` binder takes no condition";
      else
        builder.restrict(condition, values[n]);
    }
  block(stmt.body);
  scopes.pop_back();
  builder.endParallel();
}

void BodyElaborator::forStatement(const Stmt &stmt) {
  const Binder &binder = stmt.binders[0];
  if (stmt.binders.size() > 1)
    error(stmt.binders[1].range, "`for` has one binder; nest the loops");
  ir::BinderSpec spec = binderSpec(binder);
  if (binder.kind == Binder::Kind::Count) {
    ir::Expr step = binder.step ? evaluate(*binder.step) : ir::KernelBuilder::literal(int64_t(1));
    if (stmt.reassociable || stmt.sequential || binder.condition)
      error(stmt.range, "a loop over integers runs in order and takes no condition or modifier");
    at(binder.range);
    ir::Expr counter = builder.beginCount(binder.name.text, spec.lower, spec.upper, step);
    scopes.emplace_back();
    declare(binder.name, Binding(counter));
    block(stmt.body);
    scopes.pop_back();
    return builder.endCount();
  }
  if (binder.kind == Binder::Kind::Each)
    error(binder.range, "`each` binds programs, in `parallel`")
        .hints.push_back("loop over integers: `for " + binder.name.text + " in 0..n`");
  if (!expanding.empty())
    error(stmt.range, "a `fn` has no loops over spans");
  ir::KernelBuilder::LoopSpec loop;
  if (stmt.reassociable)
    loop.kind = ir::LoopKind::reassociable;
  if (stmt.sequential) {
    loop.kind = ir::LoopKind::sequential;
    ir::Expr size = evaluate(*stmt.sequential);
    if (size.kind == ir::Expr::Kind::Int && size.integer > 0 &&
        ir::fits(size.integer, ir::ElementType::I64))
      loop.blockSize = static_cast<int64_t>(size.integer);
    else if (size.isValid())
      error(stmt.sequential->range, "`sequential` takes a positive integer literal");
    if (binder.condition)
      error(binder.condition->range, "a `sequential` loop takes no condition");
  }
  ir::Expr span = builder.beginFor(spec, loop);
  scopes.emplace_back();
  declare(binder.name, Binding(span));
  if (binder.condition) {
    ir::Expr condition = evaluate(*binder.condition);
    at(binder.condition->range);
    builder.restrict(condition, span);
  }
  block(stmt.body);
  scopes.pop_back();
  if (!stmt.merge)
    return builder.endFor();
  dsl::Expr merge{dsl::Expr::Kind::Name, stmt.merge->range};
  merge.text = stmt.merge->text;
  Combination combination = combinationOf(merge, merge);
  at(stmt.merge->range);
  builder.endFor(combination ? ir::KernelBuilder::Combination(combination)
                             : ir::KernelBuilder::Combination());
}

void BodyElaborator::ifStatement(const Stmt &stmt) {
  ir::Expr condition = evaluate(*stmt.value);
  at(stmt.value->range);
  builder.beginIf(condition);
  block(stmt.body);
  builder.beginElse();
  block(stmt.elseBody);
  builder.endIf();
}

void BodyElaborator::whileStatement(const Stmt &stmt) {
  at(stmt.range);
  builder.beginWhile();
  ir::Expr condition = evaluate(*stmt.value);
  at(stmt.value->range);
  builder.whileBody(condition);
  block(stmt.body);
  builder.endWhile();
}
