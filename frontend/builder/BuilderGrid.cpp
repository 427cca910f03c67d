//===- BuilderGrid.cpp - grid kernels of the C++ API ----------------------===//

#include "frontend/builder/BuilderImpl.h"
#include "frontend/tile/Grid.h"

using namespace tile;
using namespace tile::detail;
using Place = std::source_location;

void Kernel::grid(const std::vector<Binder> &binders,
                  const std::function<void(const std::vector<Span> &)> &body, Place place) {
  KernelImpl *impl = KernelImpl::expect(identity, place);
  if (!impl || !impl->statement(place))
    return;
  if (!impl->isTopLevel()) {
    impl->error(place) << "`grid` stands once, at the top of a kernel";
    return;
  }
  llvm::SmallVector<ir::BinderSpec> specs;
  for (const Binder &binder : binders) {
    if (binder.kind != Binder::Kind::Count)
      impl->error(binder.place) << "`grid` binds integers, `count`";
    if (binder.isReassociable || binder.sequentialSize || binder.condition)
      impl->error(binder.place) << "a `grid` binder takes no condition and no modifier";
    ir::Expr step = impl->evaluate(binder.step.get());
    if (step.kind != ir::Expr::Kind::Int || step.integer != 1)
      impl->error(binder.place) << "a `grid` binder takes no step: its integers are one apart";
    specs.push_back(
        impl->binderSpec(binder.name, /*isEach=*/true, binder.lower, binder.upper, binder.place));
  }
  impl->ops().setLoc(impl->at(place));
  llvm::SmallVector<ir::Expr> values = impl->ops().beginGrid(specs);
  impl->openBlock();
  std::vector<Span> spans;
  for (auto [value, binder] : llvm::zip(values, binders))
    spans.push_back(Span(impl->makeEmitted(value, binder.place)));
  body(spans);
  impl->closeBlock();
  impl->ops().endParallel();
}

//===-- Atomics -----------------------------------------------------------===//

static ir::MemoryOrder orderOf(MemoryOrder order) {
  switch (order) {
  case MemoryOrder::relaxed:
    return ir::MemoryOrder::relaxed;
  case MemoryOrder::acquire:
    return ir::MemoryOrder::acquire;
  case MemoryOrder::release:
    return ir::MemoryOrder::release;
  case MemoryOrder::acq_rel:
    return ir::MemoryOrder::acq_rel;
  }
  llvm_unreachable("covered switch");
}

static Value emitAtomic(const char *function, const Element &element,
                        const std::vector<Operand> &values, MemoryOrder order, const Place &place) {
  const NodePtr &node = element.get();
  if (node && node->isReported)
    return Value(node);
  KernelImpl *impl = node ? KernelImpl::expect(node->kernel, place) : nullptr;
  if (!impl)
    return Value();
  node->isConsumed = true; // not a load
  if (!impl->statement(place))
    return Value();
  const ElementAccess *access = node->access.get();
  if (!access || access->mode != ir::KernelBuilder::Access::Exact) {
    impl->error(place) << "`" << function << "` changes an element of a parameter"
                       << (access ? ": `pad`, `clamp` and `within` only read" : "; this is none");
    return Value();
  }
  std::optional<std::vector<ir::Index>> indices = impl->indicesOf(*access);
  llvm::SmallVector<ir::Expr> given;
  for (const Operand &value : values)
    given.push_back(impl->evaluate(value.get()));
  ir::Expr old;
  impl->ops().setLoc(impl->at(place));
  if (indices && llvm::all_of(given, [](const ir::Expr &value) { return value.isValid(); }))
    old = impl->ops().atomic(function, {impl->ops().tensor(access->param), *indices, access->drops},
                             given, orderOf(order));
  return Value(impl->makeEmitted(old, place));
}

#define TILE_ATOMIC(NAME)                                                                          \
  Value tile::NAME(const Element &element, const Operand &value, MemoryOrder order, Place place) { \
    return emitAtomic(#NAME, element, {value}, order, place);                                      \
  }
TILE_ATOMIC(atomic_add)
TILE_ATOMIC(atomic_max)
TILE_ATOMIC(atomic_min)
TILE_ATOMIC(atomic_and)
TILE_ATOMIC(atomic_or)
TILE_ATOMIC(atomic_xor)
TILE_ATOMIC(atomic_exchange)
#undef TILE_ATOMIC

Value tile::atomic_cas(const Element &element, const Operand &expected, const Operand &desired,
                       MemoryOrder order, Place place) {
  return emitAtomic("atomic_cas", element, {expected, desired}, order, place);
}
