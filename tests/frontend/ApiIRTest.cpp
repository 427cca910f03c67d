// A kernel built from C++ is the kernel that the parser makes of the same lines.

#include "tests/frontend/ParsedKernel.h"

#include "frontend/tile/Tile.h"

#include <gtest/gtest.h>

using namespace tile;
using tile::test::parsed;

namespace {

std::string built(const std::string &name, const std::function<void(Kernel &)> &build) {
  Module module;
  module.kernel(name, build);
  EXPECT_TRUE(module.ok()) << module.errorText();
  EXPECT_NE(module.ir().find("tile.kernel"), std::string::npos);
  return module.ir();
}

TEST(ApiIR, matmul) {
  std::string text = R"(
kernel matmul<T: f16 | f32>(a: T[M, K], b: T[K, N]) -> (c: T[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for k in tiles(K) {
            acc += dot(a[i, k], b[k, j], k)
        }
        c[i, j] = T(acc)
    }
} schedule { i = [64, 128]; j = [64, 128, 256]; k = 64; stages = [3, 4]; order = grouped(8) })";
  auto build = [](Type type) {
    return [type](Kernel &k) {
      auto [M, K, N] = k.dims("M", "K", "N");
      auto a = k.input("a", type, {M, K});
      auto b = k.input("b", type, {K, N});
      auto c = k.output("c", type, {M, N});
      k.parallel({tiles("i", M), tiles("j", N)}, [&](Span i, Span j) {
        auto acc = k.var("acc", zeros(f32, i, j));
        k.for_(tiles("k", K), [&](Span kk) { acc += dot(a[{i, kk}], b[{kk, j}], kk); });
        c[{i, j}] = type(acc);
      });
      k.schedule("i", {64, 128});
      k.schedule("j", {64, 128, 256});
      k.schedule("k", 64);
      k.schedule("stages", {3, 4});
      k.schedule("order", "grouped(8)");
    };
  };
  EXPECT_EQ(parsed(text, {{"T", ir::ElementType::F16}}), built("matmul.f16", build(f16)));
  EXPECT_EQ(parsed(text, {{"T", ir::ElementType::F32}}), built("matmul.f32", build(f32)));
}

TEST(ApiIR, softmax) {
  EXPECT_EQ(parsed(R"(
kernel softmax(x: bf16[M, N]) -> (y: bf16[M, N]) {
    parallel i in tiles(M) {
        let t = f32(x[i, :])
        let e = exp(t - max(t, N))
        y[i, :] = bf16(e / sum(e, N))
    }
} schedule { i = [1, 2, 4, 8]; warps = [4, 8] })"),
            built("softmax", [](Kernel &k) {
              auto [M, N] = k.dims("M", "N");
              auto x = k.input("x", bf16, {M, N});
              auto y = k.output("y", bf16, {M, N});
              k.parallel(tiles("i", M), [&](Span i) {
                auto t = f32(x[{i, colon}]);
                auto e = exp(t - max(t, N));
                y[{i, colon}] = bf16(e / sum(e, N));
              });
              k.schedule("i", {1, 2, 4, 8});
              k.schedule("warps", {4, 8});
            }));
}

TEST(ApiIR, attention) {
  EXPECT_EQ(parsed(R"(
kernel attention<T: f16 | bf16 | f32>(q: T[B, H, S, D], k: T[B, G, L, D], v: T[B, G, L, D], scale: f32, causal: bool = false)
        -> (o: T[B, H, S, D]) requires H % G == 0 {
    parallel b in each(B), h in each(H), i in tiles(S) {
        let g = h / (H / G)
        var m = full(f32, -inf, i)
        var l = zeros(f32, i)
        var acc = zeros(f32, i, D)
        for j in tiles(L) if !causal || j <= i + (L - S) reassociable {
            let s = dot(q[b, h, i, :], k[b, g, j, :], D) * scale
            let m2 = max(m, max(s, j))
            let p = expdiff(s, m2)
            let r = expdiff(m, m2)
            l = l * r + sum(p, j)
            acc = acc * r + dot(T(p), v[b, g, j, :], j)
            m = m2
        }
        o[b, h, i, :] = T(acc / l)
    }
})",
                   {{"T", ir::ElementType::F16}}),
            built("attention.f16", [](Kernel &kernel) {
              Type T = f16;
              auto [B, H, S, D, G, L] = kernel.dims("B", "H", "S", "D", "G", "L");
              auto q = kernel.input("q", T, {B, H, S, D});
              auto k = kernel.input("k", T, {B, G, L, D});
              auto v = kernel.input("v", T, {B, G, L, D});
              auto scale = kernel.scalar("scale", f32);
              auto causal = kernel.scalar("causal", boolean, false);
              auto o = kernel.output("o", T, {B, H, S, D});
              kernel.require(H % G == 0);
              kernel.parallel(
                  {each("b", B), each("h", H), tiles("i", S)}, [&](Value b, Value h, Span i) {
                    auto g = h / (H / G);
                    auto m = kernel.var("m", full(f32, -inf, i));
                    auto l = kernel.var("l", zeros(f32, i));
                    auto acc = kernel.var("acc", zeros(f32, i, D));
                    auto visible = [&](Span j) { return !causal || j <= i + (L - S); };
                    kernel.for_(tiles("j", L).when(visible).reassociable(), [&](Span j) {
                      auto s = dot(q[{b, h, i, colon}], k[{b, g, j, colon}], D) * scale;
                      auto m2 = max(m, max(s, j));
                      auto p = expdiff(s, m2);
                      auto r = expdiff(m, m2);
                      l = l * r + sum(p, j);
                      acc = acc * r + dot(T(p), v[{b, g, j, colon}], j);
                      m = m2;
                    });
                    o[{b, h, i, colon}] = T(acc / l);
                  });
            }));
}

TEST(ApiIR, layerNormBackward) {
  EXPECT_EQ(parsed(R"(
kernel layer_norm_backward(x: f32[M, N], dy: f32[M, N], g: f32[N], mu: f32[M], rs: f32[M])
        -> (dx: f32[M, N], dg: f32[N] reduce +, db: f32[N] reduce unordered +) {
    parallel i in tiles(M) {
        let h = (x[i, :] - mu[i]) * rs[i]
        let w = dy[i, :] * g[:]
        dx[i, :] = (w - mean(w, N) - h * mean(w * h, N)) * rs[i]
        dg[:] += sum(dy[i, :] * h, i)
        db[:] += sum(dy[i, :], i)
    }
} schedule { i = 8 })"),
            built("layer_norm_backward", [](Kernel &k) {
              auto [M, N] = k.dims("M", "N");
              auto x = k.input("x", f32, {M, N});
              auto dy = k.input("dy", f32, {M, N});
              auto g = k.input("g", f32, {N});
              auto mu = k.input("mu", f32, {M});
              auto rs = k.input("rs", f32, {M});
              auto dx = k.output("dx", f32, {M, N});
              auto dg = k.output("dg", f32, {N}, reduce("+"));
              auto db = k.output("db", f32, {N}, unordered("+"));
              k.parallel(tiles("i", M), [&](Span i) {
                auto h = (x[{i, colon}] - mu[i]) * rs[i];
                auto w = dy[{i, colon}] * g[colon];
                dx[{i, colon}] = (w - mean(w, N) - h * mean(w * h, N)) * rs[i];
                dg[colon] += sum(dy[{i, colon}] * h, i);
                db[colon] += sum(dy[{i, colon}], i);
              });
              k.schedule("i", 8);
            }));
}

TEST(ApiIR, convolutionWithNamedDimensions) {
  EXPECT_EQ(parsed(R"(
kernel conv<const pad: int = 1>(x: f32[B, H, C], w: f32[R, C, F]) -> (y: f32[B, P, F])
        dim P = (H + 2 * pad - R) / 2 + 1 {
    parallel n in each(B), p in tiles(P), f in tiles(F) {
        var acc = zeros(f32, p, f)
        for r in 0..R {
            for c in tiles(C) {
                acc += dot(x.pad(0)[n, 2 * p + r - pad, c], w[r, c, f], c)
            }
        }
        y[n, p, f] = acc
    }
})"),
            built("conv", [](Kernel &k) {
              auto pad = k.constant("pad", 1);
              auto [B, H, C, R, F] = k.dims("B", "H", "C", "R", "F");
              auto x = k.input("x", f32, {B, H, C});
              auto w = k.input("w", f32, {R, C, F});
              auto P = k.dim("P", (H + 2 * pad - R) / 2 + 1);
              auto y = k.output("y", f32, {B, P, F});
              k.parallel({each("n", B), tiles("p", P), tiles("f", F)}, [&](Span n, Span p, Span f) {
                auto acc = k.var("acc", zeros(f32, p, f));
                k.for_(count("r", 0, R), [&](Span r) {
                  k.for_(tiles("c", C), [&](Span c) {
                    acc += dot(x.pad(0)[{n, 2 * p + r - pad, c}], w[{r, c, f}], c);
                  });
                });
                y[{n, p, f}] = acc;
              });
            }));
}

TEST(ApiIR, controlFlowCarriesWhatChanges) {
  EXPECT_EQ(parsed(R"(
kernel flow(x: i32[N], n: i32) -> (y: i32[N]) {
    parallel i in tiles(N) {
        var a = x[i]
        var b = x[i] + 1
        var step = 0
        if n > 3 {
            a = b * 2
        } else {
            b -= 1
        }
        while step < 4 {
            step += 1
            if step == 2 {
                a = max(a, b)
            }
        }
        for r in 0..6 step 2 {
            let old = a
            a = b
            b = old
        }
        y[i] = where(a > b, a, b)
    }
})"),
            built("flow", [](Kernel &k) {
              auto N = k.dim("N");
              auto x = k.input("x", i32, {N});
              auto n = k.scalar("n", i32);
              auto y = k.output("y", i32, {N});
              k.parallel(tiles("i", N), [&](Span i) {
                auto a = k.var("a", x[i]);
                auto b = k.var("b", x[i] + 1);
                auto step = k.var("step", 0);
                k.if_(
                    n > 3, [&] { a = b * 2; }, [&] { b -= 1; });
                k.while_([&] { return step < 4; },
                         [&] {
                           step += 1;
                           k.if_(step == 2, [&] { a = max(a, b); });
                         });
                k.for_(count("r", 0, 6, 2), [&](Span) {
                  Value old = a;
                  a = b;
                  b = old;
                });
                y[i] = where(a > b, a, b);
              });
            }));
}

TEST(ApiIR, namedAxesAndConditions) {
  EXPECT_EQ(parsed(R"(
kernel quantize(x: f32[M, K]) -> (q: i8[M, K], s: f32[M, (K + 127) / 128]) {
    parallel i in tiles(M), g in each((K + 127) / 128) {
        let c = range(128) if 128 * g + c < K
        let v = x[i, 128 * g + c]
        let m = max(abs(v), c)
        s[i, g] = m / 127
        q[i, 128 * g + c] = i8(round(v / where(m == 0, 1, m / 127)))
    }
})"),
            built("quantize", [](Kernel &k) {
              auto [M, K] = k.dims("M", "K");
              auto x = k.input("x", f32, {M, K});
              auto q = k.output("q", i8, {M, K});
              auto s = k.output("s", f32, {M, (K + 127) / 128});
              k.parallel({tiles("i", M), each("g", (K + 127) / 128)}, [&](Span i, Value g) {
                auto c = k.let(range("c", 128).when([&](Span c) { return 128 * g + c < K; }));
                auto v = x[{i, 128 * g + c}];
                auto m = max(abs(v), c);
                s[{i, g}] = m / 127;
                q[{i, 128 * g + c}] = i8(round(v / where(m == 0, 1, m / 127)));
              });
            }));
}

TEST(ApiIR, whatIsNamedStandsWhereItIsWritten) {
  // b is written first and used last; the order in which C++ evaluates arguments does not show.
  EXPECT_EQ(parsed(R"(
kernel order(x: f32[N], z: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) {
        let b = exp(z[i])
        let a = log(x[i])
        var v = a * b + sin(x[i]) * cos(z[i])
        let before = v * 2
        v = before + a
        y[i] = before - v
    }
})"),
            built("order", [](Kernel &k) {
              auto N = k.dim("N");
              auto x = k.input("x", f32, {N});
              auto z = k.input("z", f32, {N});
              auto y = k.output("y", f32, {N});
              k.parallel(tiles("i", N), [&](Span i) {
                auto b = exp(z[i]);
                auto a = log(x[i]);
                auto v = k.var("v", a * b + sin(x[i]) * cos(z[i]));
                auto before = v * 2;
                v = before + a;
                y[i] = before - v;
              });
            }));
}

TEST(ApiIR, assertionsAndPrints) {
  EXPECT_EQ(parsed(R"(
kernel speaks(x: f16[M, N], n: u8) -> (y: f16[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        let t = x[i, j] * 2
        assert(x[i, j] > 0, "x is positive")
        if n > 3 {
            print("n is", n, 1, 2.5, true, i, "t", t)
        }
        print()
        y[i, j] = t
    }
})"),
            built("speaks", [](Kernel &k) {
              auto [M, N] = k.dims("M", "N");
              auto x = k.input("x", f16, {M, N});
              auto n = k.scalar("n", u8);
              auto y = k.output("y", f16, {M, N});
              k.parallel({tiles("i", M), tiles("j", N)}, [&](Span i, Span j) {
                auto t = x[{i, j}] * 2;
                k.assert_(x[{i, j}] > 0, "x is positive");
                k.if_(n > 3, [&] { k.print({"n is", n, 1, 2.5, true, i, "t", t}); });
                k.print({});
                y[{i, j}] = t;
              });
            }));
}

TEST(ApiIR, requirementsMakeDimensionsOne) {
  EXPECT_EQ(parsed(R"(
kernel add(x: f32[A], z: f32[B], eps: f32 = 1e-5) -> (y: f32[A]) requires A == B, A % 4 == 0 {
    parallel i in tiles(A) {
        y[i] = x[i] + z[i] + eps
    }
})"),
            built("add", [](Kernel &k) {
              auto [A, B] = k.dims("A", "B");
              auto x = k.input("x", f32, {A});
              auto z = k.input("z", f32, {B});
              auto eps = k.scalar("eps", f32, 1e-5);
              auto y = k.output("y", f32, {A});
              k.require(A == B);
              k.require(A % 4 == 0);
              k.parallel(tiles("i", A), [&](Span i) { y[i] = x[i] + z[i] + eps; });
            }));
}

} // namespace
