//===- CompileTime.cpp - how long the compiler takes ----------------------===//
//
// Source text to a function that can be called, in this process: reading,
// elaborating, proving, specializing with the default tile sizes, LLVM, JIT.
// And checking a file of 10 MB, and the memory of
// 10,000 compilations. The medians are what docs/performance.md gives:
//
//   tile_bench_compile --benchmark_report_aggregates_only=true
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuCompiler.h"
#include "dsl/Elaborator.h"
#include "frontend/execute/Compiler.h"

#include "mlir/IR/MLIRContext.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <fstream>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace tile;

static std::string readSample(const std::string &path) {
  std::string error;
  std::optional<std::string> text = dsl::readText(TILE_SOURCE_DIR "/" + path, error);
  if (!text)
    llvm::report_fatal_error(llvm::Twine("can't read ") + path + ": " + error);
  return *text;
}

/// One whole compilation; false after an error.
static bool compileOnce(mlir::MLIRContext &context, const std::string &text,
                        const std::string &name, std::shared_ptr<runtime::Cache> cache = nullptr) {
  dsl::DiagnosticEngine diags;
  dsl::Program program(diags, {});
  dsl::LoadedFile *file = program.load(name + ".tile", text);
  dsl::Elaborator elaborator(context, program, diags);
  dsl::DeclRef decl = program.lookup(*file, name, {}, diags);
  std::string symbol = elaborator.elaborate(decl, {{"T", ir::ElementType::F32}});
  auto kernel = elaborator.module().lookupSymbol<ir::KernelOp>(symbol);
  if (!kernel || diags.errorCount() != 0)
    return false;
  frontend::Compiler compiler;
  compiler.cache = std::move(cache);
  mlir::OwningOpRef<ir::KernelOp> specialized = compiler.compile(kernel, {});
  if (!specialized)
    return false;
  return mlir::succeeded(compiler.jit(*specialized));
}

static void sourceToFunction(benchmark::State &state, const char *path, const char *name) {
  std::string text = readSample(path);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  if (!compileOnce(context, text, name)) // dialects and targets are loaded once in a process
    return state.SkipWithError("does not compile");
  for (auto _ : state)
    benchmark::DoNotOptimize(compileOnce(context, text, name));
}

/// The same where the code is in the cache on disk.
static void sourceToCachedFunction(benchmark::State &state, const char *path, const char *name) {
  std::string text = readSample(path);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  char folder[] = "/tmp/tile-bench-XXXXXX"; // private to the user, as a cache is
  if (!mkdtemp(folder))
    return state.SkipWithError("no folder for the cache");
  if (auto cache = runtime::Cache::open(folder);
      !cache || !compileOnce(context, text, name, *cache)) {
    state.SkipWithError("does not compile");
  } else {
    for (auto _ : state)
      benchmark::DoNotOptimize(compileOnce(context, text, name, *cache));
    (void)(*cache)->clear();
  }
  rmdir(folder);
}

/// What this process has in memory, in MB, after it gave back what it can.
static double residentMegabytes() {
  malloc_trim(0);
  long total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576.0;
}

/// Memory after so many compilations, each of another kernel. `sharesContext`: as a program does
/// that lives long and compiles as it goes.
static void memoryOfCompilations(benchmark::State &state, bool sharesContext) {
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  int done = 0;
  auto compileUpTo = [&](int count) {
    for (; done < count; ++done) {
      if (!sharesContext)
        context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
      std::string text = "kernel scaled(x: f32[N]) -> (y: f32[N]) {\n"
                         "    parallel i in tiles(N) { y[i] = exp(x[i]) * " +
                         std::to_string(done) + ".5 }\n}\n";
      if (!compileOnce(*context, text, "scaled"))
        return false;
    }
    return true;
  };
  for (auto _ : state)
    for (int count : {100, 1000, 10000}) {
      if (!compileUpTo(count))
        return state.SkipWithError("does not compile");
      state.counters["MB_after_" + std::to_string(count)] = residentMegabytes();
    }
}

/// Kernels of the standard library over and over, each under a new name.
static std::string longSource(size_t bytes) {
  std::string library = *dsl::standardModule("nn"), text;
  std::vector<std::string> kernels;
  for (size_t at = library.find("\nkernel "); at != std::string::npos;) {
    size_t next = library.find("\nkernel ", at + 1);
    std::string kernel = library.substr(at + 1, next - at - 1);
    kernels.push_back(kernel.substr(0, kernel.find("\n}") + 3));
    at = next;
  }
  for (size_t n = 0; text.size() < bytes; ++n)
    for (const std::string &kernel : kernels) {
      size_t nameEnd = kernel.find_first_of("<(");
      std::string one =
          kernel.substr(0, nameEnd) + "_" + std::to_string(n) + kernel.substr(nameEnd);
      if (size_t generic = one.find("<T: f16 | bf16 | f32>"); generic != std::string::npos)
        one.replace(generic, 21, "<T: f32>");
      size_t close = one.rfind("\n}");
      text += one.substr(0, close + 2) + "\n\n";
    }
  return text;
}

static void checkLongFile(benchmark::State &state) {
  std::string text = longSource(10 << 20);
  unsigned errors = 0;
  for (auto _ : state) {
    dsl::DiagnosticEngine diags;
    dsl::Program program(diags, {});
    dsl::LoadedFile *file = program.load("long.tile", text);
    dsl::checkFile(program, *file, diags);
    errors += diags.errorCount();
    if (errors != 0) {
      state.SkipWithError(diags.print(false).c_str());
      break;
    }
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  state.counters["MB"] = text.size() / 1048576.0;
  state.counters["peak_GB"] = usage.ru_maxrss / 1048576.0;
}

#define SAMPLE(id, path, name)                                                                     \
  BENCHMARK_CAPTURE(sourceToFunction, id, "samples/" path, name)                                   \
      ->Unit(benchmark::kMillisecond)                                                              \
      ->Iterations(1)                                                                              \
      ->Repetitions(31)
SAMPLE(vector_add, "01-vector-add/vector_add.tile", "vector_add");
SAMPLE(softmax, "03-softmax/softmax.tile", "softmax");
SAMPLE(layer_norm, "04-layer-norm/layer_norm.tile", "layer_norm");
SAMPLE(matmul, "05-matmul-bias/matmul_bias.tile", "matmul");
SAMPLE(attention, "06-attention/attention.tile", "attention");
SAMPLE(convolution, "08-convolution/convolution.tile", "convolution");
#define CACHED_SAMPLE(id, path, name)                                                              \
  BENCHMARK_CAPTURE(sourceToCachedFunction, id, "samples/" path, name)                             \
      ->Unit(benchmark::kMillisecond)                                                              \
      ->Iterations(1)                                                                              \
      ->Repetitions(31)
CACHED_SAMPLE(vector_add, "01-vector-add/vector_add.tile", "vector_add");
CACHED_SAMPLE(softmax, "03-softmax/softmax.tile", "softmax");
CACHED_SAMPLE(matmul, "05-matmul-bias/matmul_bias.tile", "matmul");
CACHED_SAMPLE(attention, "06-attention/attention.tile", "attention");
BENCHMARK_CAPTURE(memoryOfCompilations, one_context, true)->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK_CAPTURE(memoryOfCompilations, own_contexts, false)
    ->Unit(benchmark::kSecond)
    ->Iterations(1);
BENCHMARK(checkLongFile)->Unit(benchmark::kSecond)->Iterations(1)->Repetitions(3);

BENCHMARK_MAIN();
