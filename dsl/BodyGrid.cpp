//===- BodyGrid.cpp - grid kernels: programs, atomics, places of writes ---===//

#include "dsl/BodyElaborator.h"

#include "dsl/Locations.h"
#include "dsl/Names.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

void BodyElaborator::gridStatement(const Stmt &stmt) {
  if (builder.inParallel() || !expanding.empty()) {
    error(stmt.range, "`grid` stands once, at the top of a kernel");
    return;
  }
  SmallVector<ir::BinderSpec> specs;
  for (const Binder &binder : stmt.binders) {
    if (binder.step)
      error(binder.step->range, "a `grid` binder takes no step: its integers are one apart")
          .hints.push_back("multiply " + quoted(binder.name.text) + " in the body");
    if (binder.condition)
      error(binder.condition->range, "a `grid` binder takes no condition")
          .hints.push_back("put an `if` around the body");
    specs.push_back(binderSpec(binder));
  }
  at(stmt.range);
  SmallVector<ir::Expr> values = builder.beginGrid(specs);
  scopes.emplace_back();
  for (size_t n = 0; n < values.size(); ++n)
    declare(stmt.binders[n].name, Binding(values[n]));
  block(stmt.body);
  scopes.pop_back();
  builder.endParallel();
}

//===-- Places of writes --------------------------------------------------===//

/// Where an assignment or an atomic operation writes: `x[i]` or `x.drop[i]`.
std::optional<BodyElaborator::Place> BodyElaborator::writePlace(const dsl::Expr &target) {
  const dsl::Expr *base = target.children[0].get();
  bool isCall = base->kind == dsl::Expr::Kind::Call;
  const dsl::Expr *member = isCall ? base->children[0].get() : base;
  if (member->kind != dsl::Expr::Kind::Member)
    return place(*base, target);
  if (isCall || member->text != "drop") {
    auto &report = error(member->range, "`." + member->text +
                                            "` says how a tensor is read; a "
                                            "place to write to has none");
    if (builder.inGrid())
      report.hints.push_back("`.drop` leaves out what falls outside");
    return std::nullopt;
  }
  std::optional<Place> result = place(*member->children[0], target);
  if (result)
    result->drops = true;
  return result;
}

//===-- Atomics -----------------------------------------------------------===//

static std::optional<ir::MemoryOrder> memoryOrderNamed(StringRef name) {
  return llvm::StringSwitch<std::optional<ir::MemoryOrder>>(name)
      .Case("relaxed", ir::MemoryOrder::relaxed)
      .Case("acquire", ir::MemoryOrder::acquire)
      .Case("release", ir::MemoryOrder::release)
      .Case("acq_rel", ir::MemoryOrder::acq_rel)
      .Default(std::nullopt);
}

/// The argument `order = …` among others; none after an error.
std::optional<ir::MemoryOrder> BodyElaborator::memoryOrder(const dsl::Expr &call,
                                                           const std::string &function) {
  std::optional<ir::MemoryOrder> order;
  for (const Arg &arg : call.args) {
    if (!arg.name)
      continue;
    if (arg.name->text != "order") {
      error(arg.name->range, quoted(function) + " has no argument " + quoted(arg.name->text))
          .hints.push_back("it takes `order = relaxed`, `acquire`, `release` or `acq_rel`");
      return std::nullopt;
    }
    if (order) {
      error(arg.name->range, "`order` is given twice");
      return std::nullopt;
    }
    if (arg.value->kind == dsl::Expr::Kind::Name)
      order = memoryOrderNamed(arg.value->text);
    if (!order) {
      error(arg.value->range, "the order is `relaxed`, `acquire`, `release` or `acq_rel`");
      return std::nullopt;
    }
  }
  return order.value_or(ir::MemoryOrder::relaxed);
}

ir::Expr BodyElaborator::atomicCall(const dsl::Expr &call, const std::string &function) {
  SmallVector<const dsl::Expr *> positions;
  for (const Arg &arg : call.args)
    if (!arg.name)
      positions.push_back(arg.value.get());
  unsigned count = 1 + ir::KernelBuilder::atomicArity(function);
  if (positions.size() != count) {
    error(call.range, quoted(function) + " takes an element and " +
                          (count == 3 ? "two values, as in `atomic_cas(x[i], expected, desired)`"
                                      : "a value, as in `" + function + "(x[i], v)`"));
    return {};
  }
  std::optional<ir::MemoryOrder> order = memoryOrder(call, function);
  if (!order)
    return {};
  if (positions[0]->kind != dsl::Expr::Kind::Index) {
    error(positions[0]->range, quoted(function) + " changes an element of a tensor; this is none")
        .hints.push_back("index a tensor: `" + function + "(x[i], …)`");
    return {};
  }
  std::optional<Place> to = writePlace(*positions[0]);
  SmallVector<ir::Expr> values;
  for (const dsl::Expr *value : llvm::drop_begin(positions))
    values.push_back(evaluate(*value));
  if (!to || llvm::any_of(values, [](const ir::Expr &value) { return !value.isValid(); }))
    return {};
  at(call.range);
  return builder.atomic(function, {to->tensor, to->indices, to->drops}, values, *order);
}
