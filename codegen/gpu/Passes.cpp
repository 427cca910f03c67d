//===- Passes.cpp - from a kernel to its form on a GPU, pass by pass ------===//

#include "codegen/gpu/Passes.h"
#include "codegen/Translate.h"
#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/dialect/Settings.h"
#include "codegen/gpu/dialect/Sites.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/loops/NormalizeKernel.h"
#include "codegen/gpu/schedule/AssignLayouts.h"
#include "codegen/gpu/schedule/BuildPipeline.h"
#include "codegen/gpu/schedule/VerifyLayouts.h"
#include "ir/builder/Schedule.h"
#include "ir/proofs/Spelling.h"
#include "ir/transforms/Specialize.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

#include <chrono>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

//===-- The passes --------------------------------------------------------===//

static LogicalResult numberAll(KernelOp kernel, PassState &state) {
  numberSites(kernel, state.sanitizes);
  return success();
}

static LogicalResult normalize(KernelOp kernel, PassState &) {
  normalizeKernel(kernel);
  return success();
}

static LogicalResult plan(KernelOp kernel, PassState &state) {
  bool mayBePipeline = state.target.hasWarpgroupMma && !state.sanitizes &&
                       !kernel->hasAttr(fixedOrderAttrName) && state.limits.noPipeline.empty();
  if (mayBePipeline)
    state.product = findProduct(kernel).product;
  if (state.product)
    return checkSchedule(kernel, *state.product, state.target);
  GpuTarget limited = state.target;
  limited.maxClusterSize = state.limits.clusterSize;
  makeRoom(kernel);
  state.program = planProgram(kernel, limited);
  return success();
}

static LogicalResult materializeAxes(KernelOp kernel, PassState &state) {
  if (!state.product)
    applyPlan(kernel, state.program);
  return success();
}

/// Conversions stay within a CTA, and CTAs of a cluster fold all together, once.
static void checkCluster(KernelOp kernel, PassState &state) {
  bool moves = false, folds = true;
  kernel.walk([&](ConvertOp) { moves = true; });
  kernel.walk([&](ReduceOp reduce) { folds &= foldsInCluster(reduce); });
  if (state.program.blocks == 1 || (!moves && folds))
    return;
  state.limits.clusterSize = moves || settingOf(kernel, "cluster") ? 1 : state.program.blocks / 2;
  state.isRefused = true;
}

static LogicalResult assignAll(KernelOp kernel, PassState &state) {
  if (state.product)
    return assignLayouts(kernel, gpu::warpsOf(*state.product), blocksOf(*state.product),
                         layoutsFor(*state.product));
  if (failed(assignLayouts(kernel, state.program.warps, state.program.blocks)))
    return failure();
  checkCluster(kernel, state);
  return success();
}

static LogicalResult limitKept(KernelOp kernel, PassState &state) {
  if (!state.product)
    limitKeptChunks(kernel, state.target);
  return success();
}

static LogicalResult buildRoles(KernelOp kernel, PassState &state) {
  if (!state.product)
    return success();
  state.limits.noPipeline = buildPipeline(kernel, *state.product, state.target);
  state.isRefused = !state.limits.noPipeline.empty();
  return success();
}

static LogicalResult verifyAll(KernelOp kernel, PassState &) {
  return failure(failed(mlir::verify(kernel)) || failed(verifyLayouts(kernel)));
}

ArrayRef<GpuPass> tile::codegen::gpu::gpuPasses() {
  static const GpuPass passes[] = {
      {"gpu-number-sites", "numbers what may say something", numberAll},
      {"gpu-normalize", "has one spelling for what can be spelled in several", normalize},
      {"gpu-plan", "decides: a pipeline of products, or warps, clusters and where whole axes are",
       plan},
      {"gpu-materialize-axes", "cuts whole axes that are too long into chunks", materializeAxes},
      {"gpu-assign-layouts", "gives every tile a layout", assignAll},
      {"gpu-limit-kept", "keeps as many chunks as shared memory has room for", limitKept},
      {"gpu-build-pipeline", "has loops of products run on the tensor cores, fed by a role",
       buildRoles},
      {"gpu-verify-layouts", "checks the IR, and what the lowering relies on", verifyAll},
  };
  return passes;
}

//===-- A run -------------------------------------------------------------===//

/// Fails, with an error, where a kernel on the tile_gpu level takes what the target doesn't have.
static LogicalResult checkTarget(KernelOp kernel, const GpuTarget &target) {
  auto report = [&] {
    return kernel.emitError("`") << nameInSource(kernel.getSymName()) << "` has ";
  };
  if (!target.hasWarpgroupMma && hasRoles(kernel))
    return report() << "roles, for the bulk copies and tensor cores of sm_90a, which "
                    << target.name << " doesn't have";
  if (numBlocks(kernel) > target.maxClusterSize)
    return report() << "clusters of " << numBlocks(kernel) << " CTAs, and " << target.name
                    << " has "
                    << (target.maxClusterSize > 1
                            ? "them of up to " + std::to_string(target.maxClusterSize)
                            : std::string("none"));
  return success();
}

/// Runs the list, or as much of it as is asked for; a refusal ends it.
static LogicalResult runOnce(KernelOp kernel, PassState &state, const PassOptions &options) {
  bool isThere = isOnGpuLevel(kernel);
  for (const GpuPass &pass : gpuPasses()) {
    if (isThere && pass.run != numberAll && pass.run != verifyAll)
      continue; // nothing is left to decide
    auto start = std::chrono::steady_clock::now();
    if (failed(pass.run(kernel, state)))
      return failure();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (options.observer)
      options.observer(pass.name, seconds.count(), kernel);
    bool isDone = pass.name == options.stopAfter;
    // Axes are only planned where there is no product.
    bool isOther = options.pipelinesOnly && pass.run == plan && !state.product;
    if (state.isRefused || isDone || isOther)
      break;
  }
  return success();
}

FailureOr<PassResult> tile::codegen::gpu::runPasses(KernelOp kernel, const GpuTarget &target,
                                                    const PassOptions &options) {
  kernel.getContext()->loadDialect<TileGpuDialect>();
  if (failed(checkIsSpecialized(kernel)) || failed(ir::checkSettings(kernel)))
    return failure();
  if (isOnGpuLevel(kernel)) {
    OwningOpRef<KernelOp> copy(kernel.clone());
    PassState state{target, options.sanitizes, {}, false, std::nullopt, {}};
    if (failed(checkTarget(kernel, target)) || failed(runOnce(*copy, state, options)))
      return failure();
    return PassResult{options.pipelinesOnly ? OwningOpRef<KernelOp>() : std::move(copy), {}};
  }
  PlanLimits limits{target.maxClusterSize, ""};
  while (true) {
    OwningOpRef<KernelOp> copy(kernel.clone());
    PassState state{target, options.sanitizes, limits, false, std::nullopt, {}};
    if (failed(runOnce(*copy, state, options)))
      return failure();
    if (options.pipelinesOnly && (state.isRefused || !state.product))
      return PassResult{OwningOpRef<KernelOp>(), state.limits};
    if (!state.isRefused)
      return PassResult{std::move(copy), state.limits};
    limits = state.limits;
  }
}

//===-- For tile-opt ------------------------------------------------------===//

namespace {
/// The list as one pass: what `tilec compile --emit=gpu` does, on IR text.
class GpuPipelinePass : public PassWrapper<GpuPipelinePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GpuPipelinePass)

  GpuPipelinePass() = default;
  GpuPipelinePass(const GpuPipelinePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tile-gpu-pipeline"; }
  StringRef getDescription() const override {
    return "Runs all passes from specialized kernels to the tile_gpu level, as the compiler does";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<TileGpuDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    const GpuTarget *known = GpuTarget::find(target);
    bool isPass = stopAfter.empty() || llvm::any_of(gpuPasses(), [&](const GpuPass &pass) {
                    return pass.name == stopAfter;
                  });
    if (!known || !isPass) {
      getOperation().emitError(known ? "there is no pass " : "there is no target ")
          << (known ? stopAfter : target).getValue();
      return signalPassFailure();
    }
    PassOptions options;
    options.stopAfter = stopAfter;
    for (KernelOp kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      FailureOr<PassResult> made = runPasses(kernel, *known, options);
      if (failed(made))
        return signalPassFailure();
      OpBuilder(kernel).insert(made->kernel.release());
      kernel.erase();
    }
  }

  Option<std::string> target{*this, "target", llvm::cl::desc("The GPU"),
                             llvm::cl::init(std::string(usualGpuTarget))};
  Option<std::string> stopAfter{*this, "stop-after", llvm::cl::desc("The last pass to run"),
                                llvm::cl::init("")};
};
} // namespace

void tile::codegen::gpu::registerGpuPasses() {
  registerPass([] { return std::make_unique<GpuPipelinePass>(); });
  registerLayoutPasses();
  registerPass([] { return createVerifyLayoutsPass(); });
  registerPlanPasses();
  registerPipelinePasses();
}
