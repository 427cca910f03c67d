// Launches, copies and fills that are done together again and again, on the same memory.
#pragma once

#include "runtime/cuda/DeviceBuffer.h"
#include "runtime/cuda/LoadedKernel.h"

#include <variant>

namespace tile::runtime::cuda {

/// Work on one stream, in the order in which it was added, but for tasks that a CUDA graph runs at
/// the same time. It holds the kernels and buffers that it
/// uses. One thread at a time may use it; it may move.
class PreparedRun {
public:
  explicit PreparedRun(std::shared_ptr<Stream> stream) : target(std::move(stream)) {}
  ~PreparedRun();
  PreparedRun(PreparedRun &&other) noexcept;
  PreparedRun &operator=(PreparedRun &&) = delete;

  /// What is added from here on is a task. Tasks count from 0; this one comes after these, and what
  /// it does may not meet what those do that it doesn't follow. Without tasks all is one.
  void beginTask(std::span<const uint32_t> after);
  void add(PreparedLaunch launch);
  /// The two may not overlap.
  void addCopy(CUdeviceptr to, CUdeviceptr from, uint64_t bytes);
  /// Sets every byte.
  void addFill(CUdeviceptr to, uint8_t value, uint64_t bytes);
  /// Keeps memory for as long as this lives.
  void keep(DeviceBuffer buffer) { buffers.push_back(std::move(buffer)); }

  /// Does all of it once more, and doesn't wait. What is launched often enough, and has more than
  /// one launch, becomes a CUDA graph, which the driver starts in one go; where the driver refuses
  /// that, it stays as it is.
  Status operator()();

  Stream &stream() const { return *target; }
  const std::shared_ptr<Stream> &sharedStream() const { return target; }
  bool isGraph() const { return executable; }

  /// Runs before a graph is made, and the fewest launches, copies and fills that make one: a graph
  /// costs about as much as two launches, and making it as much as a few dozen.
  static constexpr unsigned runsBeforeGraph = 2;
  static constexpr size_t launchesOfGraph = 2;

private:
  struct Copy {
    CUdeviceptr to, from;
    uint64_t bytes;
  };
  struct Fill {
    CUdeviceptr to;
    uint8_t value;
    uint64_t bytes;
  };
  struct Task {
    std::vector<uint32_t> after;
    size_t firstStep = 0;
  };
  size_t numLaunches() const;
  Status runSteps(size_t first, size_t end);
  bool captureTasks();
  void makeGraph();
  void dropGraph();

  std::shared_ptr<Stream> target;
  std::vector<std::variant<PreparedLaunch, Copy, Fill>> steps;
  std::vector<Task> tasks;
  std::vector<DeviceBuffer> buffers;
  unsigned runs = 0;
  CUgraphExec executable = nullptr;
};

} // namespace tile::runtime::cuda
