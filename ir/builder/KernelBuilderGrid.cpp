//===- KernelBuilderGrid.cpp - grid kernels: programs and atomics ---------===//

#include "ir/builder/KernelBuilder.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tile::ir;

SmallVector<Expr> KernelBuilder::beginGrid(ArrayRef<BinderSpec> binders) {
  SmallVector<BinderSpec> integers(binders);
  for (BinderSpec &binder : integers)
    binder.isEach = true;
  SmallVector<Expr> values = beginParallel(integers);
  cast<ParallelOp>(frames.back().op).setGrid(true);
  gridOpen = true;
  return values;
}

//===-- Atomics -----------------------------------------------------------===//

static std::optional<AtomicKind> atomicKindOf(StringRef function) {
  return llvm::StringSwitch<std::optional<AtomicKind>>(function)
      .Case("atomic_add", AtomicKind::add)
      .Case("atomic_max", AtomicKind::max)
      .Case("atomic_min", AtomicKind::min)
      .Case("atomic_and", AtomicKind::andi)
      .Case("atomic_or", AtomicKind::ori)
      .Case("atomic_xor", AtomicKind::xori)
      .Case("atomic_exchange", AtomicKind::exchange)
      .Case("atomic_cas", AtomicKind::cas)
      .Default(std::nullopt);
}

ArrayRef<StringRef> KernelBuilder::atomicNames() {
  static constexpr StringRef names[] = {"atomic_add", "atomic_and", "atomic_cas", "atomic_exchange",
                                        "atomic_max", "atomic_min", "atomic_or",  "atomic_xor"};
  return names;
}

bool KernelBuilder::isAtomic(StringRef name) { return atomicKindOf(name).has_value(); }

unsigned KernelBuilder::atomicArity(StringRef name) { return name == "atomic_cas" ? 2 : 1; }

static bool isOfBits(AtomicKind kind) {
  return kind == AtomicKind::andi || kind == AtomicKind::ori || kind == AtomicKind::xori;
}

/// Reports what can't be the target of an atomic operation.
bool KernelBuilder::checkAtomic(StringRef function, const TensorRef &tensor) {
  if (!inGrid()) {
    auto diagnostic = error() << "`" << function << "` stands in `grid` kernels only";
    diagnostic.attachNote(loc) << "hint: programs of `parallel` meet in `reduce` outputs: declare `"
                               << tensor.name
                               << "` as one and update it, or begin the kernel with "
                                  "`grid p in 0..n`";
    return false;
  }
  switch (spec.params[tensor.position].mode) {
  case ParamMode::In:
  case ParamMode::Out: {
    bool isInput = spec.params[tensor.position].mode == ParamMode::In;
    auto diagnostic = error() << "`" << tensor.name << "` is an "
                              << (isInput ? "input: `" : "output, which holds nothing yet: `")
                              << function
                              << (isInput ? "` can't change it" : "` has nothing to change");
    diagnostic.attachNote(loc) << "hint: declare it among the inputs, as `inout " << tensor.name
                               << "`";
    return false;
  }
  case ParamMode::Reduce:
    error() << "`" << tensor.name << "` is a `reduce` output: it is updated, by `"
            << "+=` and the like";
    return false;
  case ParamMode::InOut:
    break;
  }
  ElementType type = tensor.type;
  bool isNumber = type != ElementType::Bool && bitWidth(type) >= 32;
  bool bits = isOfBits(*atomicKindOf(function));
  if (isNumber && !(bits && isFloat(type)))
    return true;
  auto diagnostic = error() << "`" << function << "` works on " << (bits ? "" : "f32, f64, ")
                            << "i32, i64, u32 and u64; `" << tensor.name << "` is " << nameOf(type);
  if (bits && isNumber)
    diagnostic.attachNote(loc) << "hint: keep the bits in a tensor of "
                               << (bitWidth(type) == 32 ? "u32" : "u64") << ", by `bitcast`";
  return false;
}

/// A value for the elements of a tensor, as it holds them; null after an error.
Value KernelBuilder::elementValue(const TensorRef &tensor, Expr value) {
  value = adapted(value, tensor.type);
  if (!value.isValid())
    return {};
  if (value.type == tensor.type)
    return narrow(value);
  auto diagnostic = error() << "`" << tensor.name << "` holds " << nameOf(tensor.type)
                            << "; this is " << nameOf(value.type);
  diagnostic.attachNote(loc) << "hint: cast it: `" << tensor.typeName << "(…)`";
  return {};
}

Expr KernelBuilder::atomic(StringRef function, const Place &place, ArrayRef<Expr> values,
                           MemoryOrder order) {
  AtomicKind kind = *atomicKindOf(function);
  const TensorRef &tensor = *place.tensor;
  assert(values.size() == atomicArity(function) && "one value, and what `atomic_cas` expects");
  if (!checkAtomic(function, tensor))
    return {};
  std::optional<AccessMap> at = accessMap(tensor, place.indices);
  // Written as in `atomic_cas(x[i], expected, desired)`.
  Value expected = kind == AtomicKind::cas ? elementValue(tensor, values[0]) : Value();
  Value value = elementValue(tensor, values.back());
  if (!at || !value || (kind == AtomicKind::cas && !expected))
    return {};
  if (isUnsigned(tensor.type))
    kind = kind == AtomicKind::max   ? AtomicKind::umax
           : kind == AtomicKind::min ? AtomicKind::umin
                                     : kind;
  AxisList axes = mapAxes(at->map, at->dims);
  axes.addFrom(value.getType());
  if (expected)
    axes.addFrom(expected.getType());
  Value old =
      AtomicOp::create(builder, loc, axes.tileOf(toMlir(tensor.type, context())),
                       AtomicKindAttr::get(context(), kind), MemoryOrderAttr::get(context(), order),
                       place.drops ? builder.getUnitAttr() : UnitAttr(), value, expected,
                       tensor.memory, AffineMapAttr::get(at->map), at->dims, at->syms);
  return make(old, tensor.type);
}
