//===- FusionPlan.h - what decides the bits of a fused graph --------------===//
//
// Which kernels become one, and what is chosen for each of them besides: tile
// sizes and the order of sums. (Code for GPUs has no choice of orders: under a plan
// they follow from the tiles, codegen/gpu/GpuCompiler.h.) With that written down, a fused graph
// runs again without a search; and its calls run one by one as parts of those kernels, so that all
// bits are the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_FUSION_FUSIONPLAN_H
#define TILE_FRONTEND_FUSION_FUSIONPLAN_H

#include "codegen/cpu/FoldOrder.h"
#include "frontend/execute/Compiler.h"
#include "frontend/fusion/Fusion.h"

#include "llvm/Support/JSON.h"

namespace tile::frontend {

struct FusionPlan {
  struct Call {
    /// The kernel's symbol, and a hash of what it does.
    std::string kernel, code;
    /// As the kernel has them that the call is part of.
    TileSizes::ByBinder sizes;
    /// By number of the op (ir/fusion/CallOrigins.h).
    std::map<unsigned, codegen::FoldOrder> orders;
  };
  bool isForGpu = false;
  std::string graph, code;
  /// The values that it was made for.
  std::map<std::string, int64_t> dims;
  std::vector<Call> calls;
  std::vector<ir::FusionStep> steps;
  /// What code had spoken against when the steps were found.
  std::vector<ir::FusionVeto> vetoes;
  /// Tile sizes of what the steps lead to.
  std::vector<TileSizes::ByBinder> kernels;
};

/// A plan for this machine's processor, or the GPU that is described, of the steps that the ledger
/// has for a graph.
Outcome<FusionPlan> makePlan(Compiler &compiler, mlir::ModuleOp module, llvm::StringRef symbol,
                             const ir::FusionLedger &ledger, const DeviceDescription &device,
                             const llvm::StringMap<int64_t> &dims);

llvm::json::Object toJson(const FusionPlan &plan);
Outcome<FusionPlan> readPlan(const std::string &path);

llvm::json::Array toJson(llvm::ArrayRef<ir::FusionVeto> vetoes);
/// None of what is no list of vetoes.
std::optional<std::vector<ir::FusionVeto>> vetoesIn(const llvm::json::Value &value);

/// The graph under a plan, beside it in the module: its calls one by one, or fused. Fails if the
/// plan isn't one for this graph and these values of its dims. On what it runs is the caller's to
/// check.
Outcome<std::string> pinGraph(mlir::ModuleOp module, llvm::StringRef symbol, const FusionPlan &plan,
                              FuseMode mode, const llvm::StringMap<int64_t> &dims);

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSION_FUSIONPLAN_H
