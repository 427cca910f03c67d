// What a launch moves and computes, against figures by hand: of random odd dimensions, and the same
// whatever the tile sizes.

#include "frontend/model/Work.h"
#include "dsl/Elaborator.h"
#include "frontend/execute/Compiler.h"
#include "ir/interpreter/Launch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tile;
using namespace tile::frontend;
using runtime::DType;

namespace {

using Shapes = std::vector<std::vector<int64_t>>;
using Sizes = std::vector<std::pair<std::string, int64_t>>;

/// Of the one kernel of a text; `shapes` are those of its inputs.
Work workOf(const std::string &text, const Shapes &shapes, const Sizes &sizes,
            std::vector<uint64_t> scalars = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  dsl::DiagnosticEngine diags;
  dsl::Program program(diags, {});
  dsl::Elaborator elaborator(context, program, diags);
  dsl::LoadedFile *file = program.load("test.tile", text);
  if (diags.errorCount() == 0)
    elaborator.elaborate({&file->module.decls.back(), file}, {});
  EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false);
  if (diags.errorCount())
    return {};
  ir::KernelOp source = *elaborator.module().getOps<ir::KernelOp>().begin();
  llvm::SmallVector<llvm::ArrayRef<int64_t>> inputs(shapes.begin(), shapes.end());
  ir::UserError error;
  auto binding = ir::bindLaunch(source, inputs, {}, error);
  EXPECT_TRUE(mlir::succeeded(binding)) << error.message;
  ir::Bindings bindings;
  for (const auto &[name, size] : sizes)
    bindings.sizes[name] = size;
  Compiler compiler;
  auto kernel = compiler.compile(source, bindings);
  EXPECT_TRUE(bool(kernel));
  llvm::SmallVector<llvm::ArrayRef<int64_t>> all(binding->shapes.begin(), binding->shapes.end());
  scalars.resize(all.size());
  return countWork(*kernel, binding->dims, all, scalars);
}

/// An odd number up to 2 · most.
int64_t odd(int64_t most) {
  static std::mt19937_64 random(std::random_device{}());
  return 2 * static_cast<int64_t>(random() % most) + 1;
}

double count(const Work &work, Unit unit, DType type) {
  auto found = work.operations.find({unit, type});
  return found == work.operations.end() ? 0 : found->second;
}

TEST(Work, elementwise) {
  for (int64_t size : {1, 4, 1000}) {
    auto m = odd(500), n = odd(500);
    double all = double(m) * double(n);
    Work work = workOf(R"(
kernel chain(x: f32[M, N], b: f32[N], flag: bool) -> (y: f32[M, N], z: i32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        let t = x[i, j] * 2 + b[j]            // a multiply-add: 2
        y[i, j] = where(t > 0, exp(t), -t)    // a function, a sign; the choice is none
        z[i, j] = i32(t) + 1                  // integers don't count
    }
} schedule { i = 4; j = 4 })",
                       {{m, n}, {n}, {}}, {{"i", size}, {"j", 2 * size}});
    EXPECT_TRUE(work.isExact);
    EXPECT_EQ(work.bytesRead, 4 * (all + double(n)));
    EXPECT_EQ(work.bytesWritten, 8 * all);
    EXPECT_EQ(work.bytesAccessed, 12 * all + 4 * double(n) * std::ceil(double(m) / double(size)));
    EXPECT_EQ(work.totalOperations(), 4 * all);
    EXPECT_EQ(count(work, Unit::Vector, DType::F32), 4 * all);
  }
}

TEST(Work, wholeAxes) {
  for (int64_t size : {1, 8}) {
    auto m = odd(50), n = odd(5000);
    double all = double(m) * double(n);
    Work work = workOf(R"(
kernel softmax(x: f64[M, N]) -> (y: f64[M, N]) {
    parallel i in tiles(M) {
        let e = exp(x[i, :] - max(x[i, :], N))
        y[i, :] = e / sum(e, N)
    }
} schedule { i = 4 })",
                       {{m, n}}, {{"i", size}});
    EXPECT_TRUE(work.isExact);
    EXPECT_EQ(work.bytes(), 16 * all);
    EXPECT_EQ(work.totalOperations(), 5 * all);
    EXPECT_EQ(count(work, Unit::Vector, DType::F64), 5 * all);
    EXPECT_DOUBLE_EQ(work.intensity(), 5.0 / 16);
  }
}

TEST(Work, contraction) {
  for (int64_t size : {8, 64}) {
    auto m = odd(300), k = odd(300), n = odd(300);
    double M = double(m), K = double(k), N = double(n);
    Work work = workOf(R"(
kernel matmul(x: bf16[M, K], w: bf16[K, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for k in tiles(K) { acc += dot(x[i, k], w[k, j], k) }
        y[i, j] = acc
    }
} schedule { i = 4; j = 4; k = 4 })",
                       {{m, k}, {k, n}}, {{"i", size}, {"j", 2 * size}, {"k", 16}});
    EXPECT_TRUE(work.isExact);
    EXPECT_EQ(work.bytesRead, 2 * (M * K + K * N));
    EXPECT_EQ(work.bytesWritten, 4 * M * N);
    double rows = std::ceil(M / double(size)), columns = std::ceil(N / (2 * double(size)));
    EXPECT_EQ(work.bytesAccessed, 2 * (M * K * columns + K * N * rows) + 4 * M * N);
    double left = 2 * M * K * (columns - 1), right = 2 * K * N * (rows - 1);
    EXPECT_EQ(work.rereadBeyond(0), left + right);
    EXPECT_EQ(work.rereadBeyond(2 * (M * K + K * N)), 0);
    if (columns > 1 && rows > 1 && M != N) // the shorter one stays
      EXPECT_EQ(work.rereadBeyond(2 * K * std::max(M, N)), M > N ? left : right);
    EXPECT_EQ(work.totalOperations(), 2 * M * N * K);
    EXPECT_EQ(count(work, Unit::Matrix, DType::BF16), 2 * M * N * K);
  }
}

TEST(Work, loopsOverIntegers) {
  auto c = 2 * odd(20), f = odd(30);
  Work work = workOf(R"(
kernel convolution(x: f32[H, C], w: f32[3, C, F]) -> (y: f32[H, F]) {
    parallel p in tiles(H), f in tiles(F) {
        var acc = zeros(f32, p, f)
        for r in 0..3 {
            for c in tiles(C) { acc += dot(x.pad(0)[p + r - 1, c], w[r, c, f], c) }
        }
        y[p, f] = acc
    }
} schedule { p = 4; f = 4; c = 4 })",
                     {{99, c}, {3, c, f}}, {{"p", 10}});
  EXPECT_EQ(work.bytesRead, 4 * double(99 * c + 3 * c * f));
  EXPECT_EQ(work.bytesWritten, 4 * double(99 * f));
  EXPECT_EQ(work.totalOperations(), 2 * 3 * double(99 * c * f));
}

TEST(Work, gathersReachNoMoreThanTheyName) {
  const char *text = R"(
kernel embedding(ids: i32[B], table: f32[V, D]) -> (y: f32[B, D]) {
    parallel b in tiles(B), d in tiles(D) { y[b, d] = table.pad(0)[ids[b], d] }
} schedule { b = 4; d = 4 })";
  for (auto [b, v] : {std::pair<int64_t, int64_t>{7, 1001}, {1001, 7}}) {
    Work work = workOf(text, {{b}, {v, 33}}, {});
    EXPECT_EQ(work.bytesRead, 4 * double(b) + 4 * 33 * double(std::min(b, v)));
    EXPECT_EQ(work.bytesWritten, 4 * 33 * double(b));
    EXPECT_EQ(work.totalOperations(), 0);
  }
}

TEST(Work, conditions) {
  const char *text = R"(
kernel below(x: f32[N], triangle: bool) -> (y: f32[N]) {
    parallel i in tiles(N) {
        var s = zeros(f32, i)
        for j in tiles(N) if !triangle || j <= i { s += sum(x[j] * x[i], j) }
        y[i] = s
    }
} schedule { i = 8; j = 8 })";
  for (bool triangle : {false, true}) {
    auto n = 100 + odd(500);
    Work work = workOf(text, {{n}, {}}, {}, {0, triangle, 0});
    double N = double(n), inside = triangle ? N * (N + 1) / 2 : N * N;
    // A product and a sum for each pair, and a sum for each block.
    double expected = 2 * inside + N * std::ceil(N / 8);
    EXPECT_NEAR(work.totalOperations(), expected, 0.01 * expected);
    EXPECT_FALSE(work.isExact);
    EXPECT_EQ(work.bytes(), 8 * N);
  }
}

TEST(Work, whatDataDecides) {
  Work work = workOf(R"(
kernel ragged(x: f32[B, L], len: i32[B]) -> (y: f32[B]) {
    parallel b in each(B) {
        var s = 0.0
        for j in tiles(0..len[b]) { s += sum(x.pad(0)[b, j], j) }
        y[b] = s
    }
} schedule { j = 16 })",
                     {{5, 100}, {5}}, {});
  EXPECT_FALSE(work.isExact);
  EXPECT_EQ(work.bytesRead, 4 * 5 * 100 + 4 * 5);
  EXPECT_TRUE(std::isinf(work.totalOperations()));
}

TEST(Work, nothingToDo) {
  Work work = workOf("kernel none(x: f32[N]) -> (y: f32[N]) {\n"
                     "    parallel i in tiles(N) { y[i] = x[i] + 1 }\n"
                     "} schedule { i = 4 }",
                     {{0}}, {});
  EXPECT_EQ(work.bytes(), 0);
  EXPECT_EQ(work.totalOperations(), 0);
}

} // namespace
