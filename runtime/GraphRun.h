// Runs the plan of a graph: binds all shapes first, then places the tensors, then runs the calls,
// independent ones at the same time.
#pragma once

#include "runtime/Binding.h"
#include "runtime/FunctionRef.h"
#include "runtime/Tensor.h"

#include <functional>
#include <memory>

namespace tile::runtime {

/// A tensor, or the bits of a scalar.
struct GraphInput {
  std::shared_ptr<const Tensor> tensor;
  uint64_t bits = 0;
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
  /// Fill what is to be written with wrong values first.
  bool poisons = false;
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
