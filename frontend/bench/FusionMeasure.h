//===- FusionMeasure.h - what fusion gains, as the clock has it -----------===//
#ifndef TILE_FRONTEND_BENCH_FUSIONMEASURE_H
#define TILE_FRONTEND_BENCH_FUSIONMEASURE_H

#include "frontend/execute/Execution.h"
#include "frontend/fusion/FusionReport.h"

namespace tile::frontend {

/// Runs both graphs of a report by turns on this machine's processor or GPU, as `tilec bench` does,
/// then each of their kernels. Floats are random, integers 0, scalars without a default 1. Refuses
/// what memory has no room for. Then compiles each of them anew; to fuse them took `fuseSeconds`.
Outcome<std::monostate> measure(Compiler &compiler, mlir::ModuleOp module, Device device,
                                llvm::StringRef before, llvm::StringRef after,
                                const llvm::StringMap<int64_t> &dims, double fuseSeconds,
                                FusionReport &report);

/// Fails as a run of the graph would with these dims, and the usual extent where there is none;
/// nothing runs. What numbers might decide is not looked at, if any have no default.
Outcome<std::monostate> checkDims(Compiler &compiler, mlir::ModuleOp module, llvm::StringRef graph,
                                  llvm::StringMap<int64_t> dims);

} // namespace tile::frontend

#endif // TILE_FRONTEND_BENCH_FUSIONMEASURE_H
