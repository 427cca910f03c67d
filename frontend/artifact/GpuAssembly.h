//===- GpuAssembly.h - from PTX to machine code, ahead of time ------------===//
//
// A cubin is made by ptxas, where NVIDIA's toolkit is found, else by the driver
// of a device that the code is for. Its text comes from nvdisasm or cuobjdump.
// Nothing of it is needed to run kernels: the driver compiles PTX by itself.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_ARTIFACT_GPUASSEMBLY_H
#define TILE_FRONTEND_ARTIFACT_GPUASSEMBLY_H

#include "frontend/base/Outcome.h"
#include "runtime/cuda/Device.h"

#include "llvm/ADT/StringRef.h"

namespace tile::frontend {

/// A program of the toolkit: in PATH, else in `bin` of CUDA_HOME or CUDA_PATH, or, where neither
/// is set, of /usr/local/cuda. Empty if it isn't there.
std::string findToolkitProgram(llvm::StringRef name);

/// What the machine has to make code for.
struct GpuChoice {
  /// The name of a runtime::GpuTarget.
  std::string target;
  /// The device, where the code is to be for just this one (`--target=native`).
  std::optional<runtime::cuda::DeviceProperties> device;
};

/// `native` is the first device's; an error where there is none.
Outcome<GpuChoice> chooseGpu(llvm::StringRef target);

/// Machine code.
struct Cubin {
  std::string bytes;
  /// What a thread keeps in local memory: registers that were spilled.
  int64_t localBytes = 0;
};

/// The cubin of PTX that was made for the choice. Errors: neither ptxas nor a device for it, with
/// both reasons; what ptxas says.
Outcome<Cubin> assembleCubin(llvm::StringRef ptx, const GpuChoice &choice);

/// The machine code of a cubin as text. The error, where no program for that is found, names both.
Outcome<std::string> disassemble(llvm::StringRef cubin);

} // namespace tile::frontend

#endif // TILE_FRONTEND_ARTIFACT_GPUASSEMBLY_H
