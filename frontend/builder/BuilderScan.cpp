//===- BuilderScan.cpp - scans, sorts and shapes of the C++ API -----------===//

#include "frontend/builder/BuilderImpl.h"
#include "frontend/tile/Scan.h"

using namespace tile;
using namespace tile::detail;
using Place = std::source_location;
using Exprs = llvm::ArrayRef<ir::Expr>;

/// The axis by name; empty, with an error, where there is none.
static std::string axisOf(KernelImpl &kernel, const Axis &axis) {
  std::string name = kernel.axisNamed(axis);
  if (name.empty())
    kernel.error(axis.where()) << "this is no axis here";
  return name;
}

//===-- Scans -------------------------------------------------------------===//

llvm::SmallVector<ir::Expr> tile::detail::combined(KernelImpl &kernel,
                                                   const tile::Combination &combine, Exprs states,
                                                   const Place &place) {
  std::vector<Value> sides[2];
  for (auto [n, state] : llvm::enumerate(states))
    sides[n >= states.size() / 2].push_back(Value(kernel.makeEmitted(state, place)));
  llvm::SmallVector<ir::Expr> results;
  for (const Value &value : combine(sides[0], sides[1])) {
    Operand operand(value, place);
    results.push_back(kernel.evaluate(operand.get()));
  }
  kernel.ops().setLoc(kernel.at(place));
  return results;
}

/// Whose values these are; 0: of none that is known.
static uint64_t kernelOf(llvm::ArrayRef<Operand> operands) {
  uint64_t kernel = 0;
  for (const Operand &operand : operands)
    kernel = std::max(kernel, operand.get()->kernel);
  return kernel;
}

/// A statement: what was computed before it is emitted first, so that nothing else than the
/// combination gets among what it computes.
static Scanned emitScan(const char *function, const tile::Combination &combine,
                        const std::vector<Operand> &elements, const Axis &axis,
                        const std::vector<Operand> &inits, bool reverse, const Place &place) {
  Scanned result{std::vector<Value>(elements.size()), std::vector<Value>(elements.size())};
  KernelImpl *kernel = KernelImpl::current();
  if (!kernel)
    reportOutside(kernelOf(elements), place);
  if (!kernel || !kernel->statement(place))
    return result;
  auto valuesOf = [&](const std::vector<Operand> &operands) {
    llvm::SmallVector<ir::Expr> values;
    for (const Operand &operand : operands)
      values.push_back(kernel->evaluate(operand.get()));
    return values;
  };
  llvm::SmallVector<ir::Expr> values = valuesOf(elements);
  std::string along = axisOf(*kernel, axis);
  llvm::SmallVector<ir::Expr> starts = valuesOf(inits);
  auto isBad = [](const ir::Expr &x) { return !x.isValid(); };
  std::optional<ir::KernelBuilder::Scanned> scanned;
  kernel->ops().setLoc(kernel->at(place));
  if (!along.empty() && llvm::none_of(values, isBad) && llvm::none_of(starts, isBad))
    scanned = kernel->ops().scan(function, values, starts, along, reverse, [&](Exprs states) {
      return combined(*kernel, combine, states, place);
    });
  for (size_t n = 0; n < elements.size(); ++n) {
    result.tiles[n] = Value(kernel->makeEmitted(scanned ? scanned->tiles[n] : ir::Expr(), place));
    result.last[n] = Value(kernel->makeEmitted(scanned ? scanned->last[n] : ir::Expr(), place));
  }
  return result;
}

Scanned tile::scan(const Combination &combine, const std::vector<Operand> &elements,
                   const Axis &axis, const std::vector<Operand> &inits, bool reverse, Place place) {
  return emitScan("scan", combine, elements, axis, inits, reverse, place);
}

std::vector<Value> tile::reduce(const Combination &combine, const std::vector<Operand> &elements,
                                const Axis &axis, const std::vector<Operand> &inits, Place place) {
  return emitScan("reduce", combine, elements, axis, inits, /*reverse=*/false, place).last;
}

static Value cumulative(const char *function, const Operand &x, const Axis &axis, bool reverse) {
  return Value(KernelImpl::make({x.get()}, x.where(), [=](KernelImpl &kernel, Exprs values) {
    std::string along = axisOf(kernel, axis);
    if (along.empty())
      return ir::Expr();
    auto scanned = kernel.ops().cumulate(function, values[0], std::nullopt, along, reverse);
    return scanned ? scanned->tiles[0] : ir::Expr();
  }));
}

Value tile::cumsum(const Operand &x, const Axis &axis, bool reverse) {
  return cumulative("cumsum", x, axis, reverse);
}
Value tile::cumprod(const Operand &x, const Axis &axis, bool reverse) {
  return cumulative("cumprod", x, axis, reverse);
}
Value tile::cummax(const Operand &x, const Axis &axis, bool reverse) {
  return cumulative("cummax", x, axis, reverse);
}
Value tile::cummin(const Operand &x, const Axis &axis, bool reverse) {
  return cumulative("cummin", x, axis, reverse);
}

//===-- Sorts -------------------------------------------------------------===//

static Value sorted(const char *function, const Operand &x, const Axis &axis, bool descending,
                    ir::Expr ir::KernelBuilder::Sorted::*part) {
  return Value(KernelImpl::make({x.get()}, x.where(), [=](KernelImpl &kernel, Exprs values) {
    std::string along = axisOf(kernel, axis);
    if (along.empty())
      return ir::Expr();
    auto result = kernel.ops().sort(function, values[0], along, "", descending);
    return result ? (*result).*part : ir::Expr();
  }));
}

Value tile::sort(const Operand &x, const Axis &axis, bool descending) {
  return sorted("sort", x, axis, descending, &ir::KernelBuilder::Sorted::values);
}
Value tile::argsort(const Operand &x, const Axis &axis, bool descending) {
  return sorted("argsort", x, axis, descending, &ir::KernelBuilder::Sorted::coordinates);
}

std::pair<Value, Value> tile::topk(const Operand &x, const Axis &rank, const Axis &axis,
                                   bool descending) {
  KernelImpl *kernel = KernelImpl::current();
  if (!kernel)
    reportOutside(kernelOf({x}), x.where());
  if (!kernel || !kernel->statement(x.where()))
    return {};
  ir::Expr value = kernel->evaluate(x.get());
  std::string along = axisOf(*kernel, axis);
  ir::Expr into = kernel->axisValue(rank);
  kernel->ops().setLoc(kernel->at(x.where()));
  std::optional<ir::KernelBuilder::Sorted> result;
  if (!along.empty() && into.isValid())
    result = kernel->ops().sort("topk", value, along, kernel->ops().axisNameOf(into), descending);
  auto valueOf = [&](const ir::Expr &part) { return Value(kernel->makeEmitted(part, x.where())); };
  return {valueOf(result ? result->values : ir::Expr()),
          valueOf(result ? result->coordinates : ir::Expr())};
}

//===-- Shapes ------------------------------------------------------------===//

/// The axes by name: of the value, or new ones; none after an error.
static std::optional<std::vector<std::string>>
axesOf(KernelImpl &kernel, const std::vector<Axis> &axes, bool mayBeNew) {
  std::vector<std::string> names;
  for (const Axis &axis : axes) {
    names.push_back(mayBeNew ? kernel.ops().axisNameOf(kernel.axisValue(axis))
                             : axisOf(kernel, axis));
    if (names.back().empty())
      return std::nullopt;
  }
  return names;
}

Value tile::flip(const Operand &x, const Axis &axis) {
  return Value(KernelImpl::make({x.get()}, x.where(), [=](KernelImpl &kernel, Exprs values) {
    std::string name = axisOf(kernel, axis);
    return name.empty() ? ir::Expr() : kernel.ops().flip(values[0], name);
  }));
}

Value tile::reshape(const Operand &x, const std::vector<Axis> &from, const std::vector<Axis> &to) {
  return Value(KernelImpl::make({x.get()}, x.where(), [=](KernelImpl &kernel, Exprs values) {
    auto before = axesOf(kernel, from, /*mayBeNew=*/false);
    auto after = axesOf(kernel, to, /*mayBeNew=*/true);
    return before && after ? kernel.ops().reshape(values[0], *before, *after) : ir::Expr();
  }));
}

static std::vector<NodePtr> nodesOf(const std::vector<Operand> &operands) {
  std::vector<NodePtr> nodes;
  for (const Operand &operand : operands)
    nodes.push_back(operand.get());
  return nodes;
}

static Place placeOf(const std::vector<Operand> &operands) {
  return operands.empty() ? Place() : operands.front().where();
}

Value tile::concat(const std::vector<Operand> &xs, const std::vector<Axis> &along,
                   const Axis &into) {
  return Value(KernelImpl::make(nodesOf(xs), placeOf(xs), [=](KernelImpl &kernel, Exprs values) {
    auto axes = axesOf(kernel, along, /*mayBeNew=*/false);
    auto target = axesOf(kernel, {into}, /*mayBeNew=*/true);
    return axes && target ? kernel.ops().concat(values, *axes, target->front()) : ir::Expr();
  }));
}

Value tile::join(const std::vector<Operand> &xs, const Axis &into) {
  return Value(KernelImpl::make(nodesOf(xs), placeOf(xs), [=](KernelImpl &kernel, Exprs values) {
    auto target = axesOf(kernel, {into}, /*mayBeNew=*/true);
    return target ? kernel.ops().join(values, target->front()) : ir::Expr();
  }));
}

std::vector<Value> tile::split(const Operand &x, const Axis &axis) {
  KernelImpl *kernel = KernelImpl::current();
  if (!kernel)
    reportOutside(kernelOf({x}), x.where());
  if (!kernel || !kernel->statement(x.where()))
    return {};
  ir::Expr value = kernel->evaluate(x.get());
  std::string name = axisOf(*kernel, axis);
  kernel->ops().setLoc(kernel->at(x.where()));
  std::vector<Value> parts;
  if (!name.empty())
    for (const ir::Expr &part : kernel->ops().split(value, name))
      parts.push_back(Value(kernel->makeEmitted(part, x.where())));
  return parts;
}
