// Summaries of accesses against what the interpreter touches: on random small shapes and tile sizes
// an exact one names the elements that each program touches, no more and no less; any other one no
// less. What is said to be exact is part of the test.

#include "dsl/Elaborator.h"
#include "ir/interpreter/Interpreter.h"
#include "ir/interpreter/Launch.h"
#include "ir/transforms/Specialize.h"
#include "tests/ir/Touches.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace tile;
using Precision = ir::AccessSummary::Precision;

namespace {

class SummaryTest : public ::testing::Test {
protected:
  SummaryTest()
      : context(mlir::MLIRContext::Threading::DISABLED), seed(std::random_device()()),
        random(seed) {}

  void TearDown() override {
    if (HasFailure())
      std::cerr << "the inputs came from seed " << seed << "\n";
  }

  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  }

  /// The template of a kernel; the module lives until the next one.
  ir::KernelOp parse(const std::string &text) {
    dsl::DiagnosticEngine diags;
    dsl::Program program(diags, {});
    dsl::Elaborator elaborator(context, program, diags);
    dsl::LoadedFile *file = program.load("test.tile", text);
    if (diags.errorCount() == 0)
      elaborator.elaborate({&file->module.decls.back(), file}, {});
    EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false) << text;
    module = elaborator.takeModule();
    return diags.errorCount() ? ir::KernelOp() : *module->getOps<ir::KernelOp>().begin();
  }

  /// Dims between these bounds, from 0 on if the kernel allows it.
  struct Range {
    int64_t low = 0, high = 9;
  };

  /// Compares several launches. `inexact` are the texts of accesses that need not be exact.
  void compare(const std::string &text, std::map<std::string, Range> ranges = {},
               const std::vector<std::string> &inexact = {}) {
    for (int launch = 0; launch < 12 && !HasFailure(); ++launch) {
      ir::KernelOp kernel = parse(text);
      ASSERT_TRUE(kernel);
      if (launch == 0)
        checkPrecision(kernel, inexact);
      run(kernel, ranges, /*bindsDims=*/pick(0, 1));
    }
  }

private:
  void checkPrecision(ir::KernelOp kernel, const std::vector<std::string> &inexact) {
    ir::KernelSummary summary(kernel);
    for (const ir::AccessSummary &access : summary.accesses())
      EXPECT_EQ(access.precision == Precision::Exact, !llvm::is_contained(inexact, access.text))
          << access.text << "\n"
          << summary.text();
    for (const std::string &text : inexact)
      EXPECT_TRUE(
          llvm::any_of(summary.accesses(), [&](const auto &access) { return access.text == text; }))
          << text << "\n"
          << summary.text();
  }

  void fill(std::vector<char> &data, llvm::StringRef type) {
    for (size_t at = 0; at + 4 <= data.size() && type == "f32"; at += 4) {
      float value = static_cast<float>(pick(-99, 99)) / 10;
      std::memcpy(data.data() + at, &value, 4);
    }
    for (size_t at = 0; at + 4 <= data.size() && type == "i32"; at += 4) {
      int32_t value = static_cast<int32_t>(pick(-1, 9));
      std::memcpy(data.data() + at, &value, 4);
    }
  }

  void run(ir::KernelOp kernel, const std::map<std::string, Range> &ranges, bool bindsDims) {
    std::string shown = "with";
    llvm::SmallVector<int64_t> dims;
    ir::Bindings bindings;
    for (llvm::StringRef name : kernel.getDims().getAsValueRange<mlir::StringAttr>()) {
      auto range = ranges.find(name.str());
      dims.push_back(range == ranges.end() ? pick(0, 9)
                                           : pick(range->second.low, range->second.high));
      shown += " " + name.str() + "=" + std::to_string(dims.back());
      if (bindsDims)
        bindings.dims[name] = dims.back();
    }
    for (mlir::StringAttr binder : ir::sizableBinders(kernel)) {
      bindings.sizes[binder] = int64_t(1) << pick(0, 3);
      shown += " " + binder.str() + ":" + std::to_string(bindings.sizes[binder]);
    }
    std::vector<std::vector<char>> memory(kernel.getNumArguments());
    std::vector<ir::InterpreterArgument> arguments;
    for (unsigned n = 0; n < kernel.getNumArguments(); ++n) {
      if (!mlir::isa<mlir::MemRefType>(kernel.getArgument(n).getType())) {
        arguments.push_back(ir::InterpreterArgument::scalar(pick(0, 3)));
        continue;
      }
      llvm::SmallVector<mlir::Attribute> values, extents;
      for (int64_t dim : dims)
        values.push_back(mlir::Builder(&context).getIndexAttr(dim));
      ASSERT_TRUE(succeeded(kernel.getParamShape(n).constantFold(values, extents)));
      llvm::SmallVector<int64_t> shape;
      int64_t elements = 1;
      for (mlir::Attribute extent : extents) {
        shape.push_back(mlir::cast<mlir::IntegerAttr>(extent).getInt());
        elements *= shape.back();
      }
      memory[n].resize(4 * elements);
      fill(memory[n], kernel.getParamType(n));
      arguments.push_back(ir::InterpreterArgument::tensor(memory[n].data(), shape));
    }
    mlir::OwningOpRef<ir::KernelOp> compiled(kernel.clone());
    ASSERT_TRUE(succeeded(ir::specialize(*compiled, bindings)));
    ir::InterpreterOptions options;
    ir::test::Touches touches(options);
    ir::InterpreterResult result = ir::interpret(*compiled, arguments, dims, options);
    ASSERT_TRUE(result.ok()) << result.message << "\n" << shown;
    EXPECT_EQ(touches.compare(*compiled, *compiled, arguments, dims), "") << shown;
    EXPECT_EQ(touches.compare(kernel, *compiled, arguments, dims), "") << shown;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  unsigned seed;
  std::mt19937 random;
};

} // namespace

TEST_F(SummaryTest, Maps) {
  compare(R"(kernel f(x: f32[M, N], b: f32[N], s: f32) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = s * x[i, j] + b[j] }
  })");
  compare(R"(kernel f(x: f32[M, N]) -> (y: f32[N, M]) {
    parallel i in tiles(M), j in each(N) { y[j, i] = x[i, j] }
  })");
  compare(R"(kernel f<const N: int>(x: f32[M, 3*N + 2]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x[i, 3*j] + x[M - 1 - i, 3*j + 2] }
  })");
  compare(R"(kernel f(x: f32[M, N]) -> (y: f32[M, 2*N]) {
    parallel i in tiles(M), j in tiles(2*N) { y[i, j] = x[i, j / 2] * f32(j % 2) }
  })");
  compare(R"(kernel f(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) { let d = whole(N)
      y[i, d] = x[i, (d + N / 2) % N] }
  })");
}

// With one column nothing is left of the index but 0; the tile has its axis still.
TEST_F(SummaryTest, IndexThatFoldsAway) {
  compare(R"(kernel f(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) { let d = whole(N)
      y[i, d] = x[i, (d + N / 2) % N] }
  })",
          {{"N", {1, 1}}});
}

TEST_F(SummaryTest, Borders) {
  compare(R"(kernel f(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
      y[i, j] = x.pad(0)[i + 2, j] - x.pad(0)[i - 1, 2*j - 3] + x.clamp[i - 1, j + 1] }
  })");
}

TEST_F(SummaryTest, Reductions) {
  compare(R"(kernel f(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) { let e = exp(x[i, :] - max(x[i, :], N))
      y[i, :] = e / sum(e, N) }
  })");
  compare(R"(kernel f(a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
      var acc = zeros(f32, i, j)
      for k in tiles(K) { acc += dot(a[i, k], b[k, j], k) }
      c[i, j] = acc }
  })");
  compare(R"(kernel f(x: f32[N, H, C], w: f32[3, C]) -> (y: f32[N, (H + 1) / 2]) {
    parallel n in each(N), p in tiles((H + 1) / 2) {
      var acc = zeros(f32, p)
      for r in 0..3 { for c in tiles(C) { acc += sum(x.pad(0)[n, 2*p + r - 1, c] * w[r, c], c) } }
      y[n, p] = acc }
  })");
  compare(R"(kernel f(x: f32[M, N]) -> (s: f32[N] reduce +) {
    parallel i in tiles(M), j in tiles(N) { s[j] += sum(x[i, j], i) }
  })");
}

TEST_F(SummaryTest, Scans) {
  compare(R"(kernel f(x: f32[M, K]) -> (y: f32[M, K]) {
    parallel i in tiles(M) { var h = zeros(f32, i)
      for k in tiles(K) { let (sums, last) = cumsum(x[i, k], k, init = h)
        y[i, k] = sums
        h = last } }
  })");
}

TEST_F(SummaryTest, Domains) {
  compare(R"(kernel f(x: f32[M, M]) -> (y: f32[M]) {
    parallel i in tiles(M) { var acc = zeros(f32, i)
      for j in tiles(M) if j <= i { acc += sum(x[i, j], j) }
      y[i] = acc }
  })");
  compare(R"(kernel f(x: f32[M, M], v: f32[M], off: bool) -> (y: f32[M]) {
    parallel i in tiles(M) { var acc = zeros(f32, i)
      for j in tiles(M) if off || j <= i { acc += sum(x[i, j] * v[j], j) }
      y[i] = acc }
  })",
          {}, {"x[i, j]", "v[j]"});
  compare(R"(kernel f(x: f32[B, N], n: i32[B]) -> (y: f32[B]) {
    parallel b in each(B) {
      let j = whole(N) if j < i64(n[b])
      y[b] = sum(x[b, j], j) }
  })",
          {}, {"x[b, j]"});
}

TEST_F(SummaryTest, Gathers) {
  compare(R"(kernel f(x: f32[V, N], ids: i32[M]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x.pad(0)[ids[i], j] }
  })",
          {}, {"x[ids[i], j]"});
  compare(R"(kernel f<const B: int>(x: i32[N], width: i32) -> (count: i32[B] reduce +) {
    parallel i in tiles(N) { count[x[i] / width] += 1 }
  })",
          {}, {"count[x[i] / width]"});
}

TEST_F(SummaryTest, Branches) {
  compare(R"(kernel f(x: f32[M, N], z: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in each(M), j in tiles(N) { var t = x[i, j]
      if i < M / 2 { t = t + z[i, j] } else { t = t - z[M - 1 - i, j] }
      y[i, j] = t }
  })");
  compare(R"(kernel f(x: f32[M, N], z: f32[M, N], s: f32) -> (y: f32[M, N]) {
    parallel i in each(M), j in tiles(N) { var t = x[i, j]
      if s > 1 { t = t + z[i, j] }
      y[i, j] = t }
  })",
          {}, {"z[i, j]"});
}

TEST_F(SummaryTest, Loops) {
  compare(R"(kernel f(x: f32[M, N]) -> (y: f32[M]) {
    parallel i in each(M) { var t = 0.0
      for r in 1..N { t = t * 0.5 + x[i, r - 1] }
      y[i] = t }
  })");
}

TEST_F(SummaryTest, InPlace) {
  compare(R"(kernel f(inout x: f32[M, N], y: f32[N]) -> () {
    parallel i in tiles(M), j in tiles(N) { x[i, j] = 2 * x[i, j] + y[j] }
  })");
}

TEST_F(SummaryTest, Grids) {
  compare(R"(kernel f(x: i32[N], inout h: i32[B]) -> () {
    grid p in 0..cdiv(N, 4) { let i = range(4) if 4*p + i < N
      atomic_add(h.drop[x[4*p + i]], 1) }
  })",
          {}, {"h[x[i + 4*p]]"});
}
