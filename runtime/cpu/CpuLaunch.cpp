#include "runtime/cpu/CpuLaunch.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/launch/KernelReports.h"
#include "runtime/launch/Sanitizer.h"
#include "runtime/launch/Scratch.h"
#include "runtime/tensor/DType.h"
#include "runtime/tensor/Memory.h"

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
/// All those copies together stay below this, unless one of each is more already. Up to the second
/// number their memory is kept for the next launch: new pages take longer than what is added.
constexpr int64_t maxPartialBytes = int64_t(1) << 28, maxKeptBytes = int64_t(1) << 24;
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

  void setIdentity(std::byte *copy, int64_t lo, int64_t hi) const {
    withType(typeOfCopy(), [&]<typename T>(T) {
      T value = identityOf<T>(combine);
      if (type == DType::Bool)
        value = static_cast<T>(combine == CpuCombine::And || combine == CpuCombine::Mul ||
                               combine == CpuCombine::UMin || combine == CpuCombine::Min);
      for (int64_t i = lo; i < hi; ++i)
        std::memcpy(copy + i * sizeof(T), &value, sizeof(T));
    });
  }

  void combineInto(std::byte *into, const std::byte *from, int64_t lo, int64_t hi) const {
    withType(typeOfCopy(), [&]<typename T>(T) {
      for (int64_t i = lo; i < hi; ++i) {
        T a, b;
        std::memcpy(&a, into + i * sizeof(T), sizeof(T));
        std::memcpy(&b, from + i * sizeof(T), sizeof(T));
        a = combineTwo(combine, a, b);
        std::memcpy(into + i * sizeof(T), &a, sizeof(T));
      }
    });
  }

  /// From a copy to the output itself.
  void finish(std::byte *output, const std::byte *copy, int64_t lo, int64_t hi) const {
    // Copies of halves are f32 (withType), those of wide sums f64.
    bool isRounded = isFloat(type) && (isWide ? type != DType::F64 : sizeOf(type) < 4);
    if (!isRounded) {
      auto size = static_cast<int64_t>(sizeOf(type));
      std::memcpy(output + lo * size, copy + lo * size, static_cast<size_t>((hi - lo) * size));
      return;
    }
    withType(typeOfCopy(), [&]<typename T>(T) {
      for (int64_t i = lo; i < hi; ++i) {
        T value;
        std::memcpy(&value, copy + i * sizeof(T), sizeof(T));
        if (type == DType::F32) {
          auto rounded = static_cast<float>(value);
          std::memcpy(output + i * sizeof(float), &rounded, sizeof(float));
        } else {
          storeDouble(type, output + i * sizeOf(type), static_cast<double>(value));
        }
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

//===-- Programs that add to the same elements -------------------------------===//

/// What it takes to fill and to join a copy's element.
constexpr double cyclesOfElement = 2;

/// With as many cores as copies, all programs' cycles w and c for each of n copies, taken to be
/// joined by one core, take w / n + c·n: least where n is √(w / c). Kernel and shape alone decide,
/// as they do for the order of the sums.
int64_t copiesThatPay(const CpuEntry &entry, const CpuArguments &arguments,
                      const std::vector<ReduceOutput> &outputs, int64_t programs) {
  double copy = 1;
  for (const ReduceOutput &output : outputs)
    copy += cyclesOfElement * static_cast<double>(output.elements);
  if (!entry.work)
    return maxReduceChunks;
  double work = static_cast<double>(entry.work(arguments.params.data(), arguments.dims.data()));
  double pay = std::sqrt(static_cast<double>(programs) * work / copy);
  return static_cast<int64_t>(std::clamp<double>(pay, 1, maxReduceChunks));
}

/// How many bytes one copy of all outputs takes, each at a multiple of 64; the largest number where
/// 63 bits don't hold it.
int64_t bytesOfCopy(const std::vector<ReduceOutput> &outputs) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  int64_t bytes = 0;
  for (const ReduceOutput &output : outputs) {
    int64_t padded = (output.bytes() + 63) / 64 * 64;
    bytes = padded > most - bytes ? most : bytes + padded;
  }
  return bytes;
}

/// How programs share copies: so many in a row have other elements of all outputs and combine into
/// one copy, and threads share them out in so many parts.
struct Sharing {
  int64_t apart = 1, copies = 1, parts = 1;
};

/// As many copies as pay, and as keep the programs busy. `tells`: the launch has reports to make,
/// in the order of the programs.
Sharing shareCopies(const CpuEntry &entry, const CpuArguments &arguments,
                    const std::vector<ReduceOutput> &outputs, int64_t programs,
                    const Division &division, bool tells) {
  Sharing sharing;
  if (entry.apart && !tells && programs > 0)
    sharing.apart =
        std::max<int64_t>(1, entry.apart(arguments.params.data(), arguments.dims.data()));
  int64_t fitting = maxPartialBytes / std::max<int64_t>(bytesOfCopy(outputs), 1);
  int64_t paying = copiesThatPay(entry, arguments, outputs, programs);
  int64_t busy = (maxReduceChunks + sharing.apart - 1) / sharing.apart;
  sharing.copies =
      std::max<int64_t>(1, std::min({programs / sharing.apart, busy, fitting, paying}));
  int64_t wanted = (division.chunks + sharing.copies - 1) / sharing.copies;
  sharing.parts = std::clamp<int64_t>(wanted, 1, sharing.apart);
  return sharing;
}

/// The copies of a launch's `reduce` outputs, and which programs combine into which.
class Copies {
public:
  Copies(const CpuArguments &arguments, const std::vector<ReduceOutput> &outputs, ThreadPool &pool)
      : arguments(arguments), outputs(outputs), pool(pool) {}

  Status allocate(int64_t copies);

  /// The kernel's parameters, with a copy in the place of the outputs.
  std::vector<const void *> paramsOf(int64_t copy) const;
  void fill(int64_t copy) { fill(copy, 0, 1); }
  void fillAll();
  /// All copies into one, and that into the outputs.
  void join();

private:
  void fill(int64_t copy, int64_t part, int64_t parts);
  std::byte *begin(int64_t copy, size_t output) const {
    return memory + copy * bytes + offsets[output];
  }
  std::byte *outputOf(const ReduceOutput &output) const {
    return static_cast<std::byte *>(const_cast<void *>(arguments.params[output.param]));
  }
  void inParts(FunctionRef<void(int64_t part, int64_t parts)> function);

  const CpuArguments &arguments;
  const std::vector<ReduceOutput> &outputs;
  ThreadPool &pool;
  ScratchScope scope;
  AlignedBytes owned;
  std::byte *memory = nullptr;
  int64_t count = 0, bytes = 0; // of each copy
  std::vector<int64_t> offsets; // of each output in a copy
};

Status Copies::allocate(int64_t copies) {
  count = copies;
  bytes = bytesOfCopy(outputs);
  if (bytes == std::numeric_limits<int64_t>::max())
    return Error{"the copies of `reduce` outputs don't fit into memory", ""};
  for (int64_t offset = 0; const ReduceOutput &output : outputs) {
    offsets.push_back(offset);
    offset += (output.bytes() + 63) / 64 * 64;
  }
  uint64_t all = static_cast<uint64_t>(bytes) * static_cast<uint64_t>(count);
  if (all <= maxKeptBytes) {
    Result<std::byte *> scratch = scope.allocate(all);
    if (!scratch)
      return scratch.takeError();
    memory = *scratch;
    return {};
  }
  Result<AlignedBytes> allocated = allocateAligned(all, "copies of `reduce` outputs");
  if (!allocated)
    return allocated.takeError();
  owned = *std::move(allocated);
  memory = owned.get();
  return {};
}

std::vector<const void *> Copies::paramsOf(int64_t copy) const {
  std::vector<const void *> params(arguments.params.begin(), arguments.params.end());
  for (size_t n = 0; n < outputs.size(); ++n)
    params[outputs[n].param] = begin(copy, n);
  return params;
}

/// Calls `function` for as many parts of all elements as are worth a thread.
void Copies::inParts(FunctionRef<void(int64_t part, int64_t parts)> function) {
  double cycles = 0;
  for (const ReduceOutput &output : outputs)
    cycles += cyclesOfElement * static_cast<double>(output.elements * count);
  int64_t parts = 1;
  if (cycles >= leastSharedCycles)
    parts = static_cast<int64_t>(std::clamp<double>(cycles / leastCycles, 1, pool.numThreads()));
  pool.parallelChunks(parts, parts, [&](int64_t part, int64_t, int64_t) { function(part, parts); });
}

void Copies::fill(int64_t copy, int64_t part, int64_t parts) {
  for (size_t n = 0; n < outputs.size(); ++n) {
    int64_t elements = outputs[n].elements;
    outputs[n].setIdentity(begin(copy, n), elements / parts * part,
                           part + 1 < parts ? elements / parts * (part + 1) : elements);
  }
}

void Copies::fillAll() {
  inParts([&](int64_t part, int64_t parts) {
    for (int64_t copy = 0; copy < count; ++copy)
      fill(copy, part, parts);
  });
}

void Copies::join() {
  inParts([&](int64_t part, int64_t parts) {
    for (size_t n = 0; n < outputs.size(); ++n) {
      const ReduceOutput &output = outputs[n];
      int64_t lo = output.elements / parts * part;
      int64_t hi = part + 1 < parts ? lo + output.elements / parts : output.elements;
      // In pairs, then pairs of those: a sum of many rounds few times.
      for (int64_t apart = 1; apart < count; apart *= 2)
        for (int64_t copy = 0; copy + apart < count; copy += 2 * apart)
          output.combineInto(begin(copy, n), begin(copy + apart, n), lo, hi);
      output.finish(outputOf(output), begin(0, n), lo, hi);
    }
  });
}

/// Programs in a row that have other elements of all outputs share a copy, and threads share them
/// out. Each element's sum is made in the order of the programs, copy by copy.
Status runWithReductions(const CpuEntry &entry, const CpuArguments &arguments,
                         const std::vector<ReduceOutput> &outputs, int64_t programs,
                         int64_t scratchBytes, ThreadPool &pool, const Division &division,
                         KernelReports *reports) {
  Sharing sharing = shareCopies(entry, arguments, outputs, programs, division, reports != nullptr);
  int64_t apart = sharing.apart, count = sharing.copies, parts = sharing.parts;
  Copies copies(arguments, outputs, pool);
  if (Status status = copies.allocate(count); !status)
    return status;
  int64_t rows = programs / apart;
  if (parts > 1)
    copies.fillAll();

  FirstError errors;
  auto run = [&](int64_t number, int64_t, int64_t) {
    int64_t copy = number / parts, part = number % parts;
    if (parts == 1)
      copies.fill(copy);
    std::vector<const void *> params = copies.paramsOf(copy);
    auto runPrograms = [&](int64_t lo, int64_t hi) {
      Status status =
          runChunk(entry, params.data(), arguments, {number, lo, hi}, scratchBytes, reports);
      if (!status)
        errors.set(status.takeError());
    };
    // As parallelChunks cuts: the first ones are longer by one.
    auto begin = [](int64_t n, int64_t all, int64_t ranges) {
      return all / ranges * n + std::min(n, all % ranges);
    };
    int64_t first = begin(copy, rows, count), last = begin(copy + 1, rows, count);
    if (parts == 1)
      return runPrograms(first * apart, last * apart);
    for (int64_t row = first; row < last; ++row)
      runPrograms(row * apart + begin(part, apart, parts),
                  row * apart + begin(part + 1, apart, parts));
  };
  pool.parallelChunks(count * parts, count * parts, run, division.threads);
  if (Status status = errors.status(); !status)
    return status;
  copies.join();
  std::vector<const void *> params(arguments.params.begin(), arguments.params.end());
  params.push_back(nullptr); // where a CpuReport would be: nothing is said any more
  entry.kernel(params.data(), arguments.dims.data(), cpuAfterAll, cpuAfterAll, nullptr);
  return {};
}

Status runAll(const CpuEntry &entry, const CpuArguments &arguments,
              const std::vector<ReduceOutput> &outputs, int64_t programs, int64_t scratchBytes,
              ThreadPool &pool, KernelReports *reports) {
  Division division = divide(entry, arguments, programs, pool);
  if (!outputs.empty())
    return runWithReductions(entry, arguments, outputs, programs, scratchBytes, pool, division,
                             reports);
  FirstError errors;
  auto run = [&](int64_t chunk, int64_t lo, int64_t hi) {
    Status status =
        runChunk(entry, arguments.params.data(), arguments, {chunk, lo, hi}, scratchBytes, reports);
    if (!status)
      errors.set(status.takeError());
  };
  pool.parallelChunks(programs, division.chunks, run, division.threads);
  return errors.status();
}

Result<std::vector<ReduceOutput>> reduceOutputsOf(const CpuEntry &entry,
                                                  const CpuArguments &arguments) {
  std::vector<ReduceOutput> outputs;
  for (const CpuReduceOutput &output : entry.reduceOutputs) {
    Result<DType> type = parseDType(output.type);
    if (!type)
      return type.takeError();
    bool isWide = entry.hasWideSums && output.combine == CpuCombine::Add && isFloat(*type);
    outputs.push_back(
        {output.combine, *type, arguments.elements[output.param], output.param, isWide});
  }
  return outputs;
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

  Result<std::vector<ReduceOutput>> outputs = reduceOutputsOf(entry, arguments);
  if (!outputs)
    return outputs.takeError();
  std::optional<KernelReports> reports;
  if (entry.reports)
    reports.emplace(arguments.report, arguments.sanitizer);
  std::optional<ThreadPool> alone;
  if (arguments.sanitizer)
    pool = &alone.emplace(1);
  Status status = runAll(entry, arguments, *outputs, programs, scratchBytes, *pool,
                         reports ? &*reports : nullptr);
  if (!status || !reports || !reports->failure())
    return status;
  const AssertionFailure &failure = *reports->failure();
  if (arguments.report)
    arguments.report->failure = failure;
  return Error{failure.str(), ""};
}

bool keepsAllThreadsBusy(const CpuEntry &entry, const CpuArguments &arguments) {
  Result<ThreadPool *> pool = ThreadPool::global();
  int64_t programs = entry.programs(arguments.params.data(), arguments.dims.data());
  Result<std::vector<ReduceOutput>> outputs = reduceOutputsOf(entry, arguments);
  if (!pool || programs < 0 || !outputs)
    return false; // launchCpu says why
  Division division = divide(entry, arguments, programs, **pool);
  int64_t chunks = division.chunks;
  if (!outputs->empty()) {
    Sharing sharing = shareCopies(entry, arguments, *outputs, programs, division, entry.reports);
    chunks = sharing.copies * sharing.parts;
  }
  return std::min<int64_t>(division.threads, chunks) == (*pool)->numThreads();
}

} // namespace tile::runtime
