//===- CudaExecution.h - kernels on a CUDA device -------------------------===//
//
// Opens the device when the first kernel needs it, compiles for it, and launches
// on host tensors: what a kernel reads is copied to the device, what it writes
// back.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EXECUTE_CUDAEXECUTION_H
#define TILE_FRONTEND_EXECUTE_CUDAEXECUTION_H

#include "frontend/base/Outcome.h"
#include "frontend/execute/Compiler.h"
#include "ir/transforms/Specialize.h"
#include "runtime/cuda/LoadedKernel.h"

#include <memory>

namespace tile::runtime {
struct LaunchReport;
class Sanitizer;
} // namespace tile::runtime
namespace tile::runtime::cuda {
class DeviceReports;
} // namespace tile::runtime::cuda

namespace tile::frontend {

/// A kernel that is loaded on the device.
struct CudaKernel {
  std::shared_ptr<const runtime::cuda::LoadedKernel> loaded;
  /// The tile sizes that it was compiled with.
  std::vector<std::pair<std::string, int64_t>> schedule;
};

/// What a kernel is compiled for.
struct CudaSpecialization {
  ir::Bindings bindings;
  /// Binders whose sizes may be smaller than the bindings say (Compiler::chooseGpuTiles).
  std::vector<std::string> open;
  /// Of dimensions: an attribute that the kernel gets (codegen/gpu/GpuCompiler.h).
  mlir::DictionaryAttr divisors;
  /// Every access is watched.
  bool sanitizes = false;
  /// The most that dimensions come to: an attribute that the kernel gets.
  mlir::DictionaryAttr limits = {};
  /// See codegen::GpuOptions.
  int64_t mostElements = 2048;
};

/// The code of a template for a target, as PTX. Problems of the kernel are reported. Sizes that
/// had to be smaller are so in `to`; `compiled` gets the specialized kernel.
Outcome<runtime::CudaCode> generateCuda(Compiler &compiler, ir::KernelOp source,
                                        CudaSpecialization &to, const runtime::GpuTarget &target,
                                        mlir::OwningOpRef<ir::KernelOp> *compiled = nullptr);

/// How many blocks each binder of a specialized kernel has, computed from dimensions and scalars.
Outcome<std::vector<runtime::Program>> countPrograms(ir::KernelOp kernel);

/// One launch on host memory; everything by parameter.
struct CudaLaunch {
  llvm::ArrayRef<const void *> params;
  /// Null for scalars.
  llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes;
  llvm::ArrayRef<int64_t> dims;
  /// Outputs go to the device, too: what nobody writes shows.
  bool poisons = false;
  /// Room for what the kernel says, in bytes.
  uint64_t reportBytes = uint64_t(1) << 20;
  /// Gets what the kernel says.
  runtime::LaunchReport *report = nullptr;
  /// Watches a kernel that was loaded for it.
  runtime::Sanitizer *sanitizer = nullptr;
};

/// A launch's arguments on the device.
struct CudaArguments {
  /// By parameter; those of scalars are empty.
  std::vector<runtime::cuda::DeviceBuffer> buffers;
  std::optional<runtime::cuda::PreparedLaunch> launch;
  /// Where a kernel reports to that has something to say.
  std::shared_ptr<runtime::cuda::DeviceReports> reports;
};

class CudaContext {
public:
  /// Opens a device by its index. Without a driver it is this machine's.
  static Outcome<std::unique_ptr<CudaContext>>
  open(int index = 0, std::shared_ptr<const runtime::cuda::Driver> driver = nullptr);
  /// The device of a stream, and everything on that stream.
  static Outcome<std::unique_ptr<CudaContext>> open(std::shared_ptr<runtime::cuda::Stream> stream);
  ~CudaContext();

  /// Loads the code of a template: from the compiler's cache, or it is compiled and stored there.
  /// Problems of the kernel are reported, and spilled registers, as a remark. A hit lowers nothing:
  /// its key is made of the template and what it is compiled for.
  Outcome<CudaKernel> load(Compiler &compiler, ir::KernelOp kernel,
                           const CudaSpecialization &to) const;
  /// What it compiles for, with what is known of the device.
  const runtime::GpuTarget &codeTarget() const { return target; }
  /// Launches, and waits. An assertion that failed is in the report; then the outputs hold
  /// anything.
  Outcome<std::monostate> launch(ir::KernelOp kernel, const CudaKernel &code,
                                 const CudaLaunch &launch);

  /// Its two halves before the results come back, for launches that are made again and again:
  /// copies what the kernel reads to the device, and launches without waiting.
  Outcome<CudaArguments> upload(ir::KernelOp kernel, const CudaKernel &code,
                                const CudaLaunch &launch);
  Outcome<std::monostate> start(CudaArguments &arguments);

  const std::shared_ptr<runtime::cuda::Stream> &sharedStream() const { return stream; }

private:
  Outcome<CudaArguments> launchAndListen(ir::KernelOp kernel, const CudaKernel &code,
                                         const CudaLaunch &launch);
  CudaContext(std::shared_ptr<runtime::cuda::Device> device,
              std::shared_ptr<runtime::cuda::Stream> stream, const runtime::GpuTarget &target);
  std::string describe(ir::KernelOp kernel, const CudaSpecialization &to) const;
  Outcome<runtime::CudaVariant> generate(Compiler &compiler, ir::KernelOp source,
                                         CudaSpecialization to) const;

  std::shared_ptr<runtime::cuda::Device> device;
  std::shared_ptr<runtime::cuda::Stream> stream;
  runtime::GpuTarget target;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_CUDAEXECUTION_H
