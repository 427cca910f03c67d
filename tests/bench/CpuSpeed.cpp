//===- CpuSpeed.cpp - kernels on the CPU beside their peers ---------------===//
//
//   tile_bench_cpu [--threads N] [--filter TEXT] [--budget SECONDS] [--large BYTES] [--set
//   K.I=SIZE]…
//
// Each line is one kernel and shape: the median of tilec's times, GB/s (what has
// to move at least, by the shape) or GFLOP/s, and for each peer the ratio
// peer's time / tilec's time: above 1 tilec is faster. Inputs are normal numbers.
//
//===----------------------------------------------------------------------===//

#include "Contest.h"
#include "PeerLoops.h"

#include "dsl/Elaborator.h"
#include "frontend/execute/Execution.h"
#include "ir/interpreter/Launch.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/cpu/CpuLaunch.h"
#include "runtime/tensor/Memory.h"
#include "runtime/tensor/Random.h"

#include "mlir/IR/MLIRContext.h"

#ifdef TILE_HAS_OPENBLAS
#include <cblas.h>
extern "C" void openblas_set_num_threads(int);
extern "C" char *openblas_get_corename(void);
#include <unistd.h>
#endif

#include <cstdio>
#include <cstring>
#include <random>

using namespace tile;
using namespace tile::bench;

namespace {

struct Options {
  int threads = 1;
  std::string filter;
  double budget = 2;
  int64_t large = int64_t(1) << 30;
  frontend::TileSizes sizes;
};

/// Numbers that outlive every kernel that reads them.
template <typename T>
struct Array {
  explicit Array(int64_t n, unsigned seed = 0)
      : memory(*runtime::allocateAligned(n * sizeof(T), "a benchmark's array")),
        data(reinterpret_cast<T *>(memory.get())) {
    // A page of random numbers over and over: what they are doesn't matter, that they are normal
    // does.
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    int64_t page = std::min<int64_t>(n, 1 << 16);
    for (int64_t i = 0; i < page; ++i)
      data[i] = static_cast<T>(normal(random));
    for (int64_t i = page; i < n; ++i)
      data[i] = data[i - page];
  }
  runtime::AlignedBytes memory;
  T *data;
};

class Bench {
public:
  explicit Bench(Options options)
      : options(std::move(options)), pool(this->options.threads),
        context(mlir::MLIRContext::Threading::DISABLED), program(diags, {}),
        elaborator(context, program, diags) {
    std::string error, path = TILE_SOURCE_DIR "/tests/bench/kernels.tile";
    std::optional<std::string> text = dsl::readText(path, error);
    if (!text)
      llvm::report_fatal_error(llvm::Twine("can't read ") + path + ": " + error);
    file = program.load(path, "import std.nn\n" + *text);
    setLoopThreads(this->options.threads);
#ifdef TILE_HAS_OPENBLAS
    openblas_set_num_threads(this->options.threads);
#endif
  }

  struct Call {
    std::shared_ptr<codegen::CpuCode> code;
    llvm::SmallVector<int64_t> dims, elements;
    std::vector<const void *> params;
    runtime::ThreadPool *pool;
    void operator()() const {
      runtime::Status status = runtime::launchCpu(
          code->entry(), {.params = params, .dims = dims, .elements = elements}, pool);
      if (!status)
        llvm::report_fatal_error(llvm::Twine(status.error().message));
    }
  };

  /// A kernel for these shapes (of its inputs, in order), on these data (of all parameters).
  Call prepare(const std::string &name, std::vector<std::vector<int64_t>> shapes,
               std::vector<const void *> params, ir::ElementType type = ir::ElementType::F32) {
    dsl::DeclRef decl = program.lookup(*file, name, {}, diags);
    std::string symbol = elaborator.elaborate(decl, {{"T", type}});
    auto kernel = elaborator.module().lookupSymbol<ir::KernelOp>(symbol);
    if (!kernel || diags.errorCount() != 0)
      llvm::report_fatal_error(llvm::Twine(diags.print(false)));
    llvm::SmallVector<llvm::ArrayRef<int64_t>> refs(shapes.begin(), shapes.end());
    ir::UserError error;
    auto binding = ir::bindLaunch(kernel, refs, {}, error);
    if (mlir::failed(binding))
      llvm::report_fatal_error(llvm::Twine(error.message));
    frontend::Compiler compiler;
    ir::Bindings bindings = options.sizes.of(kernel);
    frontend::Compiler::chooseTiles(kernel, bindings, binding->dims, options.threads);
    auto specialized = compiler.compile(kernel, bindings);
    auto code = compiler.jit(*specialized);
    Call call;
    call.code = std::make_shared<codegen::CpuCode>(std::move(*code));
    call.dims = binding->dims;
    call.elements.assign(params.size(), 0);
    call.params = std::move(params);
    call.pool = &pool;
    return call;
  }

  /// `amount` is bytes moved or flops done, `unit` what 1e9 of them a second are called.
  void report(const std::string &title, double amount, const char *unit,
              std::vector<Contestant> all) {
    if (title.find(options.filter) == std::string::npos)
      return;
    compete(all, options.budget, options.threads == 1);
    double own = all[0].median();
    std::printf("%-34s %9.3f ms %8.1f %s", title.c_str(), own * 1e3, amount / own / 1e9, unit);
    for (size_t n = 1; n < all.size(); ++n)
      std::printf("   %s %.2f", all[n].name.c_str(), all[n].median() / own);
    std::printf("\n");
    std::fflush(stdout);
  }
  bool isWanted(const std::string &title) const {
    return title.find(options.filter) != std::string::npos;
  }

  void peak();
  void pointwise(int64_t bytes, const char *size);
  void rows(int64_t rows, int64_t columns);
  template <typename T>
  void product(int64_t m, int64_t n, int64_t k);
  void attention(int64_t heads, int64_t length, int64_t depth, bool causal);
  void convolution(int64_t size, int64_t channels);

  Options options;
  double peakFlops = 0;

private:
  runtime::ThreadPool pool;
  dsl::DiagnosticEngine diags;
  mlir::MLIRContext context;
  dsl::Program program;
  dsl::Elaborator elaborator;
  dsl::LoadedFile *file;
};

void Bench::peak() {
  std::vector<double> rates;
  for (int n = 0; n < 9; ++n) {
    double start = now(options.threads == 1), flops = multiplyAdds(2000000);
    rates.push_back(flops / (now(options.threads == 1) - start));
  }
  peakFlops = *std::max_element(rates.begin(), rates.end());
  std::printf("%d threads; multiply-adds of f32 from registers: %.1f GFLOP/s\n", options.threads,
              peakFlops / 1e9);
}

void Bench::pointwise(int64_t bytes, const char *size) {
  std::string add = std::string("vector add, ") + size, chain = std::string("5-op chain, ") + size,
              gelu = std::string("GELU, ") + size;
  if (!isWanted(add) && !isWanted(chain) && !isWanted(gelu))
    return;
  int64_t n = bytes / 12;
  Array<float> a(n, 1), b(n, 2), c(n);
  // A copy that moves as much: reads half of it, writes half.
  auto copy = [&](int64_t parts) {
    return [&, parts] {
      int64_t half = n * 4 * parts / 2;
      copyBytes(reinterpret_cast<char *>(a.data), reinterpret_cast<char *>(c.data),
                std::min(half, n * 4));
      if (half > n * 4)
        copyBytes(reinterpret_cast<char *>(b.data), reinterpret_cast<char *>(c.data), half - n * 4);
    };
  };
  report(add, 12.0 * n, "GB/s",
         {{"tilec", prepare("add", {{n}, {n}}, {a.data, b.data, c.data})},
          {"copy", copy(3)},
          {"g++", [&] { addLoop(a.data, b.data, c.data, n); }}});
  report(chain, 12.0 * n, "GB/s",
         {{"tilec", prepare("chain", {{n}, {n}}, {a.data, b.data, c.data})},
          {"copy", copy(3)},
          {"g++", [&] { chainLoop(a.data, b.data, c.data, n); }}});
  report(gelu, 8.0 * n, "GB/s",
         {{"tilec", prepare("gelu_chain", {{n}}, {a.data, c.data})},
          {"copy", copy(2)},
          {"g++", [&] { geluLoop(a.data, c.data, n); }}});
}

void Bench::rows(int64_t rows, int64_t columns) {
  std::string shape = std::to_string(rows) + "x" + std::to_string(columns);
  std::string softmax = "softmax, " + shape, norm = "layer norm, " + shape;
  if (!isWanted(softmax) && !isWanted(norm))
    return;
  int64_t n = rows * columns;
  Array<float> x(n, 1), g(columns, 2), b(columns, 3), y(n);
  auto copy = [&] {
    copyBytes(reinterpret_cast<char *>(x.data), reinterpret_cast<char *>(y.data), n * 4);
  };
  float epsilon = 1e-5f;
  report(softmax, 8.0 * n, "GB/s",
         {{"tilec", prepare("softmax", {{rows, columns}}, {x.data, y.data})},
          {"copy", copy},
          {"g++", [&] { softmaxLoop(x.data, y.data, rows, columns); }}});
  report(norm, 8.0 * n, "GB/s",
         {{"tilec", prepare("layer_norm", {{rows, columns}, {columns}, {columns}, {}},
                            {x.data, g.data, b.data, &epsilon, y.data})},
          {"copy", copy},
          {"g++", [&] { layerNormLoop(x.data, g.data, b.data, y.data, rows, columns); }}});
}

template <typename T>
void Bench::product(int64_t m, int64_t n, int64_t k) {
  bool isDouble = sizeof(T) == 8;
  std::string title = std::string(isDouble ? "f64" : "f32") + " matmul, " + std::to_string(m) +
                      "x" + std::to_string(n) + "x" + std::to_string(k);
  if (!isWanted(title))
    return;
  Array<T> a(m * k, 1), b(k * n, 2), c(m * n);
  std::vector<Contestant> all = {
      {"tilec", prepare("product", {{m, k}, {k, n}}, {a.data, b.data, c.data},
                        isDouble ? ir::ElementType::F64 : ir::ElementType::F32)}};
#ifdef TILE_HAS_OPENBLAS
  all.push_back({"OpenBLAS", [&] {
                   if constexpr (sizeof(T) == 8)
                     cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.data, k,
                                 b.data, n, 0, c.data, n);
                   else
                     cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.data, k,
                                 b.data, n, 0, c.data, n);
                 }});
#endif
  report(title, 2.0 * m * n * k, "GFLOP/s", std::move(all));
}

void Bench::attention(int64_t heads, int64_t length, int64_t depth, bool causal) {
  std::string title = std::string("attention") + (causal ? ", causal, " : ", ") +
                      std::to_string(heads) + "x" + std::to_string(length) + "x" +
                      std::to_string(depth);
  if (!isWanted(title))
    return;
  int64_t n = heads * length * depth;
  Array<float> q(n, 1), k(n, 2), v(n, 3), o(n);
  float scale = 0.125f;
  std::vector<int64_t> shape = {1, heads, length, depth};
  double flops = 4.0 * heads * length * length * depth * (causal ? 0.5 : 1);
  report(
      title, flops, "GFLOP/s",
      {{"tilec", prepare("attention", {shape, shape, shape, {}, {}},
                         {q.data, k.data, v.data, &scale, &causal, o.data})},
       {"FMA peak", [&] { multiplyAdds(static_cast<int64_t>(flops / options.threads / 384)); }}});
}

void Bench::convolution(int64_t size, int64_t channels) {
  std::string title = "convolution 3x3, " + std::to_string(size) + "x" + std::to_string(size) +
                      "x" + std::to_string(channels);
  if (!isWanted(title))
    return;
  constexpr int64_t images = 8;
  Array<float> x(images * size * size * channels, 1), w(9 * channels * channels, 2),
      y(images * size * size * channels);
  double flops = 18.0 * images * size * size * channels * channels;
  report(
      title, flops, "GFLOP/s",
      {{"tilec",
        prepare("convolution", {{images, size, size, channels}, {3, 3, channels, channels}},
                {x.data, w.data, y.data})},
       {"FMA peak", [&] { multiplyAdds(static_cast<int64_t>(flops / options.threads / 384)); }}});
}

/// OpenBLAS takes a processor that is newer than itself for an old one. Then this program starts
/// again and tells it which kernels to use.
void giveOpenBlasItsBest(char **argv) {
#if defined(TILE_HAS_OPENBLAS) && defined(__x86_64__)
  __builtin_cpu_init();
  const char *best = __builtin_cpu_supports("avx512vl") ? "SkylakeX"
                     : __builtin_cpu_supports("avx2")   ? "Haswell"
                                                        : nullptr;
  if (best && std::strcmp(openblas_get_corename(), "Prescott") == 0 &&
      setenv("OPENBLAS_CORETYPE", best, /*overwrite=*/0) == 0)
    execv("/proc/self/exe", argv);
  std::printf("OpenBLAS uses its kernels for %s\n", openblas_get_corename());
#endif
}

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "tile_bench_cpu: %s\n", message.c_str());
  std::exit(2);
}

Options parse(int argc, char **argv) {
  Options options;
  if (auto threads = runtime::parseThreadCount(nullptr))
    options.threads = *threads;
  for (int n = 1; n < argc; ++n) {
    std::string name = argv[n];
    if (n + 1 == argc)
      fail(name + " needs a value");
    std::string value = argv[++n];
    if (name == "--threads")
      options.threads = std::max(1, std::atoi(value.c_str()));
    else if (name == "--filter")
      options.filter = value;
    else if (name == "--budget")
      options.budget = std::atof(value.c_str());
    else if (name == "--large")
      options.large = std::atoll(value.c_str());
    else if (name == "--set") {
      if (!options.sizes.parse(value))
        fail("'" + value + "' is no tile size");
    } else
      fail("unknown option " + name);
  }
  return options;
}

} // namespace

int main(int argc, char **argv) {
  giveOpenBlasItsBest(argv);
  Bench bench(parse(argc, argv));
  int64_t large = bench.options.large;
  bench.peak();
  bench.pointwise(large, "large");
  bench.pointwise(12 << 12, "48 KB");
  bench.pointwise(12 << 16, "768 KB");
  bench.rows(large / 8 / 4096, 4096);
  bench.rows(large / 8 / 1024, 1024);
  bench.rows(large / 8 / 32768, 32768);
  bench.rows(64, 1024);
  for (int64_t n : {512, 1024, 2048})
    bench.product<float>(n, n, n);
  for (int64_t n : {512, 1024, 2048})
    bench.product<double>(n, n, n);
  bench.product<float>(4096, 256, 1024);
  bench.product<float>(256, 4096, 512);
  bench.product<float>(1000, 1000, 1000);
  bench.product<float>(333, 777, 555);
  bench.product<float>(997, 1009, 13);
  bench.product<double>(333, 777, 555);
  bench.attention(8, 1024, 64, false);
  bench.attention(8, 1024, 64, true);
  bench.convolution(56, 64);
}
