//===- Bench.h - how fast kernels are -------------------------------------===//
//
// Takes turns: in each round every contestant runs once, each time with caches
// that hold nothing of its data, so that what else happens on the machine hits
// all of them. Beside each kernel runs a copy of as many bytes.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_BENCH_BENCH_H
#define TILE_FRONTEND_BENCH_BENCH_H

#include "codegen/gpu/GpuCompiler.h"
#include "frontend/execute/Execution.h"
#include "frontend/model/Work.h"

namespace tile::frontend {

/// Times of one contestant, in seconds.
struct Timing {
  /// By size.
  std::vector<double> sorted;
  /// Round by round: two contestants are compared by what each took in the same one.
  std::vector<double> byRound;

  bool empty() const { return sorted.empty(); }
  /// The value that a share of the times is not above: 0.5 gives the median.
  double quantile(double share) const;
  double median() const { return quantile(0.5); }
  /// Half the distance between the quartiles, as a share of the median.
  double spread() const { return (quantile(0.75) - quantile(0.25)) / 2 / median(); }
};

/// What a kernel takes of a multiprocessor; as the driver or ptxas says.
struct Resources {
  int registers = 0;
  /// Bytes a thread of memory: registers that were spilled.
  int64_t spillBytes = 0;
  unsigned threads = 0;
  int64_t sharedBytes = 0;
  /// Threads that run at a time, as a share of those that a multiprocessor can hold; 0 if unknown.
  double occupancy = 0;
  /// Of threads with roles these have other numbers of registers.
  codegen::GpuRoles roles;
};

/// One that runs: a kernel, a graph or a copy.
class Contestant {
public:
  virtual ~Contestant() = default;
  /// The seconds of one run.
  virtual Outcome<double> run() = 0;

  Timing timing;
  /// Of a graph that has run: what the tensors between its calls take.
  std::optional<runtime::GraphMemory> memory;
};

/// What the contestants run on.
class BenchDevice {
public:
  virtual ~BenchDevice() = default;
  /// "NVIDIA H200", "Intel(R) Xeon(R) …, 2 threads".
  virtual std::string name() const = 0;
  /// The description of such devices; for a CPU without one its measured peak.
  virtual std::optional<DeviceDescription> description() = 0;
  /// Puts other data into the caches.
  virtual Outcome<std::monostate> flush() = 0;
  /// A launch that `executor`, which runs on this device, has prepared; both outlive it.
  virtual Outcome<std::unique_ptr<Contestant>> kernel(Executor &executor,
                                                      Executor::Prepared &launch) = 0;
  /// Whole runs of a graph on this device, which `executor` runs on and which outlives it. On a CPU
  /// with the memory that they take, on a GPU on memory that is there, as one CUDA graph if it has
  /// launches enough for one. What is wrong with the graph is told here.
  virtual Outcome<std::unique_ptr<Contestant>> graph(Executor &executor, const std::string &symbol,
                                                     Arguments arguments,
                                                     const llvm::StringMap<int64_t> &dims) = 0;
  /// Reads half of these bytes and writes as many.
  virtual Outcome<std::unique_ptr<Contestant>> copy(double bytes) = 0;
  /// Bytes of a copy that no cache helps.
  virtual double largeCopyBytes() const = 0;
  /// None on a CPU.
  virtual Outcome<std::optional<Resources>> resources(Executor::Prepared &launch) = 0;

  static Outcome<std::unique_ptr<BenchDevice>> cpu();
  /// The GPU of an executor that has opened it.
  static Outcome<std::unique_ptr<BenchDevice>> cuda(CudaContext &context);
};

struct BenchOptions {
  /// Rounds; 0: 30, or fewer if that would take longer than 10 seconds a contestant, but 5.
  unsigned rounds = 0;
  /// Without `rounds`: as many as take so many seconds, at least 15 and at most 1000; 0: as above.
  double seconds = 0;
  unsigned warmups = 3;
  /// Leaves caches, and threads awake or asleep, as the run before left them: one of the same,
  /// not timed, where those of others come between, and they are short.
  bool isWarm = false;
};

/// Fills the timings.
Outcome<std::monostate> takeTurns(BenchDevice &device, llvm::ArrayRef<Contestant *> contestants,
                                  const BenchOptions &options);

/// A peak of this processor's arithmetic on f32, measured on `threads` threads: operations a
/// second.
double measureCpuPeak(int threads);

} // namespace tile::frontend

#endif // TILE_FRONTEND_BENCH_BENCH_H
