//===- BuilderValue.cpp - operands, operators and functions ---------------===//

#include "frontend/builder/BuilderImpl.h"

using namespace tile;
using namespace tile::detail;
using Place = std::source_location;
using BinaryOp = ir::KernelBuilder::Binary;
using UnaryOp = ir::KernelBuilder::Unary;
using Exprs = llvm::ArrayRef<ir::Expr>;

//===-- Operands ----------------------------------------------------------===//

static NodePtr noValue(const Place &place) {
  return KernelImpl::makeLeaf(place, [place](KernelImpl &kernel, Exprs) {
    kernel.error(place) << "this Value is empty: nothing was assigned to it";
    return ir::Expr();
  });
}

Operand::Operand(const Value &value, Place place)
    : node(value.get() ? value.get() : noValue(place)), place(place) {
  KernelImpl::use(node);
}

Operand::Operand(Value &&value, Place place)
    : node(value.get() ? value.get() : noValue(place)), place(place) {
  node->isConsumed = true;
  value = Value();
}

Operand::Operand(const Var &variable, Place place) : node(variable.read(place)), place(place) {}

static NodePtr extentLeaf(const ExtentPtr &extent, const Place &place) {
  return KernelImpl::makeLeaf(place, [extent, place](KernelImpl &kernel, Exprs) {
    return kernel.evaluate(*extent, place);
  });
}

Operand::Operand(const Extent &extent, Place place)
    : node(extentLeaf(extent.get(), place)), place(place) {}

Operand::Operand(const Condition &condition, Place place)
    : node(extentLeaf(condition.get(), place)), place(place) {}

Operand::Operand(Colon, Place place)
    : node(KernelImpl::makeLeaf(place,
                                [place](KernelImpl &kernel, Exprs) {
                                  kernel.error(place)
                                      << "`colon` stands between brackets, as an index";
                                  return ir::Expr();
                                })),
      place(place) {
  node->isColon = true;
}

Operand::Operand(Truth literal, Place place)
    : node(KernelImpl::makeLeaf(
          place, [=](KernelImpl &kernel, Exprs) { return kernel.ops().boolean(literal.value); })),
      place(place) {}

Operand::Operand(Integer literal, Place place)
    : node(KernelImpl::makeLeaf(place,
                                [=](KernelImpl &, Exprs) {
                                  return ir::KernelBuilder::literal(
                                      wideInteger(literal.value, literal.isUnsigned));
                                })),
      place(place) {}

Operand::Operand(Real literal, Place place)
    : node(KernelImpl::makeLeaf(
          place, [=](KernelImpl &, Exprs) { return ir::KernelBuilder::literal(literal.value); })),
      place(place) {}

Axis::Axis(const Span &span, Place place) : node(span.get()), place(place) {}
Axis::Axis(const Extent &dimension, Place place) : extent(dimension.get()), place(place) {}

//===-- Operators ---------------------------------------------------------===//

static Value makeBinary(BinaryOp op, const Operand &a, const Operand &b) {
  return Value(KernelImpl::make({a.get(), b.get()}, a.where(), [op](KernelImpl &kernel, Exprs x) {
    return kernel.ops().binary(op, x[0], x[1]);
  }));
}

#define TILE_BINARY_OPERATOR(SYMBOL, OP)                                                           \
  Value tile::operator SYMBOL(const Operand &a, const Operand &b) {                                \
    return makeBinary(BinaryOp::OP, a, b);                                                         \
  }
TILE_BINARY_OPERATOR(+, Add)
TILE_BINARY_OPERATOR(-, Sub)
TILE_BINARY_OPERATOR(*, Mul)
TILE_BINARY_OPERATOR(/, Div)
TILE_BINARY_OPERATOR(%, Rem)
TILE_BINARY_OPERATOR(<<, Shl)
TILE_BINARY_OPERATOR(>>, Shr)
TILE_BINARY_OPERATOR(&, BitAnd)
TILE_BINARY_OPERATOR(|, BitOr)
TILE_BINARY_OPERATOR(^, BitXor)
TILE_BINARY_OPERATOR(==, Eq)
TILE_BINARY_OPERATOR(!=, Ne)
TILE_BINARY_OPERATOR(<, Lt)
TILE_BINARY_OPERATOR(<=, Le)
TILE_BINARY_OPERATOR(>, Gt)
TILE_BINARY_OPERATOR(>=, Ge)
TILE_BINARY_OPERATOR(&&, And)
TILE_BINARY_OPERATOR(||, Or)
#undef TILE_BINARY_OPERATOR

static Value makeUnary(UnaryOp op, const Operand &x) {
  return Value(KernelImpl::make({x.get()}, x.where(), [op](KernelImpl &kernel, Exprs values) {
    return kernel.ops().unary(op, values[0]);
  }));
}

Value tile::operator-(const Operand &x) { return makeUnary(UnaryOp::Neg, x); }
Value tile::operator!(const Operand &x) { return makeUnary(UnaryOp::Not, x); }
Value tile::operator~(const Operand &x) { return makeUnary(UnaryOp::BitNot, x); }

static ir::ElementType elementType(Type type) {
  std::optional<ir::ElementType> known =
      ir::elementTypeNamed(llvm::StringRef(type.name().data(), type.name().size()));
  assert(known && "the language and the runtime have the same types");
  return *known;
}

Value Type::operator()(const Operand &x, CastModifier modifier, CastModifier another) const {
  ir::ElementType to = elementType(*this);
  auto has = [&](CastModifier asked) { return modifier == asked || another == asked; };
  ir::KernelBuilder::CastModifiers modifiers{has(sat), has(toward_zero)};
  return Value(KernelImpl::make({x.get()}, x.where(), [=](KernelImpl &kernel, Exprs values) {
    return kernel.ops().castTo(to, values[0], modifiers);
  }));
}

//===-- Functions ---------------------------------------------------------===//

static Value call(const char *function, std::vector<NodePtr> args, const Place &place) {
  return Value(KernelImpl::make(std::move(args), place, [function](KernelImpl &kernel, Exprs x) {
    return kernel.ops().call(function, x);
  }));
}

#define TILE_FUNCTION_1(NAME)                                                                      \
  Value tile::NAME(const Operand &x) { return call(#NAME, {x.get()}, x.where()); }
#define TILE_FUNCTION_2(NAME)                                                                      \
  Value tile::NAME(const Operand &a, const Operand &b) {                                           \
    return call(#NAME, {a.get(), b.get()}, a.where());                                             \
  }
#define TILE_FUNCTION_3(NAME)                                                                      \
  Value tile::NAME(const Operand &a, const Operand &b, const Operand &c) {                         \
    return call(#NAME, {a.get(), b.get(), c.get()}, a.where());                                    \
  }
TILE_FUNCTION_1(abs)
TILE_FUNCTION_1(ceil)
TILE_FUNCTION_1(cos)
TILE_FUNCTION_1(erf)
TILE_FUNCTION_1(exp)
TILE_FUNCTION_1(exp2)
TILE_FUNCTION_1(expm1)
TILE_FUNCTION_1(floor)
TILE_FUNCTION_1(isinf)
TILE_FUNCTION_1(isnan)
TILE_FUNCTION_1(log)
TILE_FUNCTION_1(log10)
TILE_FUNCTION_1(log1p)
TILE_FUNCTION_1(log2)
TILE_FUNCTION_1(round)
TILE_FUNCTION_1(rsqrt)
TILE_FUNCTION_1(sigmoid)
TILE_FUNCTION_1(sin)
TILE_FUNCTION_1(sqrt)
TILE_FUNCTION_1(tan)
TILE_FUNCTION_1(tanh)
TILE_FUNCTION_2(cdiv)
TILE_FUNCTION_2(expdiff)
TILE_FUNCTION_2(max)
TILE_FUNCTION_2(min)
TILE_FUNCTION_2(fmax)
TILE_FUNCTION_2(fmin)
TILE_FUNCTION_2(pow)
TILE_FUNCTION_2(tdiv)
TILE_FUNCTION_2(trem)
TILE_FUNCTION_3(clamp)
TILE_FUNCTION_3(fma)
TILE_FUNCTION_3(where)
TILE_FUNCTION_1(popcount)
TILE_FUNCTION_1(clz)
TILE_FUNCTION_1(ctz)
TILE_FUNCTION_1(trunc)
TILE_FUNCTION_2(copysign)
TILE_FUNCTION_2(mulhi)
#undef TILE_FUNCTION_1
#undef TILE_FUNCTION_2
#undef TILE_FUNCTION_3

Value tile::bitcast(Type type, const Operand &x) {
  return Value(KernelImpl::make({x.get()}, x.where(), [=](KernelImpl &kernel, Exprs values) {
    return kernel.ops().bitcastTo(elementType(type), values[0]);
  }));
}

//===-- Tiles -------------------------------------------------------------===//

static std::string spellAxis(const Axis &axis) {
  return axis.dimension() ? "`" + detail::spell(*axis.dimension()) + "`" : "this";
}

Value tile::detail::reduce(const char *function, const Operand &x,
                           std::initializer_list<Axis> axes) {
  std::vector<Axis> named(axes);
  Place place = x.where();
  return Value(KernelImpl::make({x.get()}, place, [=](KernelImpl &kernel, Exprs values) {
    std::vector<std::string> names;
    for (const Axis &axis : named) {
      names.push_back(kernel.axisNamed(axis));
      if (names.back().empty()) {
        kernel.error(axis.where()) << spellAxis(axis) << " is no axis here";
        return ir::Expr();
      }
    }
    return kernel.ops().reduce(function, values[0], names);
  }));
}

static Value reduceOrCall(const char *function, const Operand &x, const Axis &axis,
                          const Operand &operand) {
  const NodePtr &other = operand.get();
  return Value(KernelImpl::make({x.get()}, x.where(), [=](KernelImpl &kernel, Exprs values) {
    if (std::string name = kernel.axisNamed(axis);
        !name.empty() && kernel.ops().reducesOver(values[0], name))
      return kernel.ops().reduce(function, values[0], {name});
    return kernel.ops().call(function, {values[0], kernel.evaluate(other)});
  }));
}

Value tile::detail::reduceOrCall(const char *function, const Operand &x, const Span &axis,
                                 Place place) {
  return ::reduceOrCall(function, x, Axis(axis, place), Operand(axis, place));
}

Value tile::detail::reduceOrCall(const char *function, const Operand &x, const Extent &axis,
                                 Place place) {
  return ::reduceOrCall(function, x, Axis(axis, place), Operand(axis, place));
}

Value tile::argmax(const Operand &x, const Axis &axis) {
  return detail::reduce("argmax", x, {axis});
}
Value tile::argmin(const Operand &x, const Axis &axis) {
  return detail::reduce("argmin", x, {axis});
}

Value tile::dot(const Operand &a, const Operand &b, const Axis &axis, Precision precision) {
  using Asked = ir::KernelBuilder::DotPrecision;
  Asked asked = precision == Precision::Tf32     ? Asked::Tf32
                : precision == Precision::Tf32x3 ? Asked::Tf32x3
                                                 : Asked::Ieee;
  return Value(KernelImpl::make({a.get(), b.get()}, a.where(), [=](KernelImpl &kernel, Exprs x) {
    std::string name = kernel.axisNamed(axis);
    if (!name.empty())
      return kernel.ops().dot(x[0], x[1], name, asked);
    kernel.error(axis.where()) << "`dot` contracts a span or a dimension; " << spellAxis(axis)
                               << " is no axis here";
    return ir::Expr();
  }));
}

Value tile::detail::random(const char *function, const Operand &seed, const Operand &stream,
                           std::initializer_list<Axis> coordinates) {
  std::vector<Axis> named(coordinates);
  return Value(KernelImpl::make(
      {seed.get(), stream.get()}, seed.where(), [=](KernelImpl &kernel, Exprs values) {
        llvm::SmallVector<ir::Expr> numbers;
        for (const Axis &axis : named) {
          bool isInteger = axis.span() && kernel.axisNamed(axis).empty();
          numbers.push_back(isInteger ? kernel.evaluate(axis.span()) : kernel.axisValue(axis));
          if (!numbers.back().isValid())
            return ir::Expr();
        }
        return kernel.ops().random(function, values[0], values[1], numbers);
      }));
}

Value tile::detail::full(Type type, const Operand &value, std::initializer_list<Axis> axes,
                         Place place) {
  std::vector<Axis> named(axes);
  ir::ElementType element = elementType(type);
  return Value(KernelImpl::make({value.get()}, place, [=](KernelImpl &kernel, Exprs values) {
    llvm::SmallVector<ir::Expr> spans;
    for (const Axis &axis : named) {
      spans.push_back(kernel.axisValue(axis));
      if (!spans.back().isValid())
        return ir::Expr();
    }
    return kernel.ops().full(element, values[0], spans);
  }));
}

//===-- Variables ---------------------------------------------------------===//

Value::Value(const Var &variable) : node(variable.read(Place::current())) {}

NodePtr Var::read(const Place &place) const {
  KernelImpl *impl = KernelImpl::expect(kernel, place);
  if (!impl || !impl->isOpened())
    return noValue(place);
  if (impl->isAlive(index, identity))
    return impl->makeEmitted(impl->ops().read(index), place);
  impl->error(place) << "the block of this variable has ended";
  return impl->makeEmitted(ir::Expr(), place);
}

/// Assigns what `compute` makes of the variable's value and the operand's.
template <typename Fn>
static void assignVariable(uint64_t kernel, unsigned index, uint64_t identity, const Operand &value,
                           Fn compute) {
  KernelImpl *impl = KernelImpl::expect(kernel, value.where());
  if (!impl || !impl->statement(value.where()))
    return;
  if (!impl->isAlive(index, identity)) {
    impl->error(value.where()) << "the block of this variable has ended";
    return;
  }
  ir::Expr given = impl->evaluate(value.get());
  impl->ops().setLoc(impl->at(value.where()));
  ir::Expr current = impl->ops().read(index);
  impl->ops().assign(index, compute(impl->ops(), current, given));
}

void Var::assign(const Operand &value) {
  assignVariable(
      kernel, index, identity, value,
      [](ir::KernelBuilder &, const ir::Expr &, const ir::Expr &given) { return given; });
}

#define TILE_VAR_ASSIGNMENT(SYMBOL, OP)                                                            \
  void Var::operator SYMBOL(const Operand &value) {                                                \
    assignVariable(kernel, index, identity, value,                                                 \
                   [](ir::KernelBuilder &ops, const ir::Expr &current, const ir::Expr &given) {    \
                     return ops.binary(BinaryOp::OP, current, given);                              \
                   });                                                                             \
  }
TILE_VAR_ASSIGNMENT(+=, Add)
TILE_VAR_ASSIGNMENT(-=, Sub)
TILE_VAR_ASSIGNMENT(*=, Mul)
TILE_VAR_ASSIGNMENT(/=, Div)
TILE_VAR_ASSIGNMENT(&=, BitAnd)
TILE_VAR_ASSIGNMENT(|=, BitOr)
TILE_VAR_ASSIGNMENT(^=, BitXor)
#undef TILE_VAR_ASSIGNMENT

void Var::maximize(const Operand &value) {
  assignVariable(kernel, index, identity, value,
                 [](ir::KernelBuilder &ops, const ir::Expr &current, const ir::Expr &given) {
                   return ops.call("max", {current, given});
                 });
}

void Var::minimize(const Operand &value) {
  assignVariable(kernel, index, identity, value,
                 [](ir::KernelBuilder &ops, const ir::Expr &current, const ir::Expr &given) {
                   return ops.call("min", {current, given});
                 });
}

//===-- Elements ----------------------------------------------------------===//

Param Param::pad(const Operand &value) const {
  Param padded(*this);
  padded.access = Access::Pad;
  padded.padValue = value.get();
  return padded;
}

Param Param::clamp() const {
  Param clamped(*this);
  clamped.access = Access::Clamp;
  return clamped;
}

Param Param::within() const {
  Param promised(*this);
  promised.access = Access::Within;
  return promised;
}

Param Param::drop() const {
  Param dropping(*this);
  dropping.drops = true;
  return dropping;
}

/// Loads an element, in the order of the language: the pad value, the indices, the load.
static ir::Expr load(KernelImpl &kernel, const ElementAccess &access, const Place &place) {
  if (access.drops) {
    kernel.error(place) << "`drop` says how a tensor is written; a tensor is read through `pad`, "
                           "`clamp` or `within`";
    return {};
  }
  ir::Expr pad = access.pad ? kernel.evaluate(access.pad) : ir::Expr();
  if (access.pad && !pad.isValid())
    return {};
  std::optional<std::vector<ir::Index>> indices = kernel.indicesOf(access);
  if (!indices)
    return {};
  kernel.ops().setLoc(kernel.at(place));
  return kernel.ops().load(*kernel.ops().tensor(access.param), *indices, access.mode, pad);
}

Element Param::at(std::span<const Operand> indices) const {
  auto element = std::make_unique<ElementAccess>();
  element->param = name;
  element->mode = static_cast<ir::KernelBuilder::Access>(access);
  element->drops = drops;
  element->pad = padValue;
  Place place = indices.empty() ? Place() : indices.front().where();
  unsigned depth = 0;
  for (const Operand &index : indices) {
    element->indices.push_back({index.get()->isColon ? nullptr : index.get(), index.where()});
    depth = std::max(depth, index.get()->depth);
  }
  KernelImpl *impl = KernelImpl::current();
  if (!impl || impl->identity != kernel) {
    if (impl) {
      auto diagnostic = impl->error(place) << "`" << name << "` is a parameter of another kernel";
      diagnostic.attachNote(impl->at(place))
          << "hint: declare one in kernel `" << impl->name << "`";
    } else {
      reportOutside(kernel, place);
    }
    NodePtr node = KernelImpl::makeLeaf(place, [](KernelImpl &, Exprs) { return ir::Expr(); });
    node->isReported = true;
    return Element(node);
  }
  const ElementAccess *loaded = element.get();
  auto emit = [loaded, place](KernelImpl &owner, Exprs) { return load(owner, *loaded, place); };
  // What only can be written is not loaded by itself: the statement says what happens to it.
  NodePtr node = impl->isWrittenOnly(name) ? KernelImpl::makeLeaf(place, emit)
                                           : KernelImpl::make({}, place, emit);
  node->depth = depth + 1;
  node->access = std::move(element);
  return Element(node);
}

/// Runs `write` with the tensor, the indices and the value of a store or an update.
template <typename Fn>
static void writeElement(const NodePtr &node, const Operand &value, Fn write) {
  KernelImpl *impl =
      node && !node->isReported ? KernelImpl::expect(node->kernel, value.where()) : nullptr;
  if (!impl)
    return;
  node->isConsumed = true; // not a load
  if (!impl->statement(value.where()))
    return;
  if (!node->access) {
    impl->error(value.where()) << "this is no element of a parameter";
    return;
  }
  ir::Expr given = impl->evaluate(value.get());
  if (node->access->mode != ir::KernelBuilder::Access::Exact) {
    impl->error(value.where())
        << "`pad`, `clamp` and `within` read; an element is written without them";
    return;
  }
  std::optional<std::vector<ir::Index>> indices = impl->indicesOf(*node->access);
  if (!indices)
    return;
  impl->ops().setLoc(impl->at(value.where()));
  write(*impl, *impl->ops().tensor(node->access->param), *indices, given);
}

void Element::operator=(const Element &value) {
  // An assignment of the same class tells no place: that of the index stands for it.
  store(Operand(static_cast<const Value &>(value), value.node ? value.node->place : Place()));
}

void Element::store(const Operand &value) {
  writeElement(node, value,
               [&](KernelImpl &kernel, const ir::TensorRef &tensor,
                   const std::vector<ir::Index> &indices, const ir::Expr &given) {
                 kernel.ops().store(tensor, indices, given, node->access->drops);
               });
}

static void update(const NodePtr &node, const Operand &value, ir::CombineKind ofSigned,
                   ir::CombineKind ofUnsigned, bool isNegated = false) {
  writeElement(node, value,
               [&](KernelImpl &kernel, const ir::TensorRef &tensor,
                   const std::vector<ir::Index> &indices, const ir::Expr &given) {
                 if (node->access->drops) {
                   kernel.error(value.where()) << "`drop` stands with `=` and atomic operations";
                   return;
                 }
                 ir::Expr combined = isNegated ? kernel.ops().unary(UnaryOp::Neg, given) : given;
                 kernel.ops().update(tensor, indices,
                                     ir::isUnsigned(tensor.type) ? ofUnsigned : ofSigned, combined);
               });
}

using ir::CombineKind;
void Element::operator+=(const Operand &v) { update(node, v, CombineKind::add, CombineKind::add); }
void Element::operator-=(const Operand &v) {
  update(node, v, CombineKind::add, CombineKind::add, /*isNegated=*/true);
}
void Element::operator*=(const Operand &v) { update(node, v, CombineKind::mul, CombineKind::mul); }
void Element::operator&=(const Operand &v) {
  update(node, v, CombineKind::andi, CombineKind::andi);
}
void Element::operator|=(const Operand &v) { update(node, v, CombineKind::ori, CombineKind::ori); }
void Element::operator^=(const Operand &v) {
  update(node, v, CombineKind::xori, CombineKind::xori);
}
void Element::maximize(const Operand &v) { update(node, v, CombineKind::max, CombineKind::umax); }
void Element::minimize(const Operand &v) { update(node, v, CombineKind::min, CombineKind::umin); }
