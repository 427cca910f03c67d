//===- BuilderState.cpp - nodes, blocks and variables of a kernel ---------===//

#include "frontend/builder/BuilderImpl.h"

#include "ir/proofs/Proofs.h"

#include <atomic>

#include "mlir/IR/Verifier.h"

using namespace tile;
using namespace tile::detail;
using Place = std::source_location;

static thread_local KernelImpl *innermost = nullptr;
static std::atomic<uint64_t> kernelCount = 0; // of all threads: values may go from one to another

KernelImpl *KernelImpl::current() { return innermost; }

KernelImpl *KernelImpl::of(uint64_t identity) {
  for (KernelImpl *kernel = innermost; kernel; kernel = kernel->outer)
    if (kernel->identity == identity)
      return kernel;
  return nullptr;
}

KernelImpl *KernelImpl::expect(uint64_t identity, const Place &where) {
  KernelImpl *kernel = of(identity);
  if (kernel || identity == 0)
    return kernel;
  if (!current()) {
    reportOutside(identity, where);
    return nullptr;
  }
  auto diagnostic = current()->error(where) << "this belongs to another kernel";
  diagnostic.attachNote(current()->at(where))
      << "hint: use what the function that builds `" << current()->name << "` is given";
  return nullptr;
}

KernelImpl::KernelImpl(mlir::ModuleOp module, std::string name, Place place)
    : identity(++kernelCount), name(std::move(name)), module(module), context(module.getContext()),
      place(place), outer(innermost),
      counter(module.getContext(), [this](mlir::Diagnostic &diagnostic) {
        errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        return mlir::failure(); // counted only; the module keeps it
      }) {
  innermost = this;
}

KernelImpl::~KernelImpl() {
  innermost = outer;
  // Left in the middle, by an exception.
  if (builder)
    builder->kernel()->erase();
}

mlir::Location KernelImpl::at(const Place &given) const {
  const Place &where = given.line() ? given : place; // `x[{}]` has none
  return mlir::FileLineColLoc::get(context, where.file_name(), where.line(), where.column());
}

mlir::InFlightDiagnostic KernelImpl::error(const Place &where) {
  return mlir::emitError(at(where));
}

//===-- Nodes -------------------------------------------------------------===//

/// Longer expressions are emitted piece by piece, so that recursion stays shallow.
static constexpr unsigned maxDepth = 256;

NodePtr KernelImpl::makeLeaf(const Place &place, Node::Emit emit) {
  auto node = std::make_shared<Node>();
  node->place = place;
  node->emit = std::move(emit);
  node->isLeaf = true;
  if (KernelImpl *kernel = current())
    node->kernel = kernel->identity;
  return node;
}

NodePtr KernelImpl::make(std::vector<NodePtr> operands, const Place &place, Node::Emit emit) {
  NodePtr node = makeLeaf(place, std::move(emit));
  node->isLeaf = false;
  for (const NodePtr &operand : operands) {
    if (operand->depth >= maxDepth)
      use(operand);
    node->depth = std::max(node->depth, operand->isEmitted ? 0 : operand->depth + 1);
  }
  node->operands = std::move(operands);
  if (KernelImpl *kernel = current()) {
    node->order = ++kernel->nextOrder;
    kernel->pending.push_back(node);
    return node;
  }
  node->isReported = true;
  uint64_t kernel = 0;
  for (const NodePtr &operand : node->operands) {
    if (operand->isReported)
      return node;
    kernel = std::max(kernel, operand->kernel);
  }
  reportOutside(kernel, place);
  return node;
}

NodePtr KernelImpl::makeEmitted(ir::Expr value, const Place &place) {
  NodePtr node = makeLeaf(place, {});
  node->kernel = identity;
  node->isLeaf = false;
  node->isEmitted = true;
  node->value = std::move(value);
  node->block = blocks.back().identity;
  return node;
}

void KernelImpl::use(const NodePtr &node) {
  KernelImpl *kernel = current();
  if (!kernel || node->kernel != kernel->identity || node->isLeaf || node->isEmitted)
    return;
  kernel->emitUpTo(node->order);
  kernel->evaluate(node);
}

void KernelImpl::emitUpTo(uint64_t order) {
  size_t count = 0;
  while (count < pending.size() && pending[count]->order <= order)
    ++count;
  std::vector<NodePtr> older(pending.begin(), pending.begin() + count);
  pending.erase(pending.begin(), pending.begin() + count);
  for (const NodePtr &node : older)
    if (!node->isConsumed)
      evaluate(node);
}

ir::Expr KernelImpl::evaluate(const NodePtr &node) {
  if (node->isReported)
    return {};
  if (node->kernel != identity) {
    error(node->place) << "this value does not belong to kernel `" << name << "`";
    return {};
  }
  if (!node->isEmitted)
    return emit(*node);
  auto holds = [&](const Block &block) { return block.identity == node->block; };
  if (!node->value.isValid() || llvm::any_of(blocks, holds))
    return node->value;
  auto diagnostic = error(node->place) << "this value was computed in a block that has ended";
  diagnostic.attachNote(at(node->place))
      << "hint: carry it out with a variable, `auto v = k.var(…)` before the block";
  return {};
}

ir::Expr KernelImpl::emit(Node &node) {
  if (!open())
    return {};
  llvm::SmallVector<ir::Expr> values;
  for (const NodePtr &operand : node.operands)
    values.push_back(evaluate(operand));
  builder->setLoc(at(node.place));
  ir::Expr value = node.emit(*this, values);
  if (node.isLeaf)
    return value;
  node.value = value;
  node.isEmitted = true;
  node.block = blocks.back().identity;
  node.operands.clear();
  return value;
}

ir::Expr KernelImpl::evaluate(const ExtentNode &extent, const Place &where) {
  switch (extent.kind) {
  case ExtentNode::Kind::Number:
    return ir::KernelBuilder::literal(extent.number);
  case ExtentNode::Kind::Dim:
    if (builder->isDim(extent.name))
      return builder->dim(extent.name);
    if (const mlir::AffineExpr *value = derived(extent.name))
      return builder->shapeExpr(*value);
    reportUnboundDim(extent.name, where);
    return {};
  case ExtentNode::Kind::Negate:
    return builder->unary(ir::KernelBuilder::Unary::Neg, evaluate(*extent.left, where));
  case ExtentNode::Kind::Binary: {
    ir::Expr left = evaluate(*extent.left, where), right = evaluate(*extent.right, where);
    return builder->binary(extent.op, left, right);
  }
  }
  llvm_unreachable("covered switch");
}

//===-- Axes --------------------------------------------------------------===//

std::string KernelImpl::axisNamed(const Axis &axis) {
  if (axis.span()) {
    ir::Expr span = evaluate(axis.span());
    return span.isValid() ? builder->axisNameOf(span) : std::string();
  }
  const ExtentPtr &dimension = axis.dimension();
  if (!dimension || dimension->kind != ExtentNode::Kind::Dim)
    return {};
  std::string canonical = builder->canonicalDim(dimension->name);
  return builder->isAxis(canonical) ? canonical : std::string();
}

ir::Expr KernelImpl::axisValue(const Axis &axis) {
  if (std::string named = axisNamed(axis); !named.empty())
    return builder->axisExpr(named);
  const ExtentPtr &dimension = axis.dimension();
  if (dimension && dimension->kind == ExtentNode::Kind::Dim &&
      (builder->isDim(dimension->name) || derived(dimension->name)))
    return builder->dimAxis(dimension->name);
  if (!axis.span() || evaluate(axis.span()).isValid())
    error(axis.where()) << "the axes of a new tile are spans, dimensions and named axes";
  return {};
}

//===-- Statements --------------------------------------------------------===//

bool KernelImpl::statement(const Place &where) {
  if (!open())
    return false;
  emitAll();
  builder->setLoc(at(where));
  return true;
}

void KernelImpl::emitAll() { emitUpTo(nextOrder); }

void KernelImpl::openBlock() { blocks.push_back({++nextBlock, variables.size()}); }

void KernelImpl::closeBlock() {
  emitAll();
  variables.resize(blocks.back().variables);
  blocks.pop_back();
}

ir::BinderSpec KernelImpl::binderSpec(const std::string &binder, bool isEach, const Operand &lower,
                                      const Operand &upper, const Place &where) {
  checkName(binder, "a binder's name", where);
  ir::Expr from = evaluate(lower.get()), to = evaluate(upper.get());
  return {binder, isEach, from, to, at(where)};
}

uint64_t KernelImpl::declare(const std::string &variable, ir::Expr init, unsigned &index) {
  index = builder->declare(variable, init);
  variables.resize(index);
  variables.push_back(++nextVariable);
  return nextVariable;
}

bool KernelImpl::isAlive(unsigned variable, uint64_t variableIdentity) const {
  return variable < variables.size() && variables[variable] == variableIdentity;
}

std::optional<std::vector<ir::Index>> KernelImpl::indicesOf(const ElementAccess &access) {
  std::vector<ir::Index> result;
  bool failed = false;
  for (const ElementAccess::Position &position : access.indices) {
    ir::Index index{!position.node, {}, at(position.place)};
    if (position.node)
      index.expr = evaluate(position.node);
    failed |= position.node && !index.expr.isValid();
    result.push_back(std::move(index));
  }
  if (failed)
    return std::nullopt;
  return result;
}

bool KernelImpl::finish(const Place &where) {
  if (open()) {
    emitAll();
    assert(isTopLevel() && "every block was closed");
    setSchedule();
    builder->setLoc(at(where));
    if (builder->finish() && errors == 0 && mlir::succeeded(mlir::verify(builder->kernel())))
      (void)ir::prove(builder->kernel());
  }
  if (builder && errors != 0)
    builder->kernel()->erase();
  builder.reset();
  return errors == 0;
}
