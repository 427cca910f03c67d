//===- Execution.h - runs kernels and graphs on host tensors --------------===//
//
// An Executor runs what a module of templates holds, on one device: it checks
// the arguments, binds dimensions to their shapes, checks the author's
// requirements, allocates outputs, and runs. Graphs run by the runtime's plans
// (GraphRun.h): tensors between calls share memory, and on the CPU independent
// calls run at the same time. What was compiled is kept for the next run.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EXECUTE_EXECUTION_H
#define TILE_FRONTEND_EXECUTE_EXECUTION_H

#include "frontend/base/Interface.h"
#include "frontend/execute/Compiler.h"
#include "frontend/execute/TileSizes.h"
#include "runtime/launch/GraphRun.h"
#include "runtime/tensor/Tensor.h"

#include "llvm/ADT/StringMap.h"

namespace tile::runtime {
struct AssertionFailure;
}
namespace tile::runtime::cuda {
class Driver;
class Stream;
} // namespace tile::runtime::cuda

namespace tile::frontend {

class CudaContext;
struct CodeFacts;
struct CudaRun;

enum class Device { Cpu, Cuda, Interp };
llvm::StringRef nameOf(Device device);

struct DeviceChoice {
  Device device = Device::Cpu;
  /// Of Cuda, as the driver counts them.
  int index = 0;
};
/// Of "cpu", "cuda", "cuda:1" and "interp".
Outcome<DeviceChoice> parseDevice(llvm::StringRef text);

/// A tensor, or the bits of a scalar.
struct Argument {
  std::shared_ptr<const runtime::Tensor> tensor;
  uint64_t bits = 0;
};

using Arguments = std::vector<Argument>;
using Outputs = std::vector<std::shared_ptr<const runtime::Tensor>>;

class Executor {
public:
  Executor(Compiler &compiler, mlir::ModuleOp module, Device device);
  ~Executor();

  /// Of the runs from now on.
  TileSizes sizes;
  /// Kernels that get no sizes here take those that `tilec tune` found, if it did.
  bool usesTuned = true;
  /// The interpreter runs the programs of a kernel last to first.
  bool reverseOrder = false;
  /// The interpreter bounds what results of another device may differ by, each element's by what
  /// the kernels round and sum (ir/interpreter/InterpreterErrors.h); `errorsIn` has the bounds.
  std::optional<Device> tracksErrorsOf;
  /// By element, of a result of the last run; empty: all are 0.
  llvm::ArrayRef<float> errorsIn(const runtime::Tensor &result) const;
  /// Outputs are filled with wrong values first, so that an element that nobody writes shows.
  bool poisons = false;
  /// On the CPU and on a GPU: every access is watched (runtime/launch/Sanitizer.h), and a launch in
  /// which one is wrong fails.
  bool sanitizes = false;
  /// Of Device::Cuda: which one, and the driver that knows it (null: this machine's).
  int deviceIndex = 0;
  std::shared_ptr<const runtime::cuda::Driver> driver;
  /// Where everything runs there, instead of both; null: on a new stream.
  std::shared_ptr<runtime::cuda::Stream> stream;
  /// Prints are not shown.
  bool isQuiet = false;
  /// Gets the prints, whole lines at a time; none: standard error.
  std::function<void(llvm::StringRef)> print;
  /// Spent so far in compiling, as part of runs.
  double compileSeconds = 0;
  /// What the tensors between the calls of the last graph took.
  std::optional<runtime::GraphMemory> graphMemory;

  /// Runs a kernel or graph. `arguments` are its inputs in order, `dims` values of
  /// constants and of dimensions by name.
  Outcome<Outputs> run(llvm::StringRef symbol, Arguments arguments,
                       const llvm::StringMap<int64_t> &dims);

  /// What was compiled for a launch, and the kernel as it was specialized for it: on a GPU that is
  /// only made here, since code may come from the cache.
  struct Compiled;
  Outcome<ir::KernelOp> specialized(Compiled &code);
  /// A launch of a kernel with all that it needs (ExecutionImpl.h), to be made once or many times.
  struct Prepared;
  Outcome<std::unique_ptr<Prepared>> prepare(ir::KernelOp kernel, const Arguments &arguments,
                                             const llvm::StringMap<int64_t> &dims);
  /// What a run of a kernel or graph would launch, in order, without compiling or running anything:
  /// the template, and all that a launch is bound to but memory. `inputs` may be tensors without
  /// data. Fails as a run would that finds its arguments wrong, or as `see` does.
  using SeeLaunch = llvm::function_ref<Outcome<std::monostate>(
      ir::KernelOp kernel, const runtime::KernelLaunch &launch)>;
  Outcome<std::monostate> eachLaunch(llvm::StringRef symbol,
                                     std::span<const runtime::GraphInput> inputs,
                                     const llvm::StringMap<int64_t> &dims, SeeLaunch see);
  /// Compiles all that a run would launch, as far as that has not been done.
  Outcome<std::monostate> compileAll(llvm::StringRef symbol,
                                     std::span<const runtime::GraphInput> inputs,
                                     const llvm::StringMap<int64_t> &dims);
  /// The tuned schedule for a launch of a kernel on this device; null if there is none, or if sizes
  /// are given for the kernel.
  Outcome<const Schedule *> tunedFor(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims);
  /// Whether it makes code for a GPU that a device can be asked about.
  bool makesGpuCode() const { return device == Device::Cuda && !sanitizes; }
  /// Makes the code of a kernel for a launch with these dims, and says what it is like.
  Outcome<CodeFacts> codeFacts(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims);
  /// Makes it, and waits. `inout` tensors go on from what the launch before left.
  Outcome<std::monostate> launch(Prepared &prepared);
  /// The GPU; null before a kernel has needed it, or it was opened.
  CudaContext *cudaContext() { return cuda.get(); }
  Outcome<std::monostate> openCuda();
  /// On CUDA: binds a kernel or graph to tensors of the device, to be run many times (CudaRun.h).
  /// `inputs` are as those of `run`, tensors by their place; `results` say where outputs are to be
  /// (null, or too few: in memory that the run keeps).
  Outcome<CudaRun> bindOnCuda(llvm::StringRef symbol, std::span<const runtime::GraphInput> inputs,
                              const llvm::StringMap<int64_t> &dims,
                              std::vector<const runtime::PlacedTensor *> results = {});

private:
  Outcome<Outputs> runKernel(ir::KernelOp kernel, const Arguments &arguments,
                             const llvm::StringMap<int64_t> &dims);
  Outcome<Outputs> runGraph(ir::GraphOp graph, Arguments arguments,
                            const llvm::StringMap<int64_t> &dims);
  struct Plan;
  struct RawLaunch;
  Outcome<std::monostate> launch(Compiled &code, const RawLaunch &launch);
  Failure failedAssertion(Compiled &code, const RawLaunch &launch,
                          const runtime::AssertionFailure &failure);
  Outcome<std::monostate> interpret(Compiled &code, const RawLaunch &launch);
  /// Of a tensor's elements (ir/interpreter/Interpreter.h).
  struct Errors {
    std::vector<float> bounds, deviations;
  };
  std::vector<Errors> errorsBefore(ir::KernelOp kernel, const RawLaunch &launch) const;
  void keepErrors(const RawLaunch &launch, std::vector<Errors> found);
  void show(llvm::StringRef lines) const;
  Outcome<Plan *> planned(ir::GraphOp graph);
  Outcome<Outputs> runGraphOnCuda(ir::GraphOp graph, Plan &plan, const Arguments &arguments,
                                  const llvm::StringMap<int64_t> &dims);
  Outcome<CudaRun> bindGraph(Plan &plan, std::span<const runtime::GraphInput> inputs,
                             const llvm::StringMap<int64_t> &dims,
                             std::vector<const runtime::PlacedTensor *> results);
  Outcome<CudaRun> bindKernel(ir::KernelOp kernel, std::span<const runtime::GraphInput> inputs,
                              const llvm::StringMap<int64_t> &dims,
                              llvm::ArrayRef<const runtime::PlacedTensor *> results);
  static llvm::SmallVector<mlir::Location> callersOf(const Plan &plan, uint32_t call);
  Failure explain(const Plan &plan, runtime::GraphFailure failure,
                  llvm::MutableArrayRef<std::optional<Failure>> ofCalls) const;

  Compiler &compiler;
  mlir::ModuleOp module;
  Device device;
  /// By kernel and tile sizes, watched or not; by dimensions, too, as far as the code depends on
  /// them.
  using Key = std::tuple<mlir::Operation *, TileSizes::ByBinder, bool, std::vector<int64_t>>;
  std::map<Key, std::unique_ptr<Compiled>> cache;
  /// What launches got, by all that decides it: kernel, dims, sizes that are given, the schedule
  /// that was tuned, watched or not. To choose tile sizes takes longer than a small launch.
  using LaunchKey = std::tuple<mlir::Operation *, std::vector<int64_t>, TileSizes::ByBinder,
                               const Schedule *, bool>;
  std::map<LaunchKey, Compiled *> ofLaunches;
  /// Open once a kernel has needed it.
  std::unique_ptr<CudaContext> cuda;
  /// Graphs on it, each as it was bound last. They go before the device does.
  struct CudaGraph;
  std::map<mlir::Operation *, std::unique_ptr<CudaGraph>> cudaGraphs;
  /// `dims` are the launch's: they help to choose tile sizes.
  Outcome<Compiled *> compiled(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims);
  Outcome<Compiled *> compiled(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                               ir::Bindings bindings, const Schedule *tuned);
  std::map<mlir::Operation *, std::unique_ptr<Plan>> plans;
  /// Those of tensors that are not exact, by where these are.
  std::map<const void *, Errors> errors;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_EXECUTION_H
