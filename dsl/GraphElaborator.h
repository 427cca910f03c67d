//===- GraphElaborator.h - one graph on its way to the IR -----------------===//
//
// A call of a kernel or graph becomes a tile.call. Every other expression of
// tensors is pointwise: it becomes a kernel of its own that aligns its operands
// positionally from the right and rounds once, to its type.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DSL_GRAPHELABORATOR_H
#define TILE_DSL_GRAPHELABORATOR_H

#include "dsl/BodyElaborator.h"
#include "dsl/ElaboratorImpl.h"
#include "dsl/Locations.h"

#include <set>

namespace tile::dsl {

/// A tensor or scalar of the graph.
struct GraphValue {
  mlir::Value value;
  ir::ElementType type = ir::ElementType::F32;
  bool isTensor = false;
  llvm::SmallVector<mlir::AffineExpr> shape; // over the graph's dims
};

class GraphElaborator {
public:
  GraphElaborator(Elaborator &self, Elaborator::Impl::Parts parts, DeclRef decl,
                  const TypeBindings &types, Signature signature)
      : self(self), parts(parts), decl(decl), file(*decl.file), types(types),
        signature(std::move(signature)), builder(parts.context) {}

  /// The graph's symbol; empty after errors.
  std::string run();

private:
  Diagnostic &error(Range range, std::string message) {
    return parts.diags.error(&file.source, range, std::move(message));
  }
  mlir::Location at(Range range) { return toLocation(parts.context, file.source, range); }
  mlir::Location named(const Expr &expr);

  void open();
  bool countLaunches();
  void requirement(const Expr &condition);
  mlir::Value extentValue(mlir::AffineExpr expr, mlir::Location loc);
  mlir::Value condition(const Expr &expr);
  void statement(const Stmt &stmt);
  void checkExtents(const GraphValue &value, const ir::ParamSpec &output, dsl::Range range);
  void bind(const Ident &name, GraphValue value);
  void nameValue(const GraphValue &value, llvm::StringRef name);

  void reportUnknown(const Expr &expr);
  std::vector<GraphValue> evaluateTuple(const Expr &expr);
  std::optional<GraphValue> evaluate(const Expr &expr);
  std::optional<GraphValue> scalar(const Expr &expr, ir::ElementType type);
  bool isType(const std::string &name) const;
  std::vector<GraphValue> call(const Expr &expr, DeclRef callee);
  struct Call;
  std::optional<TypeBindings> evaluateTensors(Call &call);
  bool evaluateScalars(Call &call);
  bool bindDims(Call &call);
  bool bindConstants(Call &call);
  std::optional<GraphValue> dimValue(const Expr &expr);
  DeclRef calledKernel(const Expr &expr);

  struct Operand;
  bool collect(const Expr &expr, std::vector<Operand> &operands);
  std::optional<GraphValue> scalarOf(const Expr &expr, llvm::ArrayRef<Operand> operands,
                                     std::optional<ir::ElementType> type);
  std::optional<GraphValue> pointwise(const Expr &expr);
  struct Pointwise;
  std::string dimensionName(mlir::AffineExpr extent, size_t position) const;
  bool findExtents(Pointwise &map);
  void specify(Pointwise &map);
  std::optional<ir::ElementType> build(mlir::ModuleOp module, const Pointwise &map);

  Elaborator &self;
  Elaborator::Impl::Parts parts;
  DeclRef decl;
  LoadedFile &file;
  const TypeBindings &types;
  Signature signature;
  mlir::OpBuilder builder;
  ir::GraphOp graph;
  std::map<std::string, GraphValue> names;
  /// Of outputs that are assigned; without a value where there was an error.
  std::map<std::string, GraphValue> results;
  std::set<std::string> assigned;      // outputs, whether what they are assigned has a value or not
  llvm::DenseSet<mlir::Value> hasName; // by a `let` or an output
  std::set<const Expr *> unknown;      // names reported to mean nothing
  unsigned pointwiseCount = 0;
};

/// The type of a parameter in a graph: a tensor of unknown extents or a scalar.
mlir::Type graphType(const ir::ParamSpec &param, mlir::MLIRContext *context);

} // namespace tile::dsl

#endif // TILE_DSL_GRAPHELABORATOR_H
