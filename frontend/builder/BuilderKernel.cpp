//===- BuilderKernel.cpp - the statements of the C++ API ------------------===//

#include "frontend/builder/BuilderImpl.h"
#include "ir/transforms/Specialize.h"

#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::detail;
using Place = std::source_location;

//===-- Binders -----------------------------------------------------------===//

Binder tile::tiles(std::string name, Operand size, Place place) {
  return tiles(std::move(name), Operand(0, place), std::move(size), place);
}
Binder tile::tiles(std::string name, Operand lower, Operand upper, Place place) {
  return Binder(Binder::Kind::Tiles, std::move(name), std::move(lower), std::move(upper),
                Operand(1, place), place);
}
Binder tile::each(std::string name, Operand size, Place place) {
  return Binder(Binder::Kind::Each, std::move(name), Operand(0, place), std::move(size),
                Operand(1, place), place);
}
Binder tile::count(std::string name, Operand lower, Operand upper, Operand step, Place place) {
  return Binder(Binder::Kind::Count, std::move(name), std::move(lower), std::move(upper),
                std::move(step), place);
}
Binder tile::whole(std::string name, Operand size, Place place) {
  return Binder(Binder::Kind::Whole, std::move(name), Operand(0, place), std::move(size),
                Operand(1, place), place);
}
Binder tile::range(std::string name, Operand size, Place place) {
  return Binder(Binder::Kind::Range, std::move(name), Operand(0, place), std::move(size),
                Operand(1, place), place);
}

//===-- Signature ---------------------------------------------------------===//

static Extent dimNamed(const std::string &name) {
  ExtentNode node;
  node.kind = ExtentNode::Kind::Dim;
  node.name = name;
  return Extent(std::make_shared<const ExtentNode>(std::move(node)));
}

Extent Kernel::dim(std::string name, Place place) {
  if (KernelImpl *impl = KernelImpl::expect(identity, place))
    impl->addDim(name, place);
  return dimNamed(name);
}

Extent Kernel::dim(std::string name, const Extent &value, Place place) {
  if (KernelImpl *impl = KernelImpl::expect(identity, place))
    impl->addDerivedDim(name, value, place);
  return dimNamed(name);
}

Extent Kernel::constant(std::string name, std::optional<int64_t> defaultValue, Place place) {
  if (KernelImpl *impl = KernelImpl::expect(identity, place))
    impl->addConstant(name, defaultValue, place);
  return dimNamed(name);
}

static ir::ElementType elementType(Type type) {
  std::string_view name = type.name();
  return *ir::elementTypeNamed(llvm::StringRef(name.data(), name.size()));
}

static KernelImpl::Parameter parameterOf(KernelImpl &impl, std::string name, Type type,
                                         const Place &place) {
  ir::ParamSpec spec{.name = std::move(name),
                     .type = elementType(type),
                     .isTensor = false,
                     .mode = ir::ParamMode::In,
                     .reduce = std::nullopt,
                     .unordered = false,
                     .shape = {},
                     .defaultValue = {},
                     .loc = impl.at(place)};
  return {std::move(spec), {}, place};
}

static std::optional<ir::CombineKind> combineKind(llvm::StringRef op, ir::ElementType type) {
  bool ofUnsigned = ir::isUnsigned(type);
  if (op == "+")
    return ir::CombineKind::add;
  if (op == "*")
    return ir::CombineKind::mul;
  if (op == "max")
    return ofUnsigned ? ir::CombineKind::umax : ir::CombineKind::max;
  if (op == "min")
    return ofUnsigned ? ir::CombineKind::umin : ir::CombineKind::min;
  if (op == "&")
    return ir::CombineKind::andi;
  if (op == "|")
    return ir::CombineKind::ori;
  if (op == "^")
    return ir::CombineKind::xori;
  return std::nullopt;
}

Param Kernel::addTensor(std::string name, Type type, std::vector<Extent> shape, ParamKind kind,
                        std::optional<Reduce> reduce, Place place) {
  KernelImpl *impl = KernelImpl::expect(identity, place);
  if (!impl)
    return Param(identity, name);
  KernelImpl::Parameter parameter = parameterOf(*impl, name, type, place);
  parameter.spec.isTensor = true;
  parameter.shape = std::move(shape);
  parameter.spec.mode = kind == ParamKind::Input   ? ir::ParamMode::In
                        : kind == ParamKind::InOut ? ir::ParamMode::InOut
                        : reduce                   ? ir::ParamMode::Reduce
                                                   : ir::ParamMode::Out;
  if (reduce) {
    parameter.spec.reduce = combineKind(reduce->op, parameter.spec.type);
    parameter.spec.unordered = reduce->isUnordered;
    if (!parameter.spec.reduce) {
      auto diagnostic = impl->error(place) << "`" << reduce->op << "` combines nothing";
      diagnostic.attachNote(impl->at(place)) << "hint: write +, *, max, min, &, | or ^";
      parameter.spec.reduce = ir::CombineKind::add;
    }
  }
  impl->addParameter(std::move(parameter));
  return Param(identity, name);
}

Param Kernel::input(std::string name, Type type, std::vector<Extent> shape, Place place) {
  return addTensor(std::move(name), type, std::move(shape), ParamKind::Input, {}, place);
}
Param Kernel::output(std::string name, Type type, std::vector<Extent> shape, Place place) {
  return addTensor(std::move(name), type, std::move(shape), ParamKind::Output, {}, place);
}
Param Kernel::output(std::string name, Type type, std::vector<Extent> shape, Reduce reduce,
                     Place place) {
  return addTensor(std::move(name), type, std::move(shape), ParamKind::Output, std::move(reduce),
                   place);
}
Param Kernel::inout(std::string name, Type type, std::vector<Extent> shape, Place place) {
  return addTensor(std::move(name), type, std::move(shape), ParamKind::InOut, {}, place);
}

Value Kernel::scalar(std::string name, Type type, Place place) {
  return addScalar(std::move(name), type, std::nullopt, place);
}

Value Kernel::addScalar(std::string name, Type type, std::optional<Literal> value, Place place) {
  if (KernelImpl *impl = KernelImpl::expect(identity, place)) {
    KernelImpl::Parameter parameter = parameterOf(*impl, name, type, place);
    if (value) {
      mlir::MLIRContext *context = impl->at(place).getContext();
      ir::ElementType element = parameter.spec.type;
      if (value->isReal)
        parameter.spec.defaultValue = ir::attributeOf(context, element, value->real);
      else if (value->isBool == (element == ir::ElementType::Bool))
        parameter.spec.defaultValue =
            ir::attributeOf(context, element, wideInteger(value->integer, value->isUnsigned));
      if (!parameter.spec.defaultValue)
        impl->error(place) << "the default of `" << name << "` is no " << type.name().data();
    }
    impl->addParameter(std::move(parameter));
  }
  return Value(KernelImpl::makeLeaf(place, [name](KernelImpl &kernel, llvm::ArrayRef<ir::Expr>) {
    return kernel.ops().scalarParam(name);
  }));
}

void Kernel::require(const Condition &condition, Place place) {
  if (KernelImpl *impl = KernelImpl::expect(identity, place))
    impl->addRequirement(condition, place);
}

void Kernel::require(const Operand &condition, std::string text) {
  KernelImpl *impl = KernelImpl::expect(identity, condition.where());
  if (!impl || !impl->statement(condition.where()))
    return;
  if (!impl->isTopLevel()) {
    impl->error(condition.where()) << "a requirement stands before `parallel`";
    return;
  }
  ir::Expr value = impl->evaluate(condition.get());
  impl->ops().setLoc(impl->at(condition.where()));
  impl->ops().require(value, text);
}

void Kernel::schedule(std::string key, ScheduleValue value, Place place) {
  scheduleFor("", std::move(key), std::move(value), place);
}

void Kernel::scheduleFor(std::string target, std::string key, ScheduleValue value, Place place) {
  KernelImpl *impl = KernelImpl::expect(identity, place);
  if (!impl)
    return;
  if (!target.empty() && !llvm::is_contained(ir::scheduleTargets, target)) {
    auto diagnostic = impl->error(place) << "`" << target << "` is no target";
    diagnostic.attachNote(impl->at(place))
        << "hint: the targets are " << llvm::join(llvm::ArrayRef(ir::scheduleTargets), ", ");
    return;
  }
  mlir::Builder builder(impl->at(place).getContext());
  llvm::SmallVector<mlir::Attribute> numbers;
  for (int64_t number : value.numbers)
    numbers.push_back(builder.getI64IntegerAttr(number));
  mlir::Attribute attribute = value.isList          ? mlir::Attribute(builder.getArrayAttr(numbers))
                              : !numbers.empty()    ? numbers.front()
                              : !value.word.empty() ? builder.getStringAttr(value.word)
                                                    : mlir::Attribute(builder.getUnitAttr());
  impl->addSchedule(target, key, attribute, place);
}

//===-- Statements --------------------------------------------------------===//

/// The condition of a binder, once its spans are bound.
void Kernel::applyCondition(const Binder &binder, const std::vector<Span> &spans, size_t own) {
  KernelImpl &impl = *KernelImpl::of(identity);
  if (!binder.condition)
    return;
  if (binder.conditionArity != 1 && binder.conditionArity != spans.size()) {
    impl.error(binder.place) << "the condition of `" << binder.name << "` takes "
                             << binder.conditionArity << " spans, and " << spans.size()
                             << (spans.size() == 1 ? " is" : " are") << " bound here";
    return;
  }
  Operand condition = binder.condition(spans, own);
  if (!impl.statement(condition.where()))
    return;
  ir::Expr value = impl.evaluate(condition.get());
  ir::Expr span = impl.evaluate(spans[own].get());
  impl.ops().setLoc(impl.at(binder.place));
  if (binder.kind == Binder::Kind::Each)
    impl.ops().error() << "an `each` binder takes no condition";
  else
    impl.ops().restrict(value, span);
}

void Kernel::parallel(const std::vector<Binder> &binders,
                      const std::function<void(const std::vector<Span> &)> &body, Place place) {
  KernelImpl *impl = KernelImpl::expect(identity, place);
  if (!impl || !impl->statement(place))
    return;
  if (!impl->isTopLevel()) {
    impl->error(place) << "`parallel` stands once, at the top of a kernel";
    return;
  }
  llvm::SmallVector<ir::BinderSpec> specs;
  for (const Binder &binder : binders) {
    if (binder.kind != Binder::Kind::Tiles && binder.kind != Binder::Kind::Each)
      impl->error(binder.place) << "`parallel` binds blocks, `tiles`, or elements, `each`";
    if (binder.isReassociable || binder.sequentialSize)
      impl->error(binder.place) << "programs run in any order: `reassociable` and `sequential` "
                                   "are for loops";
    specs.push_back(impl->binderSpec(binder.name, binder.kind == Binder::Kind::Each, binder.lower,
                                     binder.upper, binder.place));
    impl->addBinder(binder.name);
  }
  impl->ops().setLoc(impl->at(place));
  llvm::SmallVector<ir::Expr> values = impl->ops().beginParallel(specs);
  impl->openBlock();
  std::vector<Span> spans;
  for (auto [value, binder] : llvm::zip(values, binders))
    spans.push_back(Span(impl->makeEmitted(value, binder.place)));
  for (size_t n = 0; n < binders.size(); ++n)
    applyCondition(binders[n], spans, n);
  body(spans);
  impl->closeBlock();
  impl->ops().endParallel();
}

void Kernel::countLoop(const Binder &binder, const std::function<void(Span)> &body) {
  KernelImpl &impl = *KernelImpl::of(identity);
  ir::BinderSpec spec =
      impl.binderSpec(binder.name, false, binder.lower, binder.upper, binder.place);
  ir::Expr step = impl.evaluate(binder.step.get());
  if (binder.isReassociable || binder.sequentialSize || binder.condition)
    impl.error(binder.place)
        << "a loop over integers runs in order and takes no condition or modifier";
  impl.ops().setLoc(impl.at(binder.place));
  ir::Expr counter = impl.ops().beginCount(binder.name, spec.lower, spec.upper, step);
  impl.openBlock();
  body(Span(impl.makeEmitted(counter, binder.place)));
  impl.closeBlock();
  impl.ops().endCount();
}

void Kernel::for_(const Binder &binder, const std::function<void(Span)> &body, Place place) {
  KernelImpl *impl = KernelImpl::expect(identity, place);
  if (!impl || !impl->statement(place))
    return;
  if (binder.kind == Binder::Kind::Count)
    return countLoop(binder, body);
  if (binder.kind != Binder::Kind::Tiles) {
    impl->error(binder.place) << "a loop goes over blocks, `tiles`, or integers, `count`";
    return;
  }
  ir::KernelBuilder::LoopSpec loop;
  if (binder.isReassociable)
    loop.kind = ir::LoopKind::reassociable;
  if (binder.sequentialSize) {
    loop.kind = ir::LoopKind::sequential;
    if (*binder.sequentialSize > 0)
      loop.blockSize = *binder.sequentialSize;
    else
      impl->error(binder.place) << "`sequential` takes a positive integer";
    if (binder.condition)
      impl->error(binder.place) << "a `sequential` loop takes no condition";
    if (binder.isReassociable)
      impl->error(binder.place) << "a loop is `reassociable` or `sequential`, not both";
  }
  ir::BinderSpec spec =
      impl->binderSpec(binder.name, false, binder.lower, binder.upper, binder.place);
  impl->addBinder(binder.name);
  ir::Expr value = impl->ops().beginFor(spec, loop);
  impl->openBlock();
  Span span(impl->makeEmitted(value, binder.place));
  applyCondition(binder, {span}, 0);
  body(span);
  impl->closeBlock();
  if (!binder.mergeParts)
    return impl->ops().endFor();
  impl->ops().endFor([&](llvm::ArrayRef<ir::Expr> states) {
    return combined(*impl, binder.mergeParts, states, binder.place);
  });
}

void Kernel::if_(const Operand &condition, const std::function<void()> &then,
                 const std::function<void()> &otherwise) {
  KernelImpl *impl = KernelImpl::expect(identity, condition.where());
  if (!impl || !impl->statement(condition.where()))
    return;
  ir::Expr value = impl->evaluate(condition.get());
  impl->ops().setLoc(impl->at(condition.where()));
  impl->ops().beginIf(value);
  impl->openBlock();
  then();
  impl->closeBlock();
  impl->ops().beginElse();
  impl->openBlock();
  if (otherwise)
    otherwise();
  impl->closeBlock();
  impl->ops().endIf();
}

void Kernel::while_(const std::function<Operand()> &condition, const std::function<void()> &body,
                    Place place) {
  KernelImpl *impl = KernelImpl::expect(identity, place);
  if (!impl || !impl->statement(place))
    return;
  impl->ops().beginWhile();
  impl->openBlock();
  Operand goesOn = condition();
  impl->statement(goesOn.where());
  ir::Expr value = impl->evaluate(goesOn.get());
  impl->ops().setLoc(impl->at(goesOn.where()));
  impl->closeBlock();
  impl->ops().whileBody(value);
  impl->openBlock();
  body();
  impl->closeBlock();
  impl->ops().endWhile();
}

void Kernel::assert_(const Operand &condition, std::string message, Place place) {
  KernelImpl *impl = KernelImpl::expect(identity, place);
  if (!impl || !impl->statement(place))
    return;
  ir::Expr value = impl->evaluate(condition.get());
  impl->ops().setLoc(impl->at(place));
  impl->ops().assertHolds(value, message);
}

void Kernel::print(const std::vector<PrintPart> &parts, Place place) {
  KernelImpl *impl = KernelImpl::expect(identity, place);
  if (!impl || !impl->statement(place))
    return;
  std::vector<ir::KernelBuilder::PrintItem> items;
  for (const PrintPart &part : parts) {
    ir::KernelBuilder::PrintItem &item = items.emplace_back();
    if (part.value)
      item.value = impl->evaluate(part.value->get());
    else
      item.text = part.text;
  }
  impl->ops().setLoc(impl->at(place));
  impl->ops().print(items);
}

Span Kernel::let(const Binder &binder, Place place) {
  KernelImpl *impl = KernelImpl::expect(identity, place);
  if (!impl || !impl->statement(place))
    return Span();
  ir::Expr axis;
  if (binder.kind != Binder::Kind::Whole && binder.kind != Binder::Kind::Range) {
    impl->error(binder.place) << "`let` binds a whole axis, `whole` or `range`";
  } else {
    ir::BinderSpec spec =
        impl->binderSpec(binder.name, false, binder.lower, binder.upper, binder.place);
    impl->ops().setLoc(impl->at(binder.place));
    axis = impl->ops().axis(binder.name, spec.lower, spec.upper);
  }
  Span span(impl->makeEmitted(axis, binder.place));
  applyCondition(binder, {span}, 0);
  return span;
}

Var Kernel::var(std::string name, const Operand &init) {
  KernelImpl *impl = KernelImpl::expect(identity, init.where());
  if (!impl || !impl->statement(init.where()))
    return Var(0, 0, 0, init.where());
  ir::Expr value = impl->evaluate(init.get());
  impl->ops().setLoc(impl->at(init.where()));
  unsigned index = 0;
  uint64_t variable = impl->declare(name, value, index);
  return Var(identity, index, variable, init.where());
}
