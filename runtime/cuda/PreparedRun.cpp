#include "runtime/cuda/PreparedRun.h"

#include <algorithm>
#include <utility>

namespace tile::runtime::cuda {

PreparedRun::~PreparedRun() { dropGraph(); }

PreparedRun::PreparedRun(PreparedRun &&other) noexcept
    : target(std::move(other.target)), steps(std::move(other.steps)), tasks(std::move(other.tasks)),
      buffers(std::move(other.buffers)), runs(other.runs),
      executable(std::exchange(other.executable, nullptr)) {}

void PreparedRun::dropGraph() {
  if (executable)
    (void)target->device().call(&DriverTable::graphExecDestroy, executable);
  executable = nullptr;
  runs = 0;
}

void PreparedRun::beginTask(std::span<const uint32_t> after) {
  dropGraph();
  tasks.push_back({{after.begin(), after.end()}, steps.size()});
}

void PreparedRun::add(PreparedLaunch launch) {
  dropGraph();
  steps.emplace_back(std::move(launch));
}

void PreparedRun::addCopy(CUdeviceptr to, CUdeviceptr from, uint64_t bytes) {
  dropGraph();
  if (bytes)
    steps.emplace_back(Copy{to, from, bytes});
}

void PreparedRun::addFill(CUdeviceptr to, uint8_t value, uint64_t bytes) {
  dropGraph();
  if (bytes)
    steps.emplace_back(Fill{to, value, bytes});
}

size_t PreparedRun::numLaunches() const {
  size_t count = 0;
  for (const auto &step : steps) {
    auto *launch = std::get_if<PreparedLaunch>(&step);
    count += launch ? launch->numLaunches() : 1;
  }
  return count;
}

Status PreparedRun::runSteps(size_t first, size_t end) {
  for (size_t n = first; n < end; ++n) {
    auto &step = steps[n];
    Status done;
    if (auto *launch = std::get_if<PreparedLaunch>(&step))
      done = (*launch)(*target);
    else if (auto *copy = std::get_if<Copy>(&step))
      done = target->copy(copy->to, copy->from, copy->bytes);
    else if (auto *fill = std::get_if<Fill>(&step))
      done = target->fill(fill->to, fill->value, fill->bytes);
    if (!done)
      return done;
  }
  return {};
}

/// Gives the steps to the stream, which is captured, each task's behind those of the tasks that it
/// comes after and no others.
bool PreparedRun::captureTasks() {
  const Device &device = target->device();
  std::vector<std::vector<CUgraphNode>> last(tasks.size()); // of each task
  for (size_t n = 0; n < tasks.size(); ++n) {
    std::vector<CUgraphNode> before;
    for (uint32_t task : tasks[n].after)
      before.insert(before.end(), last[task].begin(), last[task].end());
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    if (device.call(&DriverTable::streamUpdateCaptureDependencies, target->handle(), before.data(),
                    before.size(), unsigned(CU_STREAM_SET_CAPTURE_DEPENDENCIES)))
      return false;
    size_t end = n + 1 < tasks.size() ? tasks[n + 1].firstStep : steps.size();
    if (!runSteps(tasks[n].firstStep, end))
      return false;
    CUstreamCaptureStatus status;
    const CUgraphNode *nodes = nullptr;
    size_t count = 0;
    if (device.call(&DriverTable::streamGetCaptureInfo, target->handle(), &status, nullptr, nullptr,
                    &nodes, &count))
      return false;
    last[n].assign(nodes, nodes + count);
  }
  return true;
}

/// Nothing of it is an error: the steps can be run one by one as well.
void PreparedRun::makeGraph() {
  const Device &device = target->device();
  if (device.call(&DriverTable::streamBeginCapture, target->handle(),
                  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
    return;
  bool captured = tasks.empty() ? bool(runSteps(0, steps.size())) : captureTasks();
  CUgraph graph = nullptr;
  CUresult code = device.call(&DriverTable::streamEndCapture, target->handle(), &graph);
  if (!code && captured && graph)
    code = device.call(&DriverTable::graphInstantiate, &executable, graph, 0ull);
  if (code || !captured)
    executable = nullptr;
  if (graph)
    (void)device.call(&DriverTable::graphDestroy, graph);
}

Status PreparedRun::operator()() {
  if (!executable && runs <= runsBeforeGraph && ++runs > runsBeforeGraph && target->handle() &&
      numLaunches() >= launchesOfGraph)
    makeGraph();
  if (!executable)
    return runSteps(0, steps.size());
  if (CUresult code =
          target->device().call(&DriverTable::graphLaunch, executable, target->handle()))
    return target->error(code,
                         "a graph of " + std::to_string(steps.size()) + " steps can't be launched");
  for (const auto &step : steps)
    if (auto *launch = std::get_if<PreparedLaunch>(&step))
      target->log().add(launch->code().function().name());
  return {};
}

} // namespace tile::runtime::cuda
