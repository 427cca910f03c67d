//===- Passes.cpp - the passes that tile-opt runs by name -----------------===//

#include "codegen/gpu/Passes.h"
#include "codegen/gpu/AssignLayouts.h"
#include "codegen/gpu/BuildPipeline.h"
#include "codegen/gpu/PlanProgram.h"
#include "codegen/gpu/VerifyLayouts.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

void tile::codegen::gpu::registerGpuPasses() {
  registerLayoutPasses();
  mlir::registerPass([] { return createVerifyLayoutsPass(); });
  registerPlanPasses();
  registerPipelinePasses();
}
