#include "runtime/load/ArtifactState.h"
#include "runtime/tensor/Scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tile::runtime {

std::string LaunchArgument::realText(double number) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  char text[64];
  auto [end, problem] = std::to_chars(text, text + sizeof text, number); // whatever the locale
  std::string result(text, end);
  // A real stays a real: 2.0 is no integer.
  return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
}

/// Whether a tensor is where the launch is going to run.
Status ArtifactArguments::checkPlace(const ParamRule &param, const LaunchArgument &argument,
                                     const cuda::Device *device) const {
  if (!device && argument.onDevice)
    return Error{inCode(param.name) + " is " + argument.onDevice->describe() +
                     ", and the launch runs on the processor",
                 "launch(gpu, …) runs it there; gpu.download(…) brings the tensor here"};
  if (!device)
    return {};
  std::string there = "device " + std::to_string(device->properties().index);
  if (argument.tensor)
    return Error{inCode(param.name) + " is " + argument.tensor->describe() +
                     " in the host's memory, and the launch runs on " + there,
                 "gpu.upload(…) brings it there"};
  if (argument.onDevice && argument.onDevice->device() &&
      argument.onDevice->device()->context() != device->context())
    return Error{inCode(param.name) + " is " + argument.onDevice->describe() +
                     ", and the launch runs on " + there,
                 "all tensors of a launch have to be on one device"};
  return {};
}

const PlacedTensor *ArtifactArguments::place(const cuda::DeviceTensor &tensor) {
  return &places.emplace_back(PlacedTensor{tensor.dtype(), tensor.shape(),
                                           reinterpret_cast<std::byte *>(tensor.address())});
}

/// Tensors that are given for outputs, where the launch runs on a device.
Status ArtifactArguments::addOutputs(const Signature &signature,
                                     const std::vector<NamedLaunchArgument> &given,
                                     const cuda::Device *device) {
  for (const ParamRule &param : signature.params) {
    if (param.mode == ParamMode::In)
      continue;
    const PlacedTensor *&output = outputs.emplace_back(nullptr);
    cuda::DeviceTensor &tensor = outputTensors.emplace_back();
    for (const NamedLaunchArgument &argument : given) {
      if (isInput(param) || argument.name != param.name)
        continue;
      if (Status fits = checkPlace(param, argument.value, device); !fits)
        return fits;
      if (!argument.value.onDevice)
        return Error{"output " + inCode(param.name) + " is a tensor, the argument a number", ""};
      tensor = *argument.value.onDevice;
      output = place(tensor);
    }
  }
  return {};
}

Status ArtifactArguments::bind(const Signature &signature,
                               const std::vector<NamedLaunchArgument> &given,
                               const cuda::Device *device) {
  std::vector<const LaunchArgument *> of(signature.params.size());
  for (const NamedLaunchArgument &argument : given) {
    auto isMeant = [&](const ParamRule &param) {
      return (isInput(param) || device) && param.name == argument.name;
    };
    auto param = std::find_if(signature.params.begin(), signature.params.end(), isMeant);
    const std::string &text = argument.value.text;
    if (param != signature.params.end()) {
      if (std::exchange(of[param - signature.params.begin()], &argument.value))
        return Error{inCode(argument.name) + " is given twice", ""};
      continue;
    }
    // A dimension or constant; the binding refuses names that are neither.
    int64_t value = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || problem != std::errc() || end != text.data() + text.size())
      return Error{inCode(signature.name) + " has no input " + inCode(argument.name), ""};
    dims[argument.name] = value;
  }
  for (size_t p = 0; p < of.size(); ++p) {
    const ParamRule &param = signature.params[p];
    if (!isInput(param))
      continue;
    GraphInput &input = inputs.emplace_back();
    if (!of[p] && !param.defaultBits)
      return Error{inCode(signature.name) + " needs an argument for " + inCode(param.name),
                   "it is declared as " + declarationOf(param)};
    if (!of[p]) {
      input.bits = *param.defaultBits;
      continue;
    }
    if (Status fits = checkPlace(param, *of[p], device); !fits)
      return fits;
    if (of[p]->tensor) {
      input.tensor = std::shared_ptr<const Tensor>(of[p]->owner, of[p]->tensor);
    } else if (of[p]->onDevice) {
      input.placed = place(*of[p]->onDevice);
    } else if (!param.isTensor) {
      Result<Scalar> scalar = parseScalar(of[p]->text);
      if (!scalar)
        return scalar.takeError();
      if (Status stored = storeScalar(*scalar, *parseDType(param.type), &input.bits); !stored)
        return Error{inCode(param.name) + ": " + stored.error().message, stored.error().hint};
    }
  }
  return device ? addOutputs(signature, given, device) : Status();
}

} // namespace tile::runtime
