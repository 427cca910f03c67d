// Graphs whose kernels are made one, against the same graphs as they stand: the same bits, on fresh
// random inputs of odd sizes, in the interpreter and on the CPU.

#include "frontend/fusion/Fusion.h"
#include "dsl/Elaborator.h"
#include "frontend/execute/Execution.h"
#include "frontend/fusion/FusionPrint.h"
#include "frontend/fusion/FusionText.h"
#include "frontend/model/DeviceDescription.h"
#include "ir/dialect/AffineEval.h"
#include "ir/fusion/DeadCalls.h"
#include "ir/fusion/EqualCalls.h"
#include "ir/fusion/FlattenGraph.h"
#include "ir/fusion/FuseGraph.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

using namespace tile;
using namespace tile::frontend;

namespace {

const char *const library = R"(import std.nn

kernel transpose(x: f32[M, N]) -> (y: f32[N, M]) {
    parallel i in tiles(M), j in tiles(N) { y[j, i] = x[i, j] }
}
kernel slope(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x.pad(0)[i + 1, j] - x.pad(0)[i - 1, j] }
}
kernel rotate(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) {
        let d = whole(N)
        y[i, d] = x[i, (d + N / 2) % N]
    }
}
kernel even(x: f32[M, N]) -> (y: f32[M, N / 2]) {
    parallel i in tiles(M), j in tiles(N / 2) { y[i, j] = x[i, 2*j] + 3 * x[i, 2*j + 1] }
}
kernel twice(x: f32[M, N]) -> (y: f32[M, 2*N]) {
    parallel i in tiles(M), j in tiles(2*N) { y[i, j] = x[i, j / 2] * f32(1 + j % 2) }
}
kernel gather(x: f32[M, N], ids: i32[K]) -> (y: f32[K, N]) {
    parallel i in tiles(K), j in tiles(N) { y[i, j] = x.pad(7)[ids[i], j] }
}
kernel largest(x: f32[M, N]) -> (y: f32[M]) {
    parallel i in tiles(M) { y[i] = max(abs(x[i, :]), N) }
}
kernel scale(x: f32[M, N], s: f32[M]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x[i, j] / s[i] }
}
kernel sums(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) { y[i, :] = cumsum(x[i, :], N) }
}
kernel blur(x: f32[M, N], w: f32[3, 3]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for r in 0..3 {
            for s in 0..3 { acc = acc + w[r, s] * x.pad(0)[i + r - 1, j + s - 1] }
        }
        y[i, j] = acc
    }
}
kernel number(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in each(M), j in tiles(N) { y[i, j] = x[i, j] * f32(i) + f32(j) }
}
kernel lower(x: f32[M, N]) -> (y: f32[M]) {
    parallel i in tiles(M) {
        let n = whole(N) if n <= i
        y[i] = sum(x[i, n], n)
    }
}
kernel recent(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) {
        let j = whole(N)
        let n = whole(M) if n <= i && n > i - 4
        let t = max(x[n, j] + zeros(f32, n, i, j), n)
        y[i, j] = t - max(t, j)
    }
}
kernel later(x: f32[M, N]) -> (y: i64[M, N]) {
    parallel i in tiles(M) {
        let j = whole(N)
        let n = whole(N) if n > j
        y[i, j] = argmax(zeros(f32, j, n), n)
    }
}
kernel nearby(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) {
        let j = whole(N)
        let n = whole(N) if n <= j && n > j - 4
        let t = max(x[i, n] + zeros(f32, i, n, j), n)
        y[i, j] = t * rsqrt(mean(t * t, j) + 0.1)
    }
}
kernel later_sums(x: f32[M, N]) -> (y: f32[M, N], z: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        let n = whole(N) if n > i
        let t = x[i, j] + sum(x[i, n], n)
        y[i, j] = t
        z[i, j] = abs(t)
    }
}
kernel totals_of_rows(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) {
        let w = whole(N)
        var t = zeros(f32, i, w)
        for k in tiles(N) { t += sum(x[i, k], k) }
        y[i, w] = t
    }
}
kernel diagonal(x: f32[M, N]) -> (y: f32[M]) {
    parallel i in tiles(M) { y[i] = x.pad(0)[i, i] }
}
kernel flipped(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) {
        let j = whole(N)
        y[i, j] = x[i, N - 1 - j]
    }
}
kernel folded(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) {
        let j = whole(N)
        var c = x.pad(0)[i, 3]
        if N > 7 { c = 2 * c } else { c = abs(c) }
        var t = zeros(f32, i, j)
        for k in tiles(3) { t += sum(c + x[i, j] + zeros(f32, i, j, k), k) }
        y[i, j] = t + sum(t, j)
    }
}
kernel twice_read(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x[i, j] - x.pad(0)[i, j - 1] }
}
kernel moments(x: f32[M, N]) -> (m: f32[M], v: f32[M]) {
    parallel i in tiles(M) {
        let a = mean(x[i, :], N)
        m[i] = a
        v[i] = mean((x[i, :] - a) * (x[i, :] - a), N)
    }
}
kernel spread(x: f32[M, N]) -> (t: f32[M, N], top: f32[M], back: f32[N, M]) {
    parallel i in tiles(M) {
        let m = max(x[i, :], N)
        t[i, :] = x[i, :] - m
        top[i] = m
        back[:, i] = 2 * x[i, :]
    }
}
kernel by_number(s: f32[N]) -> (y: f32[N]) {
    parallel i in each(N) { y[i] = s[i] * f32(i) }
}
kernel halves(x: f32[M, N]) -> (t: f32[M, 2*N], u: f32[2*N, M]) {
    parallel i in each(M), j in tiles(N) {
        let k = range(2)
        t[i, 2*j + k] = x[i, j] * f32(1 + k)
        u[2*j + k, i] = x[i, j] - f32(k)
    }
}
kernel standard(x: f32[M, N], m: f32[M], v: f32[M]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = (x[i, j] - m[i]) * rsqrt(v[i] + 0.01) }
}
kernel idle(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) {
        for k in tiles(N) {}
        y[i, :] = 2 * x[i, :]
    }
} schedule { k = 7 }
kernel looped(x: f32[M, N]) -> (y: f32[M]) {
    parallel i in tiles(M) {
        var t = zeros(f32, i)
        for k in tiles(N) { t += sum(x[i, k], k) }
        y[i] = t
    }
}
kernel ranks(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) { y[i, :] = f32(argsort(x[i, :], N)) }
}
kernel slanted(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) {
        let d = whole(N)
        y[i, d] = x.pad(1)[i - d, d]
    }
}
kernel lower_means(x: f32[M, N], w: f32[N]) -> (y: f32[M, N]) {
    parallel i in each(M), j in tiles(N) {
        let n = whole(N) if n <= i
        y[i, j] = x[i, j] * sum(w[n], n) + mean(w[n], n)
    }
}
kernel lower_product(x: f32[M, N], w: f32[N, K]) -> (y: f32[M, K]) {
    parallel i in each(M), j in tiles(K) {
        let n = whole(N) if n <= i
        y[i, j] = dot(x[i, n], w[n, j], n)
    }
}
kernel blocks(x: f32[M, 8*G]) -> (y: f32[M, 8*G]) requires G >= 0 {
    parallel i in tiles(M), g in tiles(G) {
        let c = range(8)
        let t = x[i, 8*g + c]
        y[i, 8*g + c] = t / max(abs(t), c)
    }
}
kernel noisy(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x[i, j] * rand(7, 0, i, j) }
}
kernel total(x: f32[M, N]) -> (s: f32[1] reduce +) {
    parallel i in tiles(M), j in tiles(N), k in each(1) { s[k] += sum(sum(x[i, j], j), i) }
}
kernel column_sums(x: f32[M, N]) -> (s: f32[N] reduce +, t: f32[N] reduce max) {
    parallel i in tiles(M), j in tiles(N) {
        s[j] += sum(x[i, j], i)
        t[j] max= max(x[i, j], i)
    }
}
kernel column_peaks(x: f32[M, N]) -> (t: f32[N] reduce max) {
    parallel i in tiles(M), j in tiles(N) { t[j] max= max(x[i, j], i) }
}
kernel column_counts(x: f32[M, N]) -> (c: i32[N] reduce +) {
    parallel i in tiles(M), j in tiles(N) { c[j] += sum(i32(x[i, j] > 0), i) }
}
kernel scaled_by_totals(x: f32[M, N]) -> (s: f32[M], y: f32[M, N]) {
    parallel i in tiles(M) {
        var t = zeros(f32, i)
        for k in tiles(N) { t += sum(x[i, k], k) }
        s[i] = t
        y[i, :] = x[i, :] * t
    }
}
kernel columns_at(x: f32[M, N], at: i32[N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x.pad(0)[i, at[j]] }
}
kernel half_sums(x: f32[M, N]) -> (s: bf16[N] reduce +) {
    parallel i in each(M), j in tiles(N) { s[j] += bf16(x[i, j]) }
}
kernel row_totals(x: f32[M, N]) -> (s: f32[M, N] reduce +) {
    parallel i in tiles(M), j in tiles(N), k in tiles(5) { s[i, j] += sum(x[i, j] * f32(k), k) }
}
kernel divided(x: f32[M, N], s: f32[1]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x[i, j] / s[0] }
}
kernel back(s: f32[N]) -> (y: f32[N]) { parallel i in tiles(N) { y[i] = 2 * s[N - 1 - i] } }
graph pair(x: f32[A, B], s: f32[A]) -> (y: f32[A, B], z: f32[A]) requires A >= 0 {
    y = scale(x, s)
    z = largest(y)
}
graph slanted_ranks(x: f32[A, B]) -> (y: f32[A, B]) {
    y = slanted(ranks(x))
}
)";

/// A graph over x: f32[M, N] and what else it names, and how many calls it has when all that can be
/// is one.
struct Graph {
  const char *name, *params, *outputs, *body;
  unsigned calls;
};

const Graph graphs[] = {
    {"chain", "b: f32[N]", "y: f32[M, N]", "let t = 2 * x\n let u = t + b\n y = relu(u)", 1},
    {"norm", "r: f32[M, N], g: f32[N], b: f32[N]", "y: f32[M, N]",
     "let h = x + r\n y = layer_norm(h, g, b)", 1},
    {"product", "w: f32[N, K], b: f32[K]", "y: f32[M, K]", "let h = matmul(x, w)\n y = relu(h + b)",
     1},
    {"product_norm", "w: f32[N, K], r: f32[M, K], g: f32[K], b: f32[K]", "y: f32[M, K]",
     "let h = matmul(x, w)\n let t = h + r\n y = layer_norm(t, g, b)", 1},
    {"prologue", "w: f32[N, K]", "y: f32[M, K]", "let h = softmax(x)\n y = matmul(h, w)", 1},
    {"after_row", "b: f32[N]", "y: f32[M, N]", "let h = softmax(x)\n y = h * b + 1", 1},
    {"moved", "", "y: f32[N, M]", "let t = 2 * x\n y = transpose(t)", 1},
    {"moved_first", "", "y: f32[N, M]", "let t = transpose(x)\n y = relu(t)", 1},
    {"halo", "", "y: f32[M, N]", "let t = slope(x)\n y = slope(t)", 1},
    {"rotated_row", "", "y: f32[M, N]", "let t = softmax(x)\n y = rotate(t)", 1},
    {"rotated_one", "c: f32[M, 1]", "y: f32[M, 1]", "let t = 2 * c\n y = rotate(t)", 1},
    {"row_of_rotated", "", "y: f32[M, N]", "let t = rotate(x)\n y = softmax(t)", 1},
    {"strided", "", "y: f32[M, N]", "let t = twice(x)\n y = even(t)", 1},
    {"gathered", "ids: i32[K]", "y: f32[K, N]", "let t = relu(x)\n y = gather(t, ids)", 1},
    {"columns_of_rows", "", "y: f32[N]", "let t = softmax(x)\n y = largest(transpose(t))", 2},
    {"gathered_row", "ids: i32[K]", "y: f32[K, N]", "let t = softmax(x)\n y = gather(t, ids)", 1},
    {"row_of_gathered", "ids: i32[K]", "y: f32[K]", "let t = gather(x, ids)\n y = largest(t)", 1},
    {"row_twice", "", "y: f32[M, N]", "let s = largest(x)\n y = scale(x, s)", 1},
    {"scans", "", "y: f32[M, N]", "let t = sums(x)\n y = sums(t)", 1},
    {"scan_moved", "", "y: f32[N, M]", "let t = sums(x)\n y = transpose(t)", 1},
    {"windows", "w: f32[3, 3]", "y: f32[M, N]", "let t = blur(x, w)\n y = blur(t, w)", 1},
    {"numbered", "", "y: f32[M, N]", "let t = number(x)\n y = softmax(t)", 1},
    {"number_last", "", "y: f32[M, N]", "let t = softmax(x)\n y = number(t)", 1},
    {"number_both", "", "y: f32[M, N]", "let t = number(x)\n y = number(t)", 1},
    {"number_halo", "", "y: f32[M, N]", "let t = number(x)\n y = slope(t)", 1},
    {"row_halo", "", "y: f32[M, N]", "let t = softmax(x)\n y = slope(t)", 1},
    {"chained", "w: f32[N, K], v: f32[K, N]", "y: f32[M, N]",
     "let t = matmul(x, w)\n let u = softmax(t)\n y = matmul(u, v)", 1},
    {"product_moved", "w: f32[N, K]", "y: f32[K, M]", "let t = matmul(x, w)\n y = transpose(t)", 1},
    {"triangle", "", "y: f32[M]", "let t = softmax(x)\n y = lower(t)", 1},
    {"kept", "b: f32[N]", "y: f32[M, N], z: f32[M]", "let t = x * b\n y = relu(t)\n z = largest(t)",
     1},
    {"kept_result", "", "y: f32[M, N], t: f32[M, N]", "t = softmax(x)\n y = number(t)", 1},
    {"two_maps", "b: f32[N]", "y: f32[M, N], z: f32[M, N]", "y = x * b\n z = relu(x) + 1", 1},
    {"rows_and_map", "", "y: f32[M, N], z: f32[M]", "y = 2 * x\n z = largest(x)", 1},
    {"two_rows", "", "y: f32[M], z: f32[M], w: f32[M, N]",
     "y = largest(x)\n z = lower(x)\n w = softmax(x)", 1},
    {"map_moved", "", "y: f32[M, N], z: f32[N, M]", "y = relu(x)\n z = transpose(x)", 1},
    {"columns", "", "y: f32[M], z: f32[N]", "y = largest(x)\n z = largest(transpose(x))", 2},
    {"slanted_row", "", "y: f32[M, N]", "let t = ranks(x)\n y = slanted(t)", 2},
    {"recent_windows", "c: f32[M, 1], w: f32[3, 3]", "y: f32[M, 1]",
     "let t = recent(c)\n y = blur(t, w)", 1},
    {"later_beside", "", "y: i64[M, N], z: f32[M, N]", "y = later(x)\n z = flipped(x)", 1},
    {"chosen_in_loops", "", "y: f32[M, N]", "let t = folded(x)\n y = twice_read(t)", 1},
    {"nearby_diagonal", "", "y: f32[M]", "let t = nearby(x)\n y = diagonal(t)", 2},
    {"size_of_no_loop", "", "y: f32[M, N], z: f32[M]",
     "let t = 2 * x\n z = looped(x)\n y = idle(t)", 1},
    {"conditions_in_loops", "", "y: f32[M, N], z: f32[M, N]",
     "let t = 2 * x\n let (u, v) = later_sums(t)\n y = u\n z = totals_of_rows(v)", 2},
    {"two_between", "", "y: f32[M, N]", "let (m, v) = moments(x)\n y = standard(x, m, v)", 1},
    {"two_between_one_kept", "", "y: f32[M, N], v: f32[M]",
     "let (m, t) = moments(x)\n v = t\n y = standard(x, m, t)", 1},
    {"two_between_read_twice", "", "y: f32[M, N], z: f32[M, N]",
     "let (m, v) = moments(x)\n y = standard(x, m, v)\n z = standard(x, v, m)", 1},
    {"others_kept", "", "y: f32[M, N], m: f32[M], z: f32[N, M]",
     "let (t, top, back) = spread(x)\n y = relu(t)\n m = top\n z = back", 1},
    {"other_kept_by_its_reader", "", "y: f32[M, N], m: f32[M]",
     "let (t, top, back) = spread(x)\n y = transpose(back)\n m = top", 1},
    {"halves_kept", "", "y: f32[M, 2*N], z: f32[2*N, M]",
     "let (t, u) = halves(x)\n y = relu(t)\n z = u", 1},
    {"triangle_each", "w: f32[N]", "y: f32[N, M]", "let t = lower_means(x, w)\n y = transpose(t)",
     1},
    {"triangle_dot", "w: f32[N, K]", "y: f32[K, M]",
     "let t = lower_product(x, w)\n y = transpose(t)", 1},
    {"nested", "s: f32[M]", "y: f32[M, N]",
     "let (t, r) = pair(x, s)\n let (u, v) = pair(t, r)\n y = u", 1},
    {"dead", "", "y: f32[M, N]", "let t = slanted_ranks(x)\n y = relu(x)", 1},
    {"equal", "", "y: f32[M, N]",
     "let t = slanted_ranks(x)\n let u = slanted_ranks(x)\n y = t - 2 * u", 2},
    {"equal_random", "", "y: f32[M, N], z: f32[M, N]",
     "y = noisy(x)\n let t = noisy(x)\n z = t + 1", 1},
    {"sum_root", "", "y: f32[1]", "let s = total(x * x)\n y = sqrt(s)", 1},
    {"sum_of_nothing", "", "y: f32[1]", "let s = total(x)\n y = exp(s + 3)", 1},
    {"sums_two_maps", "", "y: f32[N], t: f32[N]",
     "let (s, u) = column_sums(x)\n t = u\n let a = abs(s)\n y = sqrt(a) / 3 + 1", 1},
    {"sums_and_peaks", "", "y: f32[N], z: f32[N]",
     "let (s, t) = column_sums(x)\n y = 2 * s + 1\n z = exp(t)", 1},
    {"sums_beside", "", "y: f32[N], z: f32[N], w: i32[N]",
     "let s = half_sums(x)\n y = f32(s)\n let t = column_peaks(x)\n z = exp(t)\n"
     "let c = column_counts(x)\n w = c * c + 3",
     3},
    {"second_output_gathered", "at: i32[N]", "s: f32[M], y: f32[M, N]",
     "let (t, z) = scaled_by_totals(x)\n s = t\n y = columns_at(z, at)", 1},
    {"sums_in_halves", "", "y: bf16[N]", "let s = half_sums(x)\n y = s * s + s", 1},
    {"sums_of_matrix", "", "y: f32[M, N]", "let s = row_totals(x)\n y = s * s + s", 1},
    {"sum_divides", "", "y: f32[M, N]", "let s = total(x)\n y = divided(x, s)", 2},
    {"sum_is_seen", "", "y: f32[1], s: f32[1]", "s = total(x)\n y = sqrt(abs(s))", 2},
    {"sums_turned", "", "y: f32[N]", "let (s, t) = column_sums(x)\n y = back(s)", 2},
    {"sums_by_number", "", "y: f32[N]", "let (s, t) = column_sums(x)\n y = by_number(s)", 2},
    {"sums_with_weights", "w: f32[N]", "y: f32[N]", "let s = column_peaks(x)\n y = s * w", 2},
    {"triangle_first", "", "y: f32[M, N]", "let s = lower(x)\n y = scale(x, s)", 1},
};

class Fusion : public testing::TestWithParam<Graph> {};

std::shared_ptr<runtime::Tensor> randomTensor(mlir::Type element, std::vector<int64_t> shape,
                                              std::mt19937_64 &random) {
  bool isFloat = mlir::isa<mlir::FloatType>(element);
  auto tensor = std::make_shared<runtime::Tensor>(*runtime::Tensor::create(
      isFloat ? runtime::DType::F32 : runtime::DType::I32, std::move(shape)));
  std::normal_distribution<double> normal;
  for (int64_t n = 0; n < tensor->numElements(); ++n)
    if (isFloat)
      tensor->setDouble(n, normal(random));
    else
      tensor->setInt(n, static_cast<int64_t>(random() % 80) - 8); // outside, too
  return tensor;
}

TEST_P(Fusion, equalsUnfused) {
  const Graph &graph = GetParam();
  std::string params = "x: f32[M, N]" + std::string(*graph.params ? ", " : "") + graph.params;
  std::string text = std::string(library) + "graph " + graph.name + "(" + params + ") -> (" +
                     graph.outputs + ") {\n" + graph.body + "\n}\n";
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string said;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) { said += diagnostic.str() + "\n"; });
  dsl::DiagnosticEngine diags;
  dsl::Program program(diags, {});
  dsl::Elaborator elaborator(context, program, diags);
  dsl::LoadedFile *file = program.load("test.tile", text);
  std::string symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
  ASSERT_EQ(diags.errorCount(), 0u) << diags.print(false);
  mlir::OwningOpRef<mlir::ModuleOp> fused(elaborator.module().clone());
  auto op = fused->lookupSymbol<ir::GraphOp>(symbol);
  ASSERT_TRUE(mlir::succeeded(ir::flattenGraph(op)));
  ir::mergeEqualCalls(op, [](ir::CallOp, ir::CallOp) {});
  ir::dropDeadCalls(op, [](ir::CallOp) {});
  ir::inlineProducers(op);
  ir::mergeSiblings(op);
  auto calls = op.getBody().getOps<ir::CallOp>();
  EXPECT_EQ(std::distance(calls.begin(), calls.end()), graph.calls) << said;

  uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  llvm::StringMap<int64_t> dims;
  for (llvm::StringRef name : {"M", "N", "K"})
    dims[name] = 1 + static_cast<int64_t>(random() % 90);
  if (llvm::StringRef(graph.name) == "strided")
    dims["N"] = dims["N"] / 2 * 2 + 2;
  if (llvm::StringRef(graph.name) == "sum_of_nothing")
    dims["M"] = 0;
  llvm::SmallVector<int64_t> values;
  for (mlir::Attribute dim : op.getDims())
    values.push_back(dims[mlir::cast<mlir::StringAttr>(dim)]);
  Arguments arguments;
  for (unsigned n = 0; n < op.getNumArguments(); ++n) {
    auto shape = op.getArgAttrOfType<mlir::AffineMapAttr>(n, "tile.shape").getValue();
    std::vector<int64_t> extents;
    for (mlir::AffineExpr extent : shape.getResults())
      extents.push_back(*ir::evaluateAffine(extent, {}, values));
    arguments.push_back(
        {randomTensor(mlir::getElementTypeOrSelf(op.getArgumentTypes()[n]), extents, random)});
  }
  for (Device device : {Device::Interp, Device::Cpu}) {
    auto run = [&](mlir::ModuleOp module) {
      Compiler compiler;
      Executor executor(compiler, module, device);
      executor.poisons = true;
      auto outputs = executor.run(symbol, arguments, {});
      EXPECT_TRUE(bool(outputs)) << said;
      return outputs ? *outputs : Outputs();
    };
    Outputs expected = run(elaborator.module()), actual = run(*fused);
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(expected.size(), actual.size());
    for (auto [output, here] : llvm::zip(expected, actual)) {
      ASSERT_EQ(output->shape(), here->shape());
      for (int64_t n = 0; n < output->numElements(); ++n) {
        auto a = static_cast<float>(output->getDouble(n)),
             b = static_cast<float>(here->getDouble(n));
        // On the CPU the order of sums is that of a loop nest, which is the two kernels' own.
        bool isClose =
            device == Device::Cpu && std::abs(a - b) <= 1e-5f * std::max(1.0f, std::abs(a));
        ASSERT_TRUE(std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b) || isClose)
            << nameOf(device).str() << ": element " << n << " is " << b << ", unfused " << a;
      }
    }
  }
}

/// A residual network of so many layers, all alike but for their names and weights.
std::string layersSource(unsigned count) {
  std::string params = "x0: f32[M, N]", body;
  for (unsigned n = 0; n < count; ++n) {
    std::string now = std::to_string(n), next = std::to_string(n + 1);
    params += ", g" + now + ": f32[N], b" + now + ": f32[N], w" + now + ": f32[N, N]";
    body += "let n" + now + " = layer_norm(x" + now + ", g" + now + ", b" + now + ")\n";
    body += "let p" + now + " = matmul(n" + now + ", w" + now + ")\n";
    body += "let x" + next + " = x" + now + " + gelu(p" + now + ")\n";
  }
  return "import std.nn\ngraph layers(" + params + ") -> (y: f32[M, N]) {\n" + body + "y = x" +
         std::to_string(count) + "\n}\n";
}

/// The layers, fused for a GPU.
struct Layers {
  explicit Layers(unsigned count, const TileSizes &sizes = {}) {
    dsl::LoadedFile *file = program.load("layers.tile", layersSource(count));
    symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
    EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false);
    fused = fuseGraph(elaborator.module(), symbol, FuseMode::Exact,
                      usualDescription(/*isGpu=*/true), {}, sizes);
    for (const auto &kernel : fused.ledger.kernels)
      symbols.insert(kernel.symbol);
  }
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  dsl::DiagnosticEngine diags;
  dsl::Program program{diags, {}};
  dsl::Elaborator elaborator{context, program, diags};
  std::string symbol;
  FusedGraph fused;
  std::set<std::string> symbols;
};

TEST(FusionOfLayers, equalLayersShareKernels) {
  Layers few(4), many(12);
  EXPECT_EQ(few.fused.ledger.calls.size(), 12u);
  EXPECT_LT(few.fused.ledger.kernels.size(), 12u);
  EXPECT_GT(many.fused.ledger.kernels.size(), few.fused.ledger.kernels.size());
  EXPECT_EQ(few.symbols, many.symbols);
  EXPECT_EQ(few.fused.ledger.effort.built, many.fused.ledger.effort.built);
  EXPECT_LT(few.fused.ledger.effort.asked, many.fused.ledger.effort.asked);
  // In the ledger each call has the name and the place that the source gives it.
  EXPECT_NE(many.fused.ledger.calls[2].callee, many.fused.ledger.calls[5].callee);
  EXPECT_NE(many.fused.ledger.calls[2].place, many.fused.ledger.calls[5].place);
}

TEST(FusionOfLayers, aKernelWithSizesOfItsOwnIsNotShared) {
  TileSizes sizes;
  ASSERT_TRUE(bool(sizes.parse("layers.map2.i1=64")));
  Layers named(4, sizes), free(4);
  EXPECT_GT(named.symbols.size(), free.symbols.size());
}

TEST(FusionOfLayers, sharedKernelsComputeTheSame) {
  Layers layers(3);
  std::mt19937_64 random(std::random_device{}());
  int64_t rows = 1 + static_cast<int64_t>(random() % 40), columns = 1 + random() % 40;
  Arguments arguments;
  auto graph = mlir::cast<ir::GraphOp>(layers.elaborator.module().lookupSymbol(layers.symbol));
  auto f32 = mlir::Float32Type::get(&layers.context);
  for (unsigned n = 0; n < graph.getNumArguments(); ++n) {
    std::vector<int64_t> shape = n == 0       ? std::vector{rows, columns}
                                 : n % 3 == 0 ? std::vector{columns, columns}
                                              : std::vector{columns};
    arguments.push_back({randomTensor(f32, shape, random)});
  }
  Compiler compiler;
  Executor executor(compiler, layers.elaborator.module(), Device::Interp);
  auto expected = executor.run(layers.symbol, arguments, {}),
       actual = executor.run(layers.fused.symbol, arguments, {});
  ASSERT_TRUE(expected && actual);
  for (int64_t n = 0; n < (*expected)[0]->numElements(); ++n)
    ASSERT_EQ((*expected)[0]->getDouble(n), (*actual)[0]->getDouble(n)) << "element " << n;
}

/// Two sums of one reading, and what follows each of them: the search finds one kernel.
TEST(FusionOfSums, whatFollowsThemIsInTheirKernel) {
  for (bool isGpu : {false, true}) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    dsl::DiagnosticEngine diags;
    dsl::Program program(diags, {});
    dsl::Elaborator elaborator(context, program, diags);
    std::string text = std::string(library) +
                       "graph finished(x: f32[M, N], a: f32) -> (y: f32[N], t: f32[N]) {\n"
                       "let (s, u) = column_sums(x * x)\n let m = s / a\n y = sqrt(m)\n"
                       "t = u + 1\n}\n";
    dsl::LoadedFile *file = program.load("sums.tile", text);
    std::string symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
    ASSERT_EQ(diags.errorCount(), 0u) << diags.print(false);
    FusedGraph fused =
        fuseGraph(elaborator.module(), symbol, FuseMode::Exact, usualDescription(isGpu), {}, {});
    EXPECT_EQ(fused.ledger.kernels.size(), 1u);
    EXPECT_GT(llvm::count_if(fused.ledger.entries,
                             [](const ir::FusionEntry &entry) {
                               return entry.verdict == ir::FusionEntry::Verdict::Fused &&
                                      entry.transform == ir::FusionEntry::Transform::Finish;
                             }),
              1);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Fusion, testing::ValuesIn(graphs),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(FusionMeasured, runsUntilItIsEarnedBack) {
  FusionReport::Measured measured;
  measured.before = 3, measured.after = 1;
  measured.fuse = 1000, measured.compileBefore = 2000, measured.compileAfter = 3001;
  EXPECT_EQ(runsToEarnBack(measured), 1001); // 2001 seconds, 2 a run
  EXPECT_EQ(earnedBackText(measured), "earned back after 1001 runs");
  measured.compileAfter = 900; // with the search less than before
  EXPECT_EQ(runsToEarnBack(measured), 1);
  EXPECT_EQ(earnedBackText(measured), "earned back from the first run");
  measured.after = measured.before;
  EXPECT_EQ(runsToEarnBack(measured), std::nullopt);
  EXPECT_EQ(earnedBackText(measured), "not earned back: a run is no faster");
}

} // namespace
