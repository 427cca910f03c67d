#include "runtime/cuda/Assemble.h"
#include "runtime/cuda/JitLogs.h"
#include "runtime/cuda/PtxTarget.h"

#include <span>

namespace tile::runtime::cuda {

Result<AssembledCode> assemble(const Device &device, std::string_view ptx) {
  Result<std::string> what = describePtx(ptx, device.properties());
  if (!what)
    return what.takeError();
  std::string text(ptx); // ended by a NUL
  JitLogs logs;
  CUlinkState state = nullptr;
  void *cubin = nullptr;
  size_t bytes = 0;
  CUresult code = device.call(&DriverTable::linkCreate, JitLogs::countForPtx, logs.options(),
                              logs.values(), &state);
  if (!code)
    code = device.call(&DriverTable::linkAddData, state, CU_JIT_INPUT_PTX,
                       static_cast<void *>(text.data()), text.size() + 1, "kernels.ptx", 0u,
                       static_cast<CUjit_option *>(nullptr), static_cast<void **>(nullptr));
  if (!code)
    code = device.call(&DriverTable::linkComplete, state, &cubin, &bytes);
  AssembledCode result;
  if (!code) {
    std::span made(static_cast<const std::byte *>(cubin), bytes);
    result = {{made.begin(), made.end()}, logs.info()}; // the state's own goes with it
  }
  if (state)
    (void)device.call(&DriverTable::linkDestroy, state);
  if (code)
    return logs.error(device, code,
                      *what + " can't be compiled on device " +
                          std::to_string(device.properties().index) + ", " +
                          device.properties().name);
  return result;
}

} // namespace tile::runtime::cuda
