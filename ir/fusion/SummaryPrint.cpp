//===- SummaryPrint.cpp - summaries as text and as JSON -------------------===//

#include "ir/dialect/AffineEval.h"
#include "ir/fusion/Summary.h"
#include "ir/proofs/ProofsDetail.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile::ir;

//===-- Words -------------------------------------------------------------===//

static StringRef word(SpaceDimension::Kind kind) {
  switch (kind) {
  case SpaceDimension::Kind::Each:
    return "each";
  case SpaceDimension::Kind::Tiles:
    return "tiles";
  case SpaceDimension::Kind::Loop:
    return "loop";
  case SpaceDimension::Kind::Counter:
    return "counter";
  case SpaceDimension::Kind::While:
    return "while";
  case SpaceDimension::Kind::Axis:
    return "axis";
  }
  llvm_unreachable("all kinds are handled");
}

static StringRef word(AccessSummary::Kind kind) {
  switch (kind) {
  case AccessSummary::Kind::Read:
    return "read";
  case AccessSummary::Kind::Write:
    return "write";
  case AccessSummary::Kind::Update:
    return "update";
  case AccessSummary::Kind::Atomic:
    return "atomic";
  }
  llvm_unreachable("all kinds are handled");
}

static StringRef word(AccessSummary::Precision precision) {
  switch (precision) {
  case AccessSummary::Precision::Exact:
    return "exact";
  case AccessSummary::Precision::OverApproximate:
    return "over-approximate";
  case AccessSummary::Precision::DataDependent:
    return "data-dependent";
  }
  llvm_unreachable("all kinds are handled");
}

static StringRef word(AccessSummary::Outside outside) {
  switch (outside) {
  case AccessSummary::Outside::Proved:
    return "inside";
  case AccessSummary::Outside::Promised:
    return "promised";
  case AccessSummary::Outside::Padded:
    return "padded";
  case AccessSummary::Outside::Clamped:
    return "clamped";
  case AccessSummary::Outside::Dropped:
    return "dropped";
  }
  llvm_unreachable("all kinds are handled");
}

static StringRef word(EffectSummary::Kind kind) {
  switch (kind) {
  case EffectSummary::Kind::Assert:
    return "assert";
  case EffectSummary::Kind::Print:
    return "print";
  case EffectSummary::Kind::Random:
    return "random";
  }
  llvm_unreachable("all kinds are handled");
}

static StringRef word(ParamMode mode) {
  switch (mode) {
  case ParamMode::In:
    return "in";
  case ParamMode::Out:
    return "out";
  case ParamMode::InOut:
    return "inout";
  case ParamMode::Reduce:
    return "reduce";
  }
  llvm_unreachable("all modes are handled");
}

/// As declarations have it: `reduce +`.
static StringRef symbolOf(CombineKind kind) {
  switch (kind) {
  case CombineKind::add:
    return "+";
  case CombineKind::mul:
    return "*";
  case CombineKind::andi:
    return "&";
  case CombineKind::ori:
    return "|";
  case CombineKind::xori:
    return "^";
  case CombineKind::max:
  case CombineKind::min:
  case CombineKind::umax:
  case CombineKind::umin:
  case CombineKind::fmax:
  case CombineKind::fmin:
    return wordOf(kind);
  }
  llvm_unreachable("all kinds are handled");
}

/// How blocks of a loop may be cut, or nothing.
static StringRef cutOf(const SpaceDimension &dimension) {
  auto loop = dyn_cast_or_null<ForOp>(dimension.binder);
  return loop ? stringifyLoopKind(loop.getKind()) : StringRef();
}

/// What is not negative, or zero, as a comparison: coordinates that are subtracted go to the left.
std::string KernelSummary::spellCondition(const Linear &sum, bool isZero) const {
  Coordinates &c = proofs->coordinates;
  Linear coordinates, rest;
  auto collect = [&](bool isNegative) {
    coordinates = rest = {};
    rest.constant = sum.constant;
    for (auto term : sum.terms)
      (!c[term.first].isUniform && (term.second < 0) == isNegative ? coordinates : rest)
          .terms.push_back(term);
    return !coordinates.terms.empty();
  };
  const Spelling &words = proofs->words;
  if (collect(/*isNegative=*/true)) {
    bool isStrict = !isZero && rest.constant == -1;
    return words.of(c.scale(coordinates, -1)) +
           (isZero     ? " == "
            : isStrict ? " < "
                       : " <= ") +
           words.of(isStrict ? c.plus(rest, 1) : rest);
  }
  collect(/*isNegative=*/false);
  return words.of(coordinates.terms.empty() ? rest : coordinates) + (isZero ? " == " : " >= ") +
         (coordinates.terms.empty() ? "0" : words.of(c.scale(rest, -1)));
}

std::string KernelSummary::namesOf(ArrayRef<unsigned> over) const {
  return llvm::join(llvm::map_range(over, [&](unsigned n) { return dimensions[n].name; }), ", ");
}

//===-- Text --------------------------------------------------------------===//

/// The extents of a tensor; none for a scalar.
static std::optional<SmallVector<std::string>> shapeOf(KernelOp kernel, unsigned parameter) {
  AffineMap shape = kernel.getParamShape(parameter);
  if (!shape)
    return std::nullopt;
  SmallVector<StringRef> names(kernel.getDims().getAsValueRange<StringAttr>());
  SmallVector<std::string> extents;
  for (AffineExpr extent : shape.getResults())
    extents.push_back(formatAffine(extent, names));
  return extents;
}

std::string KernelSummary::signature() const {
  KernelOp op = kernel();
  std::string inputs, outputs;
  for (unsigned n = 0, e = op.getNumArguments(); n < e; ++n) {
    ParamMode mode = op.getParamMode(n);
    bool isInput = mode == ParamMode::In || mode == ParamMode::InOut;
    std::string &list = isInput ? inputs : outputs;
    list += (list.empty() ? "" : ", ") + std::string(mode == ParamMode::InOut ? "inout " : "") +
            proofs->words.parameter(op.getArgument(n)) + ": " + op.getParamType(n).str();
    if (auto shape = shapeOf(op, n))
      list += "[" + llvm::join(*shape, ", ") + "]";
    if (mode == ParamMode::Reduce)
      list += (" reduce " + symbolOf(op.getParamReduce(n))).str();
  }
  return (op.isGrid() ? "grid kernel " : "kernel ") + op.getSymName().str() + "(" + inputs +
         ") -> (" + outputs + ")";
}

std::string KernelSummary::text(const SpaceDimension &dimension) const {
  std::string line = word(dimension.kind).str();
  if (dimension.kind != SpaceDimension::Kind::While)
    line += " " + dimension.name + " in " + proofs->words.of(dimension.lower) + ".." +
            proofs->words.of(dimension.upper);
  if (dimension.size)
    line += " by " + std::to_string(*dimension.size);
  if (!dimension.step.isConstant(1) && dimension.kind == SpaceDimension::Kind::Counter)
    line += " step " + proofs->words.of(dimension.step);
  if (StringRef cut = cutOf(dimension); !cut.empty() && cut != "fold")
    line += (", " + cut).str();
  auto roles =
      llvm::map_range(dimension.roles, [](const DimensionRole &role) { return role.text(); });
  return line + ": " + llvm::join(roles, ", ");
}

/// " (net.tile:12:9)", or nothing.
static std::string placeAfter(Operation *op) {
  std::string place = placeOf(op->getLoc());
  return place.empty() ? "" : " (" + place + ")";
}

std::string KernelSummary::text(const AccessSummary &access) const {
  std::string line = word(access.kind).str();
  if (!access.combination.empty())
    line += "(" + access.combination + ")";
  line += " " + access.text + ": " + kernel().getParamType(access.parameter).str();
  if (access.outside != AccessSummary::Outside::Proved)
    line += ", " + word(access.outside).str();
  if (!access.over.empty())
    line += " for " + namesOf(access.over);
  SmallVector<std::string> conditions;
  for (const Linear &sum : access.domain.notNegative)
    conditions.push_back(spellCondition(sum, /*isZero=*/false));
  for (const Linear &sum : access.domain.zero)
    conditions.push_back(spellCondition(sum, /*isZero=*/true));
  if (!conditions.empty())
    line += " where " + llvm::join(conditions, ", ");
  line += "; " + word(access.precision).str();
  SmallVector<std::string> reasons;
  for (unsigned tensor : access.data)
    reasons.push_back("on `" + proofs->words.parameter(kernel().getArgument(tensor)) + "`");
  llvm::append_range(reasons, access.reasons);
  if (!reasons.empty())
    line += ": " + llvm::join(reasons, "; ");
  return line + placeAfter(access.op);
}

std::string KernelSummary::text(const EffectSummary &effect) const {
  std::string line = word(effect.kind).str();
  const Spelling &words = proofs->words;
  if (effect.kind == EffectSummary::Kind::Random)
    line += " seed " + words.of(effect.seed) + ", stream " + words.of(effect.stream) +
            ", counter " + words.of(effect.counter);
  else
    line += " \"" + llvm::StringRef(effect.message).rtrim('\n').str() + "\"";
  if (!effect.over.empty())
    line += " for " + namesOf(effect.over);
  if (effect.kind == EffectSummary::Kind::Random)
    line += effect.isExact ? "; exact" : "; data-dependent";
  return line + placeAfter(effect.op);
}

std::string KernelSummary::text() const {
  std::string text = signature() + "\n";
  auto list = [&](StringRef title, const auto &items) {
    if (!items.empty())
      text += "  " + title.str() + "\n";
    for (const auto &item : items)
      text += "    " + this->text(item) + "\n";
  };
  list("space", dimensions);
  list("accesses", accessList);
  list("effects", effectList);
  return text;
}

//===-- JSON --------------------------------------------------------------===//

using llvm::json::Array;
using llvm::json::Object;

/// Names and messages of tile IR may be any bytes, JSON is UTF-8.
static llvm::json::Value textOf(StringRef text) { return llvm::json::fixUTF8(text); }

static Array textsOf(ArrayRef<std::string> texts) {
  return Array(llvm::map_range(texts, [](StringRef text) { return textOf(text); }));
}

static Array positions(ArrayRef<unsigned> over) {
  Array array;
  for (unsigned n : over)
    array.push_back(static_cast<int64_t>(n));
  return array;
}

llvm::json::Value KernelSummary::json(const SpaceDimension &dimension) const {
  Object object{{"kind", word(dimension.kind)}, {"name", textOf(dimension.name)}};
  Array roles;
  for (const DimensionRole &role : dimension.roles)
    roles.push_back(textOf(role.text()));
  object["roles"] = std::move(roles);
  if (dimension.kind != SpaceDimension::Kind::While) {
    object["lower"] = textOf(proofs->words.of(dimension.lower));
    object["upper"] = textOf(proofs->words.of(dimension.upper));
  }
  if (dimension.kind == SpaceDimension::Kind::Counter)
    object["step"] = textOf(proofs->words.of(dimension.step));
  if (dimension.size)
    object["size"] = *dimension.size;
  if (StringRef cut = cutOf(dimension); !cut.empty())
    object["cut"] = cut;
  return object;
}

llvm::json::Value KernelSummary::json(const AccessSummary &access) const {
  const Spelling &words = proofs->words;
  Array element, where, data;
  for (const Linear &index : access.element)
    element.push_back(textOf(words.of(index)));
  for (const Linear &sum : access.domain.notNegative)
    where.push_back(textOf(spellCondition(sum, /*isZero=*/false)));
  for (const Linear &sum : access.domain.zero)
    where.push_back(textOf(spellCondition(sum, /*isZero=*/true)));
  for (unsigned tensor : access.data)
    data.push_back(textOf(words.parameter(kernel().getArgument(tensor))));
  Object object{{"kind", word(access.kind)},
                {"parameter", static_cast<int64_t>(access.parameter)},
                {"tensor", textOf(words.parameter(kernel().getArgument(access.parameter)))},
                {"type", textOf(kernel().getParamType(access.parameter))},
                {"text", textOf(access.text)},
                {"element", std::move(element)},
                {"over", positions(access.over)},
                {"where", std::move(where)},
                {"outside", word(access.outside)},
                {"precision", word(access.precision)},
                {"reasons", textsOf(access.reasons)},
                {"data", std::move(data)},
                {"place", textOf(placeOf(access.op->getLoc()))}};
  if (!access.combination.empty())
    object["combines"] = textOf(access.combination);
  return object;
}

llvm::json::Value KernelSummary::json(const EffectSummary &effect) const {
  Object object{{"kind", word(effect.kind)},
                {"over", positions(effect.over)},
                {"place", textOf(placeOf(effect.op->getLoc()))}};
  if (effect.kind == EffectSummary::Kind::Random) {
    object["seed"] = textOf(proofs->words.of(effect.seed));
    object["stream"] = textOf(proofs->words.of(effect.stream));
    object["counter"] = textOf(proofs->words.of(effect.counter));
    object["exact"] = effect.isExact;
  } else {
    object["message"] = textOf(effect.message);
  }
  return object;
}

llvm::json::Value KernelSummary::json() const {
  KernelOp op = kernel();
  Array dims, parameters, space, accesses, effects;
  for (StringRef name : op.getDims().getAsValueRange<StringAttr>())
    dims.push_back(textOf(name));
  for (unsigned n = 0, e = op.getNumArguments(); n < e; ++n) {
    ParamMode mode = op.getParamMode(n);
    Object parameter{{"name", textOf(proofs->words.parameter(op.getArgument(n)))},
                     {"type", textOf(op.getParamType(n))},
                     {"mode", word(mode)}};
    if (auto shape = shapeOf(op, n))
      parameter["shape"] = textsOf(*shape);
    if (mode == ParamMode::Reduce)
      parameter["combines"] = wordOf(op.getParamReduce(n));
    parameters.push_back(std::move(parameter));
  }
  for (const SpaceDimension &dimension : dimensions)
    space.push_back(json(dimension));
  for (const AccessSummary &access : accessList)
    accesses.push_back(json(access));
  for (const EffectSummary &effect : effectList)
    effects.push_back(json(effect));
  return Object{{"kernel", textOf(op.getSymName())}, {"grid", op.isGrid()},
                {"dims", std::move(dims)},           {"parameters", std::move(parameters)},
                {"space", std::move(space)},         {"accesses", std::move(accesses)},
                {"effects", std::move(effects)}};
}
