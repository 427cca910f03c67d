//===- Passes.h - the passes that know no target --------------------------===//
#ifndef TILE_IR_PASSES_H
#define TILE_IR_PASSES_H

#include "ir/transforms/Specialize.h"

#include "mlir/Pass/Pass.h"

namespace tile::ir {

/// `tile-specialize{dims=M=5,N=7 sizes=i=4}`: specialize on each kernel.
std::unique_ptr<mlir::Pass> createSpecializePass(Bindings bindings = {});

/// `tile-form-fma`: formFma on each kernel.
std::unique_ptr<mlir::Pass> createFormFmaPass();

/// `tile-static-assertions`: checkStaticAssertions on each kernel.
std::unique_ptr<mlir::Pass> createStaticAssertionsPass();

/// `tile-summaries{json}`: shows the KernelSummary of each kernel on standard output.
std::unique_ptr<mlir::Pass> createSummariesPass();

/// Makes the passes known to tile-opt.
void registerTilePasses();

} // namespace tile::ir

#endif // TILE_IR_PASSES_H
