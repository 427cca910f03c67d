//===- BuilderImpl.h - how values of the C++ API become tile IR -----------===//
//
// C++ leaves open in which order the arguments of `f(a[{i}], b[{i}])` are
// evaluated; the kernel's IR must not depend on it. So an operation first makes
// a Node, and nodes become IR left to right, one full expression after the
// other:
//
//   - a node that is passed on as a temporary belongs to the expression that
//     uses it, and is emitted with it;
//   - a node that is passed on by name was finished by an earlier expression: it
//     and everything older is emitted first;
//   - a statement (assignment, store, loop, …) emits what is left, then itself.
//
// Each node is emitted once, in the block and at the values of the variables
// where it was written: the IR is what the parser makes of the same lines.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_BUILDER_BUILDERIMPL_H
#define TILE_FRONTEND_BUILDER_BUILDERIMPL_H

#include "frontend/tile/Kernel.h"
#include "frontend/tile/Module.h"

#include "ir/builder/KernelBuilder.h"

#include <set>

namespace tile::detail {

class KernelImpl;

struct ExtentNode {
  enum class Kind { Number, Dim, Negate, Binary };
  Kind kind = Kind::Number;
  int64_t number = 0;
  std::string name;
  ir::KernelBuilder::Binary op{};
  ExtentPtr left, right;
};

std::string spell(const ExtentNode &node);

/// An integer of C++ by its value.
inline ir::WideInteger wideInteger(int64_t bits, bool isUnsigned) {
  return isUnsigned ? ir::WideInteger(static_cast<uint64_t>(bits)) : ir::WideInteger(bits);
}

/// What an element of a parameter is loaded from and stored to.
struct ElementAccess {
  struct Position {
    NodePtr node; // null: `:`
    std::source_location place;
  };
  std::string param;
  std::vector<Position> indices;
  ir::KernelBuilder::Access mode = ir::KernelBuilder::Access::Exact;
  bool drops = false;
  NodePtr pad;
};

struct Node {
  using Emit = std::function<ir::Expr(KernelImpl &, llvm::ArrayRef<ir::Expr>)>;

  /// The kernel it belongs to; 0: none was being built.
  uint64_t kernel = 0;
  uint64_t order = 0;
  std::source_location place;
  std::vector<NodePtr> operands;
  Emit emit;
  /// Made anew at each use: literals, dims, scalar parameters.
  bool isLeaf = false;
  bool isColon = false;
  /// Part of another node or a statement.
  bool isConsumed = false;
  unsigned depth = 0;
  std::unique_ptr<ElementAccess> access;

  /// What is wrong with it was said where it was made.
  bool isReported = false;
  bool isEmitted = false;
  ir::Expr value;
  /// The block it stands in.
  unsigned block = 0;
};

/// The state of one kernel while it is built on this thread.
class KernelImpl {
public:
  KernelImpl(mlir::ModuleOp module, std::string name, std::source_location place);
  ~KernelImpl();
  KernelImpl(const KernelImpl &) = delete;

  /// The innermost kernel that this thread is building; null: none.
  static KernelImpl *current();
  /// The one with this identity, if it is being built.
  static KernelImpl *of(uint64_t identity);
  /// The same; where it isn't, that is said (but for 0, of which it was said before).
  static KernelImpl *expect(uint64_t identity, const std::source_location &place);

  const uint64_t identity;
  const std::string name;

  //===-- Errors ----------------------------------------------------------===//
  mlir::Location at(const std::source_location &place) const;
  mlir::InFlightDiagnostic error(const std::source_location &place);
  /// Whether statements may follow: the signature is complete and right.
  bool isOpened() const { return builder != nullptr; }

  //===-- Signature -------------------------------------------------------===//
  void addDim(const std::string &dim, const std::source_location &place);
  void addDerivedDim(const std::string &dim, const Extent &value,
                     const std::source_location &place);
  void addConstant(const std::string &dim, std::optional<int64_t> value,
                   const std::source_location &place);
  struct Parameter {
    ir::ParamSpec spec;
    std::vector<Extent> shape;
    std::source_location place;
  };
  void addParameter(Parameter parameter);
  /// Outputs that are no `inout`.
  bool isWrittenOnly(const std::string &param) const;
  void addRequirement(const Condition &condition, const std::source_location &place);
  void addSchedule(const std::string &target, const std::string &key, mlir::Attribute value,
                   const std::source_location &place);

  //===-- Nodes -----------------------------------------------------------===//
  static NodePtr make(std::vector<NodePtr> operands, const std::source_location &place,
                      Node::Emit emit);
  static NodePtr makeLeaf(const std::source_location &place, Node::Emit emit);
  /// A node that is there already.
  NodePtr makeEmitted(ir::Expr value, const std::source_location &place);
  /// The node is used by name.
  static void use(const NodePtr &node);
  /// The value of a node that belongs to the current statement.
  ir::Expr evaluate(const NodePtr &node);
  ir::Expr evaluate(const ExtentNode &extent, const std::source_location &place);
  /// The axis that an operation names; empty where there is none.
  std::string axisNamed(const Axis &axis);
  /// The axis as a value, made where a dimension's `:` has not occurred yet.
  ir::Expr axisValue(const Axis &axis);

  //===-- Statements ------------------------------------------------------===//
  /// Begins a statement: opens the kernel, emits what was computed before, and places what
  /// follows. False once the signature is in error: the statement is then left out.
  bool statement(const std::source_location &place);
  ir::KernelBuilder &ops() { return *builder; }
  void openBlock();
  /// Emits what the block still computes, and ends its values and variables.
  void closeBlock();
  bool isTopLevel() const { return blocks.size() == 1; }
  ir::BinderSpec binderSpec(const std::string &binder, bool isEach, const Operand &lower,
                            const Operand &upper, const std::source_location &place);
  void addBinder(const std::string &binder) { binders.insert(binder); }
  uint64_t declare(const std::string &variable, ir::Expr init, unsigned &index);
  bool isAlive(unsigned variable, uint64_t variableIdentity) const;
  std::optional<std::vector<ir::Index>> indicesOf(const ElementAccess &access);

  /// Ends the kernel, proves it, and says whether it is right; one that isn't is taken out.
  bool finish(const std::source_location &place);

private:
  bool open();
  bool checkSignatureTime(const char *what, const std::source_location &place);
  void reportUnboundDim(const std::string &dim, const std::source_location &place);
  bool checkName(const std::string &given, const char *what, const std::source_location &place);
  mlir::AffineExpr affine(const ExtentNode &extent, const std::source_location &place);
  std::optional<unsigned> dimIndex(const std::string &dim) const;
  const mlir::AffineExpr *derived(const std::string &dim) const;
  void bindDims();
  void setSchedule();
  ir::Expr emit(Node &node);
  void emitUpTo(uint64_t order);
  void emitAll();

  mlir::ModuleOp module;
  mlir::MLIRContext *context;
  std::source_location place;
  KernelImpl *outer;
  unsigned errors = 0;
  mlir::ScopedDiagnosticHandler counter;

  std::vector<std::string> declaredDims;
  struct DerivedDim {
    std::string name;
    Extent value;
    std::source_location place;
  };
  std::vector<DerivedDim> derivedDims;
  std::vector<std::pair<std::string, std::optional<int64_t>>> constants;
  std::vector<Parameter> parameters;
  struct Requirement {
    Condition condition;
    std::source_location place;
  };
  std::vector<Requirement> requirements;
  struct ScheduleEntry {
    std::string target, key;
    mlir::Attribute value;
    std::source_location place;
  };
  std::vector<ScheduleEntry> scheduleEntries;
  std::set<std::string> binders;

  ir::KernelSpec spec;
  std::unique_ptr<ir::KernelBuilder> builder;
  bool isOpen = false;

  uint64_t nextOrder = 0;
  std::vector<NodePtr> pending;
  struct Block {
    unsigned identity;
    size_t variables;
  };
  std::vector<Block> blocks{{0, 0}};
  unsigned nextBlock = 0;
  std::vector<uint64_t> variables;
  uint64_t nextVariable = 0;
};

/// Says that something of a kernel is used while none is being built: in the kernel's module if
/// that is there, else on standard error. Once a line.
void reportOutside(uint64_t kernel, const std::source_location &place);

/// What a function of C++ makes of the parts of two states.
llvm::SmallVector<ir::Expr> combined(KernelImpl &kernel, const Combination &combine,
                                     llvm::ArrayRef<ir::Expr> states,
                                     const std::source_location &place);

} // namespace tile::detail

#endif // TILE_FRONTEND_BUILDER_BUILDERIMPL_H
