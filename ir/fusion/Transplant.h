//===- Transplant.h - values of one kernel, computed in another -----------===//
//
// What fusion is made of: a value of one kernel (the guest) is computed in the
// midst of another (the host), at coordinates that the host chooses. Each
// coordinate of the guest's program space becomes an index of the host: a span,
// an integer, an affine expression of both, or data. Elementwise ops follow the
// axes that come of it, loads compose index maps, loops and axes that are the
// guest's own get fresh names. What doesn't depend on a loop of the host is
// computed before that loop.
//
// Nothing is rounded, folded or reassociated on the way: an element has the
// same bits as in its own kernel, where reductions associate the same way.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_TRANSPLANT_H
#define TILE_IR_FUSION_TRANSPLANT_H

#include "ir/proofs/Domain.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/StringSet.h"

#include <list>

namespace tile::ir {

/// An index in the host: an affine expression over spans or tiles of integers
/// (`dims`) and integers (`syms`).
struct HostIndex {
  mlir::AffineExpr expr;
  llvm::SmallVector<mlir::Value> dims, syms;

  static HostIndex ofSpan(mlir::Value span);
  static HostIndex ofInteger(mlir::Value integer);
  /// The span or tile of integers that it is, if it is just that.
  mlir::Value asOperand() const;
  /// The same if it is a span.
  mlir::Value asSpan() const;
  /// True if no span and no tile takes part: it is one number.
  bool isInteger() const;
  /// True if a tile of integers takes part.
  bool hasData() const;
  /// The axes of the tile of its values.
  AxisList axes() const;
};

/// The operands of an index map that several indices are put into; equal ones once.
struct IndexOperands {
  explicit IndexOperands(mlir::MLIRContext *context) : context(context) {}
  /// The index over these operands; those that it does not use are left out.
  mlir::AffineExpr add(const HostIndex &index);
  llvm::SmallVector<mlir::Value> dims, syms;

private:
  mlir::MLIRContext *context;
};

/// Names that a kernel's spans have: those of tiles are unique in a kernel.
class SpanNames {
public:
  explicit SpanNames(KernelOp kernel);
  /// The wanted name, or one like it that is free; taken afterwards.
  mlir::StringAttr fresh(mlir::StringAttr wanted);

private:
  llvm::StringSet<> taken;
};

/// The value of an expression over a kernel's dims as symbols, as an i64 before the builder's
/// place.
mlir::Value materializeDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr,
                            mlir::ArrayAttr dims);
/// The same, with the values of the symbols from a function; null if one has none.
mlir::Value materializeDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr,
                            llvm::function_ref<mlir::Value(unsigned)> symbol);

class Transplant {
public:
  /// Values are placed before `point`, an op in the host's tile.parallel.
  Transplant(KernelOp guest, mlir::Operation *point, SpanNames &names);

  //===-- What stands for what; all before the first clone --------------===//
  void bindParam(unsigned param, mlir::Value value) {
    integers.map(guest.getArgument(param), value);
  }
  /// A dimension of the guest as an expression over the host's dims as symbols.
  void bindDim(mlir::StringRef name, mlir::AffineExpr expr) { dims[name] = expr; }
  void bindSpan(mlir::StringAttr axis, HostIndex index);
  /// An integer that the guest's tile.parallel binds.
  void bindInteger(mlir::Value integer, HostIndex index) { indices[integer] = std::move(index); }
  /// The host may ask for elements that the guest's output hasn't, and does
  /// not use them: loads must stay inside their tensors all the same.
  void mayLeaveDomain() { leavesDomain = true; }
  /// What an index that the author answers for reaches is theirs, too; where they say so.
  void isWithin(mlir::Location promise) { within = promise; }

  /// The guest's value in the host, or none: `reason` says why.
  mlir::Value clone(mlir::Value value);
  /// A store or update of the guest, to another tensor; null: `reason` says why.
  mlir::Operation *cloneWrite(mlir::Operation *write, mlir::Value target);
  /// The value of an index of the host, as a tile of i64 or an integer.
  mlir::Value materialize(const HostIndex &index, mlir::Location loc);
  std::string reason;

  /// Loops of the guest and the names that they have got.
  llvm::SmallVector<std::pair<mlir::StringAttr, mlir::StringAttr>> loops;

private:
  /// What is known of the guest's values under some meaning of its axes.
  struct Scope {
    Scope *parent = nullptr;
    llvm::StringMap<HostIndex> axes; // whose entries stay where they are
    /// Axes that were made for the guest, so that elements may meet along them.
    llvm::StringSet<> own;
    llvm::DenseMap<mlir::Value, mlir::Value> values;
    /// Where the guest's values of this scope are defined, if it is a region.
    mlir::Region *region = nullptr;
    /// True if what is cloned in here may not run.
    bool isConditional = false;
    /// Scopes with an axis of the guest that has become one of its own.
    llvm::DenseMap<mlir::StringAttr, Scope *> along;
  };

  mlir::Value fail(const llvm::Twine &why);
  Scope *scopeOf(mlir::Value value, Scope *scope) const;
  const HostIndex *indexOf(mlir::StringAttr axis, Scope *scope) const;
  bool isOwn(mlir::StringAttr axis, Scope *scope) const;
  mlir::Value cloneIn(mlir::Value value, Scope *scope);
  bool cloneOp(mlir::Operation *op, Scope *scope, llvm::SmallVectorImpl<mlir::Value> &results);
  mlir::Value cloneDim(DimOp op);
  mlir::Value cloneLoad(LoadOp op, Scope *scope);
  mlir::Value cloneBroadcast(BroadcastOp op, Scope *scope);
  bool cloneElementwise(mlir::Operation *op, Scope *scope,
                        llvm::SmallVectorImpl<mlir::Value> &results);
  bool cloneAlong(AlongAxes op, Scope *scope, llvm::SmallVectorImpl<mlir::Value> &results);
  bool addConditionAxes(llvm::ArrayRef<mlir::StringAttr> axes, Scope *scope, AxisList &added);
  mlir::Value cloneCount(CountOp op, Scope *scope);
  bool cloneLoop(ForOp op, Scope *scope, llvm::SmallVectorImpl<mlir::Value> &results);
  bool cloneCounted(mlir::scf::ForOp op, Scope *scope, llvm::SmallVectorImpl<mlir::Value> &results);
  bool cloneIf(mlir::scf::IfOp op, Scope *scope, llvm::SmallVectorImpl<mlir::Value> &results);
  void cloneInOrder(mlir::Operation *terminator, Scope *scope);
  bool cloneYield(mlir::OperandRange yielded, mlir::TypeRange types, Scope *scope,
                  mlir::Operation *end);
  bool cloneMerge(ForOp from, ForOp to, Scope *scope);
  bool cloneInits(mlir::ValueRange from, Scope *scope, llvm::SmallVectorImpl<mlir::Value> &inits,
                  llvm::SmallVectorImpl<mlir::Type> &types);
  void hoist(mlir::Operation *op);
  bool cloneCaptured(mlir::Operation *op, Scope *scope);

  Scope *withOwnAxes(llvm::ArrayRef<mlir::StringAttr> axes, Scope *scope);
  bool makeAxis(mlir::StringAttr axis, Scope *scope);
  Scope *scopeOfAxis(mlir::Value span, Scope *from);
  bool conditionsOf(mlir::StringAttr axis, Scope *scope,
                    llvm::SmallVectorImpl<RestrictOp> &restricts);
  bool emitRestrict(RestrictOp op, Scope *scope);
  bool isUsedBeside(mlir::StringAttr axis, mlir::StringAttr hostAxis, Scope *scope) const;
  /// Whether elements may meet along the host's axis as along the guest's.
  bool isSameAxis(mlir::StringAttr axis, const HostIndex &index, Scope *scope);
  bool indexOperand(mlir::Value operand, Scope *scope, HostIndex &index);
  /// The map of an access over operands of the host; none fails.
  mlir::AffineMap indexMap(mlir::AffineMap map, mlir::ValueRange dims, mlir::ValueRange syms,
                           Scope *scope, IndexOperands &operands, bool *hasData = nullptr);

  /// The type that a guest's tile has in the host.
  mlir::Type typeOf(mlir::Type type, Scope *scope);
  mlir::Value broadcastTo(mlir::Value value, mlir::Type type, mlir::Location loc);
  /// A builder that places an op as far out as its operands allow.
  mlir::OpBuilder builderFor(mlir::ValueRange operands, mlir::TypeRange types = {});

  KernelOp guest;
  mlir::Operation *point;
  SpanNames &names;
  Domains guestDomains, hostDomains;
  mlir::IRMapping integers;
  llvm::StringMap<mlir::AffineExpr> dims;
  llvm::StringMap<mlir::Value> dimValues;
  llvm::DenseMap<mlir::Value, HostIndex> indices;
  std::list<Scope> scopes;
  llvm::StringSet<> beingMade; // axes
  Scope *root;
  /// Spans of the host by axis, with those made here.
  llvm::DenseMap<mlir::StringAttr, mlir::Value> hostSpans;
  bool leavesDomain = false;
  std::optional<mlir::Location> within;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_TRANSPLANT_H
