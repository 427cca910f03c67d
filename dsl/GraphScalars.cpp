//===- GraphScalars.cpp - numbers in a graph ------------------------------===//
//
// Expressions of scalar parameters, dimensions and literals are computed by the
// host before anything runs. A kernel's builder makes their operations, so that
// the rules are those of kernels; then they move into the graph.
//
//===----------------------------------------------------------------------===//

#include "dsl/GraphPointwise.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

/// The argument of a scalar parameter.
std::optional<GraphValue> GraphElaborator::scalar(const dsl::Expr &expr, ir::ElementType type) {
  std::vector<Operand> operands;
  if (!collect(expr, operands))
    return std::nullopt;
  for (const Operand &operand : operands)
    if (operand.value.isTensor) {
      error(operand.expr->range,
            "a scalar " + ir::nameOf(type).str() + " is needed; " +
                (operand.expr->kind == dsl::Expr::Kind::Name ? quoted(operand.name) + " is a "
                                                             : std::string("this is a ")) +
                ir::nameOf(operand.value.type).str() + " tensor");
      return std::nullopt;
    }
  return scalarOf(expr, operands, type);
}

/// Computes an expression of scalars, of this type where one is wanted.
std::optional<GraphValue> GraphElaborator::scalarOf(const dsl::Expr &expr,
                                                    ArrayRef<Operand> operands,
                                                    std::optional<ir::ElementType> type) {
  unsigned errorsBefore = parts.diags.errorCount();
  Signature kernelSignature;
  kernelSignature.spec.name = "scalar";
  for (const Operand &operand : operands)
    kernelSignature.spec.params.push_back({.name = operand.name,
                                           .type = operand.value.type,
                                           .isTensor = false,
                                           .shape = {},
                                           .defaultValue = {},
                                           .loc = at(operand.expr->range)});
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(at(expr.range)));
  ir::KernelBuilder kernel(*scratch, kernelSignature.spec, at(expr.range));
  BodyElaborator body(kernel, parts.program, parts.diags, file, types, kernelSignature);
  ir::Expr value = body.evaluate(expr);
  kernel.setLoc(at(expr.range));
  if (value.isValid() && type)
    value = kernel.adapted(value, *type);
  else
    value = kernel.settled(value);
  if (value.isValid() && type && value.type != *type)
    error(expr.range, "a scalar " + ir::nameOf(*type).str() + " is needed; this is " +
                          (expr.kind == dsl::Expr::Kind::Name ? "a " : "of type ") +
                          ir::nameOf(value.type).str())
        .hints.push_back("cast it: `" + ir::nameOf(*type).str() + "(…)`");
  if (value.isValid())
    value = kernel.castTo(value.type, value); // rounds what is wider
  if (!value.isValid() || parts.diags.errorCount() != errorsBefore)
    return std::nullopt;
  Value result = kernel.materialize(value);

  IRMapping moved;
  mlir::Block &entry = kernel.kernel().getBody().front();
  for (auto [argument, operand] : llvm::zip(entry.getArguments(), operands))
    moved.map(argument, operand.value.value);
  for (Operation &op : entry)
    if (op.getNumResults() > 0)
      builder.clone(op, moved);
  return GraphValue{moved.lookup(result), value.type, false, {}};
}
