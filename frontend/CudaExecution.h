//===- CudaExecution.h - kernels on a CUDA device -------------------------===//
//
// Opens the device when the first kernel needs it, compiles for it, and launches
// on host tensors: what a kernel reads is copied to the device, what it writes
// back.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_CUDAEXECUTION_H
#define TILE_FRONTEND_CUDAEXECUTION_H

#include "codegen/gpu/GpuCompiler.h"
#include "frontend/Outcome.h"
#include "ir/Specialize.h"
#include "runtime/artifact/Program.h"
#include "runtime/cuda/DeviceBuffer.h"

#include <memory>

namespace tile::runtime::cuda {
class Driver;
class Function;
} // namespace tile::runtime::cuda

namespace tile::frontend {

/// A kernel that is loaded on the device.
struct CudaKernel {
  std::shared_ptr<runtime::cuda::Function> function;
  /// Before and after it; null: there is none (codegen::GpuCode).
  std::shared_ptr<runtime::cuda::Function> start, finish;
  llvm::SmallVector<codegen::ReduceCopies, 1> copies;
  unsigned threads = 0;
  int64_t sharedBytes = 0;
  /// How many programs a launch has: the product of these, each at least 0.
  std::vector<runtime::Program> programs;
};

/// One launch on host memory; everything by parameter.
struct CudaLaunch {
  llvm::ArrayRef<const void *> params;
  /// Null for scalars.
  llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes;
  llvm::ArrayRef<int64_t> dims;
  /// Outputs go to the device, too: what nobody writes shows.
  bool poisons = false;
};

/// A launch's arguments on the device.
struct CudaArguments {
  /// By parameter; those of scalars are empty.
  std::vector<runtime::cuda::DeviceBuffer> buffers;
  /// What the kernel takes: addresses and scalars, then dimensions.
  std::vector<uint64_t> words;
  std::vector<int64_t> dims;
  /// Of tensors.
  std::vector<int64_t> elements;
  uint32_t programs = 0;
};

class CudaContext {
public:
  /// Opens a device by its index. Without a driver it is this machine's.
  static Outcome<std::unique_ptr<CudaContext>>
  open(int index = 0, std::shared_ptr<const runtime::cuda::Driver> driver = nullptr);
  ~CudaContext();

  /// Binds what code for the GPU depends on: dimensions that whole axes are as long as, and the
  /// powers of two that divide the others.
  static void bind(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims, ir::Bindings &bindings);
  /// The divisors of dimensions, as an attribute that the kernel gets (codegen/gpu/Lowering.h).
  static mlir::DictionaryAttr divisorsOf(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims);

  /// Compiles a specialized kernel and loads it. Problems of the kernel are reported, and spilled
  /// registers, as a remark.
  Outcome<CudaKernel> load(ir::KernelOp kernel);
  /// Launches, and waits.
  Outcome<std::monostate> launch(ir::KernelOp kernel, const CudaKernel &code,
                                 const CudaLaunch &launch);
  /// Its two halves before the results come back, for launches that are made again and again:
  /// copies what the kernel reads to the device, and launches without waiting.
  Outcome<CudaArguments> upload(ir::KernelOp kernel, const CudaKernel &code,
                                const CudaLaunch &launch);
  Outcome<std::monostate> start(ir::KernelOp kernel, const CudaKernel &code,
                                CudaArguments &arguments);

  const std::shared_ptr<runtime::cuda::Stream> &sharedStream() const { return stream; }

private:
  CudaContext(std::shared_ptr<runtime::cuda::Device> device,
              std::shared_ptr<runtime::cuda::Stream> stream, std::string target);
  std::shared_ptr<runtime::cuda::Device> device;
  std::shared_ptr<runtime::cuda::Stream> stream;
  std::string target;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_CUDAEXECUTION_H
