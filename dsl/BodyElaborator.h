//===- BodyElaborator.h - statements and expressions to tile IR -----------===//
//
// Walks a kernel's body (or the expression of a map) and drives a
// KernelBuilder: names, scopes, calls. What an operation means and which types
// it takes is the builder's business.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DSL_BODYELABORATOR_H
#define TILE_DSL_BODYELABORATOR_H

#include "dsl/Signature.h"

#include <functional>

namespace tile::dsl {

/// What generics may be bound to: the alternatives of `T: f16 | float`.
std::vector<ir::ElementType> genericAlternatives(DiagnosticEngine &diags, const SourceFile &file,
                                                 const Generic &generic);

/// A declaration's type generics as its arguments bind them (no type: a literal);
/// none after an error, reported at `use`.
std::optional<TypeBindings> bindGenerics(DiagnosticEngine &diags, const SourceFile &at, Range use,
                                         DeclRef decl,
                                         const std::vector<std::optional<ir::ElementType>> &args);

/// The arguments of a call: in the order of the parameters, defaults where none
/// was given; and the constants, which calls give by name.
struct MatchedArguments {
  std::vector<const Expr *> values;
  std::map<std::string, const Expr *> constants;
};
std::optional<MatchedArguments> matchArguments(DiagnosticEngine &diags, const SourceFile &file,
                                               const Expr &call, const Decl &decl);

class BodyElaborator {
public:
  BodyElaborator(ir::KernelBuilder &builder, Program &program, DiagnosticEngine &diags,
                 LoadedFile &file, TypeBindings types, const Signature &signature);

  void elaborate(const Block &body);
  ir::Expr evaluate(const Expr &expr);
  /// Evaluates a map's body; its parameters and constants are the kernel's.
  void checkMap(DeclRef map);

  /// From now on this expression has this value.
  void override(const Expr &expr, ir::Expr value) { overrides[&expr] = std::move(value); }
  /// Maps that are called draw random numbers by those of these axes that their results have.
  void drawBy(std::vector<std::string> axes) { drawAxes = std::move(axes); }
  void bind(const std::string &name, ir::Expr value) { scopes.back()[name] = Binding(value); }

private:
  struct Binding {
    enum class Kind { Value, Variable, Axis, Tensor } kind = Kind::Value;
    ir::Expr value;
    unsigned variable = 0;
    std::string axis; // of an Axis; of a Value that is an extent, its dimension
    const ir::TensorRef *tensor = nullptr;
    Range range; // where it was bound
    Binding() = default;
    explicit Binding(ir::Expr value) : value(std::move(value)) {}
  };
  using Scope = std::map<std::string, Binding>;

  void statement(const Stmt &stmt);
  void block(const Block &body);
  void letStatement(const Stmt &stmt);
  void assignStatement(const Stmt &stmt);
  void parallelStatement(const Stmt &stmt);
  void gridStatement(const Stmt &stmt);
  void forStatement(const Stmt &stmt);
  void ifStatement(const Stmt &stmt);
  void whileStatement(const Stmt &stmt);
  bool reportStatement(const Expr &call);
  void assertStatement(const Expr &call);
  void printStatement(const Expr &call);
  ir::BinderSpec binderSpec(const Binder &binder);
  ir::Expr axisBinding(const Stmt &stmt);

  ir::Expr name(const Expr &expr);
  ir::Expr unknownName(const Expr &expr);
  ir::Expr call(const Expr &expr);
  ir::Expr only(const std::vector<ir::Expr> &values, const Expr &call);
  void notCallable(const Expr &callee, const Binding *binding);
  ir::Expr dotCall(const Expr &expr);
  ir::Expr randomCall(const Expr &expr, const std::string &function);
  std::optional<ir::Expr> axisExpression(const Expr &argument);
  ir::Expr bitcastCall(const Expr &expr);
  ir::Expr castCall(const dsl::Expr &expr, ir::ElementType type);
  ir::Expr builtinCall(const Expr &expr, const std::string &name);
  ir::Expr reductionCall(const Expr &expr, const std::string &name, const ir::Expr &value);
  // Calls along axes (BodyAlong.cpp), which may give several values.
  using Combination = std::function<llvm::SmallVector<ir::Expr>(llvm::ArrayRef<ir::Expr>)>;
  std::vector<ir::Expr> alongCall(const Expr &call, const std::string &function);
  std::optional<std::vector<const Expr *>> alongArguments(const Expr &call,
                                                          const std::string &function);
  std::vector<ir::Expr> scanCall(const Expr &call, const std::string &function,
                                 llvm::ArrayRef<const Expr *> arguments);
  std::vector<ir::Expr> cumulativeCall(const Expr &call, const std::string &function,
                                       llvm::ArrayRef<const Expr *> arguments);
  std::vector<ir::Expr> sortCall(const Expr &call, const std::string &function,
                                 llvm::ArrayRef<const Expr *> arguments);
  std::vector<ir::Expr> shapeCall(const Expr &call, const std::string &function,
                                  llvm::ArrayRef<const Expr *> arguments);
  std::optional<std::vector<std::string>> axesGiven(const Expr &argument,
                                                    const std::string &function, bool mayBeNew);
  Combination combinationOf(const Expr &function, const Expr &call);
  std::vector<ir::Expr> apply(DeclRef decl, llvm::ArrayRef<ir::Expr> arguments, const Expr &call);
  std::optional<bool> flag(const Expr *option, const std::string &name, bool otherwise);
  std::optional<std::string> axisGiven(const Expr &argument, const std::string &function);
  std::optional<std::string> axisFor(const Expr &argument, const std::string &function);

  ir::Expr newTile(const Expr &expr, const std::string &name);
  ir::Expr index(const Expr &expr);
  std::vector<ir::Expr> evaluateTuple(const Expr &expr);

  ir::Expr expandMap(DeclRef map, const Expr &call);
  ir::Expr mapValue(DeclRef map, Scope scope, TypeBindings bindings, Range use);
  std::vector<ir::Expr> expandFn(DeclRef fn, const Expr &call);
  std::vector<ir::Expr> fnValues(DeclRef fn, Scope scope, TypeBindings bindings);
  bool mayExpand(DeclRef decl, const Expr &call);
  std::vector<ir::Expr> inside(DeclRef decl, Scope scope, TypeBindings bindings,
                               llvm::function_ref<std::vector<ir::Expr>()> body);
  bool bindConstants(DeclRef decl, const Expr &call, const MatchedArguments &matched, Scope &scope);
  bool bindParameter(const Param &param, const Expr &argument, Scope &scope,
                     std::optional<ir::ElementType> &type);

  struct Place {
    const ir::TensorRef *tensor = nullptr;
    std::vector<ir::Index> indices;
    bool drops = false;
  };
  std::optional<Place> place(const Expr &base, const Expr &indexed);
  std::optional<Place> writePlace(const Expr &target);
  bool isAtomicCall(const Expr &expr);
  ir::Expr atomicCall(const Expr &call, const std::string &function);
  std::optional<ir::MemoryOrder> memoryOrder(const Expr &call, const std::string &function);
  const ir::TensorRef *tensorNamed(const Expr &expr);
  std::optional<std::string> axisNamed(const Expr &expr);
  std::optional<ir::ElementType> typeNamed(const std::string &name) const;
  const Binding *lookup(const std::string &name) const;
  void declare(const Ident &ident, Binding binding);
  std::vector<std::string> visibleNames() const;

  Diagnostic &error(Range range, std::string message) {
    return diags.error(&file->source, range, std::move(message));
  }
  void at(Range range);

  ir::KernelBuilder &builder;
  Program &program;
  DiagnosticEngine &diags;
  LoadedFile *file;
  TypeBindings types;
  const Signature &signature;
  std::vector<Scope> scopes;
  size_t scopeBase = 0; // names below are another function's
  std::map<const Expr *, ir::Expr> overrides;
  std::vector<const Decl *> expanding;
  std::optional<std::vector<std::string>> drawAxes;
  std::optional<std::vector<ir::Expr>> coordinates; // of the map that is being expanded
  std::optional<std::vector<ir::Expr>> returned;
  unsigned expansions = 0;
  unsigned calls = 0; // of maps and functions, those in them included
};

} // namespace tile::dsl

#endif // TILE_DSL_BODYELABORATOR_H
