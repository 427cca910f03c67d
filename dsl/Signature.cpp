//===- Signature.cpp - declared signatures to the IR's --------------------===//

#include "dsl/Signature.h"

#include "dsl/Locations.h"
#include "dsl/Names.h"
#include "ir/dialect/IndexLimits.h"
#include "ir/dialect/Literal.h"
#include "ir/transforms/Specialize.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

std::optional<unsigned> Signature::dimIndex(const std::string &name) const {
  auto found = llvm::find(spec.dims, name);
  if (found == spec.dims.end())
    return std::nullopt;
  return found - spec.dims.begin();
}

const AffineExpr *Signature::derived(const std::string &name) const {
  for (auto &[known, expr] : spec.derivedDims)
    if (known == name)
      return &expr;
  return nullptr;
}

std::optional<ir::ElementType> tile::dsl::elementTypeOf(dsl::DiagnosticEngine &diags,
                                                        const SourceFile &file,
                                                        const TypeExpr &type,
                                                        const TypeBindings &bindings) {
  const std::string &name = type.element.text;
  if (auto bound = bindings.find(name); bound != bindings.end())
    return bound->second;
  if (std::optional<ir::ElementType> known = ir::elementTypeNamed(name))
    return known;
  if (name == "int")
    return ir::ElementType::I64;
  auto &error = diags.error(&file, type.element.range, quoted(name) + " is no type");
  std::vector<std::string> generics;
  for (auto &[generic, bound] : bindings)
    generics.push_back(generic);
  if (std::optional<std::string> near = typeMeantBy(name, generics))
    error.hints.push_back("did you mean `" + *near + "`?");
  return std::nullopt;
}

/// `cdiv(K, 128)` as an extent may have it: "(K + 127) / 128".
static std::optional<std::string> roundedUp(const SourceFile &file, const dsl::Expr &call) {
  if (call.kind != dsl::Expr::Kind::Call || call.children[0]->kind != dsl::Expr::Kind::Name ||
      call.children[0]->text != "cdiv" || call.args.size() != 2 || call.args[0].name ||
      call.args[1].name)
    return std::nullopt;
  auto textOf = [&](const dsl::Expr &part) {
    return std::string(file.text().substr(part.range.begin, part.range.end - part.range.begin));
  };
  const dsl::Expr &by = *call.args[1].value;
  std::string dividend = textOf(*call.args[0].value), divisor = textOf(by);
  if (by.kind == dsl::Expr::Kind::Int)
    if (std::optional<ir::WideInteger> value = ir::parseInteger(by.text);
        value && 1 < *value && *value <= ir::maxExtent)
      return "(" + dividend + " + " + std::to_string(static_cast<int64_t>(*value) - 1) + ") / " +
             divisor;
  if (by.kind != dsl::Expr::Kind::Name && by.kind != dsl::Expr::Kind::Int)
    divisor = "(" + divisor + ")";
  return "(" + dividend + " + " + divisor + " - 1) / " + divisor;
}

AffineExpr tile::dsl::extentExpr(MLIRContext *context, dsl::DiagnosticEngine &diags,
                                 const SourceFile &file, const Signature &signature,
                                 const dsl::Expr &expr) {
  auto fail = [&](std::string message) {
    diags.error(&file, expr.range, std::move(message));
    return AffineExpr();
  };
  auto visit = [&](const dsl::Expr &part) {
    return extentExpr(context, diags, file, signature, part);
  };
  switch (expr.kind) {
  case dsl::Expr::Kind::Int: {
    std::optional<ir::WideInteger> value = ir::parseInteger(expr.text);
    if (!value || *value > ir::maxExtent)
      return fail("the extent " + expr.text + " is too large");
    return getAffineConstantExpr(static_cast<int64_t>(*value), context);
  }
  case dsl::Expr::Kind::Name: {
    if (std::optional<unsigned> index = signature.dimIndex(expr.text))
      return getAffineSymbolExpr(*index, context);
    if (const AffineExpr *derived = signature.derived(expr.text))
      return *derived;
    auto &error = diags.error(&file, expr.range,
                              "dimension " + quoted(expr.text) + " stands alone in no input");
    error.hints.push_back("give it as a constant, `const " + expr.text +
                          ": int`, or let an input have it as an extent of its own");
    return {};
  }
  case dsl::Expr::Kind::Unary:
    if (AffineExpr operand = visit(*expr.children[0]); operand && expr.unary == UnaryOp::Neg)
      return -operand;
    return expr.unary == UnaryOp::Neg ? AffineExpr() : fail("an extent is made of + - * / %");
  case dsl::Expr::Kind::Binary: {
    AffineExpr left = visit(*expr.children[0]), right = visit(*expr.children[1]);
    if (!left || !right)
      return {};
    auto divisor = dyn_cast<AffineConstantExpr>(right);
    switch (expr.binary) {
    case BinaryOp::Add:
      return left + right;
    case BinaryOp::Sub:
      return left - right;
    case BinaryOp::Mul:
      return left * right;
    case BinaryOp::Div:
    case BinaryOp::Rem:
      if (divisor && divisor.getValue() <= 0)
        return fail("an extent is divided by a positive number");
      return expr.binary == BinaryOp::Div ? left.floorDiv(right) : left % right;
    default:
      return fail("an extent is made of + - * / %");
    }
  }
  default: {
    auto &error =
        diags.error(&file, expr.range, "an extent is made of dimensions, integers and + - * / %");
    if (std::optional<std::string> quotient = roundedUp(file, expr))
      error.hints.push_back("`/` rounds down; rounded up it is `" + *quotient + "`");
    return {};
  }
  }
}

//===-- Schedules ---------------------------------------------------------===//

static bool isNegative(const dsl::Expr &expr) {
  return expr.kind == dsl::Expr::Kind::Unary && expr.unary == UnaryOp::Neg &&
         expr.children[0]->kind == dsl::Expr::Kind::Int;
}

/// One value of a schedule: an integer, a list of them, a word or `grouped(8)`.
static Attribute scheduleValue(Builder &builder, dsl::DiagnosticEngine &diags,
                               const SourceFile &file, const dsl::Expr &expr) {
  auto refuseNumber = [&] {
    diags.error(&file, expr.range,
                "a schedule's numbers are from 1 to " + std::to_string(ir::maxTileSize));
    return Attribute();
  };
  switch (expr.kind) {
  case dsl::Expr::Kind::Int: {
    std::optional<ir::WideInteger> value = ir::parseInteger(expr.text);
    if (value && *value <= ir::maxTileSize) // 0 is refused by what it is for
      return builder.getI64IntegerAttr(static_cast<int64_t>(*value));
    return refuseNumber();
  }
  case dsl::Expr::Kind::Bool:
    return builder.getBoolAttr(expr.text == "true");
  case dsl::Expr::Kind::Name:
    return builder.getStringAttr(expr.text);
  case dsl::Expr::Kind::Call: {
    std::string text = expr.children[0]->text + "(";
    for (const Arg &arg : expr.args)
      text += (text.back() == '(' ? "" : ", ") +
              (isNegative(*arg.value) ? "-" + arg.value->children[0]->text : arg.value->text);
    return builder.getStringAttr(text + ")");
  }
  case dsl::Expr::Kind::List: {
    SmallVector<Attribute> values;
    for (const ExprPtr &child : expr.children)
      if (Attribute value = scheduleValue(builder, diags, file, *child))
        values.push_back(value);
    if (values.size() < expr.children.size())
      return {};
    return builder.getArrayAttr(values);
  }
  default:
    if (isNegative(expr))
      return refuseNumber();
    diags.error(&file, expr.range, "a schedule's values are numbers, words and lists of them");
    return {};
  }
}

/// Names that binders of statements have; of those that are `for` alone, if so asked.
static void collectBinders(const dsl::Block &block, std::set<std::string> &names,
                           bool loopsAlone = false) {
  for (const StmtPtr &statement : block) {
    for (const Binder &binder : statement->binders)
      if (!loopsAlone || statement->kind == dsl::Stmt::Kind::For)
        names.insert(binder.name.text);
    collectBinders(statement->body, names, loopsAlone);
    collectBinders(statement->elseBody, names, loopsAlone);
  }
}

/// Reports an entry that is no binder and no setting, or stands there twice.
static bool checkEntry(dsl::DiagnosticEngine &diags, const SourceFile &file, const Ident &key,
                       const std::set<std::string> &binders, const NamedAttrList &before) {
  if (!binders.count(key.text) && !llvm::is_contained(ir::scheduleSettings, key.text)) {
    auto &error = diags.error(&file, key.range,
                              "the schedule names " + quoted(key.text) +
                                  ", which is no binder of this kernel");
    std::vector<std::string> candidates(binders.begin(), binders.end());
    candidates.insert(candidates.end(), std::begin(ir::scheduleSettings),
                      std::end(ir::scheduleSettings));
    if (std::optional<std::string> near = nearestName(key.text, candidates))
      error.hints.push_back("did you mean `" + *near + "`?");
    return false;
  }
  if (before.get(key.text)) {
    bool isSize = !llvm::is_contained(ir::scheduleSettings, key.text);
    diags.error(&file, key.range, quoted(key.text) + " is scheduled twice")
        .hints.push_back(isSize ? "candidates are a list: `" + key.text + " = [64, 128]`"
                                : "leave out one of them");
    return false;
  }
  return true;
}

/// Reports a name behind the key that is not the loop of `split k`.
static bool checkObject(dsl::DiagnosticEngine &diags, const SourceFile &file,
                        const ScheduleEntry &entry, const std::set<std::string> &loops) {
  const Ident &object = *entry.object;
  if (entry.key.text != "split") {
    diags.error(&file, object.range, quoted(entry.key.text) + " has no name behind it")
        .hints.push_back("a setting is `" + entry.key.text +
                         " = VALUE`; only `split` names a loop");
    return false;
  }
  if (!loops.count(object.text)) {
    auto &error =
        diags.error(&file, object.range,
                    "`split` names " + quoted(object.text) + ", which is no loop of this kernel");
    std::vector<std::string> candidates(loops.begin(), loops.end());
    if (std::optional<std::string> near = nearestName(object.text, candidates))
      error.hints.push_back("did you mean `" + *near + "`?");
    return false;
  }
  return true;
}

/// With where its entries stand.
static std::pair<DictionaryAttr, DictionaryAttr>
scheduleOf(MLIRContext *context, dsl::DiagnosticEngine &diags, DeclRef ref) {
  Builder builder(context);
  NamedAttrList attrs, places;
  std::set<std::string> binders, loops, targets;
  collectBinders(ref.decl->body, binders);
  collectBinders(ref.decl->body, loops, /*loopsAlone=*/true);
  const SourceFile &file = ref.file->source;
  for (const Schedule &schedule : ref.decl->schedules) {
    std::string name = schedule.target ? schedule.target->text : "";
    if (schedule.target && !llvm::is_contained(ir::scheduleTargets, name))
      diags.error(&file, schedule.target->range, quoted(name) + " is no target")
          .hints.push_back("the targets are " + llvm::join(ArrayRef(ir::scheduleTargets), ", ") +
                           "; a plain `schedule` is for all");
    if (!targets.insert(name).second)
      diags
          .error(&file, schedule.target ? schedule.target->range : schedule.range,
                 "this kernel has a second `schedule` for " + (name.empty() ? "all targets" : name))
          .hints.push_back("write its entries into the first one");
    NamedAttrList entries, placesOfEntries;
    for (const ScheduleEntry &entry : schedule.entries) {
      if (!checkEntry(diags, file, entry.key, binders, entries))
        continue;
      if (entry.object && !checkObject(diags, file, entry, loops))
        continue;
      Attribute value = entry.value ? scheduleValue(builder, diags, file, *entry.value)
                                    : Attribute(builder.getUnitAttr());
      if (!value)
        continue;
      entries.set(entry.key.text, value);
      placesOfEntries.set(entry.key.text,
                          LocationAttr(dsl::toLocation(context, file, entry.range)));
    }
    // `schedule cuda { … }` stays apart; the plain one is for every target.
    auto add = [&](NamedAttrList &to, NamedAttrList &all) {
      if (schedule.target)
        to.set("target." + name, all.getDictionary(context));
      else
        for (NamedAttribute attr : all)
          to.set(attr.getName(), attr.getValue());
    };
    add(attrs, entries);
    add(places, placesOfEntries);
  }
  if (attrs.empty())
    return {};
  return {attrs.getDictionary(context), places.getDictionary(context)};
}

//===-- Parameters --------------------------------------------------------===//

static std::optional<ir::CombineKind> combineKind(StringRef text, ir::ElementType type) {
  bool ofUnsigned = ir::isUnsigned(type);
  if (text.empty())
    return std::nullopt;
  return llvm::StringSwitch<ir::CombineKind>(text)
      .Case("+", ir::CombineKind::add)
      .Case("*", ir::CombineKind::mul)
      .Case("max", ofUnsigned ? ir::CombineKind::umax : ir::CombineKind::max)
      .Case("min", ofUnsigned ? ir::CombineKind::umin : ir::CombineKind::min)
      .Case("&", ir::CombineKind::andi)
      .Case("|", ir::CombineKind::ori)
      .Default(ir::CombineKind::xori);
}

/// A scalar's default as an attribute; null (and reported) where it is no literal of the type.
static Attribute defaultOf(Builder &builder, dsl::DiagnosticEngine &diags, const SourceFile &file,
                           ir::ElementType type, const dsl::Expr &expr) {
  const dsl::Expr *literal = &expr;
  bool isNegative = expr.kind == dsl::Expr::Kind::Unary && expr.unary == UnaryOp::Neg;
  if (isNegative)
    literal = expr.children[0].get();
  MLIRContext *context = builder.getContext();
  bool isReal = literal->kind == dsl::Expr::Kind::Float;
  std::optional<ir::WideInteger> integer;
  if (literal->kind == dsl::Expr::Kind::Int)
    integer = ir::parseInteger(literal->text);
  Attribute value;
  if (type == ir::ElementType::Bool) {
    if (literal->kind == dsl::Expr::Kind::Bool)
      return builder.getBoolAttr(literal->text == "true");
  } else if (integer) {
    value = ir::attributeOf(context, type, isNegative ? -*integer : *integer);
  } else if (isReal && ir::isFloat(type)) {
    double number = ir::parseReal(literal->text);
    if (std::isfinite(number))
      value = ir::attributeOf(context, type, isNegative ? -number : number);
  } else if (ir::isFloat(type) && literal->kind == dsl::Expr::Kind::Name &&
             literal->text == "inf") {
    double infinity = std::numeric_limits<double>::infinity();
    return ir::attributeOf(context, type, isNegative ? -infinity : infinity);
  }
  if (value)
    return value;
  if (type != ir::ElementType::Bool &&
      (literal->kind == dsl::Expr::Kind::Int || (isReal && ir::isFloat(type)))) {
    auto &error = diags.error(&file, expr.range,
                              "the literal " + std::string(isNegative ? "-" : "") + literal->text +
                                  " does not fit in " + ir::nameOf(type).str());
    if (ir::isFloat(type))
      error.hints.push_back(std::string("infinity is written `") + (isNegative ? "-inf`" : "inf`"));
    return {};
  }
  diags.error(&file, expr.range,
              "a default is a literal of the parameter's type, " + ir::nameOf(type).str());
  return {};
}

namespace {
class SignatureReader {
public:
  SignatureReader(MLIRContext *context, dsl::DiagnosticEngine &diags, DeclRef ref,
                  const TypeBindings &types)
      : context(context), diags(diags), decl(*ref.decl), file(ref.file->source), types(types),
        errorsBefore(diags.errorCount()) {
    signature.spec.name = decl.name.text;
    findDims();
    readClauses();
    for (const Param &param : decl.params)
      addParam(param, false);
    for (const Param &param : decl.outputs)
      addParam(param, true);
    if (decl.kind == Decl::Kind::Map)
      refuseTensor(*decl.result, "a map gives a number");
    std::tie(signature.spec.schedule, signature.spec.schedulePlaces) =
        scheduleOf(context, diags, ref);
    signature.isValid = diags.errorCount() == errorsBefore;
  }

  Signature signature;

private:
  void findDims() {
    checkGenerics(diags, file, decl);
    auto add = [&](const std::string &name) {
      if (!signature.dimIndex(name))
        signature.spec.dims.push_back(name);
    };
    std::set<std::string> derived;
    for (const Clause &clause : decl.clauses)
      if (clause.kind == Clause::Kind::Dim)
        derived.insert(clause.name.text);
    for (const Generic &generic : decl.generics) {
      refuseTaken(generic.name.text, generic.name.range);
      if (!generic.isConst)
        continue;
      add(generic.name.text);
      Attribute value;
      if (generic.defaultValue)
        value = defaultOf(builder(), diags, file, ir::ElementType::I64, *generic.defaultValue);
      signature.spec.consts.emplace_back(generic.name.text, value);
    }
    for (const Param &param : decl.params)
      for (const ExprPtr &dim : param.type.dims)
        if (dim->kind == dsl::Expr::Kind::Name && !derived.count(dim->text)) {
          refuseTaken(dim->text, dim->range);
          add(dim->text);
        }
  }

  void readClauses() {
    for (const Clause &clause : decl.clauses) {
      if (clause.kind == Clause::Kind::Dim) {
        if (isDimension(clause.name.text))
          refuseSecond(clause.name);
        AffineExpr value = extentExpr(context, diags, file, signature, *clause.value);
        // One that is wrong is known all the same: that it is used is no second error.
        signature.spec.derivedDims.emplace_back(clause.name.text,
                                                value ? value : getAffineConstantExpr(1, context));
        continue;
      }
      // `requires A == B` makes two dimensions one.
      const dsl::Expr &condition = *clause.value;
      if (condition.kind == dsl::Expr::Kind::Binary && condition.binary == BinaryOp::Eq &&
          signature.dimIndex(condition.children[0]->text) &&
          signature.dimIndex(condition.children[1]->text) &&
          condition.children[0]->kind == dsl::Expr::Kind::Name &&
          condition.children[1]->kind == dsl::Expr::Kind::Name)
        signature.spec.sameDims.emplace_back(condition.children[0]->text,
                                             condition.children[1]->text);
    }
  }

  void addParam(const Param &param, bool isOutput) {
    auto isName = [&](const auto &other) { return other.name == param.name.text; };
    auto isGeneric = [&](const Generic &other) { return other.name.text == param.name.text; };
    if (llvm::any_of(signature.spec.params, isName) || llvm::any_of(decl.generics, isGeneric))
      refuseSecond(param.name);
    else if (isDimension(param.name.text))
      diags.error(&file, param.name.range, quoted(param.name.text) + " is a dimension already")
          .hints.push_back("a dimension is an i64 in the body; give one of them another name");
    refuseTaken(param.name.text, param.name.range);
    bool isMap = decl.kind == Decl::Kind::Map;
    if (param.type.rankPack && !isMap) {
      diags.error(&file, param.type.rankPack->range, "rank packs stand in maps only");
      return;
    }
    if (isMap)
      refuseTensor(param.type, "a map takes numbers");
    std::optional<ir::ElementType> type = elementTypeOf(diags, file, param.type, types);
    if (!type)
      return;
    ir::ParamSpec spec{.name = param.name.text,
                       .type = *type,
                       .typeName = param.type.element.text,
                       .isTensor = param.type.isTensor && !isMap,
                       .shape = {},
                       .defaultValue = {},
                       .loc = toLocation(context, file, param.range)};
    for (const ExprPtr &dim : param.type.dims)
      if (AffineExpr extent = extentExpr(context, diags, file, signature, *dim))
        spec.shape.push_back(extent);
    if (isOutput && !spec.isTensor)
      diags.error(&file, param.type.range, "an output is a tensor");
    if (isOutput)
      spec.mode = param.reduce.empty() ? ir::ParamMode::Out : ir::ParamMode::Reduce;
    else if (param.isInout)
      spec.mode = ir::ParamMode::InOut;
    spec.reduce = combineKind(param.reduce, *type);
    spec.unordered = param.unordered;
    if (param.defaultValue && spec.isTensor)
      diags.error(&file, param.defaultValue->range, "only scalar parameters have defaults");
    else if (param.defaultValue)
      spec.defaultValue = defaultOf(builder(), diags, file, *type, *param.defaultValue);
    signature.spec.params.push_back(std::move(spec));
  }

  bool isDimension(const std::string &name) const {
    return signature.dimIndex(name) || signature.derived(name);
  }

  void refuseSecond(const Ident &name) {
    diags.error(&file, name.range, quoted(name.text) + " is declared twice");
  }

  void refuseTensor(const TypeExpr &type, std::string message) {
    if (type.isTensor && !type.rankPack)
      diags.error(&file, type.range, std::move(message))
          .hints.push_back("make it " + quoted(type.element.text) +
                           "; a map applies to tiles and tensors by itself");
  }

  void refuseTaken(const std::string &name, dsl::Range range) {
    if (std::optional<std::string> role = roleInLanguage(name); role && !isFunctionName(name))
      diags.error(&file, range, quoted(name) + " is " + *role + " of the language");
  }

  Builder &builder() { return mlirBuilder; }

  MLIRContext *context;
  dsl::DiagnosticEngine &diags;
  const Decl &decl;
  const SourceFile &file;
  const TypeBindings &types;
  unsigned errorsBefore;
  Builder mlirBuilder{context};
};
} // namespace

void tile::dsl::checkGenerics(dsl::DiagnosticEngine &diags, const SourceFile &file,
                              const Decl &decl) {
  std::set<std::string> names;
  for (const Generic &generic : decl.generics) {
    if (!names.insert(generic.name.text).second)
      diags.error(&file, generic.name.range, quoted(generic.name.text) + " is declared twice");
    if (generic.isConst && generic.alternatives.front().text != "int")
      diags.error(&file, generic.alternatives.front().range, "a constant is an integer")
          .hints.push_back("write `const " + generic.name.text +
                           ": int`, or make it a parameter: `" + generic.name.text + ": " +
                           generic.alternatives.front().text + "`");
  }
}

void tile::dsl::noteInstance(dsl::DiagnosticEngine &diags, size_t first, DeclRef decl,
                             const TypeBindings &types) {
  std::string bound;
  for (const Generic &generic : decl.decl->generics)
    if (auto found = types.find(generic.name.text); found != types.end())
      bound +=
          (bound.empty() ? "" : ", ") + generic.name.text + " = " + ir::nameOf(found->second).str();
  if (!bound.empty())
    diags.addNote(first, &decl.file->source, decl.decl->range, "in the instance " + bound);
}

Signature tile::dsl::signatureOf(MLIRContext *context, dsl::DiagnosticEngine &diags, DeclRef decl,
                                 const TypeBindings &types) {
  return SignatureReader(context, diags, decl, types).signature;
}
