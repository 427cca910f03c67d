//===- Arguments.cpp - arguments of calls and what they bind --------------===//

#include "dsl/BodyElaborator.h"

using namespace tile;
using namespace tile::dsl;

/// `matmul(x, w, BK = …)`: everything that it takes.
static std::string usage(const Decl &decl) {
  std::vector<std::string> words;
  for (const Param &param : decl.params)
    words.push_back(param.name.text + (param.defaultValue ? " = …" : ""));
  for (const Generic &generic : decl.generics)
    if (generic.isConst)
      words.push_back(generic.name.text + " = …");
  return "it is called as " + quoted(decl.name.text + "(" + llvm::join(words, ", ") + ")");
}

std::optional<MatchedArguments> tile::dsl::matchArguments(dsl::DiagnosticEngine &diags,
                                                          const SourceFile &file,
                                                          const dsl::Expr &call, const Decl &decl) {
  auto error = [&](dsl::Range range, std::string message, std::string hint = "") {
    dsl::Diagnostic &report = diags.error(&file, range, std::move(message));
    if (!hint.empty())
      report.hints.push_back(std::move(hint));
    return std::nullopt;
  };
  MatchedArguments matched;
  matched.values.resize(decl.params.size());
  size_t position = 0;
  for (const Arg &arg : call.args) {
    bool isConstant = arg.name && llvm::any_of(decl.generics, [&](const Generic &generic) {
                        return generic.isConst && generic.name.text == arg.name->text;
                      });
    size_t slot = position;
    if (arg.name)
      slot = llvm::find_if(decl.params,
                           [&](const Param &param) { return param.name.text == arg.name->text; }) -
             decl.params.begin();
    else
      ++position;
    if (!isConstant && slot >= decl.params.size())
      return error(arg.name ? arg.name->range : arg.value->range,
                   arg.name ? quoted(decl.name.text) + " has no parameter " + quoted(arg.name->text)
                            : quoted(decl.name.text) + " takes " +
                                  counted(decl.params.size(), "argument"),
                   usage(decl));
    const dsl::Expr *&target =
        isConstant ? matched.constants[arg.name->text] : matched.values[slot];
    if (target)
      return error(arg.value->range,
                   quoted(isConstant ? arg.name->text : decl.params[slot].name.text) +
                       " is given twice");
    target = arg.value.get();
  }
  for (auto [value, param] : llvm::zip(matched.values, decl.params)) {
    if (!value)
      value = param.defaultValue.get();
    if (!value)
      return error(call.range,
                   quoted(decl.name.text) + " needs an argument for " + quoted(param.name.text),
                   usage(decl));
  }
  return matched;
}

std::optional<TypeBindings>
tile::dsl::bindGenerics(dsl::DiagnosticEngine &diags, const SourceFile &at, dsl::Range use,
                        DeclRef ref, const std::vector<std::optional<ir::ElementType>> &args) {
  TypeBindings types;
  for (const Generic &generic : ref.decl->generics) {
    if (generic.isConst)
      continue;
    std::vector<ir::ElementType> allowed = genericAlternatives(diags, ref.file->source, generic);
    if (allowed.empty())
      return std::nullopt;
    std::optional<ir::ElementType> bound;
    for (size_t n = 0; n < args.size() && !bound; ++n)
      if (ref.decl->params[n].type.element.text == generic.name.text)
        bound = args[n];
    if (!bound) // only literals: f32 where that is allowed
      bound = llvm::is_contained(allowed, ir::ElementType::F32) ? ir::ElementType::F32
                                                                : allowed.front();
    if (!llvm::is_contained(allowed, *bound)) {
      std::string list;
      for (ir::ElementType type : allowed)
        list += (list.empty() ? "" : ", ") + ir::nameOf(type).str();
      diags
          .error(&at, use,
                 quoted(ref.decl->name.text) + " does not take " + ir::nameOf(*bound).str())
          .hints.push_back(generic.name.text + " is one of " + list);
      return std::nullopt;
    }
    types[generic.name.text] = *bound;
  }
  return types;
}
