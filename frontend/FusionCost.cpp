//===- FusionCost.cpp - what a kernel costs, by a device's description ----===//

#include "frontend/FusionCost.h"

#include "codegen/cpu/ChooseTiles.h"
#include "codegen/gpu/Shortage.h"
#include "codegen/gpu/TileSizes.h"
#include "ir/AffineEval.h"
#include "runtime/BufferPlan.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

/// How much faster than its memory a device is taken to read what it has read just before. An
/// assumption: it has not been measured on any device.
static constexpr double cacheSpeedup = 3;
/// Operations that a function (exp, tanh, sin …) is taken for: an assumption, too.
static constexpr double operationsOfFunction = 16;

/// How fast instructions of single warps multiply on a device that has pipelines, beside those:
/// 0.30 to 0.40 on an H100, 0.30 to 0.35 where products are large (docs/performance.md).
static constexpr double shareOfSingleWarps = 0.3;

/// What of a multiprocessor's registers may hold a loop's variables; the rest is for what it
/// computes.
static constexpr double shareOfRegisters = 0.4;

double FusionCost::launchSeconds() const { return device.launchSeconds(); }

double FusionCost::bandwidth() const { return device.bandwidth() > 0 ? device.bandwidth() : 1e11; }

double FusionCost::memory() const {
  double bytes = device.figure("memory");
  return bytes > 0 ? bytes : ir::CostModel::memory();
}

double FusionCost::bytesAtATime(ArrayRef<ir::TensorLife> tensors,
                                std::vector<std::vector<uint32_t>> dependencies) {
  // Dims that nobody gave may make more of it than 64 bits count.
  double unit = std::max(1.0, ir::CostModel::bytesAtATime(tensors, {}) / 0x1p62);
  std::vector<runtime::BufferRequest> requests;
  for (const ir::TensorLife &tensor : tensors)
    requests.push_back({static_cast<uint64_t>(tensor.bytes / unit), tensor.writer, tensor.readers,
                        tensor.changed});
  runtime::CallOrder order(std::move(dependencies));
  return unit * static_cast<double>(planBuffers(requests, order).bytes);
}

llvm::StringMap<int64_t> FusionCost::tileSizes(ir::KernelOp kernel, ArrayRef<int64_t> dims) {
  bool isPipeline = false;
  return tileSizes(kernel, dims, isPipeline);
}

llvm::StringMap<int64_t> FusionCost::tileSizes(ir::KernelOp kernel, ArrayRef<int64_t> dims,
                                               bool &isPipeline) {
  ir::Bindings bindings = sizes.of(kernel);
  llvm::StringMap<int64_t> chosen =
      device.isGpu
          ? codegen::gpu::chooseTiles(kernel, dims, bindings.sizes,
                                      codegen::gpu::GpuModel::of(device.target), /*fixed=*/false,
                                      &isPipeline)
          : codegen::chooseTiles(kernel, dims, bindings.sizes,
                                 {std::max(1, static_cast<int>(device.figure("multiprocessors")))});
  for (const auto &[binder, size] : chosen)
    bindings.sizes.try_emplace(binder, size);
  for (StringAttr binder : ir::sizableBinders(kernel)) {
    SmallVector<int64_t> scheduled = ir::scheduledSizes(kernel, binder);
    bindings.sizes.try_emplace(binder, scheduled.empty() ? ir::defaultLoopSize : scheduled.front());
  }
  return bindings.sizes;
}

ir::KernelCost FusionCost::costOf(ir::KernelOp kernel, ArrayRef<int64_t> dims) {
  bool isPipeline = false;
  llvm::StringMap<int64_t> blocks = tileSizes(kernel, dims, isPipeline);
  unsigned count = kernel.getNumArguments();
  SmallVector<SmallVector<int64_t>> extents(count);
  for (unsigned n = 0; n < count; ++n)
    if (AffineMap shape = kernel.getParamShape(n))
      for (AffineExpr expr : shape.getResults())
        extents[n].push_back(std::max<int64_t>(0, ir::evaluateAffine(expr, {}, dims).value_or(0)));
  SmallVector<ArrayRef<int64_t>> shapes(extents.begin(), extents.end());
  SmallVector<uint64_t> scalars(count);
  // Where data decides how far a loop goes, it is taken to go as far as the largest dim.
  double usual = dims.empty() ? 1 : static_cast<double>(*llvm::max_element(dims));
  Work work = countWork(kernel, dims, shapes, scalars, blocks, usual);

  ir::KernelCost cost;
  double registers = 4 * device.figure("registers_per_multiprocessor");
  if (double most = shareOfRegisters * registers; device.isGpu && work.carriedBytes > most)
    cost.obstacle = "a program's loop would carry " +
                    std::to_string(int(work.carriedBytes / 1024)) +
                    " KiB from block to block, more than " + std::to_string(int(most / 1024)) +
                    " KiB of a multiprocessor's registers";
  if (work.contractedBytes > codegen::gpu::mostSharedOfOp && device.isGpu && cost.obstacle.empty())
    cost.obstacle = "a contraction would have " + std::to_string(int(work.contractedBytes / 1024)) +
                    " KiB of its operands at a time, more than " +
                    std::to_string(codegen::gpu::mostSharedOfOp / 1024) + " KiB of shared memory";
  cost.bytesRead = work.bytesRead;
  cost.bytesWritten = work.bytesWritten;
  cost.operations = work.totalOperations();
  double again = std::max(0.0, work.bytesAccessed - work.bytes());
  double memory = (work.bytes() + again / cacheSpeedup) / bandwidth();
  bool isBySingleWarps =
      device.isGpu && codegen::gpu::GpuModel::of(device.target).hasPipelines && !isPipeline;
  double compute = work.computeSeconds(device, isBySingleWarps ? shareOfSingleWarps : 1);
  if (compute > work.computeSeconds(device))
    cost.handicap = "its product would be no pipeline of the tensor cores any more";
  if (double rate = device.operations(Unit::Vector, runtime::DType::F32); rate > 0)
    compute += (operationsOfFunction - 1) * work.functions / rate;
  cost.launchSeconds = device.launchSeconds();
  cost.memorySeconds = memory;
  cost.computeSeconds = compute;
  cost.seconds = cost.launchSeconds + memory + compute - 0.95 * std::min(memory, compute);
  return cost;
}
