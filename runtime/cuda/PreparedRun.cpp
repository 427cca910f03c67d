#include "runtime/cuda/PreparedRun.h"

#include <utility>

namespace tile::runtime::cuda {

PreparedRun::~PreparedRun() { dropGraph(); }

PreparedRun::PreparedRun(PreparedRun &&other) noexcept
    : target(std::move(other.target)), steps(std::move(other.steps)),
      buffers(std::move(other.buffers)), runs(other.runs),
      executable(std::exchange(other.executable, nullptr)) {}

void PreparedRun::dropGraph() {
  if (executable)
    (void)target->device().call(&DriverTable::graphExecDestroy, executable);
  executable = nullptr;
  runs = 0;
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

Status PreparedRun::runSteps() {
  for (auto &step : steps) {
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

/// Nothing of it is an error: the steps can be run one by one as well.
void PreparedRun::makeGraph() {
  const Device &device = target->device();
  if (device.call(&DriverTable::streamBeginCapture, target->handle(),
                  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
    return;
  Status captured = runSteps();
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
  if (steps.size() < stepsOfGraph)
    return runSteps();
  if (!executable && runs <= runsBeforeGraph && ++runs > runsBeforeGraph && target->handle())
    makeGraph();
  if (!executable)
    return runSteps();
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
