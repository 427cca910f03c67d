// Runs the plan of a graph: binds all shapes first, then places the tensors, then runs the calls,
// independent ones at the same time.
#pragma once

#include "runtime/base/FunctionRef.h"
#include "runtime/launch/Binding.h"
#include "runtime/tensor/Tensor.h"

#include <functional>
#include <memory>

namespace tile::runtime {

/// A tensor outside of the host's memory.
struct PlacedTensor {
  DType type = DType::F32;
  Shape shape;
  std::byte *data = nullptr;

  uint64_t bytes() const {
    auto bytes = static_cast<uint64_t>(sizeOf(type));
    for (int64_t extent : shape)
      bytes *= static_cast<uint64_t>(extent);
    return bytes;
  }
};

/// A tensor, or the bits of a scalar. In a space of its own (GraphSpace) a tensor may also be one
/// that is there already.
struct GraphInput {
  std::shared_ptr<const Tensor> tensor;
  uint64_t bits = 0;
  const PlacedTensor *placed = nullptr;
};

/// Memory that calls work on, other than the host's. What it is asked to do may be done later; of a
/// call in that order, and before what the launch function was asked for after it.
class GraphSpace {
public:
  virtual ~GraphSpace() = default;
  /// Memory for all tensors of the graph, aligned for any of them. Asked for once.
  virtual Result<std::byte *> allocate(uint64_t bytes) = 0;
  /// What it is asked for from here on, and what the launch function is, is the next call's. Calls
  /// count from 0, and this one needs what these have done.
  virtual void beginCall(std::span<const uint32_t> after) = 0;
  virtual Status copy(std::byte *to, const std::byte *from, uint64_t bytes) = 0;
  /// Sets every byte.
  virtual Status fill(std::byte *to, uint8_t value, uint64_t bytes) = 0;
};

/// A kernel about to run; everything by parameter, as CpuArguments has it.
struct KernelLaunch {
  uint32_t call = 0, kernel = 0;
  std::vector<const void *> params;
  std::vector<int64_t> elements;
  std::vector<uint64_t> scalars;
  std::vector<Shape> shapes;
  std::vector<int64_t> dims;
};

/// Runs a kernel. Called from several threads unless GraphOptions says otherwise.
using LaunchFunction = FunctionRef<Status(const KernelLaunch &launch)>;

struct GraphOptions {
  /// Independent calls at the same time. Else one after the other, in the order of the plan, and
  /// none after one that fails.
  bool isParallel = true;
  /// Says of a call that might run beside others whether it keeps all threads busy by itself. Such
  /// calls run one after the other, in their order, beside the others: threads that aren't busy
  /// with those then work on the same part of the data from call to call, which is still in their
  /// core's cache. Null: none does.
  std::function<bool(const KernelLaunch &)> keepsAllBusy = {};
  /// Fill what is to be written with wrong values first.
  bool poisons = false;
  /// Told of tensors that are copied in the host's memory, for calls that change their argument.
  std::function<void(const void *to, const void *from)> copied = {};
  /// Where the tensors are; null: in the host's memory. In a space the calls are asked for one
  /// after the other, and the outcome has places instead of results.
  GraphSpace *space = nullptr;
  /// In a space: where results are to be, by result; null: in the space's own memory. Refused: a
  /// type or shape that isn't the result's, and a place for a result that is an input.
  std::vector<const PlacedTensor *> results = {};
  /// Called once all is bound, before the first call runs, with what each call binds (tensors have
  /// no memory yet): may refuse.
  std::function<Status(std::span<const KernelLaunch>)> prepare = {};
};

struct GraphFailure {
  enum class Kind {
    Invalid, // the graph and its inputs don't go together
    Memory,  // there is not enough
    Launch,  // the launch function refused, or `prepare` (then without a call)
  };
  Kind kind = Kind::Invalid;
  Error error;
  /// The call in which it was found, if it was in one: of a kernel, or of a graph (a frame).
  std::optional<uint32_t> call, frame;
};

/// What the tensors between calls take.
struct GraphMemory {
  /// All that is allocated for them.
  uint64_t peakBytes = 0;
  /// What it would be if none shared memory.
  uint64_t sumBytes = 0;
  /// How many there are, and how many of them an `inout` call changed in place.
  uint64_t tensors = 0, inPlace = 0;
};

struct GraphOutcome {
  std::optional<GraphFailure> failure;
  /// One a result; a result that is an input is that input.
  std::vector<std::shared_ptr<const Tensor>> results;
  /// In a space: where each input is to be before the calls run, and each result is afterwards. An
  /// input that no call reads has no data; a scalar has no shape and no data.
  std::vector<PlacedTensor> inputPlaces, resultPlaces;
  /// The input that a result is, by result; none for those that calls write.
  std::vector<std::optional<uint32_t>> resultInputs;
  GraphMemory memory;
};

/// Runs a plan that is valid (Validation.h) on inputs of the right types, one a parameter.
/// `kernels[k]` is the signature of kernel k. All errors that shapes and scalars can cause are
/// found before the first call runs.
GraphOutcome runGraph(const GraphPlan &plan, std::span<const Signature *const> kernels,
                      std::span<const GraphInput> inputs, const DimValues &dims,
                      LaunchFunction launch, const GraphOptions &options = {});

/// Whether each input is a tensor or scalar of the type that the signature says.
Status checkInputs(const Signature &signature, std::span<const GraphInput> inputs);

/// "x: f32[M, N]".
std::string declarationOf(const ParamRule &param);

} // namespace tile::runtime
