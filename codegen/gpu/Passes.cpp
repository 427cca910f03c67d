//===- Passes.cpp - the passes that tile-opt runs by name -----------------===//

#include "codegen/gpu/Passes.h"
#include "codegen/gpu/plan/PlanProgram.h"
#include "codegen/gpu/schedule/AssignLayouts.h"
#include "codegen/gpu/schedule/BuildPipeline.h"
#include "codegen/gpu/schedule/VerifyLayouts.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

void tile::codegen::gpu::registerGpuPasses() {
  registerLayoutPasses();
  mlir::registerPass([] { return createVerifyLayoutsPass(); });
  registerPlanPasses();
  registerPipelinePasses();
}
