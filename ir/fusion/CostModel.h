//===- CostModel.h - what a kernel costs on a device ----------------------===//
//
// The fuser asks what kernels would cost, those that people wrote and those that
// it thinks of. The answer comes from a model of the device (frontend/fusion/FusionCost.h
// has one that needs the device's description alone), so equal questions get equal
// answers, on every machine.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_COSTMODEL_H
#define TILE_IR_FUSION_COSTMODEL_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/StringMap.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tile::ir {

/// The instructions that make a contraction, the fastest first: a warpgroup's, fed by a pipeline of
/// copies; a warp's; those of plain threads.
enum class ContractionPath { Pipeline, WarpMma, Scalar };

/// What launches that run at the same time have of their starts for themselves: eight small ones
/// took 1.6 µs each so, and 2.2 one after the other (docs/performance.md).
inline constexpr double launchShare = 0.5;

/// Seconds of a launch: all, and what its start, the memory and the arithmetic would take alone;
/// they may overlap. And for how long nothing else could run beside it.
struct LaunchTimes {
  double all = 0, launch = 0, memory = 0, compute = 0, busy = 0;

  LaunchTimes &operator+=(const LaunchTimes &other) {
    all += other.all;
    launch += other.launch;
    memory += other.memory;
    compute += other.compute;
    busy += other.busy;
    return *this;
  }
};

struct KernelCost {
  /// Each element that is read or written counts once.
  double bytesRead = 0, bytesWritten = 0;
  /// Arithmetic, as written; and the functions of it that take many instructions each.
  double operations = 0, functions = 0;
  /// Of a launch, its start included.
  double seconds = 0;
  /// What the start, the memory and the arithmetic would take alone; they may overlap.
  double launchSeconds = 0, memorySeconds = 0, computeSeconds = 0;
  /// For how long a launch has the whole device, so that nothing else could run beside it.
  double busySeconds = 0;
  /// The same on a device with few cores, where plans for this one run, too; none of others.
  std::optional<LaunchTimes> onFewCores;
  /// What memory and arithmetic take at least, on all of the device and by its fastest units.
  double leastMemorySeconds = 0, leastComputeSeconds = 0;
  /// How many there are of a launch, the most of several; and whether all launches have enough of
  /// them for every multiprocessor.
  double programs = 0;
  bool fillsDevice = true;
  /// Its contractions, and which of them are pipelines, or left to plain threads.
  unsigned contractions = 0, pipelines = 0, scalars = 0;
  /// A CPU has one way to do contractions: its own are counted here, and not above.
  unsigned products = 0;
  /// Those of plain threads that have whole rows of sums.
  unsigned wholeScalars = 0;
  /// Why a device can't run it well, whatever the time that was counted; empty if it can.
  std::string obstacle;

  double bytes() const { return bytesRead + bytesWritten; }
  LaunchTimes times() const {
    return {seconds, launchSeconds, memorySeconds, computeSeconds, busySeconds};
  }
  /// Operations for each byte.
  double intensity() const { return operations / bytes(); }
  /// What takes longest: "memory", "compute" or "launch"; "-" where nothing is known.
  llvm::StringRef bound() const {
    if (seconds == 0)
      return "-";
    if (launchSeconds >= std::max(memorySeconds, computeSeconds))
      return "launch";
    return memorySeconds >= computeSeconds ? "memory" : "compute";
  }
  KernelCost &operator+=(const KernelCost &other) {
    bytesRead += other.bytesRead;
    bytesWritten += other.bytesWritten;
    operations += other.operations;
    functions += other.functions;
    seconds += other.seconds;
    launchSeconds += other.launchSeconds;
    memorySeconds += other.memorySeconds;
    computeSeconds += other.computeSeconds;
    busySeconds += other.busySeconds;
    if (other.onFewCores)
      onFewCores = onFewCores.value_or(LaunchTimes()) += *other.onFewCores;
    leastMemorySeconds += other.leastMemorySeconds;
    leastComputeSeconds += other.leastComputeSeconds;
    programs = std::max(programs, other.programs);
    fillsDevice &= other.fillsDevice;
    contractions += other.contractions;
    products += other.products;
    pipelines += other.pipelines;
    scalars += other.scalars;
    wholeScalars += other.wholeScalars;
    return *this;
  }
};

/// What two launches take less where they don't need each other and run at the same time.
inline double hiddenSeconds(const KernelCost &one, const KernelCost &other) {
  double both = one.seconds + other.seconds, startOfFirst = launchShare * one.launchSeconds;
  double together =
      std::max({one.seconds, other.seconds, startOfFirst + one.busySeconds + other.busySeconds});
  return std::max(0.0, both - together);
}

inline double savedSeconds(const LaunchTimes &together, const LaunchTimes &apart, double reserve) {
  double serial = together.launch + together.memory + together.compute;
  double hidden = std::max(0.0, serial - together.all);
  double added = std::max(0.0, together.compute - apart.compute);
  return apart.all * (1 - reserve) - together.all - std::min(added / 2, hidden);
}

/// Seconds that one kernel saves beside those that it takes the place of. Of what it computes more
/// than they do, because many programs compute the same, half is not counted on to hide behind the
/// memory. Where something comes into a contraction's loop, or functions behind it, a fiftieth of
/// the time is not counted on, either: no model of such a kernel is as exact. Neither is one of two
/// contractions on a CPU, which read little less in one loop than caches give them apart: two
/// products of one matrix took 0.95 to 1.15 of the time as one. A CPU's contraction that is made
/// again has to save a fifth: of short axes one took 15 cycles for each row where 6 were counted.
/// Where few cores may run it, the less of both counts: arithmetic that many cores hide takes a few
/// of them longer than a launch.
inline double savedSeconds(const KernelCost &together, const KernelCost &apart, bool isDelicate) {
  double reserve = together.products > apart.products ? 0.2 : isDelicate ? 0.02 : 0;
  double saved = savedSeconds(together.times(), apart.times(), reserve);
  if (!together.onFewCores || !apart.onFewCores)
    return saved;
  return std::min(saved, savedSeconds(*together.onFewCores, *apart.onFewCores, reserve));
}

/// What contractions lose of the matrix units in one kernel, beside what kernels apart have; empty:
/// nothing. Times that are predicted don't decide that: without those units a contraction may take
/// a hundred times as long, and where its rows are whole twice as long and more
/// (docs/performance.md).
inline std::string lostPath(const KernelCost &together, const KernelCost &apart) {
  if (together.scalars > 0 && apart.scalars == 0)
    return "its contraction would have no tensor cores any more";
  if (together.contractions > 0 && together.pipelines == 0 && apart.pipelines > 0)
    return "its product would be no pipeline of the tensor cores any more";
  if (together.wholeScalars > apart.wholeScalars)
    return "its contraction would have whole rows, which plain threads without tensor cores make "
           "slowly";
  return "";
}

/// A tensor between a graph's calls, which have numbers, in the order of their writers.
struct TensorLife {
  double bytes = 0;
  uint32_t writer = 0;
  std::vector<uint32_t> readers;
  /// The one before it that its writer changes in place, if nobody else needs that any more.
  std::optional<uint32_t> changed;
};

class CostModel {
public:
  virtual ~CostModel() = default;

  /// A launch of a kernel's template. `dims` are the values of its dims, by their position.
  virtual KernelCost costOf(KernelOp kernel, llvm::ArrayRef<int64_t> dims) = 0;
  /// The sizes of a kernel's blocks in such a launch, by binder, as far as they are known.
  virtual llvm::StringMap<int64_t> tileSizes(KernelOp kernel, llvm::ArrayRef<int64_t> dims) {
    return {};
  }
  /// Whether something is asked of a kernel by its name: then no equal one can stand for it.
  virtual bool isNamed(KernelOp kernel) const { return false; }
  /// No launch takes less than this, and what its bytes take by the bandwidth.
  virtual double launchSeconds() const = 0;
  /// Bytes a second that the memory moves.
  virtual double bandwidth() const = 0;
  /// Bytes that the memory has; infinite where that is not known.
  virtual double memory() const { return std::numeric_limits<double>::infinity(); }
  /// Bytes that tensors take at a time; `dependencies` are the calls before each call whose results
  /// it reads.
  virtual double bytesAtATime(llvm::ArrayRef<TensorLife> tensors,
                              std::vector<std::vector<uint32_t>> dependencies) {
    double bytes = 0;
    for (const TensorLife &tensor : tensors)
      bytes += tensor.bytes;
    return bytes;
  }
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_COSTMODEL_H
