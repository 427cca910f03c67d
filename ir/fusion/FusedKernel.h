//===- FusedKernel.h - the signature of two kernels that become one -------===//
//
// Parameters are the consumer's without the tensors that disappear, then what
// the producer reads besides; a tensor that both read is one parameter. Which
// dims of the two are one is said in FusedDims.h. Outputs are the consumer's,
// then those of the producer that are kept.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_FUSEDKERNEL_H
#define TILE_IR_FUSION_FUSEDKERNEL_H

#include "ir/fusion/FusedDims.h"
#include "ir/fusion/Transplant.h"

namespace tile::ir {

/// Why two kernels stay apart.
struct FusionRefusal {
  /// In the words of who wrote the graph, but for symbols and `symbol.output`, which the ledger
  /// replaces by names (GraphNames.h).
  std::string reason;
  /// What the verifier or a proof said of a kernel that was built, for us: users never see it.
  std::string fault;
  /// Where it shows; null: at the consumer.
  mlir::LocationAttr loc;
  /// They could be one, but for what a device or the compiler takes.
  bool isLimit = false;
  /// Several programs write an element of a tensor, or would compute it again.
  bool isShared = false;
  /// The consumer was to get whole rows, and had blocks of them.
  bool isOfWidened = false;
};

class FusedKernel {
public:
  /// `tensors` are results of the producer's call that the consumer computes itself; without any
  /// the two are siblings. `kept` are results of the producer's call.
  FusedKernel(CallOp producer, CallOp consumer, llvm::ArrayRef<mlir::Value> tensors,
              llvm::ArrayRef<mlir::Value> kept, GraphShapes &shapes);

  /// Why there is no such kernel; empty if there is.
  const std::string &conflict() const { return dims.conflict; }

  /// Before it is built: an output of the consumer is that of the producer, by their parameters.
  void replaceOutput(unsigned ofOrigin, unsigned ofGuest);
  /// The consumer's body under the new signature, and the tensors still parameters, the last ones.
  void build();
  /// In place of building it: the kernel that was made for two calls just like these, which is in
  /// the module, or was taken before it got there.
  void reuse(KernelOp kernel) { host = kernel; }
  void reuse(mlir::OwningOpRef<KernelOp> kernel) {
    host = *kernel;
    owned = std::move(kernel);
  }
  mlir::OwningOpRef<KernelOp> take() { return std::move(owned); }
  KernelOp kernel() { return host; }
  /// Which of the tensors the memory is, by number; none if it is something else.
  std::optional<unsigned> tensorAt(mlir::Value memory) const;
  /// The new kernel's parameter that a guest's has become; none if it is gone.
  std::optional<unsigned> paramOfGuest(unsigned param) const { return guestParams[param]; }
  /// The extents of a guest's parameter over the new kernel's dims.
  llvm::SmallVector<mlir::AffineExpr> guestShape(unsigned param);
  /// The guest's dims over the new kernel's.
  llvm::ArrayRef<mlir::AffineExpr> dimsOfGuest() const { return dims.ofGuest; }
  void bindGuest(Transplant &transplant);
  /// The guest's loops keep their sizes under their new names.
  void mergeSchedules(const Transplant &transplant);
  /// Blocks of the host that have become those of the guest: their sizes are the guest's where only
  /// that has elements meet in them, and nobody's where both have and want others. By name: of the
  /// guest and of the host.
  void takeSizes(llvm::ArrayRef<std::pair<mlir::StringAttr, mlir::StringAttr>> binders);
  void dropTensors();
  /// The guest's programs, with their sizes, in the place of the host's.
  void takePrograms();
  /// Where the new kernel stores an output of the guest that is kept.
  mlir::Value keptParam(unsigned param);
  /// Simplifies the kernel, and has it verified and proved; else it is refused. Its multiply-adds
  /// are those of its parts, unless more shall form.
  mlir::LogicalResult finish(FusionRefusal &refusal, bool formsFma = false);

  /// What its call would bind its dims to, by their position.
  llvm::SmallVector<mlir::AffineExpr> callDims();
  /// Inserts the kernel into the module, unless it is reused, and its call in place of the
  /// consumer's. What is kept is taken from it, and the graph's calls are put in order again. The
  /// producer's call stays; it is the caller's to erase if nobody uses it any more. The calls must
  /// be as they were when this was made.
  CallOp commit();

private:
  struct Param {
    mlir::Type type;
    mlir::DictionaryAttr attrs;
    llvm::SmallVector<mlir::AffineExpr> shape;
    mlir::Location loc;
    mlir::Value operand; // of the new call; null for outputs
  };
  bool isTensor(mlir::Value operand) const { return llvm::is_contained(tensors, operand); }
  void addParams();
  void addConsts(KernelOp kernel, CallOp call, llvm::ArrayRef<mlir::AffineExpr> dims);
  mlir::DictionaryAttr named(mlir::DictionaryAttr attrs);
  llvm::SmallVector<mlir::AffineExpr> shapeOf(KernelOp kernel, unsigned param,
                                              llvm::ArrayRef<mlir::AffineExpr> dims);
  mlir::IRMapping mapGuest();
  void replaceDims(llvm::ArrayRef<DimOp> old, KernelOp kernel,
                   llvm::ArrayRef<mlir::AffineExpr> dimsOf);
  void cloneAround();
  llvm::SmallVector<mlir::Value> operands();

  KernelOp guest, origin;
  CallOp producer, consumer;
  llvm::SmallVector<mlir::Value> tensors;
  llvm::SmallVector<mlir::Value> kept;
  GraphShapes &shapes;
  FusedDims dims;
  llvm::SmallVector<Param> params;
  /// By parameter of the guest and of the origin; none for outputs that go and for the tensors.
  llvm::SmallVector<std::optional<unsigned>> guestParams, originParams;
  mlir::NamedAttrList consts;
  llvm::SmallVector<mlir::Attribute> constNames;
  llvm::SmallVector<mlir::Value> constValues;
  llvm::StringSet<> paramNames;
  mlir::OwningOpRef<KernelOp> owned; // until it is in the module
  KernelOp host;
  llvm::SmallVector<mlir::Value> placeholders; // by number of the tensor; null if it isn't read
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_FUSEDKERNEL_H
