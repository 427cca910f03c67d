// What the driver says about code that it is given.
#pragma once

#include "runtime/cuda/Device.h"

namespace tile::runtime::cuda {

/// Options for a call that loads or compiles code, with buffers for what it says. They have to live
/// until the call, or what it has made of them, is done.
class JitLogs {
public:
  /// The first of them serve machine code, too.
  static constexpr unsigned countForCubin = 4, countForPtx = 6;

  JitLogs() = default;
  JitLogs(const JitLogs &) = delete;

  CUjit_option *options() { return wanted; }
  void **values() { return given; }

  /// What it reports of code that it takes.
  std::string info() const { return textOf(infoBuffer); }
  /// The error of code that it doesn't take: `what`, the driver's text, and all it says.
  Error error(const Device &device, CUresult code, const std::string &what) const;

private:
  static constexpr size_t size = 16384;
  /// Numbers stand where the driver wants pointers.
  static void *number(size_t value) { return reinterpret_cast<void *>(value); }
  /// Without blank lines at the end, and without control bytes.
  static std::string textOf(const std::string &buffer);

  std::string infoBuffer = std::string(size, '\0'), errorBuffer = std::string(size, '\0');
  CUjit_option wanted[countForPtx] = {CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                      CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                      CU_JIT_LOG_VERBOSE,      CU_JIT_GENERATE_LINE_INFO};
  void *given[countForPtx] = {infoBuffer.data(), number(size), errorBuffer.data(),
                              number(size),      number(1),    number(1)};
};

} // namespace tile::runtime::cuda
