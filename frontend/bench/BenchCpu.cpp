//===- BenchCpu.cpp - contestants on the CPU ------------------------------===//

#include "frontend/bench/Bench.h"
#include "frontend/execute/ExecutionImpl.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/tensor/Memory.h"

#include <chrono>
#include <cstring>
#include <unistd.h>

using namespace tile;
using namespace tile::frontend;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

//===-- The peak of arithmetic --------------------------------------------===//

namespace {
/// 16 numbers, in as many registers as the instruction set needs.
using Vector = float __attribute__((vector_size(64)));
constexpr int chains = 12, repeats = 20000;

/// Multiply-adds that depend on nothing but the one before in their chain, enough chains to hide
/// its latency. Gives a sum, so that none may be left out.
template <int Chains>
[[gnu::always_inline]] inline float multiplyAdd(float seed) {
  Vector values[Chains], factor = Vector{} + 0.999F, summand = Vector{} + seed;
  for (int n = 0; n < Chains; ++n)
    values[n] = Vector{} + (seed + static_cast<float>(n));
  for (int round = 0; round < repeats; ++round)
    for (int n = 0; n < Chains; ++n)
      values[n] = values[n] * factor + summand;
  Vector sum = values[0];
  for (int n = 1; n < Chains; ++n)
    sum += values[n];
  return sum[0] + sum[15];
}

// As many chains as fit into the registers: a vector takes one of 512 bits, two of 256, four of
// 128.
#ifdef __x86_64__
[[gnu::target("avx512f,fma")]] float peakOf512(float seed) { return multiplyAdd<chains>(seed); }
[[gnu::target("avx2,fma")]] float peakOf256(float seed) { return multiplyAdd<chains / 2>(seed); }
#endif
float peakOf128(float seed) { return multiplyAdd<chains / 4>(seed); }
} // namespace

double tile::frontend::measureCpuPeak(int threads) {
  float (*loop)(float) = peakOf128;
  int count = chains / 4;
#ifdef __x86_64__
  if (runtime::hasCpuFeature("avx512f")) {
    loop = peakOf512;
    count = chains;
  } else if (runtime::hasCpuFeature("avx2") && runtime::hasCpuFeature("fma")) {
    loop = peakOf256;
    count = chains / 2;
  }
#endif
  std::atomic<float> sink = 0;
  double best = 0;
  for (int n = 0; n < 10; ++n) {
    auto start = Clock::now();
    (void)runtime::parallelChunks(threads, threads, [&](int64_t, int64_t lo, int64_t) {
      sink = loop(1e-3F * static_cast<float>(lo + 1));
    });
    best = std::max(best, 2.0 * 16 * count * repeats * threads / secondsSince(start));
  }
  return best;
}

//===-- The device --------------------------------------------------------===//

namespace {
class CpuKernel : public Contestant {
public:
  CpuKernel(Executor &executor, Executor::Prepared &launch) : executor(executor), launch(launch) {}
  Outcome<double> run() override {
    auto start = Clock::now();
    if (auto done = executor.launch(launch); !done)
      return done.takeFailure();
    return secondsSince(start);
  }

private:
  Executor &executor;
  Executor::Prepared &launch;
};

class CpuGraph : public Contestant {
public:
  CpuGraph(Executor &executor, std::string symbol, Arguments arguments,
           llvm::StringMap<int64_t> dims)
      : executor(executor), symbol(std::move(symbol)), arguments(std::move(arguments)),
        dims(std::move(dims)) {}
  Outcome<double> run() override {
    auto start = Clock::now();
    if (auto outputs = executor.run(symbol, arguments, dims); !outputs)
      return outputs.takeFailure();
    double seconds = secondsSince(start);
    memory = executor.graphMemory;
    return seconds;
  }

private:
  Executor &executor;
  std::string symbol;
  Arguments arguments;
  llvm::StringMap<int64_t> dims;
};

class CpuCopy : public Contestant {
public:
  CpuCopy(runtime::AlignedBytes from, runtime::AlignedBytes to, int64_t bytes, int threads)
      : from(std::move(from)), to(std::move(to)), bytes(bytes), threads(threads) {
    std::memset(this->from.get(), 1, bytes);
    std::memset(this->to.get(), 2, bytes);
  }
  Outcome<double> run() override {
    auto start = Clock::now();
    (void)runtime::parallelChunks(bytes, threads, [&](int64_t, int64_t lo, int64_t hi) {
      std::memcpy(to.get() + lo, from.get() + lo, hi - lo);
    });
    return secondsSince(start);
  }

private:
  runtime::AlignedBytes from, to;
  int64_t bytes;
  int threads;
};

class Cpu : public BenchDevice {
public:
  explicit Cpu(int threads) : threads(threads) {}

  std::string name() const override { return runtime::cpuTitle(threads); }

  std::optional<DeviceDescription> description() override {
    DeviceDescription measured;
    measured.name = "cpu";
    measured.title = name();
    measured.sources["measured"] = "multiply-adds in registers, in this run";
    measured.figures["vector_f32"] = {measureCpuPeak(threads), "FLOP/s", "measured"};
    measured.figures["vector_f64"] = {measured.figure("vector_f32") / 2, "FLOP/s", "measured"};
    return measured;
  }

  Outcome<std::monostate> flush() override {
    if (!other) {
      auto made = runtime::allocateAligned(flushBytes, "what flushes the caches");
      if (!made)
        return Failure::environment(made.takeError());
      other = *std::move(made);
    }
    ++value;
    (void)runtime::parallelChunks(flushBytes, threads, [&](int64_t, int64_t lo, int64_t hi) {
      std::memset(other.get() + lo, value, hi - lo);
    });
    return Done{};
  }

  Outcome<std::unique_ptr<Contestant>> kernel(Executor &executor,
                                              Executor::Prepared &launch) override {
    return std::unique_ptr<Contestant>(new CpuKernel(executor, launch));
  }

  Outcome<std::unique_ptr<Contestant>> graph(Executor &executor, const std::string &symbol,
                                             Arguments arguments,
                                             const llvm::StringMap<int64_t> &dims) override {
    auto made = std::make_unique<CpuGraph>(executor, symbol, std::move(arguments), dims);
    // Compiles, which is not to be measured.
    if (auto seconds = made->run(); !seconds)
      return seconds.takeFailure();
    return std::unique_ptr<Contestant>(std::move(made));
  }

  Outcome<std::unique_ptr<Contestant>> copy(double bytes) override {
    auto half = std::max<int64_t>(1, static_cast<int64_t>(bytes / 2));
    auto from = runtime::allocateAligned(half, "a copy"),
         to = runtime::allocateAligned(half, "a copy");
    if (!from || !to)
      return Failure::environment(from ? to.takeError() : from.takeError());
    return std::unique_ptr<Contestant>(
        new CpuCopy(*std::move(from), *std::move(to), half, threads));
  }

  double largeCopyBytes() const override { return 128 << 20; }

  Outcome<std::optional<Resources>> resources(Executor::Prepared &) override {
    return std::optional<Resources>();
  }

private:
  /// Twice the last cache, as far as memory and patience go.
  static int64_t cachesTwice() {
    int64_t last = 32 << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
    last = std::max<int64_t>(last, sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
    auto quarter = static_cast<int64_t>(
        std::min<uint64_t>(runtime::availableMemory() / 4, std::numeric_limits<int64_t>::max()));
    return std::clamp<int64_t>(2 * last, 1,
                               std::min<int64_t>(512 << 20, std::max<int64_t>(1, quarter)));
  }

  int threads;
  int64_t flushBytes = cachesTwice();
  runtime::AlignedBytes other;
  uint8_t value = 0;
};
} // namespace

Outcome<std::unique_ptr<BenchDevice>> BenchDevice::cpu() {
  auto pool = runtime::ThreadPool::global();
  if (!pool)
    return Failure::usage(pool.takeError());
  return std::unique_ptr<BenchDevice>(new Cpu((*pool)->numThreads()));
}
