//===- FusionCost.h - what a kernel costs, by a device's description ------===//
//
// t = L + Tm + Tc − 0.95 · min(Tm, Tc): a launch's start, and memory and arithmetic
// that overlap but for a little. Tm counts what has to move at the memory's rate and
// what is read again at that of a cache; Tc counts what is written in the kernel
// (Work.h), with a function as so many operations as one takes. Both go by waves of
// programs: few programs have a part of the multiprocessors and of the bandwidth. How
// many there are, how many CTAs or threads run at a time and which instructions make a
// contraction the backend says (codegen/gpu/KernelShape.h, codegen/cpu/ChooseTiles.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_FUSION_FUSIONCOST_H
#define TILE_FRONTEND_FUSION_FUSIONCOST_H

#include "codegen/cpu/ChooseTiles.h"
#include "codegen/gpu/KernelShape.h"
#include "frontend/execute/TileSizes.h"
#include "frontend/fusion/FusionConstants.h"
#include "frontend/model/Work.h"
#include "ir/fusion/CostModel.h"

#include <algorithm>
#include <memory>

namespace tile::frontend {

class FusionCost : public ir::CostModel {
public:
  /// `sizes` are tile sizes that were asked for.
  explicit FusionCost(const DeviceDescription &device, TileSizes sizes = {},
                      const FusionConstants &constants = {});

  /// What a launch takes whose start, memory and arithmetic take so long alone.
  static double secondsOf(double launch, double memory, double compute) {
    return launch + memory + compute - 0.95 * std::min(memory, compute);
  }

  ir::KernelCost costOf(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims) override;
  llvm::StringMap<int64_t> tileSizes(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims) override;
  bool isNamed(ir::KernelOp kernel) const override { return sizes.isNamed(kernel); }
  double launchSeconds() const override;
  double bandwidth() const override;
  double memory() const override;
  /// As a run of the graph places them (runtime/launch/BufferPlan.h).
  double bytesAtATime(llvm::ArrayRef<ir::TensorLife> tensors,
                      std::vector<std::vector<uint32_t>> dependencies) override;

private:
  /// Of a CPU.
  codegen::CpuMachine machine() const;
  codegen::gpu::KernelShape shapeOf(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                                    const llvm::StringMap<int64_t> &blocks, const Work &work) const;
  /// Makes blocks smaller until threads can hold their tiles, as the compiler does; what it then
  /// is.
  codegen::gpu::KernelShape fit(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                                llvm::StringMap<int64_t> &blocks, const Work &work,
                                bool &isSmaller) const;
  /// Operations a second of the fastest units that contract.
  double fastest(const Work::Contraction &contraction) const;
  /// Those of all multiprocessors, if the contraction is made so.
  double contractionRate(const Work::Contraction &contraction,
                         const codegen::gpu::ContractionShape &shape) const;
  /// Seconds that contractions take: of the whole device, and as their CTAs have it.
  struct Multiplying {
    double busy = 0, whole = 0;
  };
  Multiplying contractionSeconds(const Work &work, const codegen::gpu::KernelShape &shape) const;
  /// What a launch takes on this device. `cycles` are those of a program's contractions on a CPU.
  ir::LaunchTimes timesOf(const Work &work, const codegen::gpu::KernelShape &shape,
                          double cycles) const;
  double memorySeconds(const Work &work, double again, double ctas,
                       const codegen::gpu::KernelShape &shape) const;
  /// CTAs that a multiprocessor has at a time, as far as shared memory goes.
  unsigned ctasByShared(const Work &work, const codegen::gpu::KernelShape &shape) const;
  /// How much longer arithmetic takes where so many of a program's warps keep a multiprocessor busy
  /// with it.
  double waiting(double warps, double ctas, const codegen::gpu::KernelShape &shape) const;

  DeviceDescription device;
  TileSizes sizes;
  FusionConstants constants;
  /// Of a CPU with more cores: the same with few of them.
  std::shared_ptr<const FusionCost> onFewCores;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSION_FUSIONCOST_H
