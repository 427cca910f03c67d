//===- GrammarDeclaration_def.hpp - rules of declarations -----------------===//
#ifndef TILE_DSL_GRAMMARDECLARATION_DEF_HPP
#define TILE_DSL_GRAMMARDECLARATION_DEF_HPP

#include "dsl/GrammarParsers.hpp"

namespace tile::dsl::grammar {

using Kind = TokenKind;

struct DeclarationId : Recovering<recoverDeclaration> {};
struct EntryId : Recovering<recoverStatement> {};

constexpr x3::rule<struct TypeId, TypeExpr> type = "a type";
constexpr x3::rule<struct TypedParamId, Param> typedParam = "a parameter";
constexpr x3::rule<struct KernelParamId, Param> kernelParam = "a parameter";
constexpr x3::rule<struct FnParamId, Param> fnParam = "a parameter";
constexpr x3::rule<struct OutputId, Param> output = "an output";
constexpr x3::rule<struct KernelOutputId, Param> kernelOutput = "an output";
constexpr x3::rule<struct GenericId, Generic> generic = "a type or constant parameter";
constexpr x3::rule<struct ClauseId, Clause> clause = "`requires` or `dim`";
constexpr x3::rule<struct ConditionId, Clause> condition = "a condition";
constexpr x3::rule<struct EntryBodyId, ScheduleEntry> entryBody = "a schedule entry";
constexpr x3::rule<EntryId, std::unique_ptr<ScheduleEntry>> entry = "a schedule entry";
constexpr x3::rule<struct ScheduleId, Schedule> schedule = "`schedule`";
constexpr x3::rule<struct DeclarationBodyId, Decl> declarationBody = "a declaration";
constexpr x3::rule<DeclarationId, std::unique_ptr<Decl>> declaration = "a declaration";

//===-- Actions -----------------------------------------------------------===//

/// `T[..S]` is a pack and nothing else.
constexpr auto checkDims = [](auto &context) {
  TypeExpr &type = x3::_val(context);
  type.isTensor = true;
  if (type.rankPack && !type.dims.empty())
    fail(stateOf(context), behind(context) - 1, type.rankPack->range,
         "a rank pack stands alone between the brackets");
};
constexpr auto reduceOp = [](auto &context) {
  x3::_val(context).reduce = stateOf(context).text(x3::_attr(context));
};
constexpr auto importPath = [](auto &context) {
  const Token &token = x3::_attr(context);
  x3::_val(context).name = {unescape(stateOf(context).text(token)), {token.begin, token.end}};
  x3::_val(context).isPath = true;
};
/// Appends `.part` to a module's name.
constexpr auto importPart = [](auto &context) {
  Ident &name = x3::_val(context).name;
  name.text += "." + x3::_attr(context).text;
  name.range.end = x3::_attr(context).range.end;
};
constexpr auto appendEntry = [](auto &context) {
  if (x3::_attr(context))
    x3::_val(context).entries.push_back(std::move(*x3::_attr(context)));
};
constexpr auto documented = [](auto &context) {
  x3::_val(context).doc = stateOf(context).docBefore(behind(context)[-1]);
};
/// Appends a declaration unless something in it had an error.
constexpr auto appendDeclaration = [](auto &context) {
  State &state = stateOf(context);
  if (x3::_attr(context) && state.errors == state.errorsBefore)
    x3::_val(context).decls.push_back(std::move(*x3::_attr(context)));
  state.errorsBefore = state.errors;
};

/// The keyword that begins a declaration of the kind, with the comments before it.
template <Decl::Kind kind>
constexpr auto declares(Kind keyword) {
  return tok(keyword)[documented] >> x3::eps[put<&Decl::kind, kind>];
}

//===-- Types and parameters ----------------------------------------------===//

constexpr auto separator = tok(Kind::Newline) | tok(Kind::Semi);

constexpr auto dims =
    bracketsOf("a dimension")[(tok(Kind::DotDot) > name[set<&TypeExpr::rankPack>]) |
                              expression[add<&TypeExpr::dims>]];
constexpr auto type_def =
    withRange[typeName[set<&TypeExpr::element>] >> -(dims >> x3::eps[checkDims])];

constexpr auto paramName = name[set<&Param::name>];
constexpr auto paramType = tok(Kind::Colon) > type[set<&Param::type>];
constexpr auto paramDefault = -(tok(Kind::Assign) > expression[set<&Param::defaultValue>]);

constexpr auto typedParam_def = withRange[paramName > paramType > paramDefault];
constexpr auto kernelParam_def =
    withRange[(tok(Kind::KwInout)[put<&Param::isInout, true>] > paramName > paramType) |
              (paramName > paramType > paramDefault)];
constexpr auto fnParam_def =
    withRange[(tok(Word::Axis) >> paramName >> x3::eps[put<&Param::isAxis, true>]) |
              (paramName > -paramType > paramDefault)];

constexpr TokenIfParser reduceOperator([](Kind kind) {
  return kind == Kind::Plus || kind == Kind::Star || kind == Kind::And || kind == Kind::Or ||
         kind == Kind::Xor;
});
constexpr auto reduction =
    tok(Word::Reduce) > -tok(Word::Unordered)[put<&Param::unordered, true>] >
    named("one of `+ * max min & | ^`")[reduceOperator[reduceOp] | tok(Word::Max)[reduceOp] |
                                        tok(Word::Min)[reduceOp]];
constexpr auto output_def = withRange[paramName > paramType];
constexpr auto kernelOutput_def = withRange[paramName > paramType > -reduction];

constexpr auto genericDefault = -(tok(Kind::Assign) > arithmetic[set<&Generic::defaultValue>]);
constexpr auto alternative = typeName[add<&Generic::alternatives>];
constexpr auto generic_def =
    withRange[(tok(Kind::KwConst)[put<&Generic::isConst, true>] > name[set<&Generic::name>] >
               tok(Kind::Colon) > alternative > genericDefault) |
              (name[set<&Generic::name>] > -(tok(Kind::Colon) > alternative >
                                             *(tok(Kind::Or) > alternative)) > genericDefault)];

//===-- Clauses and schedules ---------------------------------------------===//

constexpr auto condition_def = withRange[expression[set<&Clause::value>] >>
                                         x3::eps[put<&Clause::kind, Clause::Kind::Requires>]];
constexpr auto clause_def =
    withRange[(tok(Kind::KwRequires)[put<&Clause::kind, Clause::Kind::Requires>] >
               expression[set<&Clause::value>]) |
              (tok(Word::Dim) >> name[set<&Clause::name>] >>
               x3::eps[put<&Clause::kind, Clause::Kind::Dim>] > tok(Kind::Assign) >
               expression[set<&Clause::value>])];
/// After a comma a condition may follow without another `requires`.
constexpr auto clauses =
    *(clause[add<&Decl::clauses>] >
      *(tok(Kind::Comma) >
        named("`requires`, `dim` or a condition")[clause[add<&Decl::clauses>] |
                                                  condition[add<&Decl::clauses>]]));

constexpr auto entryBody_def =
    withRange[name[set<&ScheduleEntry::key>] > -name[set<&ScheduleEntry::object>] >
              -(tok(Kind::Assign) > expression[set<&ScheduleEntry::value>])];
constexpr auto entry_def = BeginParser(true) > entryBody[box] >
                           EndParser("the end of the entry", true);
constexpr auto schedule_def = withRange[tok(Kind::KwSchedule) > -name[set<&Schedule::target>] >
                                        inBraces[*(separator | entry[appendEntry])]];

//===-- Declarations ------------------------------------------------------===//

constexpr auto declName = name[set<&Decl::name>];
constexpr auto generics =
    -list(Kind::Less, Kind::Greater, "a type or constant parameter")[generic[add<&Decl::generics>]];
constexpr auto mapParams = parenthesesOf("a parameter")[typedParam[add<&Decl::params>]];
constexpr auto kernelParams = parenthesesOf("a parameter")[kernelParam[add<&Decl::params>]];
constexpr auto fnParams = parenthesesOf("a parameter")[fnParam[add<&Decl::params>]];
constexpr auto outputs = tok(Kind::Arrow) > parenthesesOf("an output")[output[add<&Decl::outputs>]];
constexpr auto kernelOutputs = tok(Kind::Arrow) >
                               parenthesesOf("an output")[kernelOutput[add<&Decl::outputs>]];
constexpr auto result = tok(Kind::Arrow) > type[set<&Decl::result>];
constexpr auto bodyExpr = tok(Kind::Assign) > expression[set<&Decl::bodyExpr>];
constexpr auto body = block[set<&Decl::body>];

constexpr auto importDecl =
    declares<Decl::Kind::Import>(Kind::KwImport) >
    named("a module's name or a path")[tok(Kind::String)[importPath] |
                                       (declName > *(tok(Kind::Dot) > name[importPart]))];
constexpr auto kernelDecl = declares<Decl::Kind::Kernel>(Kind::KwKernel) > declName > generics >
                            kernelParams > kernelOutputs > clauses > body >
                            *schedule[add<&Decl::schedules>];
constexpr auto mapDecl =
    declares<Decl::Kind::Map>(Kind::KwMap) > declName > generics > mapParams > result > bodyExpr;
constexpr auto fnDecl = declares<Decl::Kind::Fn>(Kind::KwFn) > declName > generics > fnParams >
                        -result > named("`=` or `{`")[bodyExpr | body];
constexpr auto graphDecl = declares<Decl::Kind::Graph>(Kind::KwGraph) > declName > generics >
                           mapParams > outputs > clauses > body;

constexpr auto declarationBody_def =
    withRange[kernelDecl | mapDecl | fnDecl | graphDecl | importDecl];
constexpr auto declaration_def = BeginParser(false) > declarationBody[box] >
                                 EndParser("the end of the declaration", false);

constexpr auto moduleRule_def = *(separator | declaration[appendDeclaration]);

} // namespace tile::dsl::grammar

#endif // TILE_DSL_GRAMMARDECLARATION_DEF_HPP
