#include "runtime/cuda/JitLogs.h"

#include <cstring>

namespace tile::runtime::cuda {

std::string JitLogs::textOf(const std::string &buffer) {
  std::string text;
  for (char c : buffer.substr(0, ::strnlen(buffer.data(), size)))
    if (c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20)
      text += c;
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return text;
}

/// What to do about code that the driver doesn't take.
static std::string hintFor(const Device &device, CUresult code) {
  if (code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    return "update the NVIDIA driver, which is for CUDA " +
           formatVersion(device.driver().version()) + ", or compile to a cubin";
  if (code == CUDA_ERROR_JIT_COMPILER_NOT_FOUND)
    return "the driver's compiler, libnvidia-ptxjitcompiler.so.1, is missing: reinstall the "
           "NVIDIA driver";
  Result<std::string> target = targetFor(device.properties().major, device.properties().minor);
  return std::string("compile it anew for this device: --target=") + (target ? *target : "native");
}

Error JitLogs::error(const Device &device, CUresult code, const std::string &what) const {
  Error error = device.error(code, what, hintFor(device, code));
  for (const std::string &text : {textOf(errorBuffer), textOf(infoBuffer)})
    if (!text.empty())
      error.message += "\n" + text;
  return error;
}

} // namespace tile::runtime::cuda
