#include "runtime/CpuLaunch.h"
#include "runtime/DType.h"
#include "runtime/KernelReports.h"
#include "runtime/Memory.h"
#include "runtime/Sanitizer.h"
#include "runtime/Scratch.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

namespace tile::runtime {

namespace {

/// Chunks of kernels with `reduce` outputs: enough for many cores, each with its own copies.
constexpr int64_t maxReduceChunks = 64;
/// All those copies together stay below this, unless one of each is more already.
constexpr int64_t maxPartialBytes = int64_t(1) << 28;
/// Chunks a thread, so that slow ones even out.
constexpr int64_t chunksPerThread = 8;
/// Cycles that are worth another thread, and a chunk of their own: on 16 cores oneTBB takes 6 to 10
/// µs to get all of them to work. Below the second number one thread is done earlier.
constexpr double leastCycles = 3000, leastSharedCycles = 25000;

//===-- Combining ---------------------------------------------------------===//

template <typename T>
T identityOf(CpuCombine combine) {
  using Limits = std::numeric_limits<T>;
  switch (combine) {
  case CpuCombine::Add:
  case CpuCombine::Or:
  case CpuCombine::Xor:
    return T(0);
  case CpuCombine::Mul:
    return T(1);
  case CpuCombine::Max:
  case CpuCombine::UMax:
  case CpuCombine::FMax:
    return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
  case CpuCombine::Min:
  case CpuCombine::UMin:
  case CpuCombine::FMin:
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  case CpuCombine::And:
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(~T(0));
    return T(0);
  }
  return T(0);
}

template <typename T>
T maximum(T x, T y, bool propagatesNaN) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) == propagatesNaN ? x : y;
    if (x == y) // +0 is greater than −0
      return std::signbit(x) ? y : x;
  }
  return x < y ? y : x;
}

template <typename T>
T combineTwo(CpuCombine combine, T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (combine) {
    case CpuCombine::Add:
      return static_cast<T>(static_cast<U>(x) + static_cast<U>(y));
    case CpuCombine::Mul:
      return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
    case CpuCombine::And:
      return x & y;
    case CpuCombine::Or:
      return x | y;
    case CpuCombine::Xor:
      return x ^ y;
    default:
      break;
    }
  }
  switch (combine) {
  case CpuCombine::Mul:
    return x * y;
  case CpuCombine::Max:
  case CpuCombine::UMax:
    return maximum(x, y, true);
  case CpuCombine::FMax:
    return maximum(x, y, false);
  case CpuCombine::Min:
  case CpuCombine::UMin:
  case CpuCombine::FMin:
    if constexpr (std::is_floating_point_v<T>)
      return -maximum(-x, -y, combine == CpuCombine::Min);
    return y < x ? y : x;
  default:
    return x + y;
  }
}

/// Calls `function` with a number of the type that elements are combined in: halves and fp8 are
/// combined in f32.
template <typename Function>
void withType(DType type, Function function) {
  switch (type) {
  case DType::I8:
    return function(int8_t());
  case DType::I16:
    return function(int16_t());
  case DType::I32:
    return function(int32_t());
  case DType::I64:
    return function(int64_t());
  case DType::Bool:
  case DType::U8:
    return function(uint8_t());
  case DType::U16:
    return function(uint16_t());
  case DType::U32:
    return function(uint32_t());
  case DType::U64:
    return function(uint64_t());
  case DType::F64:
    return function(double());
  case DType::F32:
  case DType::F16:
  case DType::BF16:
  case DType::F8E4M3:
  case DType::F8E5M2:
    return function(float());
  }
}

struct ReduceOutput {
  CpuCombine combine;
  DType type;
  int64_t elements;
  uint32_t param;
  bool isWide;

  DType typeOfCopy() const { return isWide ? DType::F64 : type; }

  /// Of a copy.
  int64_t bytes() const {
    int64_t size = 0;
    withType(typeOfCopy(), [&]<typename T>(T) { size = sizeof(T); });
    return elements * size;
  }

  void setIdentity(std::byte *data) const {
    withType(typeOfCopy(), [&]<typename T>(T) {
      T value = identityOf<T>(combine);
      if (type == DType::Bool)
        value = static_cast<T>(combine == CpuCombine::And || combine == CpuCombine::Mul ||
                               combine == CpuCombine::UMin || combine == CpuCombine::Min);
      for (int64_t i = 0; i < elements; ++i)
        std::memcpy(data + i * sizeof(T), &value, sizeof(T));
    });
  }

  void combineInto(std::byte *into, const std::byte *from) const {
    withType(typeOfCopy(), [&]<typename T>(T) {
      for (int64_t i = 0; i < elements; ++i) {
        T a, b;
        std::memcpy(&a, into + i * sizeof(T), sizeof(T));
        std::memcpy(&b, from + i * sizeof(T), sizeof(T));
        a = combineTwo(combine, a, b);
        std::memcpy(into + i * sizeof(T), &a, sizeof(T));
      }
    });
  }

  /// From a copy to the output itself.
  void finish(std::byte *output, const std::byte *copy) const {
    // Copies of halves are f32 (withType), those of wide sums f64.
    bool isRounded = isFloat(type) && (isWide ? type != DType::F64 : sizeOf(type) < 4);
    if (!isRounded) {
      std::memcpy(output, copy, static_cast<size_t>(bytes()));
      return;
    }
    withType(typeOfCopy(), [&]<typename T>(T) {
      for (int64_t i = 0; i < elements; ++i) {
        T value;
        std::memcpy(&value, copy + i * sizeof(T), sizeof(T));
        storeDouble(type, output + i * sizeOf(type), static_cast<double>(value));
      }
    });
  }
};

//===-- Running chunks ----------------------------------------------------===//

/// The first error of any chunk.
class FirstError {
public:
  void set(Error given) {
    std::lock_guard lock(mutex);
    if (!error)
      error = std::move(given);
  }
  Status status() {
    if (error)
      return *error;
    return {};
  }

private:
  std::mutex mutex;
  std::optional<Error> error;
};

struct Chunk {
  int64_t number, lo, hi;
};

Status runChunk(const CpuEntry &entry, const void *const *params, const CpuArguments &arguments,
                const Chunk &chunk, int64_t scratchBytes) {
  if (chunk.lo >= chunk.hi)
    return {};
  ScratchScope scope;
  Result<std::byte *> scratch = scope.allocate(static_cast<uint64_t>(scratchBytes));
  if (!scratch)
    return scratch.takeError();
  entry.kernel(params, arguments.dims.data(), chunk.lo, chunk.hi, *scratch);
  return {};
}

/// The same; `reports` is null for kernels that say nothing.
Status runChunk(const CpuEntry &entry, const void *const *params, const CpuArguments &arguments,
                const Chunk &chunk, int64_t scratchBytes, KernelReports *reports) {
  if (!reports)
    return runChunk(entry, params, arguments, chunk, scratchBytes);
  KernelReports::Chunk report(*reports, chunk.number);
  std::vector<const void *> extended(params, params + entry.numParams);
  extended.push_back(static_cast<CpuReport *>(&report));
  Status status = runChunk(entry, extended.data(), arguments, chunk, scratchBytes);
  report.finish(chunk.lo, chunk.hi);
  return status;
}

/// To fill and to join copies takes no longer than what programs do in that time. Kernel and shape
/// alone decide, as they do for the order of the sums.
int64_t copiesThatPay(const CpuEntry &entry, const CpuArguments &arguments,
                      const std::vector<ReduceOutput> &outputs, int64_t programs) {
  constexpr double cyclesOfElement = 2;
  double copy = 1;
  for (const ReduceOutput &output : outputs)
    copy += cyclesOfElement * static_cast<double>(output.elements);
  if (!entry.work)
    return maxReduceChunks;
  double work = static_cast<double>(entry.work(arguments.params.data(), arguments.dims.data()));
  double pay = static_cast<double>(programs) * work / copy;
  return static_cast<int64_t>(std::clamp<double>(pay, 1, maxReduceChunks));
}

Status runWithReductions(const CpuEntry &entry, const CpuArguments &arguments,
                         const std::vector<ReduceOutput> &outputs, int64_t programs,
                         int64_t scratchBytes, ThreadPool &pool, int threads,
                         KernelReports *reports) {
  int64_t bytes = 0;
  for (const ReduceOutput &output : outputs) {
    int64_t padded = (output.bytes() + 63) / 64 * 64;
    if (padded > std::numeric_limits<int64_t>::max() - bytes)
      return Error{"the copies of `reduce` outputs don't fit into memory", ""};
    bytes += padded;
  }
  int64_t fitting = std::max<int64_t>(1, maxPartialBytes / std::max<int64_t>(bytes, 1));
  int64_t paying = copiesThatPay(entry, arguments, outputs, programs);
  int64_t chunks = std::max<int64_t>(1, std::min({programs, maxReduceChunks, fitting, paying}));
  Result<AlignedBytes> partials = allocateAligned(
      static_cast<uint64_t>(bytes) * static_cast<uint64_t>(chunks), "copies of `reduce` outputs");
  if (!partials)
    return partials.takeError();

  FirstError errors;
  auto run = [&](int64_t chunk, int64_t lo, int64_t hi) {
    std::vector<const void *> params(arguments.params.begin(), arguments.params.end());
    std::byte *copy = partials->get() + chunk * bytes;
    for (const ReduceOutput &output : outputs) {
      params[output.param] = copy;
      output.setIdentity(copy);
      copy += (output.bytes() + 63) / 64 * 64;
    }
    Status status =
        runChunk(entry, params.data(), arguments, {chunk, lo, hi}, scratchBytes, reports);
    if (!status)
      errors.set(status.takeError());
  };
  pool.parallelChunks(programs, chunks, run, threads);
  if (Status status = errors.status(); !status)
    return status;
  int64_t offset = 0;
  for (const ReduceOutput &output : outputs) {
    std::byte *first = partials->get() + offset;
    // In pairs, then pairs of those: a sum of many rounds few times.
    for (int64_t apart = 1; apart < chunks; apart *= 2)
      for (int64_t chunk = 0; chunk + apart < chunks; chunk += 2 * apart)
        output.combineInto(first + chunk * bytes, first + (chunk + apart) * bytes);
    auto *into = static_cast<std::byte *>(const_cast<void *>(arguments.params[output.param]));
    output.finish(into, first);
    offset += (output.bytes() + 63) / 64 * 64;
  }
  std::vector<const void *> params(arguments.params.begin(), arguments.params.end());
  params.push_back(nullptr); // where a CpuReport would be: nothing is said any more
  entry.kernel(params.data(), arguments.dims.data(), cpuAfterAll, cpuAfterAll, nullptr);
  return {};
}

/// How many threads are worth waking, and how many chunks are worth being shared out.
struct Division {
  int threads;
  int64_t chunks;
};

Division divide(const CpuEntry &entry, const CpuArguments &arguments, int64_t programs,
                const ThreadPool &pool) {
  int threads = pool.numThreads();
  double cycles = std::numeric_limits<double>::infinity();
  if (entry.work)
    cycles = static_cast<double>(programs) *
             static_cast<double>(entry.work(arguments.params.data(), arguments.dims.data()));
  if (cycles < leastSharedCycles || threads == 1)
    return {1, 1};
  threads = static_cast<int>(std::clamp<double>(cycles / leastCycles, 1, threads));
  double chunks = std::clamp<double>(cycles / leastCycles, threads, threads * chunksPerThread);
  return {threads, std::min(programs, static_cast<int64_t>(chunks))};
}

Status runAll(const CpuEntry &entry, const CpuArguments &arguments,
              const std::vector<ReduceOutput> &outputs, int64_t programs, int64_t scratchBytes,
              ThreadPool &pool, KernelReports *reports) {
  auto [threads, chunks] = divide(entry, arguments, programs, pool);
  if (!outputs.empty())
    return runWithReductions(entry, arguments, outputs, programs, scratchBytes, pool, threads,
                             reports);
  FirstError errors;
  auto run = [&](int64_t chunk, int64_t lo, int64_t hi) {
    Status status =
        runChunk(entry, arguments.params.data(), arguments, {chunk, lo, hi}, scratchBytes, reports);
    if (!status)
      errors.set(status.takeError());
  };
  pool.parallelChunks(programs, chunks, run, threads);
  return errors.status();
}

} // namespace

Status launchCpu(const CpuEntry &entry, const CpuArguments &arguments, ThreadPool *pool) {
  if (arguments.params.size() != entry.numParams || arguments.dims.size() != entry.numDims)
    return Error{"the kernel takes " + std::to_string(entry.numParams) + " parameters and " +
                     std::to_string(entry.numDims) + " dimensions, not " +
                     std::to_string(arguments.params.size()) + " and " +
                     std::to_string(arguments.dims.size()),
                 "pass one entry for each, outputs included"};
  if (!pool) {
    Result<ThreadPool *> global = ThreadPool::global();
    if (!global)
      return global.takeError();
    pool = *global;
  }
  int64_t programs = entry.programs(arguments.params.data(), arguments.dims.data());
  int64_t scratchBytes = entry.scratch(arguments.params.data(), arguments.dims.data());
  if (programs < 0)
    return Error{"there are more than 2^63 programs", "use greater tile sizes"};
  if (scratchBytes < 0)
    return Error{"the memory for intermediate tiles is beyond 64 bits", "use smaller tile sizes"};

  std::vector<ReduceOutput> outputs;
  for (const CpuReduceOutput &output : entry.reduceOutputs) {
    Result<DType> type = parseDType(output.type);
    if (!type)
      return type.takeError();
    bool isWide = entry.hasWideSums && output.combine == CpuCombine::Add && isFloat(*type);
    outputs.push_back(
        {output.combine, *type, arguments.elements[output.param], output.param, isWide});
  }
  std::optional<KernelReports> reports;
  if (entry.reports)
    reports.emplace(arguments.report, arguments.sanitizer);
  std::optional<ThreadPool> alone;
  if (arguments.sanitizer)
    pool = &alone.emplace(1);
  Status status = runAll(entry, arguments, outputs, programs, scratchBytes, *pool,
                         reports ? &*reports : nullptr);
  if (!status || !reports || !reports->failure())
    return status;
  const AssertionFailure &failure = *reports->failure();
  if (arguments.report)
    arguments.report->failure = failure;
  return Error{failure.str(), ""};
}

} // namespace tile::runtime
