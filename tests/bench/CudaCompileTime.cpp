// How long it takes from a kernel's source to its code on a GPU, by phase.
//
//   tile_bench_gpu_compile [ROUNDS]     on the first device; without one, up to PTX
//
// Kernels take turns, 31 rounds, each time from the source's text, in a context of its own, in a
// process that has compiled before, and without the driver's own cache. Phases:
//
//   source     reading, elaborating, proving
//   passes     from the template to a specialized kernel, tile sizes included
//   layouts    the tile_gpu level: sizes of programs, layouts
//   LLVM       from there to PTX
//   assemble   PTX to machine code, by the driver
//   load       machine code onto the device
//
// "from cache" is the same where the machine code is in the cache on disk: source to a loaded
// kernel. Medians, in milliseconds; docs/performance.md gives them.

#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/KernelShape.h"
#include "dsl/Elaborator.h"
#include "frontend/execute/CudaExecution.h"

#include "mlir/IR/MLIRContext.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unistd.h>

using namespace tile;
using namespace tile::frontend;

namespace {

struct Source {
  const char *name, *text;
  std::vector<int64_t> dims;
};

const Source sources[] = {
    {"chain",
     "kernel chain(x: f32[M, N], y: f32[M, N]) -> (z: f32[M, N]) {\n"
     "    parallel i in tiles(M), j in tiles(N) {\n"
     "        let t = max((x[i, j] + y[i, j]) * 2, 0) - 1\n"
     "        z[i, j] = 1 / (1 + exp(-t))\n"
     "    }\n"
     "}\n",
     {8192, 8192}},
    {"softmax",
     "kernel softmax(x: f32[M, N]) -> (y: f32[M, N]) {\n"
     "    parallel i in tiles(M) {\n"
     "        let t = x[i, :]\n"
     "        let e = exp(t - max(t, N))\n"
     "        y[i, :] = e / sum(e, N)\n"
     "    }\n"
     "}\n",
     {8192, 4096}},
    {"layer_norm",
     "kernel layer_norm(x: f32[M, N], g: f32[N], b: f32[N]) -> (y: f32[M, N]) {\n"
     "    parallel i in tiles(M) {\n"
     "        let t = x[i, :]\n"
     "        let d = t - mean(t, N)\n"
     "        y[i, :] = d * rsqrt(mean(d * d, N) + 1e-5) * g[:] + b[:]\n"
     "    }\n"
     "}\n",
     {8192, 4096}},
    {"matmul", // a pipeline on Hopper GPUs
     "kernel matmul(a: bf16[M, K], b: bf16[N, K]) -> (c: bf16[M, N]) {\n"
     "    parallel i in tiles(M), j in tiles(N) {\n"
     "        var acc = zeros(f32, i, j)\n"
     "        for k in tiles(K) { acc += dot(a[i, k], b[j, k], k) }\n"
     "        c[i, j] = bf16(acc)\n"
     "    }\n"
     "}\n",
     {8192, 8192, 8192}},
    {"matmul_tf32", // by instructions of single warps
     "kernel matmul_tf32(a: f32[M, K], b: f32[N, K]) -> (c: f32[M, N]) {\n"
     "    parallel i in tiles(M), j in tiles(N) {\n"
     "        var acc = zeros(f32, i, j)\n"
     "        for k in tiles(K) { acc += dot(a[i, k], b[j, k], k, precision = tf32) }\n"
     "        c[i, j] = acc\n"
     "    }\n"
     "}\n",
     {8192, 8192, 8192}},
};

using Milliseconds = std::map<std::string, double>;

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "tile_bench_gpu_compile: %s\n", what.c_str());
  std::exit(3);
}

/// Source to a loaded kernel, or to PTX where there is no device.
Milliseconds compileOnce(const Source &source, const CudaContext *device,
                         std::shared_ptr<runtime::Cache> cache) {
  Milliseconds phases;
  auto begin = std::chrono::steady_clock::now();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  dsl::DiagnosticEngine diags;
  dsl::Program program(diags, {});
  dsl::LoadedFile *file = program.load(std::string(source.name) + ".tile", source.text);
  dsl::Elaborator elaborator(context, program, diags);
  std::string symbol = elaborator.elaborate(program.lookup(*file, source.name, {}, diags), {});
  auto kernel = elaborator.module().lookupSymbol<ir::KernelOp>(symbol);
  if (!kernel || diags.errorCount())
    fail(diags.print(false));
  phases["source"] = 1e3 * secondsSince(begin);

  Compiler compiler;
  compiler.cache = std::move(cache);
  CudaSpecialization to;
  runtime::GpuTarget target = device ? device->codeTarget() : runtime::GpuTarget::of("sm_90a");
  codegen::gpu::bindDims(kernel, source.dims, to.bindings);
  Compiler::chooseGpuTiles(kernel, to.bindings, source.dims, target);
  to.divisors = codegen::gpu::divisorsOf(kernel, source.dims);
  if (device) {
    if (auto loaded = device->load(compiler, kernel, to); !loaded)
      fail("a kernel is refused");
    phases["all"] = 1e3 * secondsSince(begin);
    phases["assemble"] = 1e3 * compiler.times.lookup("assemble");
    phases["load"] = 1e3 * compiler.times.lookup("load");
    if (!compiler.times.contains("gpu-ptx"))
      return phases; // from the cache
  }
  // The compiler's own part once more, in pieces.
  auto start = std::chrono::steady_clock::now();
  mlir::OwningOpRef<ir::KernelOp> specialized = compiler.compile(kernel, to.bindings);
  if (!specialized)
    fail("a kernel isn't specialized");
  specialized.get()->setAttr(codegen::divisorsAttrName, to.divisors);
  phases["passes"] = 1e3 * secondsSince(start);
  codegen::GpuCompiler gpu({.target = target});
  start = std::chrono::steady_clock::now();
  if (failed(gpu.lowerToTileGpu(specialized.get())))
    fail("a kernel gets no layouts");
  phases["layouts"] = 1e3 * secondsSince(start);
  start = std::chrono::steady_clock::now();
  if (failed(gpu.compileToPtx(specialized.get())))
    fail("a kernel becomes no PTX");
  phases["LLVM"] = 1e3 * secondsSince(start) - phases["layouts"];
  if (!device)
    phases["all"] = phases["source"] + phases["passes"] + phases["layouts"] + phases["LLVM"];
  return phases;
}

class Medians {
public:
  void add(const Milliseconds &phases) {
    for (const auto &[name, time] : phases)
      times[name].push_back(time);
  }
  double of(const std::string &name) {
    std::vector<double> &all = times[name];
    if (all.empty())
      return 0;
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }

private:
  std::map<std::string, std::vector<double>> times;
};

} // namespace

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 31;
  setenv("CUDA_CACHE_DISABLE", "1", 1); // the driver has a cache of its own
  auto opened = CudaContext::open();
  CudaContext *device = opened ? opened->get() : nullptr;
  if (!device)
    std::printf("no device: up to PTX for sm_90a\n");
  char folder[] = "/tmp/tile-bench-XXXXXX"; // private to the user, as a cache is
  if (!mkdtemp(folder))
    fail("no folder for the cache");
  auto cache = runtime::Cache::open(folder);
  if (!cache)
    fail(cache.error().str());
  std::vector<Medians> cold(std::size(sources)), warm(std::size(sources));
  for (int round = -2; round < rounds; ++round) // two to warm up
    for (size_t n = 0; n < std::size(sources); ++n) {
      Milliseconds once = compileOnce(sources[n], device, nullptr), again;
      if (device)
        again = compileOnce(sources[n], device, *cache);
      if (round < 0)
        continue;
      cold[n].add(once);
      warm[n].add(again);
    }
  std::printf("%-12s", "ms");
  const char *phases[] = {"source", "passes", "layouts", "LLVM", "assemble", "load", "all"};
  for (const char *phase : phases)
    std::printf("%10s", phase);
  std::printf("%12s\n", "from cache");
  for (size_t n = 0; n < std::size(sources); ++n) {
    std::printf("%-12s", sources[n].name);
    for (const char *phase : phases)
      std::printf("%10.2f", cold[n].of(phase));
    std::printf("%12.2f\n", warm[n].of("all"));
  }
  (void)(*cache)->clear();
  rmdir(folder);
  return 0;
}
