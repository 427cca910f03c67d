//===- FusedKernel.h - the signature of two kernels that become one -------===//
//
// Parameters are the consumer's without the tensor that disappears, then what
// the producer reads besides; a tensor that both read is one parameter. Dims of
// the two are one where the graph says that their values are, and the consumer's
// that only the tensor bound follow from the producer's. Outputs are the
// consumer's, then those of the producer that are kept.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_FUSEDKERNEL_H
#define TILE_IR_FUSION_FUSEDKERNEL_H

#include "ir/fusion/GraphShapes.h"
#include "ir/fusion/Transplant.h"

namespace tile::ir {

class FusedKernel {
public:
  /// Without a tensor the two are siblings. `kept` are results of the producer's call.
  FusedKernel(CallOp producer, CallOp consumer, mlir::Value tensor,
              llvm::ArrayRef<mlir::Value> kept, GraphShapes &shapes);

  /// Why there is no such kernel; empty if there is.
  const std::string &conflict() const { return conflictText; }

  /// The consumer's body under the new signature, and the tensor still a parameter, the last one.
  void build();
  KernelOp kernel() { return host; }
  bool isTensor(mlir::Value memory) const { return memory == placeholder; }
  /// The extents of a guest's parameter over the new kernel's dims.
  llvm::SmallVector<mlir::AffineExpr> guestShape(unsigned param);
  /// The guest's dims over the new kernel's.
  llvm::ArrayRef<mlir::AffineExpr> dimsOfGuest() const { return guestDims; }
  void bindGuest(Transplant &transplant);
  /// The guest's loops keep their sizes under their new names.
  void mergeSchedules(const Transplant &transplant);
  /// Blocks of the host that have become those of the guest: their sizes are the guest's where only
  /// that has elements meet in them. By name: of the guest and of the host.
  void takeSizes(llvm::ArrayRef<std::pair<mlir::StringAttr, mlir::StringAttr>> binders);
  void dropTensor();
  /// Where the new kernel stores an output of the guest that is kept.
  mlir::Value keptParam(unsigned param);
  /// Simplifies the kernel, and has it verified and proved; else the reason says why not.
  mlir::LogicalResult finish(std::string &reason);

  /// What its call would bind its dims to, by their position.
  llvm::SmallVector<mlir::AffineExpr> callDims();
  /// Inserts the kernel into the module, and its call in place of the consumer's. What is kept is
  /// taken from it, and the graph's calls are put in order again. The producer's call stays; it is
  /// the caller's to erase if nobody uses it any more. The calls must be as they were when this was
  /// made.
  CallOp commit();

private:
  struct Param {
    mlir::Type type;
    mlir::DictionaryAttr attrs;
    llvm::SmallVector<mlir::AffineExpr> shape;
    mlir::Location loc;
    mlir::Value operand; // of the new call; null for outputs
  };
  void uniteDims();
  unsigned addDim(llvm::StringRef name);
  void addParams();
  void addConsts(KernelOp kernel, CallOp call, llvm::ArrayRef<mlir::AffineExpr> dims);
  mlir::DictionaryAttr named(mlir::DictionaryAttr attrs);
  llvm::SmallVector<mlir::AffineExpr> shapeOf(KernelOp kernel, unsigned param,
                                              llvm::ArrayRef<mlir::AffineExpr> dims);
  void cloneRequires(mlir::OpBuilder &builder);
  llvm::SmallVector<mlir::Value> operands();

  KernelOp guest, origin;
  CallOp producer, consumer;
  mlir::Value tensor;
  llvm::SmallVector<mlir::Value> kept;
  GraphShapes &shapes;
  std::string conflictText;

  llvm::SmallVector<mlir::Attribute> dims;
  /// The dims of both over those of the new kernel.
  llvm::SmallVector<mlir::AffineExpr> guestDims, originDims;
  llvm::SmallVector<Param> params;
  /// By parameter of the guest and of the origin; none for outputs that go and for the tensor.
  llvm::SmallVector<std::optional<unsigned>> guestParams, originParams;
  mlir::NamedAttrList consts;
  llvm::SmallVector<mlir::Attribute> constNames;
  llvm::SmallVector<mlir::Value> constValues;
  llvm::StringSet<> paramNames;
  mlir::OwningOpRef<KernelOp> owned; // until it is in the module
  KernelOp host;
  mlir::Value placeholder;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_FUSEDKERNEL_H
