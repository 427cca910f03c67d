//===- FusionVeto.h - the code of fused kernels decides, too --------------===//
//
// A search for kernels to fuse sees no code: only the assembler knows what it spills.
// Where a fused kernel's threads keep registers in local memory, or its contractions
// have lost the tensor cores, and the code of its calls apart has neither, those calls
// are not to be one, and the graph is planned again. What was seen is kept beside the
// cached code, for the next run and for `tilec fuse`, which makes no code.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_FUSION_FUSIONVETO_H
#define TILE_FRONTEND_FUSION_FUSIONVETO_H

#include "frontend/execute/CodeFacts.h"
#include "frontend/fusion/Fusion.h"
#include "runtime/load/Cache.h"

namespace tile::frontend {

class Executor;

/// The code that an executor on a GPU makes; none, so that nothing is looked at, where it has no
/// code for one.
SeeCode codeOn(Executor &executor);

/// `fuseGraph`, without what code has spoken against: in runs before, as `cache` (null: there is
/// none) knows, and, if there is a `see`, in this one, after which the cache knows it. The ledger
/// has them, in `vetoes`.
FusedGraph fuseGraphByCode(mlir::ModuleOp module, llvm::StringRef symbol, FuseMode mode,
                           const DeviceDescription &device, const llvm::StringMap<int64_t> &dims,
                           const TileSizes &sizes, runtime::Cache *cache, const SeeCode &see = {});

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSION_FUSIONVETO_H
