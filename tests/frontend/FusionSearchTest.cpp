// What the search makes of graphs that say the same in several ways: with extents as names, as
// numbers, equal or not. It has to find the same kernels; each graph runs fused and call by call
// under one plan, bit for bit, and whatever is told of it is in the user's words.

#include "dsl/Elaborator.h"
#include "frontend/execute/Execution.h"
#include "frontend/fusion/Fusion.h"
#include "frontend/fusion/FusionPlan.h"
#include "frontend/model/DeviceDescription.h"
#include "ir/dialect/AffineEval.h"
#include "ir/fusion/ShortNames.h"
#include "tests/InternalWords.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <random>

using namespace tile;
using namespace tile::frontend;

namespace {

const char *const library = R"(import std.nn

kernel row_sums(x: f32[M, N]) -> (s: f32[M]) {
    parallel i in tiles(M) { s[i] = sum(x[i, :], N) }
}
kernel column_peaks(x: f32[M, N]) -> (t: f32[N] reduce max) {
    parallel i in tiles(M), j in tiles(N) { t[j] max= max(x[i, j], i) }
}
kernel column_totals(x: f32[M, N]) -> (s: f32[N] reduce +) {
    parallel i in tiles(M), j in tiles(N) { s[j] += sum(x[i, j], i) }
}
kernel total(x: f32[M, N]) -> (s: f32[1] reduce +) {
    parallel i in tiles(M), j in tiles(N), k in each(1) { s[k] += sum(sum(x[i, j], j), i) }
}
kernel total_of_row(x: f32[N]) -> (s: f32[1] reduce +) {
    parallel i in tiles(N), k in each(1) { s[k] += sum(x[i], i) }
}
kernel channel_peaks(x: f32[B, C, H, W]) -> (s: f32[C] reduce max) {
    parallel n in tiles(B), c in tiles(C), p in tiles(H), q in tiles(W) {
        s[c] max= max(max(max(x[n, c, p, q], q), p), n)
    }
}
kernel channel_lows(x: f32[B, C, H, W]) -> (s: f32[C] reduce min) {
    parallel n in tiles(B), c in tiles(C), p in tiles(H), q in tiles(W) {
        s[c] min= min(min(min(x[n, c, p, q], q), p), n)
    }
}
kernel across(x: f32[M, N]) -> (y: f32[N, M]) {
    parallel j in tiles(N), i in tiles(M) { y[j, i] = x[i, j] }
}
kernel across_rows_first(x: f32[M, N]) -> (y: f32[N, M]) {
    parallel i in tiles(M), j in tiles(N) { y[j, i] = x[i, j] }
}
kernel trace_of(x: f32[N, N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i, i] }
}
kernel head_of_7(x: f32[M, 7]) -> (y: f32[M, 7]) {
    parallel i in tiles(M) {
        let c = range(7)
        y[i, c] = x[i, c] / max(sum(abs(x[i, c]), c), 1e-3)
    }
}
kernel unit(v: f32[B, T, G, D]) -> (y: f32[B, T, G, D]) {
    parallel b in tiles(B), t in tiles(T), g in tiles(G) {
        y[b, t, g, :] = v[b, t, g, :] / max(sqrt(sum(v[b, t, g, :] * v[b, t, g, :], D)), 1e-6)
    }
}
kernel along(y: f32[B, T, H, D], u: f32[B, T, G, D]) -> (p: f32[B, T, H])
        requires G > 0, H > 0, H % G == 0 {
    parallel b in tiles(B), t in tiles(T), h in tiles(H) {
        p[b, t, h] = sum(y[b, t, h, :] * u[b, t, h / (H / G), :], D)
    }
}
kernel lengths(y: f32[B, T, H, D]) -> (n: f32[B, T, H]) {
    parallel b in tiles(B), t in tiles(T), h in tiles(H) {
        n[b, t, h] = sqrt(sum(y[b, t, h, :] * y[b, t, h, :], D))
    }
}
kernel without(y: f32[B, T, H, D], p: f32[B, T, H], u: f32[B, T, G, D]) -> (r: f32[B, T, H, D])
        requires G > 0, H > 0, H % G == 0 {
    parallel b in tiles(B), t in tiles(T), h in tiles(H), d in tiles(D) {
        r[b, t, h, d] = y[b, t, h, d] - p[b, t, h] * u[b, t, h / (H / G), d]
    }
}
)";

struct Graph {
  /// The parameters, outputs and body, with `M`, `N` … for extents.
  const char *name, *params, *outputs, *body;
  /// What those extents are in other spellings: "M=8 N=8"; empty for their names.
  std::vector<const char *> spellings;
  unsigned kernels, onCpu = kernels;
};

const Graph graphs[] = {
    {"rows_and_columns",
     "x: f32[M, N]",
     "r: f32[M], c: f32[N]",
     "r = row_sums(x)\n c = column_peaks(x)",
     {"", "M=41 N=37", "M=37 N=37", "M=K N=K"},
     1},
    {"columns_and_rows",
     "x: f32[M, N]",
     "r: f32[M], c: f32[N]",
     "c = column_peaks(x)\n r = row_sums(x)",
     {"", "M=41 N=37", "M=37 N=37", "M=K N=K"},
     1},
    {"of_a_map",
     "x: f32[M, N]",
     "r: f32[M], c: f32[N]",
     // On a CPU the columns gain as much as the rows, of so few elements, and come first: then rows
     // can't.
     "let t = tanh(x)\n r = row_sums(t)\n c = column_peaks(t)",
     {"", "M=41 N=37", "M=37 N=37", "M=K N=K"},
     1,
     2},
    {"channels",
     "x: f32[B, C, H, W]",
     "a: f32[C], b: f32[C]",
     "a = channel_peaks(x)\n b = channel_lows(x)",
     {"", "B=3 C=5 H=7 W=9", "B=3 C=5 H=7 W=7", "H=K W=K", "B=4 C=4 H=4 W=4", "B=K C=K H=K W=K"},
     1},
    {"beside_across",
     "x: f32[M, N]",
     "a: f32[M, N], b: f32[N, M]",
     "a = tanh(x)\n b = across(x)",
     {"", "M=41 N=37", "M=37 N=37", "M=K N=K"},
     1},
    {"two_products",
     "x: f32[M, K], w: f32[K, N], v: f32[K, N]",
     "y: f32[M, N], z: f32[M, N]",
     // On a GPU they run at the same time.
     "y = matmul(x, w)\n z = matmul(x, v)",
     {"", "M=19 K=23 N=29", "M=19 K=19 N=19"},
     2,
     1},
    {"product_and_bias",
     "x: f32[M, K], w: f32[K, N], b: f32[N]",
     "y: f32[M, N]",
     "let p = matmul(x, w)\n let s = p + b\n y = relu(s)",
     {"", "M=19 K=23 N=29", "M=19 K=19 N=19", "M=K N=K"},
     1},
    {"gram",
     "x: f32[M, K]",
     "z: f32[M, M]",
     "let y = relu(x)\n z = matmul_nt(y, y)",
     {"", "M=19 K=23", "M=19 K=19", "M=K"},
     1},
    {"root_of_squares",
     "x: f32[N]",
     "y: f32[1]",
     "let q = x * x\n let s = total_of_row(q)\n y = sqrt(s)",
     {"", "N=1", "N=97"},
     1},
    {"loss",
     "x: f32[M, N], y: f32[M, N]",
     "l: f32[1]",
     "let d = x - y\n let s = total(d * d)\n l = s / 1024",
     {"", "M=41 N=37", "M=37 N=37", "M=K N=K"},
     1},
    {"column_means",
     "x: f32[M, N]",
     "m: f32[N]",
     "let s = column_totals(x)\n m = s / 41",
     {"", "M=41 N=37", "M=41 N=41", "M=K N=K"},
     1},
    {"declared_square",
     "x: f32[N, N]",
     "y: f32[N]",
     "let t = relu(x)\n y = trace_of(t)",
     {"", "N=37"},
     1},
    {"declared_numbers",
     "x: f32[M, N], b: f32[N]",
     "y: f32[M, N]",
     "let t = x + b\n let u = head_of_7(t)\n y = softmax(u)",
     {"N=7", "M=41 N=7", "M=7 N=7"},
     1},
    {"heads",
     "y: f32[B, T, H, D], v: f32[B, T, G, D]",
     "r: f32[B, T, H, D], c: f32[B, T, H], f: f32[B, T, H]",
     "let u = unit(v)\n let p = along(y, u)\n let n = lengths(y)\n c = abs(p)\n"
     " f = c / max(n, 1e-6)\n r = without(y, p, u)",
     {"B=3 T=5 H=4 G=2 D=7", "B=3 T=5 H=4 G=4 D=4", "B=4 T=4 H=4 G=4 D=4", "B=K T=K H=K G=K D=K"},
     1},
};

/// One spelling of a graph.
struct Spelled {
  const Graph *graph;
  llvm::StringRef spelling;
};

std::vector<Spelled> allSpellings() {
  std::vector<Spelled> all;
  for (const Graph &graph : graphs)
    for (const char *spelling : graph.spellings)
      all.push_back({&graph, spelling});
  return all;
}

/// The text with single letters in brackets replaced: "f32[M, N]" is "f32[37, N]" by "M=37".
std::string respelled(llvm::StringRef text, llvm::StringRef spelling) {
  std::string made;
  bool isInside = false;
  for (char c : text) {
    isInside = c == '[' || (isInside && c != ']');
    llvm::StringRef value;
    for (llvm::StringRef rest = spelling; isInside && !rest.empty();) {
      auto [one, others] = rest.split(' ');
      if (one.front() == c)
        value = one.substr(2);
      rest = others;
    }
    made += value.empty() ? std::string(1, c) : value.str();
  }
  return made;
}

/// A source, its last graph, and what the search makes of that.
struct Searched {
  explicit Searched(const std::string &text) {
    dsl::LoadedFile *file = program.load("test.tile", text);
    if (diags.errorCount() == 0)
      symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
    EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false) << text;
  }
  FusedGraph fuse(bool isGpu) {
    // Names are planned for as short as the numbers are: sizes decide, too, what is worth it.
    llvm::StringMap<int64_t> dims;
    for (llvm::StringRef dim : graph().getDims().getAsValueRange<mlir::StringAttr>())
      dims[dim] = 23;
    FusedGraph fused =
        fuseGraph(elaborator.module(), symbol, FuseMode::Exact, usualDescription(isGpu), dims);
    for (const ir::FusionEntry &entry : fused.ledger.entries) {
      EXPECT_EQ(entry.fault, "") << entry.reason;
      EXPECT_EQ(internalWord(entry.reason), "") << entry.reason;
    }
    for (const auto &kernel : fused.ledger.kernels)
      EXPECT_LE(kernel.symbol.size(), ir::maxFusedName + 8) << kernel.symbol;
    return fused;
  }
  ir::GraphOp graph() { return mlir::cast<ir::GraphOp>(elaborator.module().lookupSymbol(symbol)); }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  dsl::DiagnosticEngine diags;
  dsl::Program program{diags, {}};
  dsl::Elaborator elaborator{context, program, diags};
  std::string symbol;
};

/// Random tensors for a graph's parameters.
Arguments argumentsFor(ir::GraphOp graph, const llvm::StringMap<int64_t> &dims,
                       std::mt19937_64 &random) {
  llvm::SmallVector<int64_t> values;
  for (llvm::StringRef dim : graph.getDims().getAsValueRange<mlir::StringAttr>())
    values.push_back(dims.lookup(dim));
  std::normal_distribution<double> normal;
  Arguments arguments;
  for (unsigned n = 0; n < graph.getNumArguments(); ++n) {
    auto shape = graph.getArgAttrOfType<mlir::AffineMapAttr>(n, "tile.shape").getValue();
    std::vector<int64_t> extents;
    for (mlir::AffineExpr extent : shape.getResults())
      extents.push_back(*ir::evaluateAffine(extent, {}, values));
    auto tensor =
        std::make_shared<runtime::Tensor>(*runtime::Tensor::create(runtime::DType::F32, extents));
    for (int64_t e = 0; e < tensor->numElements(); ++e)
      tensor->setDouble(e, normal(random));
    arguments.push_back({tensor});
  }
  return arguments;
}

void expectSameBits(const Outputs &wanted, const Outputs &found) {
  ASSERT_EQ(wanted.size(), found.size());
  for (auto [a, b] : llvm::zip(wanted, found)) {
    ASSERT_EQ(a->shape(), b->shape());
    for (int64_t n = 0; n < a->numElements(); ++n) {
      auto x = static_cast<float>(a->getDouble(n)), y = static_cast<float>(b->getDouble(n));
      ASSERT_TRUE(std::memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y))
          << "element " << n << " is " << y << ", call by call " << x;
    }
  }
}

class FusionOfExtents : public testing::TestWithParam<Spelled> {};

TEST_P(FusionOfExtents, changesNothingOfWhatBecomesOne) {
  const Graph &graph = *GetParam().graph;
  llvm::StringRef spelling = GetParam().spelling;
  Searched searched(std::string(library) + "graph " + graph.name + "(" +
                    respelled(graph.params, spelling) + ") -> (" +
                    respelled(graph.outputs, spelling) + ") {\n" + graph.body + "\n}\n");
  for (bool isGpu : {true, false})
    EXPECT_EQ(searched.fuse(isGpu).ledger.kernels.size(), isGpu ? graph.kernels : graph.onCpu)
        << (isGpu ? "GPU" : "CPU");

  uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  llvm::StringMap<int64_t> dims;
  for (llvm::StringRef dim : searched.graph().getDims().getAsValueRange<mlir::StringAttr>())
    dims[dim] =
        1 + static_cast<int64_t>(random() % (llvm::StringRef(graph.params).contains("B") ? 9 : 60));
  Arguments arguments = argumentsFor(searched.graph(), dims, random);
  FusedGraph fused = fuseGraph(searched.elaborator.module(), searched.symbol, FuseMode::Exact,
                               usualDescription(/*isGpu=*/false), dims);
  Compiler compiler;
  auto plan = makePlan(compiler, searched.elaborator.module(), searched.symbol, fused.ledger,
                       usualDescription(/*isGpu=*/false), dims);
  ASSERT_TRUE(bool(plan)) << plan.takeFailure().message;
  for (Device device : {Device::Interp, Device::Cpu}) {
    auto run = [&](FuseMode mode) {
      auto pinned = pinGraph(searched.elaborator.module(), searched.symbol, *plan, mode, dims);
      EXPECT_TRUE(bool(pinned)) << pinned.takeFailure().message;
      Executor executor(compiler, searched.elaborator.module(), device);
      executor.poisons = true;
      auto outputs = executor.run(*pinned, arguments, {});
      EXPECT_TRUE(bool(outputs));
      return outputs ? *outputs : Outputs();
    };
    expectSameBits(run(FuseMode::Off), run(FuseMode::Exact));
  }
}

INSTANTIATE_TEST_SUITE_P(Spellings, FusionOfExtents, testing::ValuesIn(allSpellings()),
                         [](const auto &info) {
                           std::string name = info.param.graph->name;
                           for (char c : info.param.spelling)
                             name += c == '=' ? std::string() : std::string(1, c == ' ' ? '_' : c);
                           return name;
                         });

/// So many steps that read the one before and one `back` steps ago.
std::string ladder(unsigned steps, unsigned back) {
  std::string text = "import std.nn\ngraph ladder(x: f32[M, N]) -> (y: f32[M, N]) {\n";
  auto name = [](int n) { return n < 0 ? std::string("x") : "t" + std::to_string(n); };
  for (int n = 0; n < static_cast<int>(steps); ++n)
    text += "let " + name(n) + " = relu(" + name(n - 1) + ") + " +
            name(n - 1 - static_cast<int>(back)) + "\n";
  return text + "y = 2 * " + name(static_cast<int>(steps) - 1) + "\n}\n";
}

/// Paths through the graph double every few steps: nothing of a fused kernel may.
TEST(FusionOfSkips, growsWithTheCallsAndNotWithThePaths) {
  auto sizeOf = [](unsigned steps, unsigned back) {
    Searched searched(ladder(steps, back));
    FusedGraph fused = searched.fuse(/*isGpu=*/true);
    EXPECT_EQ(fused.ledger.kernels.size(), 1u);
    std::string text;
    llvm::raw_string_ostream stream(text);
    mlir::Operation *kernel =
        searched.elaborator.module().lookupSymbol(fused.ledger.kernels.front().symbol);
    kernel->print(stream, mlir::OpPrintingFlags().enableDebugInfo().useLocalScope());
    return text.size();
  };
  for (unsigned back : {1U, 4U, 1000U})
    EXPECT_LT(sizeOf(120, back), 6 * sizeOf(30, back)) << back << " back";
}

/// Kernels that have grown become one; no large one is built anew for each call.
TEST(FusionOfSkips, buildsFewKernels) {
  constexpr unsigned steps = 400;
  Searched searched(ladder(steps, 4));
  FusedGraph fused = searched.fuse(/*isGpu=*/true);
  EXPECT_LT(fused.ledger.effort.built, 3 * steps);
}

/// A call that reads one tensor of each of many others grows by one of them at a time: each step
/// looks at what is next, and not at all that are left.
TEST(FusionOfStars, buildsFewKernels) {
  constexpr unsigned count = 60;
  std::string params, calls, sum;
  for (unsigned n = 0; n < count; ++n) {
    std::string number = std::to_string(n);
    params += (n ? ", x" : "x") + number + ": f32[M, N]";
    calls += "    let t" + number + " = tanh(x" + number + ")\n";
    sum += (n ? " + t" : "t") + number;
  }
  Searched searched("import std.nn\ngraph large(" + params + ") -> (y: f32[M, N]) {\n" + calls +
                    "    y = " + sum + "\n}\n");
  FusedGraph fused = searched.fuse(/*isGpu=*/true);
  EXPECT_EQ(fused.ledger.kernels.size(), 1U);
  EXPECT_LT(fused.ledger.effort.built, 4 * count);
}

/// As one with `y`, `s` has `a` and `b` live on, beside what `y` needs else.
TEST(FusionOfGraphs, takesNoMoreMemory) {
  Searched searched(R"(
kernel checked(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) {
        assert(x[i] == x[i], "no number")
        y[i] = 2 * x[i]
    }
}
kernel scaled(x: f32[N], by: f32[1]) -> (y: f32[N]) {
    parallel i in tiles(N) {
        assert(x[i] == x[i], "no number")
        y[i] = x[i] * by[0]
    }
}
kernel products(x: f32[N]) -> (s: f32[1] reduce +) {
    parallel i in tiles(N), k in each(1) { s[k] += sum(x.pad(0)[i - 1] * x.pad(0)[i + 1], i) }
}
graph late(x: f32[N], z: f32[N], u: f32[N]) -> (y: f32[N]) {
    let s = checked(x) + checked(z)
    let w = checked(scaled(u, products(s)))
    y = 2 * (s * w)
}
)");
  llvm::StringMap<int64_t> dims = {{"N", 1048576}};
  const DeviceDescription &device = usualDescription(/*isGpu=*/true);
  FusedGraph fused =
      fuseGraph(searched.elaborator.module(), searched.symbol, FuseMode::Exact, device, dims);
  auto after = mlir::cast<ir::GraphOp>(searched.elaborator.module().lookupSymbol(fused.symbol));
  EXPECT_LE(bytesBetweenCalls(after, device, dims),
            bytesBetweenCalls(searched.graph(), device, dims));
}

} // namespace
