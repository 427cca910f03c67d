// A kernel's code on a device, and launches of it that are ready to be made again and again.
#pragma once

#include "runtime/artifact/CudaCode.h"
#include "runtime/cuda/DeviceBuffer.h"
#include "runtime/cuda/Launch.h"
#include "runtime/cuda/TensorMap.h"

#include <array>

namespace tile::runtime::cuda {

/// Any thread may use it.
class LoadedKernel {
public:
  /// Loads a cubin, or PTX, which the driver compiles. `name` is the kernel's for messages. Errors
  /// are those of Module, and that the device has less shared memory than the code needs.
  static Result<std::shared_ptr<const LoadedKernel>>
  load(std::shared_ptr<Device> device, const CudaCode &code, const std::string &name);

  /// How many programs a launch with these dimensions and the bits of the scalars, by parameter,
  /// has. An error where there are more than a launch takes, which is 2³¹ − 1.
  Result<uint32_t> numPrograms(std::span<const int64_t> dims,
                               std::span<const uint64_t> scalars) const;

  const std::string &name() const { return label; }
  Function &function() const { return *code.function; }
  /// Threads and dynamic shared memory of a block; the grid is the launch's.
  const LaunchConfig &config() const { return code.config; }
  /// Whether blocks of threads run programs one after the other.
  bool isPersistent() const { return residentBlocks > 0; }
  /// Whether bulk copies of whole blocks feed it.
  bool hasTensorMaps() const { return !maps.empty(); }
  /// Those of its CudaCode.
  const std::vector<std::string> &sites() const { return theSites; }

private:
  friend class PreparedLaunch;
  LoadedKernel() = default;

  struct Entry {
    std::shared_ptr<Function> function;
    LaunchConfig config;
    /// Of a program.
    uint32_t blocks = 1;
  };
  static Status find(Module &module, const CudaFunction &what, Entry &entry);

  std::string label;
  Entry code;
  /// Before and after it; without a function: none.
  Entry start, finish;
  std::vector<CudaReduceCopies> copies;
  bool foldsItself = false, storesAlone = false;
  std::vector<CudaTensorMap> maps;
  /// Of a persistent kernel: blocks that run at once, a multiple of those of a program; 0 for
  /// others.
  uint32_t residentBlocks = 0;
  std::vector<std::string> theSites;
  /// Of all binders, and of those that CudaCode::keptBinders names.
  std::vector<Program> programs, keptPrograms;
};

/// A launch whose parameters are packed: nothing is looked up and nothing allocated when it runs.
/// It holds the kernel, and memory that it needs besides; it may move.
class PreparedLaunch {
public:
  /// `params` are the addresses of tensors and the bits of scalars, `elements` how many each tensor
  /// has, by parameter. `report` is the address of a GpuReport, for kernels with sites. A grid of
  /// no blocks launches nothing. Errors: those of numPrograms, too little memory, and tensors that
  /// bulk copies don't take (TensorMap.h).
  static Result<PreparedLaunch> create(std::shared_ptr<const LoadedKernel> kernel,
                                       std::shared_ptr<Stream> stream,
                                       std::span<const uint64_t> params,
                                       std::span<const int64_t> elements,
                                       std::span<const int64_t> dims, uint64_t report = 0);

  /// Launches on the stream, and doesn't wait: see `launch`.
  Status operator()(Stream &stream) const {
    for (uint32_t n = 0; n < numStages; ++n)
      if (Status done = launch(*stages[n].function, stages[n].config, stream, pointers.get());
          !done)
        return done;
    return {};
  }

  const LoadedKernel &code() const { return *kernel; }
  /// How many launches of the driver it is: of `reduce` outputs up to three.
  size_t numLaunches() const { return numStages; }

private:
  struct Stage {
    Function *function = nullptr;
    LaunchConfig config;
  };
  void addStage(const LoadedKernel::Entry &entry, uint32_t blocks);
  Status makeMaps(std::span<const uint64_t> params, std::span<const int64_t> dims);
  void pack(std::span<const uint64_t> values);

  std::shared_ptr<const LoadedKernel> kernel;
  /// Copies of `reduce` outputs, and the counter of the blocks that are done.
  DeviceBuffer workspace;
  std::array<Stage, 3> stages;
  uint32_t numStages = 0;
  /// Parameters, dimensions, and what `copies` need; then tensor maps; and where each stands.
  std::unique_ptr<uint64_t[]> words;
  std::unique_ptr<CUtensorMap[]> maps;
  std::unique_ptr<void *[]> pointers;
};

} // namespace tile::runtime::cuda
