//===- FunctionCheck.cpp - what can be said of a function not called ------===//

#include "dsl/FunctionCheck.h"

#include "dsl/BodyElaborator.h"
#include "dsl/Names.h"

#include <set>

using namespace tile;
using namespace tile::dsl;

namespace {
class NameCheck {
public:
  NameCheck(Program &program, DeclRef fn, DiagnosticEngine &diags)
      : program(program), fn(fn), diags(diags) {
    for (const Generic &generic : fn.decl->generics)
      bound.insert(generic.name.text);
    for (const Param &param : fn.decl->params) {
      bound.insert(param.name.text);
      for (const ExprPtr &dim : param.type.dims)
        if (dim->kind == Expr::Kind::Name)
          bound.insert(dim->text);
    }
    bindAll(fn.decl->body);
  }

  void run() {
    TypeBindings generics;
    checkGenerics(diags, fn.file->source, *fn.decl);
    for (const Generic &generic : fn.decl->generics) {
      generics[generic.name.text] = ir::ElementType::F32; // some type
      if (!generic.isConst)
        genericAlternatives(diags, fn.file->source, generic);
    }
    for (const Param &param : fn.decl->params)
      if (!param.isAxis && !param.type.element.text.empty())
        elementTypeOf(diags, fn.file->source, param.type, generics);
    if (fn.decl->result)
      elementTypeOf(diags, fn.file->source, *fn.decl->result, generics);
    visit(fn.decl->body);
    visit(fn.decl->bodyExpr);
  }

private:
  /// Every name the function binds anywhere: that one is used too early, or outside its block, is
  /// for the call to find.
  void bindAll(const Block &block) {
    for (const StmtPtr &stmt : block) {
      for (const Ident &name : stmt->names)
        bound.insert(name.text);
      for (const Binder &binder : stmt->binders)
        bound.insert(binder.name.text);
      bindAll(stmt->body);
      bindAll(stmt->elseBody);
    }
  }

  void visit(const Block &block) {
    for (const StmtPtr &stmt : block) {
      visit(stmt->target);
      visit(stmt->value);
      visit(stmt->condition);
      visit(stmt->sequential);
      for (const Binder &binder : stmt->binders)
        for (const ExprPtr *part : {&binder.lo, &binder.hi, &binder.step, &binder.condition})
          visit(*part);
      visit(stmt->body);
      visit(stmt->elseBody);
    }
  }

  void visit(const ExprPtr &expr) {
    if (!expr)
      return;
    size_t first = 0;
    if (expr->kind == Expr::Kind::Name && !isValue(expr->text))
      report(*expr);
    if (expr->kind == Expr::Kind::Call && expr->children[0]->kind == Expr::Kind::Name) {
      first = 1;
      if (!isCallable(*expr->children[0]))
        report(*expr->children[0]);
    }
    for (size_t n = first; n < expr->children.size(); ++n)
      visit(expr->children[n]);
    bool isCombined = first == 1 && takesFunction(expr->children[0]->text) && !expr->args.empty() &&
                      !expr->args[0].name && expr->args[0].value->kind == Expr::Kind::Name;
    if (isCombined && !isCallable(*expr->args[0].value))
      report(*expr->args[0].value);
    bool isAtomic = first == 1 && ir::KernelBuilder::isAtomic(expr->children[0]->text);
    for (const Arg &arg : llvm::ArrayRef(expr->args).drop_front(isCombined))
      if ((!isAtomic || !arg.name) && // `order = acquire` names no value
          !isModifier(*expr, arg) && !isPrecision(*expr, arg))
        visit(arg.value);
  }

  /// A word of a cast, which is no value.
  bool isModifier(const Expr &call, const Arg &arg) const {
    const Expr &callee = *call.children[0];
    bool isCast =
        callee.kind == Expr::Kind::Name &&
        (isTypeName(callee.text) || llvm::any_of(fn.decl->generics, [&](const auto &known) {
           return !known.isConst && known.name.text == callee.text;
         }));
    return isCast && &arg != call.args.data() && arg.value->kind == Expr::Kind::Name &&
           isCastModifier(arg.value->text);
  }

  bool isPrecision(const Expr &call, const Arg &arg) const {
    return call.children[0]->text == "dot" && arg.name && arg.name->text == "precision";
  }

  bool isValue(const std::string &name) const {
    return bound.count(name) || isConstantName(name) || isTypeName(name);
  }

  bool isCallable(const Expr &callee) const {
    const std::string &name = callee.text;
    return bound.count(name) || isFunctionName(name) || isTypeName(name) ||
           program.lookup(*fn.file, name, callee.range, diags);
  }

  void report(const Expr &name) {
    Diagnostic &error =
        diags.error(&fn.file->source, name.range, "nothing here is called `" + name.text + "`");
    std::vector<std::string> known = program.visibleNames(*fn.file);
    known.insert(known.end(), bound.begin(), bound.end());
    known.insert(known.end(), functionNames().begin(), functionNames().end());
    if (std::optional<std::string> near = nearestName(name.text, known))
      error.hints.push_back("did you mean `" + *near + "`?");
  }

  Program &program;
  DeclRef fn;
  DiagnosticEngine &diags;
  std::set<std::string> bound;
};
} // namespace

void tile::dsl::checkNames(Program &program, DeclRef fn, DiagnosticEngine &diags) {
  NameCheck(program, fn, diags).run();
}
