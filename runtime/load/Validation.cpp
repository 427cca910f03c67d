#include "runtime/load/Validation.h"
#include "runtime/launch/Evaluate.h"
#include "runtime/load/ValidationCuda.h"
#include "runtime/tensor/DType.h"
#include "runtime/tensor/Tensor.h"

#include <span>

namespace tile::runtime {

namespace {

Error wrong(const std::string &what) { return {what, ""}; }

std::optional<Number> numberOf(const std::string &type) {
  Result<DType> known = parseDType(type);
  // Only the name itself: others are spelt in more than one way.
  if (!known || nameOf(*known) != type)
    return std::nullopt;
  switch (*known) {
  case DType::Bool:
    return Number::I1;
  case DType::I8:
  case DType::U8:
    return Number::I8;
  case DType::I16:
  case DType::U16:
    return Number::I16;
  case DType::I32:
  case DType::U32:
    return Number::I32;
  case DType::I64:
  case DType::U64:
    return Number::I64;
  case DType::F16:
    return Number::F16;
  case DType::BF16:
    return Number::BF16;
  case DType::F32:
    return Number::F32;
  case DType::F64:
    return Number::F64;
  case DType::F8E4M3:
    return Number::F8E4M3;
  case DType::F8E5M2:
    return Number::F8E5M2;
  }
  return std::nullopt;
}

/// By parameter; nothing for tensors.
std::vector<std::optional<Number>> scalarsOf(const Signature &signature) {
  std::vector<std::optional<Number>> scalars;
  for (const ParamRule &param : signature.params)
    scalars.push_back(param.isTensor ? std::nullopt : numberOf(param.type));
  return scalars;
}

bool areBelow(std::span<const uint32_t> numbers, size_t limit) {
  for (uint32_t number : numbers)
    if (number >= limit)
      return false;
  return true;
}

bool isIntegerProgram(const Program &program) {
  return !program.empty() && !isFloat(program.back().type);
}

bool isInput(const ParamRule &param) {
  return param.mode == ParamMode::In || param.mode == ParamMode::InOut;
}

Status checkParam(const ParamRule &param, size_t numDims) {
  if (!numberOf(param.type))
    return wrong("`" + param.name + "` has an unknown type");
  if (!param.isTensor && (param.mode != ParamMode::In || !param.shape.empty()))
    return wrong("the scalar `" + param.name + "` has a shape or is written");
  if (param.shape.size() > maxRank)
    return wrong("`" + param.name + "` has too many dimensions");
  for (const ExtentRule &extent : param.shape)
    if (!isValid(extent.program, numDims, {}) || !isIntegerProgram(extent.program) ||
        extent.program.back().type != Number::I64 || !areBelow(extent.dims, numDims))
      return wrong("an extent of `" + param.name + "` is malformed");
  return {};
}

Status checkSignature(const Signature &signature) {
  size_t numDims = signature.dims.size();
  for (const ConstantRule &constant : signature.constants)
    if (constant.dim >= numDims)
      return wrong("a constant of `" + signature.name + "` is none of its dimensions");
  for (auto [dim, value] : signature.bound)
    if (dim >= numDims)
      return wrong("a bound dimension of `" + signature.name + "` is none of its dimensions");
  for (const ParamRule &param : signature.params)
    if (Status done = checkParam(param, numDims); !done)
      return done;
  std::vector<std::optional<Number>> scalars = scalarsOf(signature);
  for (const RequireRule &rule : signature.requirements)
    if (!isValid(rule.program, numDims, scalars) || !isIntegerProgram(rule.program) ||
        !areBelow(rule.dims, numDims) || !areBelow(rule.scalars, signature.params.size()))
      return wrong("a requirement of `" + signature.name + "` is malformed");
  return {};
}

Status checkKernel(const KernelData &kernel, const ArtifactData &artifact) {
  const Signature &signature = kernel.signature;
  if (Status done = checkSignature(signature); !done)
    return done;
  for (const VariantData &variant : kernel.variants) {
    if (variant.image >= artifact.images.size())
      return wrong("a variant of `" + signature.name + "` has no image");
    if (!variant.guard.empty() && (!isValid(variant.guard, signature.dims.size(), {}) ||
                                   variant.guard.back().type != Number::I1))
      return wrong("a guard of `" + signature.name + "` is malformed");
  }
  for (const CudaVariant &variant : kernel.cuda)
    if (!isValidVariant(variant, signature, scalarsOf(signature)))
      return wrong("GPU code of `" + signature.name + "` is malformed");
  return {};
}

//===-- Plans -------------------------------------------------------------===//

class PlanChecker {
public:
  PlanChecker(const GraphPlan &plan, const std::vector<KernelData> &kernels)
      : plan(plan), kernels(kernels), types(plan.numTensors > maxTensors() ? 0 : plan.numTensors),
        isOpen(plan.frames.size()), isClosed(plan.frames.size()), isDone(plan.calls.size()) {}

  Status run() {
    if (plan.frames.empty() || plan.numTensors > maxTensors())
      return wrong("a graph has no frame, or more tensors than are written");
    for (const PlanStep &step : plan.steps) {
      size_t count = step.kind == PlanStep::Kind::Call ? plan.calls.size() : plan.frames.size();
      if (step.index >= count)
        return bad("a step");
      Status done = step.kind == PlanStep::Kind::Open   ? open(step.index)
                    : step.kind == PlanStep::Kind::Call ? call(step.index)
                                                        : close(step.index);
      if (!done)
        return done;
    }
    for (size_t n = 0; n < plan.calls.size(); ++n)
      if (!isDone[n])
        return bad("a call that never runs");
    for (size_t n = 0; n < plan.frames.size(); ++n)
      if (!isClosed[n])
        return bad("a frame that is never left");
    return next == plan.numTensors ? Status() : bad("a tensor that nothing writes");
  }

private:
  /// Each tensor is an input or an output of a call.
  uint64_t maxTensors() const {
    uint64_t count = plan.frames.empty() ? 0 : plan.frames[0].signature.params.size();
    for (const PlanCall &call : plan.calls)
      count += call.outputs.size();
    return count;
  }

  Error bad(const std::string &what) const {
    return wrong("the plan of `" + plan.signature().name + "` has " + what + " that is malformed");
  }

  Status open(uint32_t index) {
    const PlanFrame &frame = plan.frames[index];
    if (isOpen[index] || (index == 0) == anyOpen)
      return bad("a frame");
    if (Status done = checkSignature(frame.signature); !done)
      return done;
    for (const ParamRule &param : frame.signature.params)
      if (param.mode != ParamMode::In && param.mode != ParamMode::Out)
        return bad("a parameter");
    if (index == 0) {
      if (!frame.inputs.empty() || !frame.constants.empty() || frame.caller != 0)
        return bad("a frame");
      for (const ParamRule &param : frame.signature.params)
        if (param.mode == ParamMode::In && param.isTensor)
          if (Status done = write(next, param); !done)
            return done;
    } else if (Status done =
                   checkOperands(frame.caller, frame.signature, frame.inputs, frame.constants);
               !done) {
      return done;
    }
    anyOpen = isOpen[index] = true;
    if (!isValid(frame.program, frame.signature.dims.size(), scalarsOf(frame.signature)))
      return bad("a program");
    for (const PlanRequirement &rule : frame.requirements)
      if (rule.value >= frame.program.size() || frame.program[rule.value].type != Number::I1)
        return bad("a requirement");
    return {};
  }

  Status call(uint32_t index) {
    const PlanCall &call = plan.calls[index];
    if (isDone[index] || call.kernel >= kernels.size())
      return bad("a call");
    isDone[index] = true;
    const Signature &callee = kernels[call.kernel].signature;
    if (Status done = checkOperands(call.frame, callee, call.inputs, call.constants); !done)
      return done;
    size_t position = 0;
    for (const ParamRule &param : callee.params) {
      if (param.mode == ParamMode::In)
        continue;
      if (position == call.outputs.size())
        return bad("a call");
      if (Status done = write(call.outputs[position++], param); !done)
        return done;
    }
    return position == call.outputs.size() ? Status() : bad("a call");
  }

  Status close(uint32_t index) {
    const PlanFrame &frame = plan.frames[index];
    if (!isOpen[index] || isClosed[index])
      return bad("a frame");
    isClosed[index] = true;
    size_t position = 0;
    for (const ParamRule &param : frame.signature.params) {
      if (param.mode != ParamMode::Out)
        continue;
      if (position == frame.results.size() || !isTensor(frame.results[position++], param))
        return bad("a result");
    }
    return position == frame.results.size() ? Status() : bad("a result");
  }

  Status checkOperands(uint32_t caller, const Signature &callee,
                       const std::vector<PlanOperand> &operands,
                       const std::vector<PlanConstant> &constants) {
    if (caller >= plan.frames.size() || !isOpen[caller] || isClosed[caller])
      return bad("a caller");
    const Program &values = plan.frames[caller].program;
    size_t position = 0;
    for (const ParamRule &param : callee.params) {
      if (!isInput(param))
        continue;
      if (position == operands.size())
        return bad("an operand");
      const PlanOperand &operand = operands[position++];
      bool fits = operand.isTensor == param.isTensor &&
                  (param.isTensor ? isTensor(operand.index, param)
                                  : operand.index < values.size() &&
                                        values[operand.index].type == numberOf(param.type));
      if (!fits)
        return bad("an operand");
    }
    for (const PlanConstant &constant : constants)
      if (constant.value >= values.size() || values[constant.value].type != Number::I64)
        return bad("a constant");
    return position == operands.size() ? Status() : bad("an operand");
  }

  /// Tensors are written in their order.
  Status write(uint32_t tensor, const ParamRule &param) {
    if (tensor != next || tensor >= types.size())
      return bad("a tensor");
    types[next++] = &param.type;
    return {};
  }

  bool isTensor(uint32_t tensor, const ParamRule &param) const {
    return tensor < next && *types[tensor] == param.type;
  }

  const GraphPlan &plan;
  const std::vector<KernelData> &kernels;
  std::vector<const std::string *> types;
  std::vector<bool> isOpen, isClosed, isDone;
  uint32_t next = 0;
  bool anyOpen = false;
};

} // namespace

Status validatePlan(const GraphPlan &plan, const std::vector<KernelData> &kernels) {
  return PlanChecker(plan, kernels).run();
}

Status validate(const ArtifactData &artifact) {
  for (const KernelData &kernel : artifact.kernels)
    if (Status done = checkKernel(kernel, artifact); !done)
      return done;
  for (const GraphPlan &plan : artifact.graphs)
    if (Status done = validatePlan(plan, artifact.kernels); !done)
      return done;
  for (const EntryData &entry : artifact.entries) {
    size_t count = entry.isGraph ? artifact.graphs.size() : artifact.kernels.size();
    if (entry.index >= count)
      return wrong("the entry `" + entry.name + "` names nothing");
  }
  return {};
}

} // namespace tile::runtime
