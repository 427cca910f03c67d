// Whether kernels become one where that is known, or seen, to be slower: by how many programs there
// would be, by what contractions lose, and by what code shows.

#include "frontend/fusion/FusionVeto.h"
#include "dsl/Elaborator.h"
#include "frontend/artifact/ArtifactCuda.h"
#include "frontend/artifact/GpuAssembly.h"
#include "frontend/fusion/FusionCost.h"
#include "frontend/model/DeviceDescription.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

using namespace tile;
using namespace tile::frontend;

namespace {

const char *const kernels = R"(import std.nn

kernel plane_sums(x: f32[A, B, C]) -> (y: f32[A, B]) {
    parallel a in tiles(A), b in tiles(B) { y[a, b] = sum(x[a, b, :], C) }
}
kernel line_sums(x: f32[A, B]) -> (y: f32[A]) { parallel a in tiles(A) { y[a] = sum(x[a, :], B) } }
kernel total_of_all(x: f32[N]) -> (s: f32[1]) {
    parallel k in tiles(1) { s[k] = sum(x[:], N) }
}
kernel share(x: f32[N], s: f32[1]) -> (y: f32[N]) { parallel i in tiles(N) { y[i] = x[i] / s[0] } }
kernel costly(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = tanh(exp(sin(x[i, j])) + erf(x[i, j])) }
}
kernel row_sums(x: f32[M, N]) -> (y: f32[M]) { parallel i in tiles(M) { y[i] = sum(x[i, :], N) } }
kernel scores(q: bf16[S, D], k: bf16[L, D]) -> (s: bf16[S, L]) {
    parallel i in tiles(S), j in tiles(L) { s[i, j] = bf16(dot(q[i, :], k[j, :], D)) }
}
kernel soft_rows(s: bf16[S, L]) -> (p: bf16[S, L]) {
    parallel i in tiles(S) {
        let t = f32(s[i, :])
        let e = exp(t - max(t, L))
        p[i, :] = bf16(e / sum(e, L))
    }
}
kernel low_half(a: bf16[M, K], b: bf16[N, K]) -> (c: bf16[M, N]) requires K % 2 == 0 {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for k in tiles(0..K / 2) { acc += dot(a[i, k], b[j, k], k) }
        c[i, j] = bf16(acc)
    }
}
kernel all_of_it(a: bf16[M, K], b: bf16[N, K]) -> (c: bf16[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for k in tiles(K) { acc += dot(a[i, k], b[j, k], k) }
        c[i, j] = bf16(acc)
    }
}
graph nested_sums(x: f32[A, B, C]) -> (y: f32[A]) { let t = plane_sums(x); y = line_sums(t) }
graph shared_by_all(x: f32[N]) -> (y: f32[N]) { let s = total_of_all(x); y = share(x, s) }
graph costly_row(x: f32[M, N]) -> (y: f32[M]) { let t = costly(x); y = row_sums(t) }
graph weights(q: bf16[S, D], k: bf16[L, D]) -> (p: bf16[S, L]) { p = soft_rows(scores(q, k)) }
graph half_of_k(a: bf16[M, K], b: bf16[N, K]) -> (c: bf16[M, N]) { c = low_half(a, b) }
graph all_of_k(a: bf16[M, K], b: bf16[N, K]) -> (c: bf16[M, N]) { c = all_of_it(a, b) }
map costly_number(x: f32) -> f32 = sin(tanh(x) + erf(x)) * exp(cos(x) - 1)
graph costly_bias(x: f32[M, N], b: f32[N]) -> (y: f32[M, N]) { let c = costly_number(b); y = x + c }
graph column_weights(x: f32[M, N]) -> (y: f32[M, N]) { y = transpose(softmax(transpose(x))) }
kernel plain_product(a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for k in tiles(K) { acc += dot(a[i, k], b[k, j], k) }
        c[i, j] = acc
    }
}
graph normed_product(x: f32[M, K], g: f32[K], w: f32[K, N]) -> (y: f32[M, N]) {
    let t = rms_norm(x, g)
    y = plain_product(t, w)
}
kernel three_of_rows(x: f32[M, N]) -> (y: f32[M, N], top: f32[M], z: f32[M, N]) requires N > 0 {
    parallel i in tiles(M) {
        let t = x[i, :]
        y[i, :] = exp(t)
        top[i] = max(t, N)
        z[i, :] = sin(t)
    }
}
graph one_of_three(x: f32[M, N]) -> (t: f32[M]) { let (y, top, z) = three_of_rows(x); t = top }
graph two_of_three(x: f32[M, N]) -> (t: f32[M], u: f32[M, N]) { let (y, top, z) = three_of_rows(x); t = top; u = z * 2 }
graph gated_products(x: f32[M, K], a: f32[K, N], b: f32[K, N]) -> (y: f32[M, N]) {
    y = swiglu(plain_product(x, a), plain_product(x, b))
}
graph product_and_bias(a: f32[M, K], b: f32[K, N], c: f32[N]) -> (y: f32[M, N]) {
    let t = plain_product(a, b)
    y = t + c
}
kernel forth(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) { y[i, :] = cumsum(x[i, :], N) }
}
kernel back(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) { y[i, :] = cumsum(x[i, :], N, reverse = true) }
}
kernel row_totals(x: f32[M, N]) -> (s: f32[M]) { parallel i in tiles(M) { s[i] = sum(x[i, :], N) } }
kernel column_totals(x: f32[M, N]) -> (s: f32[N] reduce +) {
    parallel i in tiles(M), j in tiles(N) { s[j] += sum(x[i, j], i) }
}
graph both_totals(x: f32[M, N]) -> (r: f32[M], c: f32[N]) {
    r = row_totals(x)
    c = column_totals(x)
}
graph both_ways(x: f32[M, N]) -> (y: f32[M, N]) { y = forth(x) + back(x) }
graph chain(x: f32[M, N]) -> (y: f32[M, N]) {
    let a = softmax(x)
    let b = 2 * a + 1
    y = softmax(b)
}
)";

using Dims = std::map<std::string, int64_t>;

struct Planned {
  size_t launches = 0;
  std::string reasons;
  ir::FusionLedger ledger;
};

class FusionVeto : public ::testing::Test {
protected:
  /// What a graph becomes on a device.
  Planned plan(const std::string &graph, const std::string &device, const Dims &given,
               FuseMode mode = FuseMode::Exact, const SeeCode &see = {},
               runtime::Cache *cache = nullptr) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    dsl::DiagnosticEngine diags;
    dsl::Program program(diags, {});
    dsl::Elaborator elaborator(context, program, diags);
    dsl::LoadedFile *file = program.load("test.tile", kernels);
    dsl::DeclRef found;
    for (const dsl::Decl &decl : file->module.decls)
      if (decl.name.text == graph)
        found = {&decl, file};
    std::string symbol = elaborator.elaborate(found, {});
    EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false);
    auto description = DeviceDescription::find(device);
    EXPECT_TRUE(bool(description));
    llvm::StringMap<int64_t> dims;
    for (const auto &[name, value] : given)
      dims[name] = value;
    Planned result;
    result.ledger =
        fuseGraphByCode(elaborator.module(), symbol, mode, *description, dims, {}, cache, see)
            .ledger;
    result.launches = result.ledger.kernels.size();
    for (const ir::FusionEntry &entry : result.ledger.entries)
      result.reasons += entry.reason + "\n";
    return result;
  }
  /// Whether fusing is predicted to cost nothing.
  void expectNoLoss(const std::string &graph, const std::string &device, const Dims &dims) {
    Planned fused = plan(graph, device, dims);
    EXPECT_LE(fused.ledger.after().seconds, fused.ledger.before().seconds) << graph;
  }
};

TEST_F(FusionVeto, aProgramIsNotADevice) {
  EXPECT_EQ(plan("nested_sums", "h200", {{"A", 1}, {"B", 4096}, {"C", 4096}}).launches, 2u);
  EXPECT_EQ(plan("nested_sums", "h200", {{"A", 65536}, {"B", 8}, {"C", 64}}).launches, 1u);
  EXPECT_EQ(plan("shared_by_all", "h200", {{"N", 1 << 24}}).launches, 2u);
  EXPECT_EQ(plan("shared_by_all", "h200", {{"N", 1 << 10}}).launches, 1u);
  for (const char *device : {"h200", "xeon-8592"}) {
    EXPECT_EQ(plan("costly_row", device, {{"M", 1}, {"N", 1 << 24}}).launches, 2u) << device;
    EXPECT_EQ(plan("costly_row", device, {{"M", 8192}, {"N", 4096}}).launches, 1u) << device;
  }
}

/// Arithmetic that many programs would repeat isn't taken to hide behind the memory.
TEST_F(FusionVeto, whatIsComputedAgainCounts) {
  EXPECT_EQ(plan("costly_bias", "h200", {{"M", 16384}, {"N", 4096}}).launches, 2u);
  EXPECT_EQ(plan("costly_bias", "h200", {{"M", 4}, {"N", 1 << 20}}).launches, 1u);
}

/// A row that chunks are gone through for has less of the memory than one sum, and blocks between
/// which nothing can move are no cluster.
TEST_F(FusionVeto, chunksOfRowsAreWaitedFor) {
  EXPECT_EQ(plan("column_weights", "h200", {{"M", 8192}, {"N", 4096}}).launches, 3u);
  EXPECT_EQ(plan("chain", "h200", {{"M", 8192}, {"N", 8192}}).launches, 1u);
}

/// What comes into a contraction's loop has to be worth it, what follows the sums need not.
TEST_F(FusionVeto, loopsOfContractionsStayAsTheyAre) {
  EXPECT_EQ(plan("normed_product", "h200", {{"M", 4096}, {"K", 4096}, {"N", 4096}}).launches, 2u);
  EXPECT_EQ(plan("product_and_bias", "h200", {{"M", 4096}, {"K", 4096}, {"N", 4096}}).launches, 1u);
}

/// As one they have a copy of the columns' sums for each block, which goes from row to row: that
/// pays where what is read twice takes longer.
TEST_F(FusionVeto, copiesOfSumsCount) {
  EXPECT_EQ(plan("both_totals", "h200", {{"M", 1024}, {"N", 1024}}).launches, 2u);
  EXPECT_EQ(plan("both_totals", "h200", {{"M", 8192}, {"N", 8192}}).launches, 1u);
}

/// Sixteen sums keep one warp busy, however many there are.
TEST_F(FusionVeto, fewSumsAreFewThreads) {
  ir::KernelCost few =
      plan("product_and_bias", "h200", {{"M", 4}, {"K", 1 << 19}, {"N", 4}}).ledger.after();
  EXPECT_GT(few.seconds, 1e-3); // 8.4 million multiply-adds
}

/// Products that leave most of the device run at the same time. One of them in the kernel of their
/// consumer would wait for the other.
TEST_F(FusionVeto, whatRunsAtTheSameTimeStaysApart) {
  for (Dims dims :
       {Dims{{"M", 512}, {"K", 512}, {"N", 512}}, Dims{{"M", 4}, {"K", 2048}, {"N", 2048}},
        Dims{{"M", 2048}, {"K", 1024}, {"N", 1}}})
    EXPECT_EQ(plan("gated_products", "h200", dims).launches, 3u);
}

/// What nobody reads isn't stored, neither by a kernel as it is written nor by one that has become
/// another.
TEST_F(FusionVeto, whatNobodyReadsIsNotStored) {
  Dims dims{{"M", 4096}, {"N", 1024}};
  for (const char *device : {"h200", "eight-cores"}) {
    Planned one = plan("one_of_three", device, dims), two = plan("two_of_three", device, dims);
    EXPECT_EQ(one.ledger.after().bytesWritten, 4 * 4096);
    EXPECT_EQ(two.launches, 1u);
    EXPECT_EQ(two.ledger.after().bytesWritten, 4 * (4096 + 4096 * 1024));
  }
}

/// All sixteen warps of a kernel of rows would compute the sixteen sums of a product behind them.
TEST_F(FusionVeto, copiesOfSumsTakeTime) {
  EXPECT_EQ(plan("normed_product", "h200", {{"M", 4}, {"K", 1 << 19}, {"N", 4}}).launches, 2u);
}

TEST_F(FusionVeto, predictedTimeNeverGrows) {
  for (int64_t m : {1, 3, 127, 4096, 100000})
    for (int64_t n : {1, 5, 640, 8192}) {
      expectNoLoss("costly_row", "h200", {{"M", m}, {"N", n}});
      expectNoLoss("costly_row", "xeon-8592", {{"M", m}, {"N", n}});
      expectNoLoss("weights", "h200", {{"S", m}, {"L", n}, {"D", 128}});
      expectNoLoss("chain", "a100-sxm-80", {{"M", m}, {"N", n}});
    }
}

TEST_F(FusionVeto, contractionsKeepTheirTensorCores) {
  Planned long_ = plan("weights", "h200", {{"S", 4096}, {"L", 4096}, {"D", 128}});
  EXPECT_EQ(long_.launches, 2u);
  EXPECT_NE(long_.reasons.find("as one, "), std::string::npos) << long_.reasons;
}

/// Tile sizes, prediction and code have one answer to what is a pipeline.
TEST_F(FusionVeto, halfOfATensorIsNoPipeline) {
  Dims dims{{"M", 8192}, {"N", 8192}, {"K", 8192}};
  ir::KernelCost half = plan("half_of_k", "h200", dims).ledger.kernels.front().cost;
  ir::KernelCost whole = plan("all_of_k", "h200", dims).ledger.kernels.front().cost;
  EXPECT_EQ(whole.pipelines, 1u);
  EXPECT_EQ(half.pipelines, 0u);
  EXPECT_EQ(half.scalars, 0u);
  // Half of the work at 0.3 of the rate.
  EXPECT_GT(half.seconds, 1.3 * whole.seconds);
}

//===-- Code --------------------------------------------------------------===//

/// Code in which kernels of several calls spill, if they contain this name.
SeeCode spilling(const std::string &name, unsigned &looks) {
  return [name, &looks](ir::KernelOp kernel, llvm::ArrayRef<int64_t>) -> Outcome<CodeFacts> {
    ++looks;
    bool spills = ir::isFused(kernel) && kernel.getSymName().contains(name);
    return CodeFacts{spills ? 96 : 0, {}};
  };
}

const Dims square = {{"M", 4096}, {"N", 1000}};

TEST_F(FusionVeto, whatSpillsAsOneIsPlannedAgain) {
  EXPECT_EQ(plan("chain", "h200", square).launches, 1u);
  unsigned looks = 0;
  Planned seen = plan("chain", "h200", square, FuseMode::Exact, spilling("softmax", looks));
  EXPECT_GT(seen.launches, 1u);
  ASSERT_FALSE(seen.ledger.vetoes.empty());
  EXPECT_EQ(seen.ledger.vetoes.front().calls.size(), 3u);
  EXPECT_NE(seen.reasons.find("96 bytes of its registers in memory"), std::string::npos)
      << seen.reasons;
}

TEST_F(FusionVeto, whatSpillsApartTooIsNoObjection) {
  auto all = [](ir::KernelOp, llvm::ArrayRef<int64_t>) -> Outcome<CodeFacts> {
    return CodeFacts{48, {}};
  };
  Planned seen = plan("chain", "h200", square, FuseMode::Exact, all);
  EXPECT_EQ(seen.launches, 1u);
  EXPECT_TRUE(seen.ledger.vetoes.empty());
}

TEST_F(FusionVeto, goodCodeIsLookedAtOnce) {
  unsigned looks = 0;
  Planned seen = plan("chain", "h200", square, FuseMode::Exact, spilling("nothing", looks));
  EXPECT_EQ(seen.launches, 1u);
  EXPECT_EQ(looks, 1u);
}

/// As artifacts are made: no GPU is needed, only what assembles for one.
TEST_F(FusionVeto, codeIsLookedAtAheadOfTime) {
  if (findToolkitProgram("ptxas").empty())
    GTEST_SKIP() << "there is no ptxas";
  Compiler compiler;
  SeeCode see = codeFor(compiler, runtime::GpuTarget::of("sm_90a"),
                        [](ir::KernelOp) { return ir::Bindings(); });
  Planned good = plan("chain", "h200", square, FuseMode::Exact, see);
  EXPECT_EQ(good.launches, 1u);
  EXPECT_TRUE(good.ledger.vetoes.empty()) << good.reasons;
  // Each scan goes from chunk to chunk, but not both in one loop: as one kernel they hold the row.
  Dims wide{{"M", 4096}, {"N", 32768}};
  EXPECT_EQ(plan("both_ways", "h200", wide).launches, 1u);
  Planned apart = plan("both_ways", "h200", wide, FuseMode::Exact, see);
  EXPECT_EQ(apart.launches, 2u);
  EXPECT_NE(apart.reasons.find("bytes of its registers in memory"), std::string::npos)
      << apart.reasons;
}

TEST_F(FusionVeto, theCacheRemembersIt) {
  auto folder = std::filesystem::temp_directory_path() /
                ("tile-veto-" + std::to_string(std::random_device{}()));
  auto cache = runtime::Cache::open(folder.string());
  ASSERT_TRUE(bool(cache));
  unsigned looks = 0;
  Planned seen =
      plan("chain", "h200", square, FuseMode::Exact, spilling("softmax", looks), cache->get());
  // Without making code: the same kernels.
  Planned told = plan("chain", "h200", square, FuseMode::Exact, {}, cache->get());
  EXPECT_EQ(told.launches, seen.launches);
  EXPECT_EQ(told.ledger.vetoes.size(), seen.ledger.vetoes.size());
  // Of other dims, devices and ways to fuse nothing is known.
  EXPECT_EQ(
      plan("chain", "h200", {{"M", 8192}, {"N", 1000}}, FuseMode::Exact, {}, cache->get()).launches,
      1u);
  EXPECT_EQ(plan("chain", "h100-sxm", square, FuseMode::Exact, {}, cache->get()).launches, 1u);
  EXPECT_EQ(plan("chain", "h200", square, FuseMode::Fast, {}, cache->get()).launches, 1u);
  std::filesystem::remove_all(folder);
}

} // namespace
