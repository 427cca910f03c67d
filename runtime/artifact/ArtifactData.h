// What an artifact holds: kernels and graphs, compiled, with all that a launch has to know.
// Plain data, no dependencies. Encoding.h makes bytes of it and checks what comes back;
// docs/artifact.md tells the whole story.
#pragma once

#include "runtime/artifact/CpuEntry.h"
#include "runtime/artifact/CudaCode.h"
#include "runtime/artifact/Program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tile::runtime {

//===-- The rules of a launch ---------------------------------------------===//

enum class ParamMode : uint8_t { In, Out, InOut, Reduce };

/// The extent of one dimension of a tensor.
struct ExtentRule {
  /// As the language writes it: "(K + 127) / 128".
  std::string text;
  /// Over the dimensions of the signature.
  Program program;
  /// Those that it speaks of, in their order.
  std::vector<uint32_t> dims;

  /// Its dimension if it is nothing but one.
  std::optional<uint32_t> bareDim() const {
    if (program.size() == 1 && program[0].opcode == Opcode::Dim)
      return static_cast<uint32_t>(program[0].immediate);
    return std::nullopt;
  }
  bool isConstant() const { return program.size() == 1 && program[0].opcode == Opcode::Constant; }
};

struct ParamRule {
  std::string name;
  /// The element type as the language spells it.
  std::string type;
  ParamMode mode = ParamMode::In;
  bool isTensor = false;
  std::vector<ExtentRule> shape;
  /// The bits of a scalar's default.
  std::optional<uint64_t> defaultBits;
  /// A scalar that indices or conditions are made of: it stays within 2^47.
  bool reachesIndex = false;
  /// How a `reduce` output combines.
  CpuCombine combine = CpuCombine::Add;
};

/// A dimension that no input has: its value is given by name.
struct ConstantRule {
  uint32_t dim = 0;
  std::optional<int64_t> value;
};

/// What `requires` says, in the order of the source.
struct RequireRule {
  /// Over the dimensions and the scalar parameters; holds if its value is not 0.
  Program program;
  std::string text;
  /// The dimensions and parameters that it speaks of.
  std::vector<uint32_t> dims, scalars;
};

/// What a kernel or graph takes and gives, and when it may be launched.
struct Signature {
  /// The symbol: `matmul.f16`.
  std::string name;
  std::vector<std::string> dims;
  std::vector<ConstantRule> constants;
  /// Dimensions that the code was specialized for.
  std::vector<std::pair<uint32_t, int64_t>> bound;
  /// Inputs first. Of a graph: its inputs, then its results with mode Out.
  std::vector<ParamRule> params;
  std::vector<RequireRule> requirements;
};

//===-- Code --------------------------------------------------------------===//

/// Code for one target: a shared object that needs no library.
struct ImageData {
  /// "x86_64-linux".
  std::string platform;
  /// As `--target` named it.
  std::string cpu;
  /// The instruction sets that the processor must have, by the names of CpuFeatures.h.
  std::vector<std::string> features;
  /// What the image itself says it is, in its symbol `tile.image`.
  uint64_t id = 0;
  std::vector<std::byte> bytes;
};

/// Code of one kernel for some launches.
struct VariantData {
  /// Over the dimensions: whether it may run. Empty: always.
  Program guard;
  /// Binders and tile sizes.
  std::vector<std::pair<std::string, int64_t>> schedule;
  /// The image, and the name that its functions begin with.
  uint32_t image = 0;
  std::string symbol;
};

struct KernelData {
  Signature signature;
  /// The first one that the machine and the guard allow runs.
  std::vector<VariantData> variants;
  /// The same on GPUs: newer targets come first.
  std::vector<CudaVariant> cuda;
};

//===-- Graphs ------------------------------------------------------------===//

/// A tensor of the plan, or a number: a value of the program of a frame.
struct PlanOperand {
  bool isTensor = false;
  uint32_t index = 0;
};

/// A constant that a call gives, by name.
struct PlanConstant {
  std::string name;
  uint32_t value = 0;
};

/// A condition among the values of a frame's program.
struct PlanRequirement {
  uint32_t value = 0;
  std::string text;
};

/// A graph at work: the plan's own, or one that it calls, laid open.
struct PlanFrame {
  Signature signature;
  /// Values over its dimensions and scalar parameters. Wraps nowhere.
  Program program;
  std::vector<PlanRequirement> requirements;
  /// Who called it; frame 0 is the plan's own. Operands and constants are the caller's.
  uint32_t caller = 0;
  std::vector<PlanOperand> inputs;
  std::vector<PlanConstant> constants;
  /// Tensors, one a result.
  std::vector<uint32_t> results;
  /// "net.tile:12:9", where the call stands.
  std::string place;
};

/// A call of a kernel.
struct PlanCall {
  uint32_t kernel = 0;
  /// Whose values its operands and constants are.
  uint32_t frame = 0;
  std::vector<PlanOperand> inputs;
  std::vector<PlanConstant> constants;
  /// Tensors, one an output; each is written by this call alone.
  std::vector<uint32_t> outputs;
  /// Where it stands; in further lines the calls of the graphs that it was a part of.
  std::string place;
};

struct PlanStep {
  enum class Kind : uint8_t { Open, Call, Close };
  Kind kind = Kind::Call;
  /// Of a frame or call.
  uint32_t index = 0;
};

/// A graph with the graphs that it calls laid open: calls of kernels in an order in which they may
/// run. Tensors are numbered: the tensor inputs in order, then what calls write, in their order.
/// A tensor lives from the call that writes it to the last one that reads it.
struct GraphPlan {
  std::vector<PlanFrame> frames;
  std::vector<PlanCall> calls;
  std::vector<PlanStep> steps;
  uint32_t numTensors = 0;

  const Signature &signature() const { return frames.front().signature; }
};

//===-- The whole ---------------------------------------------------------===//

/// A name that can be called, for one choice of element types.
struct EntryData {
  /// As the source has it: `matmul`.
  std::string name;
  bool isGraph = false;
  /// Of a kernel or graph.
  uint32_t index = 0;
  /// The types that its generics are bound to: {"T", "f16"}.
  std::vector<std::pair<std::string, std::string>> types;
};

struct ArtifactData {
  /// What made it: "tilec 0.1.0, LLVM 22.1.8".
  std::string producer;
  std::vector<ImageData> images;
  std::vector<KernelData> kernels;
  /// Their calls name kernels of this artifact.
  std::vector<GraphPlan> graphs;
  std::vector<EntryData> entries;
};

} // namespace tile::runtime
