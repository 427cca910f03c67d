//===- Proposals.h - what two calls would become --------------------------===//
//
// The kernel that two calls become depends on their kernels, and on which of
// their operands and dims coincide: not on where in the graph they are. So pairs
// that look alike share a kernel, which is built once, and a graph of many equal
// layers takes no more kernels than one of them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_PROPOSALS_H
#define TILE_IR_FUSION_PROPOSALS_H

#include "ir/fusion/GraphCosts.h"
#include "ir/fusion/InlineProducer.h"

#include <deque>
#include <unordered_map>

namespace tile::ir {

/// Two calls, and how they may become one.
struct Pairing {
  /// Producer and consumer, or two siblings.
  CallOp guest, host;
  /// Results of the guest that the host computes itself; none: they are siblings.
  llvm::SmallVector<mlir::Value> tensors;
  InlineOptions options = {};

  /// Results of the guest that the new call has, too, behind the host's.
  llvm::SmallVector<mlir::Value> kept() const;
  bool isMerge() const { return tensors.empty(); }
};

class Proposals {
public:
  Proposals(GraphShapes &shapes, GraphCosts &costs, const FuseOptions &options)
      : shapes(shapes), costs(costs), options(options) {}

  /// What the kernel would cost that the two become; none, and why, if there is no such kernel.
  std::optional<KernelCost> costOf(const Pairing &pairing, FusionRefusal &refusal);
  /// Puts its call in the host's place, as FusedKernel::commit. There has to be such a kernel.
  CallOp commit(const Pairing &pairing);

  FusionLedger::Effort effort;

private:
  using Words = std::vector<uintptr_t>;
  struct Hash {
    size_t operator()(const Words &words) const {
      return llvm::hash_combine_range(words.begin(), words.end());
    }
  };
  struct Known {
    /// If there is no such kernel; without a place: at the host.
    std::optional<FusionRefusal> refusal;
    /// By the values of all that the kernel's dims are bound to.
    std::map<llvm::SmallVector<int64_t>, KernelCost> costs;
    /// Once it is in the module.
    KernelOp kernel;
    /// Before that, if it was built not long ago.
    mlir::OwningOpRef<KernelOp> body;
  };
  void keep(Known &entry, FusedKernel &fused);
  Words structureOf(const Pairing &pairing);
  llvm::SmallVector<int64_t> valuesOf(const Pairing &pairing);
  std::unique_ptr<FusedKernel> build(const Pairing &pairing, FusionRefusal &refusal);
  bool hasContractingLoop(const Pairing &pairing, FusionRefusal &refusal);
  bool gathersContracted(const Pairing &pairing, FusionRefusal &refusal);
  bool hasTooMany(const Pairing &pairing, FusionRefusal &refusal) const;
  bool isTooLarge(FusedKernel &fused, FusionRefusal &refusal) const;

  GraphShapes &shapes;
  GraphCosts &costs;
  const FuseOptions &options;
  std::unordered_map<Words, Known, Hash> known;
  /// Those that have a body, or had one, the oldest first.
  std::deque<Known *> recent;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_PROPOSALS_H
