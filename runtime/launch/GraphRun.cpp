#include "runtime/launch/GraphRun.h"
#include "runtime/base/Text.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/launch/BufferPlan.h"
#include "runtime/launch/Evaluate.h"
#include "runtime/launch/Scratch.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace tile::runtime {

std::string declarationOf(const ParamRule &param) {
  std::string text = param.name + ": " + param.type;
  if (!param.isTensor)
    return text;
  text += "[";
  for (size_t d = 0; d < param.shape.size(); ++d)
    text += (d ? ", " : "") + param.shape[d].text;
  return text + "]";
}

Status checkInputs(const Signature &signature, std::span<const GraphInput> inputs) {
  size_t position = 0;
  for (const ParamRule &param : signature.params) {
    if (param.mode != ParamMode::In && param.mode != ParamMode::InOut)
      continue;
    const GraphInput &input = inputs[position++];
    bool isTensor = input.tensor || input.placed;
    std::string name = "`" + param.name + "` of `" + signature.name + "`";
    if (param.isTensor != isTensor)
      return Error{name + " is a " + (param.isTensor ? "tensor" : "scalar") +
                       ", the argument is a " + (isTensor ? "tensor" : "scalar"),
                   "it is declared as " + declarationOf(param)};
    if (!isTensor)
      continue;
    DType type = input.placed ? input.placed->type : input.tensor->dtype();
    if (nameOf(type) != param.type)
      return Error{name + " holds " + param.type + ", the argument is " +
                       describe(type, input.placed ? input.placed->shape : input.tensor->shape()),
                   "it is declared as " + declarationOf(param)};
  }
  return {};
}

namespace {

bool isInput(const ParamRule &param) {
  return param.mode == ParamMode::In || param.mode == ParamMode::InOut;
}

class GraphRun {
public:
  GraphRun(const GraphPlan &plan, std::span<const Signature *const> kernels,
           std::span<const GraphInput> inputs, const DimValues &given, LaunchFunction launch,
           const GraphOptions &options)
      : plan(plan), kernels(kernels), inputs(inputs), given(given), launch(launch),
        options(options), frames(plan.frames.size()), launches(plan.calls.size()),
        tensors(plan.numTensors) {}

  GraphOutcome run() {
    if (!bind() || !prepare() || !place() || !runCalls())
      return std::move(outcome);
    if (options.space)
      tellPlaces();
    else
      for (uint32_t result : plan.frames[0].results)
        outcome.results.push_back(tensors[result].owner);
    return std::move(outcome);
  }

private:
  struct Frame {
    LaunchBinding binding;
    /// Of its program.
    std::vector<uint64_t> values;
  };
  struct TensorState {
    DType type = DType::F32;
    Shape shape;
    /// The call that writes it; none for inputs.
    std::optional<uint32_t> writer;
    std::vector<uint32_t> readers;
    bool isResult = false;
    /// Of inputs and results.
    std::shared_ptr<const Tensor> owner;
    std::byte *data = nullptr;
    /// In a space, of what is placed there.
    std::optional<uint64_t> offset;
    bool isInPlace = false;

    uint64_t bytes() const {
      uint64_t bytes = static_cast<uint64_t>(sizeOf(type));
      for (int64_t extent : shape)
        bytes *= static_cast<uint64_t>(extent);
      return bytes;
    }
    std::string describe() const {
      return std::string(nameOf(type)) + "[" + formatShape(shape) + "]";
    }
  };

  bool fail(GraphFailure::Kind kind, Error error, std::optional<uint32_t> call,
            std::optional<uint32_t> frame) {
    outcome.failure = {kind, std::move(error), call, frame};
    return false;
  }
  bool invalid(Error error, std::optional<uint32_t> call, std::optional<uint32_t> frame) {
    return fail(GraphFailure::Kind::Invalid, std::move(error), call, frame);
  }

  bool bind();
  bool prepare() {
    if (!options.prepare)
      return true;
    Status status = options.prepare(launches);
    return status || fail(GraphFailure::Kind::Launch, status.takeError(), {}, {});
  }
  bool open(uint32_t index);
  bool openInputs(const PlanFrame &frame, std::vector<std::span<const int64_t>> &shapes,
                  std::vector<uint64_t> &scalars, DimValues &dims);
  bool bindCall(uint32_t index);
  bool close(uint32_t index);
  void bindOperands(uint32_t caller, const Signature &signature,
                    const std::vector<PlanOperand> &operands,
                    const std::vector<PlanConstant> &constants,
                    std::vector<std::span<const int64_t>> &shapes, std::vector<uint64_t> &scalars,
                    DimValues &dims);
  std::string describeDims(uint32_t frame) const;

  Status allocate(uint64_t bytes);
  bool place();
  uint64_t placeInSpace(uint64_t bytes);
  bool takeResultPlaces();
  bool placeResults();
  void setPointers();
  void tellPlaces();
  Status copy(const TensorState &target, const TensorState &source);
  Status poison(const TensorState &target);
  bool runCalls();
  void runCall(uint32_t index);

  const GraphPlan &plan;
  std::span<const Signature *const> kernels;
  std::span<const GraphInput> inputs;
  const DimValues &given;
  LaunchFunction launch;
  const GraphOptions &options;

  std::vector<Frame> frames;
  std::vector<KernelLaunch> launches;
  std::vector<TensorState> tensors;
  std::optional<CallOrder> order;
  /// Of the tensors between calls: from the arena, or too much for it.
  std::byte *memory = nullptr;
  ScratchScope scratch;
  AlignedBytes large;
  GraphOutcome outcome;
  std::mutex mutex; // of the outcome
};

//===-- Binding -----------------------------------------------------------===//

bool GraphRun::bind() {
  for (const PlanStep &step : plan.steps) {
    bool done = step.kind == PlanStep::Kind::Open   ? open(step.index)
                : step.kind == PlanStep::Kind::Call ? bindCall(step.index)
                                                    : close(step.index);
    if (!done)
      return false;
  }
  return true;
}

/// What a callee gets, by parameter.
void GraphRun::bindOperands(uint32_t caller, const Signature &signature,
                            const std::vector<PlanOperand> &operands,
                            const std::vector<PlanConstant> &constants,
                            std::vector<std::span<const int64_t>> &shapes,
                            std::vector<uint64_t> &scalars, DimValues &dims) {
  size_t position = 0;
  for (const ParamRule &param : signature.params) {
    shapes.emplace_back();
    scalars.push_back(0);
    if (!isInput(param))
      continue;
    const PlanOperand &operand = operands[position++];
    if (operand.isTensor)
      shapes.back() = tensors[operand.index].shape;
    else
      scalars.back() = frames[caller].values[operand.index];
  }
  for (const PlanConstant &constant : constants)
    dims[constant.name] = static_cast<int64_t>(frames[caller].values[constant.value]);
}

bool GraphRun::openInputs(const PlanFrame &frame, std::vector<std::span<const int64_t>> &shapes,
                          std::vector<uint64_t> &scalars, DimValues &dims) {
  dims = given;
  size_t position = 0;
  uint32_t tensor = 0;
  for (const ParamRule &param : frame.signature.params) {
    shapes.emplace_back();
    scalars.push_back(0);
    if (!isInput(param))
      continue;
    const GraphInput &input = inputs[position++];
    scalars.back() = input.bits;
    if (!param.isTensor)
      continue;
    TensorState &state = tensors[tensor++];
    state.type = input.placed ? input.placed->type : input.tensor->dtype();
    state.shape = input.placed ? input.placed->shape : input.tensor->shape();
    state.data = input.placed ? input.placed->data : nullptr;
    state.owner = input.tensor;
    shapes.back() = state.shape;
  }
  return true;
}

/// " with M = 3, N = 4".
std::string GraphRun::describeDims(uint32_t frame) const {
  std::string text;
  const Signature &signature = plan.frames[frame].signature;
  for (size_t d = 0; d < signature.dims.size(); ++d)
    text += (text.empty() ? " with " : ", ") + signature.dims[d] + " = " +
            std::to_string(frames[frame].binding.dims[d]);
  return text;
}

bool GraphRun::open(uint32_t index) {
  const PlanFrame &frame = plan.frames[index];
  std::optional<uint32_t> where = index ? std::optional(index) : std::nullopt;
  std::vector<std::span<const int64_t>> shapes;
  std::vector<uint64_t> scalars;
  DimValues dims;
  if (index == 0)
    openInputs(frame, shapes, scalars, dims);
  else
    bindOperands(frame.caller, frame.signature, frame.inputs, frame.constants, shapes, scalars,
                 dims);
  Result<LaunchBinding> binding = bindLaunch(frame.signature, shapes, dims);
  if (!binding)
    return invalid(binding.takeError(), {}, where);
  frames[index].binding = *std::move(binding);
  auto values = evaluate(frame.program, frames[index].binding.dims, scalars);
  if (!values)
    return invalid(
        {"a number in `" + frame.signature.name + "` exceeds 64 bits" + describeDims(index), ""},
        {}, where);
  frames[index].values = *std::move(values);
  for (const PlanRequirement &rule : frame.requirements)
    if (!(frames[index].values[rule.value] & 1))
      return invalid({"`" + frame.signature.name + "` requires " + rule.text +
                          "; it does not hold" + describeDims(index),
                      ""},
                     {}, where);
  return true;
}

bool GraphRun::bindCall(uint32_t index) {
  const PlanCall &call = plan.calls[index];
  const Signature &signature = *kernels[call.kernel];
  KernelLaunch &bound = launches[index];
  bound.call = index;
  bound.kernel = call.kernel;
  std::vector<std::span<const int64_t>> shapes;
  DimValues dims;
  bindOperands(call.frame, signature, call.inputs, call.constants, shapes, bound.scalars, dims);
  Result<LaunchBinding> binding = bindLaunch(signature, shapes, dims);
  if (!binding)
    return invalid(binding.takeError(), index, {});
  if (Status holds = checkRequires(signature, binding->dims, bound.scalars); !holds)
    return invalid(holds.takeError(), index, {});
  bound.dims = std::move(binding->dims);
  bound.shapes = std::move(binding->shapes);
  for (const PlanOperand &operand : call.inputs)
    if (operand.isTensor)
      tensors[operand.index].readers.push_back(index);
  size_t position = 0;
  for (size_t p = 0; p < signature.params.size(); ++p) {
    if (signature.params[p].mode == ParamMode::In)
      continue;
    TensorState &state = tensors[call.outputs[position++]];
    state.type = *parseDType(signature.params[p].type);
    state.shape = bound.shapes[p];
    state.writer = index;
  }
  return true;
}

bool GraphRun::close(uint32_t index) {
  const PlanFrame &frame = plan.frames[index];
  size_t position = 0;
  for (size_t p = 0; p < frame.signature.params.size(); ++p) {
    const ParamRule &param = frame.signature.params[p];
    if (param.mode != ParamMode::Out)
      continue;
    TensorState &state = tensors[frame.results[position++]];
    state.isResult |= index == 0;
    if (state.shape != frames[index].binding.shapes[p])
      return invalid({"output `" + param.name + "` of `" + frame.signature.name + "` is " +
                          state.describe() + ", declared as " + declarationOf(param) +
                          describeDims(index),
                      ""},
                     {}, index ? std::optional(index) : std::nullopt);
  }
  return true;
}

//===-- Memory ------------------------------------------------------------===//

bool GraphRun::placeResults() {
  for (TensorState &state : tensors) {
    if (!state.isResult || !state.writer)
      continue;
    Result<Tensor> tensor = Tensor::createUninitialized(state.type, state.shape);
    if (!tensor) {
      Error error = tensor.takeError();
      error.message = "a result of `" + plan.signature().name + "`: " + error.message;
      return fail(GraphFailure::Kind::Memory, std::move(error), state.writer, {});
    }
    auto owner = std::make_shared<Tensor>(*std::move(tensor));
    state.data = owner->data();
    state.owner = std::move(owner);
  }
  return true;
}

/// What the thread's arena keeps from run to run needs no new pages each time.
Status GraphRun::allocate(uint64_t bytes) {
  if (options.space) {
    Result<std::byte *> allocated = options.space->allocate(std::max<uint64_t>(bytes, 1));
    if (!allocated)
      return allocated.takeError();
    memory = *allocated;
    return {};
  }
  constexpr uint64_t maxKept = uint64_t(1) << 28;
  if (bytes <= maxKept) {
    Result<std::byte *> kept = scratch.allocate(bytes);
    if (!kept)
      return kept.takeError();
    memory = *kept;
    return {};
  }
  Result<AlignedBytes> allocated = allocateAligned(bytes, "the tensors between calls");
  if (!allocated)
    return allocated.takeError();
  large = *std::move(allocated);
  memory = large.get();
  return {};
}

/// Inputs and results in a space follow what stands between calls; how many bytes that makes.
uint64_t GraphRun::placeInSpace(uint64_t bytes) {
  constexpr uint64_t alignment = 256;
  auto add = [&](TensorState &state) {
    bytes = (bytes + alignment - 1) / alignment * alignment;
    state.offset = bytes;
    bytes += state.bytes();
  };
  for (TensorState &state : tensors)
    if (!state.data && (state.writer ? state.isResult : !state.readers.empty() || state.isResult))
      add(state);
  return bytes;
}

/// Where the caller wants results.
bool GraphRun::takeResultPlaces() {
  const PlanFrame &frame = plan.frames[0];
  size_t position = 0;
  for (const ParamRule &param : frame.signature.params) {
    if (param.mode != ParamMode::Out)
      continue;
    const PlacedTensor *given =
        position < options.results.size() ? options.results[position] : nullptr;
    TensorState &state = tensors[frame.results[position++]];
    if (!given)
      continue;
    std::string name = "output `" + param.name + "` of `" + frame.signature.name + "`";
    if (given->type != state.type || given->shape != state.shape)
      return invalid({name + " is " + state.describe() + ", the tensor given for it is " +
                          runtime::describe(given->type, given->shape),
                      ""},
                     {}, {});
    if (!state.writer || state.data)
      return invalid({name + " is an input, or another output: it has its place already",
                      "leave it out of the call's tensors"},
                     {}, {});
    state.data = given->data;
  }
  return true;
}

bool GraphRun::place() {
  if (options.space && !takeResultPlaces())
    return false;
  std::vector<std::vector<uint32_t>> dependencies(plan.calls.size());
  for (size_t n = 0; n < plan.calls.size(); ++n)
    for (const PlanOperand &operand : plan.calls[n].inputs)
      if (operand.isTensor && tensors[operand.index].writer)
        dependencies[n].push_back(*tensors[operand.index].writer);
  order.emplace(std::move(dependencies));

  std::vector<BufferRequest> requests;
  std::vector<std::optional<uint32_t>> requestOf(tensors.size());
  std::vector<uint32_t> tensorOf;
  for (const KernelLaunch &bound : launches) {
    const PlanCall &call = plan.calls[bound.call];
    const Signature &signature = *kernels[call.kernel];
    size_t input = 0, output = 0;
    for (const ParamRule &param : signature.params) {
      std::optional<uint32_t> changed;
      if (isInput(param))
        if (const PlanOperand &operand = call.inputs[input++];
            param.mode == ParamMode::InOut && !tensors[operand.index].isResult)
          changed = requestOf[operand.index];
      if (param.mode == ParamMode::In)
        continue;
      uint32_t tensor = call.outputs[output++];
      const TensorState &state = tensors[tensor];
      if (state.isResult)
        continue;
      requestOf[tensor] = static_cast<uint32_t>(requests.size());
      tensorOf.push_back(tensor);
      requests.push_back({state.bytes(), bound.call, state.readers, changed});
    }
  }
  BufferPlan buffers = planBuffers(requests, *order);
  if (Status allocated = allocate(options.space ? placeInSpace(buffers.bytes) : buffers.bytes);
      !allocated)
    return fail(GraphFailure::Kind::Memory, allocated.takeError(), {}, {});
  for (size_t n = 0; n < requests.size(); ++n) {
    tensors[tensorOf[n]].data = memory + buffers.offsets[n];
    tensors[tensorOf[n]].isInPlace = buffers.isInPlace[n];
    outcome.memory.inPlace += buffers.isInPlace[n];
  }
  outcome.memory.peakBytes = buffers.bytes;
  outcome.memory.sumBytes = buffers.sumBytes;
  outcome.memory.tensors = requests.size();
  if (options.space) {
    for (TensorState &state : tensors)
      if (state.offset)
        state.data = memory + *state.offset;
  } else if (!placeResults()) {
    return false;
  }
  setPointers();
  return true;
}

void GraphRun::tellPlaces() {
  auto placeOf = [&](uint32_t tensor) {
    const TensorState &state = tensors[tensor];
    return PlacedTensor{state.type, state.shape, state.data};
  };
  uint32_t numInputs = 0;
  for (const ParamRule &param : plan.signature().params)
    if (isInput(param))
      outcome.inputPlaces.push_back(param.isTensor ? placeOf(numInputs++) : PlacedTensor());
  for (uint32_t result : plan.frames[0].results) {
    outcome.resultPlaces.push_back(placeOf(result));
    outcome.resultInputs.push_back(result < numInputs ? std::optional(result) : std::nullopt);
  }
}

void GraphRun::setPointers() {
  for (KernelLaunch &bound : launches) {
    const PlanCall &call = plan.calls[bound.call];
    const Signature &signature = *kernels[call.kernel];
    size_t input = 0, output = 0;
    for (size_t p = 0; p < signature.params.size(); ++p) {
      const ParamRule &param = signature.params[p];
      const TensorState *state = nullptr;
      if (isInput(param))
        if (const PlanOperand &operand = call.inputs[input++]; operand.isTensor)
          state = &tensors[operand.index];
      if (param.mode != ParamMode::In)
        state = &tensors[call.outputs[output++]];
      const void *data = &bound.scalars[p];
      int64_t elements = 1;
      if (state) {
        data = state->data ? state->data : state->owner->data();
        elements = static_cast<int64_t>(state->bytes()) / sizeOf(state->type);
      }
      bound.params.push_back(data);
      bound.elements.push_back(elements);
    }
  }
}

//===-- Running -----------------------------------------------------------===//

bool GraphRun::runCalls() {
  if (!options.isParallel || options.space) {
    // Each call comes after those it depends on, so their own order is one to run them in.
    for (uint32_t call = 0; call < launches.size() && !outcome.failure; ++call) {
      if (options.space)
        options.space->beginCall(order->dependencies(call));
      runCall(call);
    }
    return !outcome.failure;
  }
  Result<ThreadPool *> global = ThreadPool::global();
  if (!global)
    return fail(GraphFailure::Kind::Memory, global.takeError(), {}, {});
  ThreadPool *pool = *global;
  for (const std::vector<uint32_t> &wave : order->waves()) {
    auto isLarge = [&](uint32_t call) {
      return options.keepsAllBusy && options.keepsAllBusy(launches[call]);
    };
    std::vector<std::vector<uint32_t>> chunks(1); // the first has all large ones
    for (uint32_t call : wave)
      if (wave.size() > 1 && isLarge(call))
        chunks[0].push_back(call);
      else
        chunks.push_back({call});
    if (chunks[0].empty())
      chunks.erase(chunks.begin());
    auto count = static_cast<int64_t>(chunks.size());
    pool->parallelChunks(count, count, [&](int64_t chunk, int64_t, int64_t) {
      for (uint32_t call : chunks[static_cast<size_t>(chunk)])
        runCall(call);
    });
    if (outcome.failure)
      return false;
  }
  return true;
}

Status GraphRun::copy(const TensorState &target, const TensorState &source) {
  const std::byte *from = source.data ? source.data : source.owner->data();
  if (options.space)
    return options.space->copy(target.data, from, source.bytes());
  copyBytes(target.data, from, source.bytes());
  if (options.copied)
    options.copied(target.data, from);
  return {};
}

Status GraphRun::poison(const TensorState &target) {
  constexpr uint8_t value = 0xff; // NaN, or −1
  if (options.space)
    return options.space->fill(target.data, value, target.bytes());
  std::memset(target.data, value, target.bytes());
  return {};
}

void GraphRun::runCall(uint32_t index) {
  const PlanCall &call = plan.calls[index];
  const Signature &signature = *kernels[call.kernel];
  size_t input = 0, output = 0;
  for (const ParamRule &param : signature.params) {
    const TensorState *source = nullptr;
    if (isInput(param))
      if (const PlanOperand &operand = call.inputs[input++]; operand.isTensor)
        source = &tensors[operand.index];
    if (param.mode == ParamMode::In)
      continue;
    const TensorState &target = tensors[call.outputs[output++]];
    Status done;
    if (param.mode == ParamMode::InOut && !target.isInPlace)
      done = copy(target, *source);
    else if (param.mode != ParamMode::InOut && options.poisons)
      done = poison(target);
    if (!done) {
      outcome.failure = {GraphFailure::Kind::Memory, done.takeError(), index, {}};
      return;
    }
  }
  Status status = launch(launches[index]);
  if (status)
    return;
  std::lock_guard lock(mutex);
  // Of several, the first in the order of the graph.
  if (!outcome.failure || *outcome.failure->call > index)
    outcome.failure = {GraphFailure::Kind::Launch, status.takeError(), index, {}};
}

} // namespace

GraphOutcome runGraph(const GraphPlan &plan, std::span<const Signature *const> kernels,
                      std::span<const GraphInput> inputs, const DimValues &dims,
                      LaunchFunction launch, const GraphOptions &options) {
  return GraphRun(plan, kernels, inputs, dims, launch, options).run();
}

} // namespace tile::runtime
