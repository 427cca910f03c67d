// Whole kernels against plain loops in double: the language's meaning, written twice.

#include "tests/ir/InterpreterTestSupport.h"

using namespace tile::ir;
using namespace tile::ir::test;

namespace {
class InterpreterKernelTest : public IrTest {
protected:
  template <typename T>
  static auto poisonOf(Tensor<T> &tensor) {
    return [&tensor] { tensor.poison(); };
  }
};

//===-- Matmul ------------------------------------------------------------===//

const char *const matmulText = R"(
#mk = affine_map<()[m, k, n] -> (m, k)>
#kn = affine_map<()[m, k, n] -> (k, n)>
#mn = affine_map<()[m, k, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!ij = tensor<?x?xf32, #tile.axes<"i", "j">>
tile.kernel @matmul(
    %a: memref<?x?xf32> {tile.name = "a", tile.mode = "in", tile.shape = #mk},
    %b: memref<?x?xf32> {tile.name = "b", tile.mode = "in", tile.shape = #kn},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "K", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero : f32 to !ij
    %acc = tile.for fold %k = "k" %c0 to %K iter_args(%sum = %init : !ij) {
      %ta = tile.load %a at #id(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %tb = tile.load %b at #id(%k, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"k">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"k", "j">>
      %s = tile.dot %ta, %tb over "k" acc %sum : tensor<?x?xf32, #tile.axes<"i", "k">>, tensor<?x?xf32, #tile.axes<"k", "j">> -> !ij
      tile.yield %s : !ij
    }
    tile.store %acc, %c at #id(%i, %j)[] : !ij, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
})";

TEST_F(InterpreterKernelTest, Matmul) {
  for (auto [M, K, N] :
       {std::array<int64_t, 3>{5, 7, 3}, {1, 1, 1}, {13, 0, 4}, {0, 3, 2}, {6, 17, 11}}) {
    SCOPED_TRACE(testing::Message() << M << " x " << K << " x " << N);
    auto a = uniform<float>({M, K}, -2, 2), b = uniform<float>({K, N}, -2, 2);
    Tensor<float> c({M, N});
    Tensor<double> expected({M, N});
    for (int64_t i = 0; i < M; ++i)
      for (int64_t j = 0; j < N; ++j) {
        expected(i, j) = 0;
        for (int64_t k = 0; k < K; ++k)
          expected(i, j) += double(a(i, k)) * b(k, j);
      }
    sweep(matmulText, {{"M", M}, {"K", K}, {"N", N}},
          {{{"i", 1}, {"j", 1}, {"k", 1}},
           {{"i", 4}, {"j", 3}, {"k", 5}},
           {{"i", 32}, {"j", 64}, {"k", 128}},
           {}},
          {a.argument(), b.argument(), c.argument()}, poisonOf(c),
          [&] { expectClose(c, expected, 1e-5); });
  }
}

TEST_F(InterpreterKernelTest, MatmulRoundsOnce) {
  auto a = uniform<float>({3, 50}, -2, 2), b = uniform<float>({50, 2}, -2, 2);
  Tensor<float> c({3, 2});
  ASSERT_TRUE(run(matmulText, {{"M", 3}, {"K", 50}, {"N", 2}}, {{"k", 7}},
                  {a.argument(), b.argument(), c.argument()})
                  .ok());
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      long double sum = 0;
      for (int64_t block = 0; block < 50; block += 7) {
        long double ofBlock = 0;
        for (int64_t k = block; k < std::min<int64_t>(block + 7, 50); ++k)
          ofBlock += static_cast<long double>(a(i, k)) * b(k, j);
        sum += ofBlock;
      }
      EXPECT_EQ(c(i, j), static_cast<float>(sum));
    }
}

//===-- Softmax -----------------------------------------------------------===//

const char *const softmaxText = R"(
#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!in = tensor<?x?xf32, #tile.axes<"i", "N">>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @softmax(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %t = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> !in
    %m = tile.reduce <max> %t over ["N"] : !in -> !i
    %mb = tile.broadcast %m : !i to !in
    %d = arith.subf %t, %mb : !in
    %e = math.exp %d : !in
    %s = tile.reduce <add> %e over ["N"] : !in -> !i
    %sb = tile.broadcast %s : !i to !in
    %q = arith.divf %e, %sb : !in
    tile.store %q, %y at #id(%i, %n)[] : !in, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
  }
  tile.return
})";

TEST_F(InterpreterKernelTest, Softmax) {
  for (auto [M, N] : {std::array<int64_t, 2>{7, 13}, {1, 1}, {0, 5}, {3, 0}, {10, 1}}) {
    SCOPED_TRACE(testing::Message() << M << " x " << N);
    auto x = uniform<float>({M, N}, -30, 30);
    Tensor<float> y({M, N});
    Tensor<double> expected({M, N});
    for (int64_t i = 0; i < M; ++i) {
      double top = -INFINITY, sum = 0;
      for (int64_t n = 0; n < N; ++n)
        top = std::max<double>(top, x(i, n));
      for (int64_t n = 0; n < N; ++n)
        sum += std::exp(x(i, n) - top);
      for (int64_t n = 0; n < N; ++n)
        expected(i, n) = std::exp(x(i, n) - top) / sum;
    }
    sweep(softmaxText, {{"M", M}, {"N", N}}, {{{"i", 1}}, {{"i", 4}}, {{"i", 100}}},
          {x.argument(), y.argument()}, poisonOf(y), [&] { expectClose(y, expected, 1e-6); });
  }
}

TEST_F(InterpreterKernelTest, SoftmaxOfAMillion) {
  const int64_t N = 1'000'003;
  auto x = uniform<float>({2, N}, -3, 3);
  Tensor<float> y({2, N});
  InterpreterResult result = run(softmaxText, {{"M", 2}, {"N", N}}, {{"i", 2}},
                                 {x.argument(), y.argument()}, /*bindDims=*/false);
  ASSERT_TRUE(result.ok()) << result.message;
  for (int64_t i = 0; i < 2; ++i) {
    double sum = 0;
    for (int64_t n = 0; n < N; ++n)
      sum += y(i, n);
    EXPECT_NEAR(sum, 1, 1e-3);
    EXPECT_NEAR(y(i, N - 1) / y(i, 0), std::exp(double(x(i, N - 1)) - x(i, 0)), 1e-3);
  }
}

//===-- Attention ---------------------------------------------------------===//

const char *const attentionText = R"(
#sd = affine_map<()[s, l, d] -> (s, d)>
#ld = affine_map<()[s, l, d] -> (l, d)>
#id = affine_map<(d0, d1) -> (d0, d1)>
// j <= i + (L - S)
#causal = affine_set<(i, j)[l, s] : (i + l - s - j >= 0)>
!i = tensor<?xf32, #tile.axes<"i">>
!ij = tensor<?x?xf32, #tile.axes<"i", "j">>
!iD = tensor<?x?xf32, #tile.axes<"i", "D">>
!jD = tensor<?x?xf32, #tile.axes<"j", "D">>
tile.kernel @attention(
    %q: memref<?x?xf32> {tile.name = "q", tile.mode = "in", tile.shape = #sd},
    %k: memref<?x?xf32> {tile.name = "k", tile.mode = "in", tile.shape = #ld},
    %v: memref<?x?xf32> {tile.name = "v", tile.mode = "in", tile.shape = #ld},
    %scale: f32 {tile.name = "scale", tile.mode = "in"},
    %full: i1 {tile.name = "full", tile.mode = "in"},
    %o: memref<?x?xf32> {tile.name = "o", tile.mode = "out", tile.shape = #sd})
    attributes {dims = ["S", "L", "D"]} {
  %c0 = arith.constant 0 : i64
  %S = tile.dim "S"
  %L = tile.dim "L"
  %Dn = tile.dim "D"
  %D = tile.axis %c0 to %Dn : !tile.span<"D">
  tile.parallel (%i = tiles "i" %c0 to %S) {
    %zero = arith.constant 0.0 : f32
    %least = arith.constant 0xFF800000 : f32
    %m0 = tile.broadcast %least : f32 to !i
    %l0 = tile.broadcast %zero : f32 to !i
    %a0 = tile.broadcast %zero : f32 to !iD
    %tq = tile.load %q at #id(%i, %D)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"D">) -> !iD
    %r:3 = tile.for reassociable %j = "j" %c0 to %L iter_args(%m = %m0 : !i, %l = %l0 : !i, %acc = %a0 : !iD) {
      tile.restrict #causal(%i, %j)[%L, %S] unless %full : !tile.span<"i">, !tile.span<"j">
      %tk = tile.load %k at #id(%j, %D)[] <exact> : memref<?x?xf32>, (!tile.span<"j">, !tile.span<"D">) -> !jD
      %tv = tile.load %v at #id(%j, %D)[] <exact> : memref<?x?xf32>, (!tile.span<"j">, !tile.span<"D">) -> !jD
      %szero = tile.broadcast %zero : f32 to !ij
      %raw = tile.dot %tq, %tk over "D" acc %szero : !iD, !jD -> !ij
      %sc = tile.broadcast %scale : f32 to !ij
      %s = arith.mulf %raw, %sc : !ij
      %top = tile.reduce <max> %s over ["j"] : !ij -> !i
      %m2 = arith.maximumf %m, %top : !i
      %m2b = tile.broadcast %m2 : !i to !ij
      %d = arith.subf %s, %m2b : !ij
      %p = math.exp %d : !ij
      %fall = arith.subf %m, %m2 : !i
      %rescale = math.exp %fall : !i
      %ls = arith.mulf %l, %rescale : !i
      %ps = tile.reduce <add> %p over ["j"] : !ij -> !i
      %l2 = arith.addf %ls, %ps : !i
      %rb = tile.broadcast %rescale : !i to !iD
      %as = arith.mulf %acc, %rb : !iD
      %acc2 = tile.dot %p, %tv over "j" acc %as : !ij, !jD -> !iD
      tile.yield %m2, %l2, %acc2 : !i, !i, !iD
    }
    %lb = tile.broadcast %r#1 : !i to !iD
    %res = arith.divf %r#2, %lb : !iD
    tile.store %res, %o at #id(%i, %D)[] : !iD, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"D">)
  }
  tile.return
})";

class AttentionTest : public InterpreterKernelTest,
                      public testing::WithParamInterface<std::tuple<int64_t, int64_t, bool>> {};

TEST_P(AttentionTest, MatchesLoops) {
  auto [S, L, isCausal] = GetParam();
  const int64_t D = 3;
  const float scale = 0.6f;
  auto q = uniform<float>({S, D}, -2, 2), k = uniform<float>({L, D}, -2, 2),
       v = uniform<float>({L, D}, -2, 2);
  Tensor<float> o({S, D});
  auto check = [&] {
    for (int64_t i = 0; i < S; ++i) {
      double sum = 0;
      std::vector<double> total(D), weights(L);
      for (int64_t j = 0; j < L; ++j) {
        if (isCausal && j > i + (L - S))
          continue;
        double s = 0;
        for (int64_t d = 0; d < D; ++d)
          s += double(q(i, d)) * k(j, d);
        sum += weights[j] = std::exp(s * scale);
        for (int64_t d = 0; d < D; ++d)
          total[d] += weights[j] * v(j, d);
      }
      for (int64_t d = 0; d < D; ++d)
        if (sum == 0) // a query without keys: 0 / 0
          ASSERT_TRUE(std::isnan(o(i, d)));
        else
          ASSERT_NEAR(o(i, d), total[d] / sum, 1e-5);
    }
  };
  uint32_t scaleBits;
  std::memcpy(&scaleBits, &scale, 4);
  sweep(attentionText, {{"S", S}, {"L", L}, {"D", D}},
        {{{"i", 1}, {"j", 1}}, {{"i", 2}, {"j", 3}}, {{"i", 5}, {"j", 2}}, {{"i", 64}, {"j", 64}}},
        {q.argument(), k.argument(), v.argument(), InterpreterArgument::scalar(scaleBits),
         InterpreterArgument::scalar(!isCausal), o.argument()},
        poisonOf(o), check);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionTest,
                         testing::Values(std::tuple(7, 7, true), std::tuple(7, 7, false),
                                         std::tuple(4, 9, true), std::tuple(9, 4, true),
                                         std::tuple(1, 1, true), std::tuple(3, 0, false),
                                         std::tuple(0, 5, true)));

//===-- Windows, gathers, clamps ------------------------------------------===//

TEST_F(InterpreterKernelTest, WindowsGathersAndClamps) {
  // y[i] = Σ_r x.pad(10)[2i + r − 1] · (r < 2) + w.clamp[ids[i]], z[i] = w.pad(-1)[ids[i]]
  const char *text = R"(
#n = affine_map<()[n, h, p] -> (n)>
#h = affine_map<()[n, h, p] -> (h)>
#p = affine_map<()[n, h, p] -> (p)>
#id = affine_map<(d0) -> (d0)>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @windows(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %w: memref<?xf32> {tile.name = "w", tile.mode = "in", tile.shape = #h},
    %ids: memref<?xi32> {tile.name = "ids", tile.mode = "in", tile.shape = #p},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #p},
    %z: memref<?xf32> {tile.name = "z", tile.mode = "out", tile.shape = #p})
    attributes {dims = ["N", "H", "P"]} {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %P = tile.dim "P"
  %ten = arith.constant 10.0 : f32
  %minus = arith.constant -1.0 : f32
  tile.parallel (%i = tiles "i" %c0 to %P) {
    %r = tile.axis %c0 to %c3 : !tile.span<"r", 3>
    tile.restrict affine_set<(d0)[s0] : (s0 - d0 - 1 >= 0)>(%r)[%c2] : !tile.span<"r", 3>
    %v = tile.load %x at affine_map<(d0, d1)[s0] -> (d0 * s0 + d1 - 1)>(%i, %r)[%c2] <pad> else %ten : memref<?xf32>, (!tile.span<"i">, !tile.span<"r", 3>), f32 -> tensor<?x3xf32, #tile.axes<"i", "r">>
    %s = tile.reduce <add> %v over ["r"] : tensor<?x3xf32, #tile.axes<"i", "r">> -> !i
    %id = tile.load %ids at #id(%i)[] <exact> : memref<?xi32>, (!tile.span<"i">) -> tensor<?xi32, #tile.axes<"i">>
    %e = tile.load %w at #id(%id)[] <clamp> : memref<?xf32>, (tensor<?xi32, #tile.axes<"i">>) -> !i
    %f = tile.load %w at #id(%id)[] <pad> else %minus : memref<?xf32>, (tensor<?xi32, #tile.axes<"i">>), f32 -> !i
    %sum = arith.addf %s, %e : !i
    tile.store %sum, %y at #id(%i)[] : !i, memref<?xf32>, (!tile.span<"i">)
    tile.store %f, %z at #id(%i)[] : !i, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
})";
  for (auto [N, H, P] : {std::array<int64_t, 3>{9, 4, 6}, {1, 1, 3}, {0, 0, 2}, {5, 7, 0}}) {
    SCOPED_TRACE(testing::Message() << N << ", " << H << ", " << P);
    auto x = uniform<float>({N}, -2, 2), w = uniform<float>({H}, -2, 2);
    auto ids = uniform<int32_t>({P}, -4, H + 4);
    Tensor<float> y({P}), z({P});
    auto check = [&] {
      for (int64_t i = 0; i < P; ++i) {
        double sum = 0;
        for (int64_t r = 0; r < 2; ++r) {
          int64_t at = 2 * i + r - 1;
          sum += at < 0 || at >= N ? 10 : x(at);
        }
        int64_t id = ids(i);
        double nearest = H ? w(std::clamp<int64_t>(id, 0, H - 1)) : 0;
        ASSERT_NEAR(y(i), sum + nearest, 1e-5);
        ASSERT_EQ(z(i), id < 0 || id >= H ? -1 : w(id));
      }
    };
    sweep(
        text, {{"N", N}, {"H", H}, {"P", P}}, {{{"i", 1}}, {{"i", 4}}, {{"i", 50}}},
        {x.argument(), w.argument(), ids.argument(), y.argument(), z.argument()},
        [&] { poisonOf(y)(), poisonOf(z)(); }, check);
  }
}

//===-- Constant groups with a condition ----------------------------------===//

TEST_F(InterpreterKernelTest, GroupsOfAConstantSize) {
  // let c = range(4) if 4g + c < K; s[i, g] = max(x[i, 4g + c], c); y[i, 4g + c] = x / s + count
  const char *text = R"(
#mk = affine_map<()[m, k] -> (m, k)>
#mg = affine_map<()[m, k] -> (m, (k + 3) floordiv 4)>
#radix = affine_map<(d0, d1, d2) -> (d0, d1 * 4 + d2)>
!igc = tensor<?x?x4xf32, #tile.axes<"i", "g", "c">>
!ig = tensor<?x?xf32, #tile.axes<"i", "g">>
tile.kernel @groups(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mk},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mk},
    %s: memref<?x?xf32> {tile.name = "s", tile.mode = "out", tile.shape = #mg})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  %K3 = arith.addi %K, %c3 : i64
  %G = tile.div %K3, %c4 : i64
  tile.parallel (%i = tiles "i" %c0 to %M, %g = tiles "g" %c0 to %G) {
    %c = tile.axis %c0 to %c4 : !tile.span<"c", 4>
    tile.restrict affine_set<(d0, d1)[s0] : (s0 - d0 * 4 - d1 - 1 >= 0)>(%g, %c)[%K] : !tile.span<"g">, !tile.span<"c", 4>
    %t = tile.load %x at #radix(%i, %g, %c)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">, !tile.span<"c", 4>) -> !igc
    %top = tile.reduce <max> %t over ["c"] : !igc -> !ig
    %topb = tile.broadcast %top : !ig to !igc
    %q = arith.divf %t, %topb : !igc
    %count = tile.count %c : !tile.span<"c", 4> -> tensor<?xi64, #tile.axes<"g">>
    %countf = arith.sitofp %count : tensor<?xi64, #tile.axes<"g">> to tensor<?xf32, #tile.axes<"g">>
    %countb = tile.broadcast %countf : tensor<?xf32, #tile.axes<"g">> to !igc
    %sum = arith.addf %q, %countb : !igc
    tile.store %sum, %y at #radix(%i, %g, %c)[] : !igc, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">, !tile.span<"c", 4>)
    tile.store %top, %s at affine_map<(d0, d1) -> (d0, d1)>(%i, %g)[] : !ig, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">)
  }
  tile.return
})";
  for (auto [M, K] : {std::array<int64_t, 2>{3, 10}, {2, 8}, {5, 1}, {1, 0}}) {
    SCOPED_TRACE(testing::Message() << M << " x " << K);
    int64_t G = (K + 3) / 4;
    auto x = uniform<float>({M, K}, 1, 9);
    Tensor<float> y({M, K}), s({M, G});
    auto check = [&] {
      for (int64_t i = 0; i < M; ++i)
        for (int64_t g = 0; g < G; ++g) {
          int64_t count = std::min<int64_t>(4, K - 4 * g);
          float top = 0;
          for (int64_t c = 0; c < count; ++c)
            top = std::max(top, x(i, 4 * g + c));
          ASSERT_EQ(s(i, g), top);
          for (int64_t c = 0; c < count; ++c)
            ASSERT_EQ(y(i, 4 * g + c), x(i, 4 * g + c) / top + float(count));
        }
    };
    sweep(
        text, {{"M", M}, {"K", K}}, {{{"i", 1}, {"g", 1}}, {{"i", 2}, {"g", 2}}, {}},
        {x.argument(), y.argument(), s.argument()}, [&] { poisonOf(y)(), poisonOf(s)(); }, check);
  }
}

//===-- Sums across programs ----------------------------------------------===//

TEST_F(InterpreterKernelTest, ReduceOutputs) {
  // total[n] += Σ_i x[i, n]; least[0] min= …; hist[x / 10] += 1, dropped outside
  const char *text = R"(
#mn = affine_map<()[m, n, b] -> (m, n)>
#n = affine_map<()[m, n, b] -> (n)>
#b = affine_map<()[m, n, b] -> (b)>
#one = affine_map<()[m, n, b] -> (1)>
#id = affine_map<(d0) -> (d0)>
!iN = tensor<?x?xi32, #tile.axes<"i", "N">>
tile.kernel @sums(
    %x: memref<?x?xi32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %total: memref<?xi32> {tile.name = "total", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #n},
    %least: memref<1xi32> {tile.name = "least", tile.mode = "reduce", tile.reduce = #tile.combine<min>, tile.shape = #one},
    %hist: memref<?xbf16> {tile.name = "hist", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.unordered, tile.shape = #b})
    attributes {dims = ["M", "N", "B"], consts = {B = 4}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %Nn = tile.dim "N"
  %N = tile.axis %c0 to %Nn : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %t = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %N)[] <exact> : memref<?x?xi32>, (!tile.span<"i">, !tile.span<"N">) -> !iN
    %s = tile.reduce <add> %t over ["i"] : !iN -> tensor<?xi32, #tile.axes<"N">>
    tile.update <add> %s, %total at #id(%N)[] : tensor<?xi32, #tile.axes<"N">>, memref<?xi32>, (!tile.span<"N">)
    %low = tile.reduce <min> %t over ["N", "i"] : !iN -> i32
    tile.update <min> %low, %least at affine_map<() -> (0)>()[] : i32, memref<1xi32>, ()
    %ten = arith.constant 10 : i32
    %tens = tile.broadcast %ten : i32 to !iN
    %bin = tile.div %t, %tens : !iN
    %one = arith.constant 1.0 : bf16
    tile.update <add> %one, %hist at #id(%bin)[] : bf16, memref<?xbf16>, (!iN)
  }
  tile.return
})";
  for (auto [M, N] : {std::array<int64_t, 2>{700, 3}, {5, 1}, {0, 2}, {3, 0}}) {
    SCOPED_TRACE(testing::Message() << M << " x " << N);
    auto x = uniform<int32_t>({M, N}, -15, 55);
    Tensor<int32_t> total({N}), least({1});
    Tensor<uint16_t> hist({4});
    auto check = [&] {
      std::vector<int32_t> sums(N);
      std::array<int, 4> bins{};
      int32_t low = INT32_MAX;
      for (int64_t i = 0; i < M; ++i)
        for (int64_t n = 0; n < N; ++n) {
          sums[n] += x(i, n);
          low = std::min(low, x(i, n));
          int bin = static_cast<int>(std::floor(x(i, n) / 10.0));
          if (bin >= 0 && bin < 4)
            ++bins[bin];
        }
      for (int64_t n = 0; n < N; ++n)
        ASSERT_EQ(total(n), sums[n]);
      ASSERT_EQ(least(0), low);
      for (int bin = 0; bin < 4; ++bin) {
        // Halves are summed in f32 and rounded once, so large counts are right to 8 bits.
        uint32_t bits = uint32_t(hist(bin)) << 16;
        float count;
        std::memcpy(&count, &bits, 4);
        ASSERT_NEAR(count, bins[bin], bins[bin] / 256.0);
      }
    };
    sweep(
        text, {{"M", M}, {"N", N}, {"B", 4}}, {{{"i", 1}}, {{"i", 13}}, {{"i", 1000}}},
        {x.argument(), total.argument(), least.argument(), hist.argument()},
        [&] { poisonOf(total)(), poisonOf(least)(), poisonOf(hist)(); }, check);
  }
}

//===-- Integers as binders, argmax, coordinates --------------------------===//

TEST_F(InterpreterKernelTest, EachAndArgReduce) {
  // where[b] = argmax(x[b, n], n) over n < len[b]; y[n, b] = n + x[b, n] if n < len[b] else −1
  const char *text = R"(
#bn = affine_map<()[b, n] -> (b, n)>
#nb = affine_map<()[b, n] -> (n, b)>
#b = affine_map<()[b, n] -> (b)>
!N = tensor<?xf64, #tile.axes<"n">>
!Ni = tensor<?xi64, #tile.axes<"n">>
tile.kernel @ragged(
    %x: memref<?x?xf64> {tile.name = "x", tile.mode = "in", tile.shape = #bn},
    %len: memref<?xi64> {tile.name = "len", tile.mode = "in", tile.shape = #b},
    %where: memref<?xi64> {tile.name = "where", tile.mode = "out", tile.shape = #b},
    %y: memref<?x?xf64> {tile.name = "y", tile.mode = "out", tile.shape = #nb})
    attributes {dims = ["B", "N"]} {
  %c0 = arith.constant 0 : i64
  %B = tile.dim "B"
  %N = tile.dim "N"
  tile.parallel (%b = each "b" %c0 to %B) {
    %l = tile.load %len at affine_map<()[s0] -> (s0)>()[%b] <exact> : memref<?xi64>, () -> i64
    %n = tile.axis %c0 to %l : !tile.span<"n">
    %t = tile.load %x at affine_map<(d0)[s0] -> (s0, d0)>(%n)[%b] <exact> : memref<?x?xf64>, (!tile.span<"n">) -> !N
    %w = tile.arg_reduce <max> %t over "n" : !N -> i64
    tile.store %w, %where at affine_map<()[s0] -> (s0)>()[%b] : i64, memref<?xi64>, ()
    %all = tile.axis %c0 to %N : !tile.span<"all">
    %minus = arith.constant -1.0 : f64
    %pad = tile.load %x at affine_map<(d0)[s0] -> (s0, d0)>(%all)[%b] <exact> : memref<?x?xf64>, (!tile.span<"all">) -> tensor<?xf64, #tile.axes<"all">>
    %at = tile.coords %all : !tile.span<"all"> -> tensor<?xi64, #tile.axes<"all">>
    %lb = tile.broadcast %l : i64 to tensor<?xi64, #tile.axes<"all">>
    %in = arith.cmpi slt, %at, %lb : tensor<?xi64, #tile.axes<"all">>
    %atf = arith.sitofp %at : tensor<?xi64, #tile.axes<"all">> to tensor<?xf64, #tile.axes<"all">>
    %sum = arith.addf %atf, %pad : tensor<?xf64, #tile.axes<"all">>
    %mb = tile.broadcast %minus : f64 to tensor<?xf64, #tile.axes<"all">>
    %sel = arith.select %in, %sum, %mb : tensor<?xi1, #tile.axes<"all">>, tensor<?xf64, #tile.axes<"all">>
    tile.store %sel, %y at affine_map<(d0)[s0] -> (d0, s0)>(%all)[%b] : tensor<?xf64, #tile.axes<"all">>, memref<?x?xf64>, (!tile.span<"all">)
  }
  tile.return
})";
  const int64_t B = 6, N = 8;
  auto x = uniform<double>({B, N}, -2, 2);
  x(1, 3) = NAN, x(1, 5) = NAN; // the first NaN wins
  x(2, 2) = x(2, 6) = 5;        // the lowest of equals
  Tensor<int64_t> length({B}), where({B});
  length.data = {0, 8, 8, 5, 1, 8};
  Tensor<double> y({N, B});
  auto check = [&] {
    for (int64_t b = 0; b < B; ++b) {
      int64_t best = -1;
      for (int64_t n = 0; n < length(b); ++n) {
        if (best >= 0 && std::isnan(x(b, best)))
          continue;
        if (best < 0 || std::isnan(x(b, n)) || x(b, n) > x(b, best))
          best = n;
      }
      ASSERT_EQ(where(b), best) << "row " << b;
      for (int64_t n = 0; n < N; ++n) {
        double expected = n < length(b) ? n + x(b, n) : -1;
        ASSERT_TRUE(y(n, b) == expected || (std::isnan(y(n, b)) && std::isnan(expected)));
      }
    }
  };
  sweep(
      text, {{"B", B}, {"N", N}}, {{}},
      {x.argument(), length.argument(), where.argument(), y.argument()},
      [&] { poisonOf(where)(), poisonOf(y)(); }, check);
}

//===-- Dots that meet what is not there ----------------------------------===//

TEST_F(InterpreterKernelTest, DotLeavesOutWhatDoesNotExist) {
  // s[i] = Σ_j a[i, j] · b[j] over j <= i: Inf beyond the diagonal must not become NaN.
  const char *text = R"(
#nn = affine_map<()[n] -> (n, n)>
#n = affine_map<()[n] -> (n)>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @triangle(
    %a: memref<?x?xf32> {tile.name = "a", tile.mode = "in", tile.shape = #nn},
    %b: memref<?xf32> {tile.name = "b", tile.mode = "in", tile.shape = #n},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero : f32 to !i
    %acc = tile.for fold %j = "j" %c0 to %N iter_args(%sum = %init : !i) {
      tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %j)[] : !tile.span<"i">, !tile.span<"j">
      %ta = tile.load %a at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %tb = tile.load %b at affine_map<(d0) -> (d0)>(%j)[] <exact> : memref<?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
      %s = tile.dot %ta, %tb over "j" acc %sum : tensor<?x?xf32, #tile.axes<"i", "j">>, tensor<?xf32, #tile.axes<"j">> -> !i
      tile.yield %s : !i
    }
    tile.store %acc, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
})";
  const int64_t N = 11;
  auto a = uniform<float>({N, N}, -2, 2), b = uniform<float>({N}, -2, 2);
  for (int64_t i = 0; i < N; ++i)
    for (int64_t j = i + 1; j < N; ++j)
      a(i, j) = j % 2 ? INFINITY : NAN;
  b(N - 1) = INFINITY; // only the last row has this column
  a(N - 1, N - 1) = 1;
  Tensor<float> y({N});
  Tensor<double> expected({N});
  for (int64_t i = 0; i < N; ++i) {
    expected(i) = 0;
    for (int64_t j = 0; j <= i; ++j)
      expected(i) += double(a(i, j)) * b(j);
  }
  sweep(text, {{"N", N}}, {{{"i", 1}, {"j", 1}}, {{"i", 3}, {"j", 4}}, {{"i", 4}, {"j", 3}}, {}},
        {a.argument(), b.argument(), y.argument()}, poisonOf(y), [&] {
          for (int64_t i = 0; i < N - 1; ++i)
            ASSERT_NEAR(y(i), expected(i), 1e-5 * std::max(1.0, std::fabs(expected(i))));
          ASSERT_EQ(y(N - 1), INFINITY);
        });
}

TEST_F(InterpreterKernelTest, BatchedDotsOfOtherTypes) {
  // y[b, i] = Σ_k l[b, i, k] · r[b, k] · c[k], with a constant tile c along a whole axis
  auto text = [](const std::string &type, const std::string &times, const std::string &sum) {
    std::string result = R"(
#bi = affine_map<()[b, i] -> (b, i)>
#bik = affine_map<()[b, i] -> (b, i, 3)>
#bk = affine_map<()[b, i] -> (b, 3)>
!bk = tensor<?x3xT, #tile.axes<"b", "k">>
!bik = tensor<?x?x3xT, #tile.axes<"b", "i", "k">>
!ib = tensor<?x?xS, #tile.axes<"i", "b">>
!bi = tensor<?x?xS, #tile.axes<"b", "i">>
tile.kernel @batched(
    %l: memref<?x?x3xT> {tile.name = "l", tile.mode = "in", tile.shape = #bik},
    %r: memref<?x3xT> {tile.name = "r", tile.mode = "in", tile.shape = #bk},
    %y: memref<?x?xS> {tile.name = "y", tile.mode = "out", tile.shape = #bi})
    attributes {dims = ["B", "I"]} {
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %B = tile.dim "B"
  %I = tile.dim "I"
  %k = tile.axis %c0 to %c3 : !tile.span<"k", 3>
  %weights = arith.constant dense<WEIGHTS> : tensor<3xT, #tile.axes<"k">>
  %ones = arith.constant dense<ONE> : tensor<3xT, #tile.axes<"k">>
  tile.parallel (%b = tiles "b" %c0 to %B, %i = tiles "i" %c0 to %I) {
    %tl = tile.load %l at affine_map<(d0, d1, d2) -> (d0, d1, d2)>(%b, %i, %k)[] <exact> : memref<?x?x3xT>, (!tile.span<"b">, !tile.span<"i">, !tile.span<"k", 3>) -> !bik
    %tr = tile.load %r at affine_map<(d0, d1) -> (d0, d1)>(%b, %k)[] <exact> : memref<?x3xT>, (!tile.span<"b">, !tile.span<"k", 3>) -> !bk
    %w = TIMES %weights, %ones : tensor<3xT, #tile.axes<"k">>
    %wb = tile.broadcast %w : tensor<3xT, #tile.axes<"k">> to !bk
    %rw = TIMES %tr, %wb : !bk
    %zero = arith.constant ZERO : S
    %init = tile.broadcast %zero : S to !bi
    %s = tile.dot %tl, %rw over "k" acc %init : !bik, !bk -> !bi
    %turned = tile.broadcast %s : !bi to !ib
    tile.store %turned, %y at affine_map<(d0, d1) -> (d0, d1)>(%b, %i)[] : !ib, memref<?x?xS>, (!tile.span<"b">, !tile.span<"i">)
  }
  tile.return
})";
    bool isFloat = type[0] != 'i';
    auto replace = [&](const std::string &from, const std::string &to) {
      for (size_t at = 0; (at = result.find(from, at)) != std::string::npos; at += to.size())
        result.replace(at, from.size(), to);
    };
    replace("TIMES", times), replace("ONE", isFloat ? "1.0" : "1");
    replace("WEIGHTS", isFloat ? "[2.0, -1.0, 0.5]" : "[2, -1, 3]");
    replace("ZERO", isFloat ? "0.0" : "0");
    replace("xT", "x" + type), replace("xS", "x" + sum), replace(": S", ": " + sum);
    return result;
  };
  const int64_t B = 4, I = 5;
  auto check = [&](auto zero, const std::string &kernel, double low, double high) {
    using T = decltype(zero);
    auto l = uniform<T>({B, I, 3}, low, high), r = uniform<T>({B, 3}, low, high);
    Tensor<T> y({B, I});
    T weights[] = {T(2), T(-1), std::is_integral_v<T> ? T(3) : T(0.5)};
    sweep(kernel, {{"B", B}, {"I", I}}, {{{"b", 1}, {"i", 2}}, {{"b", 3}, {"i", 1}}, {}},
          {l.argument(), r.argument(), y.argument()}, poisonOf(y), [&] {
            for (int64_t b = 0; b < B; ++b)
              for (int64_t i = 0; i < I; ++i) {
                // Integers wrap: compute them unsigned.
                using W = std::conditional_t<std::is_integral_v<T>, uint64_t, long double>;
                W sum = 0;
                for (int64_t k = 0; k < 3; ++k)
                  if constexpr (std::is_integral_v<T>)
                    sum += W(l(b, i, k)) * W(r(b, k)) * W(weights[k]);
                  else
                    sum += W(l(b, i, k)) * W(T(r(b, k) * weights[k]));
                ASSERT_EQ(y(b, i), static_cast<T>(sum));
              }
          });
  };
  check(double(), text("f64", "arith.mulf", "f64"), -2, 2);
  check(float(), text("f32", "arith.mulf", "f32"), -2, 2);
  check(int32_t(), text("i32", "arith.muli", "i32"), -2e9, 2e9);
  check(int64_t(), text("i64", "arith.muli", "i64"), -9e18, 9e18);
}

TEST_F(InterpreterKernelTest, AxesThatNothingLoadsAreKept) {
  // y[i] = sum(full(1, i, N), N): the span of N has no use but in types.
  const char *text = R"(
#m = affine_map<()[m, n] -> (m)>
tile.kernel @ones(%y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #m})
    attributes {dims = ["M", "N"], consts = {M, N}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %one = arith.constant 1.0 : f32
    %t = tile.broadcast %one : f32 to tensor<?x?xf32, #tile.axes<"i", "N">>
    %s = tile.reduce <add> %t over ["N"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
})";
  Tensor<float> y({5});
  sweep(text, {{"M", 5}, {"N", 7}}, {{{"i", 2}}}, {y.argument()}, poisonOf(y), [&] {
    for (float element : y.data)
      ASSERT_EQ(element, 7);
  });
}
} // namespace
