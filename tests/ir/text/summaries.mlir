// RUN: tile-opt %s -tile-summaries -o /dev/null | FileCheck %s
// RUN: tile-opt %s -tile-specialize -tile-summaries -o /dev/null | FileCheck %s --check-prefix=SIZED

// What kernels do to memory: the space of their programs, loops and whole axes, with the role of each dimension; the
// element of each access, with the points that it is made at. Templates say the same as kernels with
// sizes.

// SIZED-LABEL: kernel product(
// SIZED-NEXT: space
// SIZED-NEXT: tiles i in 0..M by 16: map
// SIZED-NEXT: tiles j in 0..N by 16: map
// SIZED-NEXT: loop k in 0..K by 64: contract
// SIZED-NEXT: accesses
// SIZED-NEXT: read a[i, k]: f16 for i, j, k; exact
// SIZED: kernel branches(
// SIZED: read z[i, j]: f32 for i, j where i < M / 2; exact

module {
// CHECK-LABEL: kernel elementwise(x: f32[M, N], b: f32[N], s: f32) -> (y: bf16[M, N])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: tiles j in 0..N: map
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, j]: f32 for i, j; exact
// CHECK-NEXT: read b[j]: f32 for i, j; exact
// CHECK-NEXT: write y[i, j]: bf16 for i, j; exact
  tile.kernel @elementwise(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}, %arg2: f32 {tile.mode = "in", tile.name = "s", tile.type = "f32"}, %arg3: memref<?x?xbf16> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "bf16"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg4 = tiles "i" %c0_i64 to %0, %arg5 = tiles "j" %c0_i64_0 to %1) {
      %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg4, %arg5) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %3 = tile.broadcast %arg2 : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
      %4 = arith.mulf %3, %2 : tensor<?x?xf32, #tile.axes<"i", "j">>
      %5 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg5) [] <exact> : memref<?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
      %6 = tile.broadcast %5 : tensor<?xf32, #tile.axes<"j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
      %7 = arith.addf %4, %6 : tensor<?x?xf32, #tile.axes<"i", "j">>
      %8 = arith.truncf %7 : tensor<?x?xf32, #tile.axes<"i", "j">> to tensor<?x?xbf16, #tile.axes<"i", "j">>
      tile.store %8, %arg3 at affine_map<(d0, d1) -> (d0, d1)>(%arg4, %arg5) [] : tensor<?x?xbf16, #tile.axes<"i", "j">>, memref<?x?xbf16>, (!tile.span<"i">, !tile.span<"j">)
    }
    tile.return
  }

// CHECK-LABEL: kernel transpose(x: f32[M, N]) -> (y: f32[N, M])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: each j in 0..N: map
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, j]: f32 for i, j; exact
// CHECK-NEXT: write y[j, i]: f32 for i, j; exact
  tile.kernel @transpose(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s1, s0)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0, %arg3 = each "j" %c0_i64_0 to %1) {
      %2 = tile.load %arg0 at affine_map<(d0)[s0] -> (d0, s0)>(%arg2) [%arg3] <exact> : memref<?x?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      tile.store %2, %arg1 at affine_map<(d0)[s0] -> (s0, d0)>(%arg2) [%arg3] : tensor<?xf32, #tile.axes<"i">>, memref<?x?xf32>, (!tile.span<"i">)
    }
    tile.return
  }

// CHECK-LABEL: kernel strided(x: f32[M, N]) -> (y: f32[M, N / 2])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: tiles j in 0..N / 2: map
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, 2*j]: f32 for i, j; exact
// CHECK-NEXT: read x[-i + M - 1, 2*j + 1]: f32 for i, j; exact
// CHECK-NEXT: write y[i, j]: f32 for i, j; exact
  tile.kernel @strided(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1 floordiv 2)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    %c2_i64 = arith.constant 2 : i64
    %2 = tile.div %1, %c2_i64 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0, %arg3 = tiles "j" %c0_i64_0 to %2) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1 * 2)>(%arg2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %4 = tile.load %arg0 at affine_map<(d0, d1)[s0] -> (-d0 + s0 - 1, d1 * 2 + 1)>(%arg2, %arg3) [%0] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %5 = arith.addf %3, %4 : tensor<?x?xf32, #tile.axes<"i", "j">>
      tile.store %5, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
    }
    tile.return
  }

// CHECK-LABEL: kernel border(x: f32[M, N]) -> (y: f32[M, N])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: tiles j in 0..N: map
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i - 1, j]: f32, padded for i, j; exact
// CHECK-NEXT: read x[i, j + 1]: f32, clamped for i, j; exact
// CHECK-NEXT: write y[i, j]: f32 for i, j; exact
  tile.kernel @border(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0, %arg3 = tiles "j" %c0_i64_0 to %1) {
      %cst = arith.constant 0.000000e+00 : f32
      %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0 - 1, d1)>(%arg2, %arg3) [] <pad> else %cst : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">), f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1 + 1)>(%arg2, %arg3) [] <clamp> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %4 = arith.addf %2, %3 : tensor<?x?xf32, #tile.axes<"i", "j">>
      tile.store %4, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
    }
    tile.return
  }

// CHECK-LABEL: kernel gather(x: f32[V, N], ids: i32[M]) -> (y: f32[M, N])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: tiles j in 0..N: map
// CHECK-NEXT: accesses
// CHECK-NEXT: read ids[i]: i32 for i, j; exact
// CHECK-NEXT: read x[ids[i], j]: f32, padded for i, j; data-dependent: on `ids`
// CHECK-NEXT: write y[i, j]: f32 for i, j; exact
  tile.kernel @gather(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xi32> {tile.mode = "in", tile.name = "ids", tile.shape = affine_map<()[s0, s1, s2] -> (s2)>, tile.type = "i32"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1, s2] -> (s2, s1)>, tile.type = "f32"}) attributes {dims = ["V", "N", "M"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0, %arg4 = tiles "j" %c0_i64_0 to %1) {
      %2 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xi32>, (!tile.span<"i">) -> tensor<?xi32, #tile.axes<"i">>
      %3 = arith.extsi %2 : tensor<?xi32, #tile.axes<"i">> to tensor<?xi64, #tile.axes<"i">>
      %cst = arith.constant 0.000000e+00 : f32
      %4 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%3, %arg4) [] <pad> else %cst : memref<?x?xf32>, (tensor<?xi64, #tile.axes<"i">>, !tile.span<"j">), f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
      tile.store %4, %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
    }
    tile.return
  }

// CHECK-LABEL: kernel softmax(x: f32[M, N]) -> (y: f32[M, N])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: axis :N in 0..N: map, reduce(max), reduce(sum)
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, :]: f32 for i, :N; exact
// CHECK-NEXT: read x[i, :]: f32 for i, :N; exact
// CHECK-NEXT: write y[i, :]: f32 for i, :N; exact
  tile.kernel @softmax(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %2 = tile.axis %c0_i64 to %1 : <"N">
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64_0 to %0) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
      %4 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
      %5 = tile.reduce <max> %4 over ["N"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"i">>
      %6 = tile.broadcast %5 : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "N">>
      %7 = arith.subf %3, %6 : tensor<?x?xf32, #tile.axes<"i", "N">>
      %8 = math.exp %7 : tensor<?x?xf32, #tile.axes<"i", "N">>
      %9 = tile.reduce <add> %8 over ["N"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"i">>
      %10 = tile.broadcast %9 : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "N">>
      %11 = arith.divf %8, %10 : tensor<?x?xf32, #tile.axes<"i", "N">>
      tile.store %11, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %2) [] : tensor<?x?xf32, #tile.axes<"i", "N">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
    }
    tile.return
  }

// CHECK-LABEL: kernel product(a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: tiles j in 0..N: map
// CHECK-NEXT: loop k in 0..K: contract
// CHECK-NEXT: accesses
// CHECK-NEXT: read a[i, k]: f16 for i, j, k; exact
// CHECK-NEXT: read b[k, j]: f16 for i, j, k; exact
// CHECK-NEXT: write c[i, j]: f32 for i, j; exact
  tile.kernel @product(%arg0: memref<?x?xf16> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f16"}, %arg1: memref<?x?xf16> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s1, s2)>, tile.type = "f16"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "c", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}) attributes {dims = ["M", "K", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %2 = tile.dim "K"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0, %arg4 = tiles "j" %c0_i64_0 to %1) {
      %cst = arith.constant 0.000000e+00 : f32
      %3 = tile.broadcast %cst : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
      %c0_i64_1 = arith.constant 0 : i64
      %4 = tile.for fold %arg5 = "k" %c0_i64_1 to %2 iter_args(%arg6 = %3 : tensor<?x?xf32, #tile.axes<"i", "j">>) {
        %5 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg5) [] <exact> : memref<?x?xf16>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf16, #tile.axes<"i", "k">>
        %6 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg4) [] <exact> : memref<?x?xf16>, (!tile.span<"k">, !tile.span<"j">) -> tensor<?x?xf16, #tile.axes<"k", "j">>
        %cst_2 = arith.constant 0.000000e+00 : f32
        %7 = tile.broadcast %cst_2 : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
        %8 = tile.dot %5, %6 over "k" acc %7 : tensor<?x?xf16, #tile.axes<"i", "k">>, tensor<?x?xf16, #tile.axes<"k", "j">> -> tensor<?x?xf32, #tile.axes<"i", "j">>
        %9 = tile.dot %5, %6 over "k" acc %arg6 : tensor<?x?xf16, #tile.axes<"i", "k">>, tensor<?x?xf16, #tile.axes<"k", "j">> -> tensor<?x?xf32, #tile.axes<"i", "j">>
        tile.yield %9 : tensor<?x?xf32, #tile.axes<"i", "j">>
      }
      tile.store %4, %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
    }
    tile.return
  }

// CHECK-LABEL: kernel window(x: f32[N, H, C], w: f32[3, C]) -> (y: f32[N, H])
// CHECK-NEXT: space
// CHECK-NEXT: each n in 0..N: map
// CHECK-NEXT: tiles p in 0..H: map
// CHECK-NEXT: counter r in 0..3: reduce(sum)
// CHECK-NEXT: loop c in 0..C: reduce(sum)
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[n, p + r - 1, c]: f32, padded for n, p, r, c; exact
// CHECK-NEXT: read w[r, c]: f32 for n, p, r, c; exact
// CHECK-NEXT: write y[n, p]: f32 for n, p; exact
  tile.kernel @window(%arg0: memref<?x?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1, s2)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "in", tile.name = "w", tile.shape = affine_map<()[s0, s1, s2] -> (3, s2)>, tile.type = "f32"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["N", "H", "C"]} {
    %0 = tile.dim "N"
    %1 = tile.dim "H"
    %2 = tile.dim "C"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg3 = each "n" %c0_i64 to %0, %arg4 = tiles "p" %c0_i64_0 to %1) {
      %cst = arith.constant 0.000000e+00 : f32
      %3 = tile.broadcast %cst : f32 to tensor<?xf32, #tile.axes<"p">>
      %c0_i64_1 = arith.constant 0 : i64
      %c3_i64 = arith.constant 3 : i64
      %c1_i64 = arith.constant 1 : i64
      %4 = scf.for %arg5 = %c0_i64_1 to %c3_i64 step %c1_i64 iter_args(%arg6 = %3) -> (tensor<?xf32, #tile.axes<"p">>)  : i64 {
        %c0_i64_2 = arith.constant 0 : i64
        %5 = tile.for fold %arg7 = "c" %c0_i64_2 to %2 iter_args(%arg8 = %arg6 : tensor<?xf32, #tile.axes<"p">>) {
          %cst_3 = arith.constant 0.000000e+00 : f32
          %6 = tile.load %arg0 at affine_map<(d0, d1)[s0, s1] -> (s0, d0 + s1 - 1, d1)>(%arg4, %arg7) [%arg3, %arg5] <pad> else %cst_3 : memref<?x?x?xf32>, (!tile.span<"p">, !tile.span<"c">), f32 -> tensor<?x?xf32, #tile.axes<"p", "c">>
          %7 = tile.load %arg1 at affine_map<(d0)[s0] -> (s0, d0)>(%arg7) [%arg5] <exact> : memref<?x?xf32>, (!tile.span<"c">) -> tensor<?xf32, #tile.axes<"c">>
          %8 = tile.broadcast %7 : tensor<?xf32, #tile.axes<"c">> to tensor<?x?xf32, #tile.axes<"p", "c">>
          %9 = arith.mulf %6, %8 : tensor<?x?xf32, #tile.axes<"p", "c">>
          %10 = tile.reduce <add> %9 over ["c"] : tensor<?x?xf32, #tile.axes<"p", "c">> -> tensor<?xf32, #tile.axes<"p">>
          %11 = arith.addf %arg8, %10 : tensor<?xf32, #tile.axes<"p">>
          tile.yield %11 : tensor<?xf32, #tile.axes<"p">>
        }
        scf.yield %5 : tensor<?xf32, #tile.axes<"p">>
      } {tile.name = "r"}
      tile.store %4, %arg2 at affine_map<(d0)[s0] -> (s0, d0)>(%arg4) [%arg3] : tensor<?xf32, #tile.axes<"p">>, memref<?x?xf32>, (!tile.span<"p">)
    }
    tile.return
  }

// CHECK-LABEL: kernel sums(x: f32[M, K]) -> (y: f32[M, K])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: loop k in 0..K: map, scan(cumsum)
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, k]: f32 for i, k; exact
// CHECK-NEXT: write y[i, k]: f32 for i, k; exact
  tile.kernel @sums(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "K"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "K"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0) {
      %cst = arith.constant 0.000000e+00 : f32
      %2 = tile.broadcast %cst : f32 to tensor<?xf32, #tile.axes<"i">>
      %c0_i64_0 = arith.constant 0 : i64
      %3 = tile.for fold %arg3 = "k" %c0_i64_0 to %1 iter_args(%arg4 = %2 : tensor<?xf32, #tile.axes<"i">>) {
        %4 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
        %5:2 = tile.scan "cumsum" (%4 : tensor<?x?xf32, #tile.axes<"i", "k">>) from (%arg4 : tensor<?xf32, #tile.axes<"i">>) over "k" {
        ^bb0(%arg5: f32, %arg6: f32):
          %6 = arith.addf %arg5, %arg6 : f32
          tile.combined %6 : f32
        }
        tile.store %5#0, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] : tensor<?x?xf32, #tile.axes<"i", "k">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">)
        tile.yield %5#1 : tensor<?xf32, #tile.axes<"i">>
      }
    }
    tile.return
  }

// CHECK-LABEL: kernel recurrence(a: f32[M, T], b: f32[M, T]) -> (h: f32[M, T])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: axis :T in 0..T: map, scan(function)
// CHECK-NEXT: accesses
// CHECK-NEXT: read a[i, :]: f32 for i, :T; exact
// CHECK-NEXT: read b[i, :]: f32 for i, :T; exact
// CHECK-NEXT: write h[i, :]: f32 for i, :T; exact
  tile.kernel @recurrence(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "h", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "T"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "T"
    %c0_i64 = arith.constant 0 : i64
    %2 = tile.axis %c0_i64 to %1 : <"T">
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64_0 to %0) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"T">) -> tensor<?x?xf32, #tile.axes<"i", "T">>
      %4 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"T">) -> tensor<?x?xf32, #tile.axes<"i", "T">>
      %cst = arith.constant 1.000000e+00 : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %5 = tile.broadcast %cst : f32 to tensor<?xf32, #tile.axes<"i">>
      %6 = tile.broadcast %cst_1 : f32 to tensor<?xf32, #tile.axes<"i">>
      %7:4 = tile.scan "scan" (%3 : tensor<?x?xf32, #tile.axes<"i", "T">>, %4 : tensor<?x?xf32, #tile.axes<"i", "T">>) from (%5 : tensor<?xf32, #tile.axes<"i">>, %6 : tensor<?xf32, #tile.axes<"i">>) over "T" {
      ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32):
        %8 = arith.mulf %arg4, %arg6 : f32
        %9 = arith.mulf %arg6, %arg5 : f32
        %10 = arith.addf %9, %arg7 : f32
        tile.combined %8, %10 : f32, f32
      }
      tile.store %7#1, %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %2) [] : tensor<?x?xf32, #tile.axes<"i", "T">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"T">)
    }
    tile.return
  }

// CHECK-LABEL: kernel causal(x: f32[M, M], v: f32[M]) -> (y: f32[M])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: loop j in 0..M: reduce(sum)
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, j]: f32 for i, j where j <= i; exact
// CHECK-NEXT: read v[j]: f32 for i, j; over-approximate: blocks of `j` are skipped where `j <= i` holds nowhere
// CHECK-NEXT: write y[i]: f32 for i; exact
  tile.kernel @causal(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0, s0)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "in", tile.name = "v", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}, %arg2: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M"]} {
    %0 = tile.dim "M"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0) {
      %cst = arith.constant 0.000000e+00 : f32
      %1 = tile.broadcast %cst : f32 to tensor<?xf32, #tile.axes<"i">>
      %c0_i64_0 = arith.constant 0 : i64
      %2 = tile.for fold %arg4 = "j" %c0_i64_0 to %0 iter_args(%arg5 = %1 : tensor<?xf32, #tile.axes<"i">>) {
        %3 = tile.coords %arg4 : <"j"> -> tensor<?xi64, #tile.axes<"j">>
        %4 = tile.coords %arg3 : <"i"> -> tensor<?xi64, #tile.axes<"i">>
        %5 = tile.broadcast %3 : tensor<?xi64, #tile.axes<"j">> to tensor<?x?xi64, #tile.axes<"j", "i">>
        %6 = tile.broadcast %4 : tensor<?xi64, #tile.axes<"i">> to tensor<?x?xi64, #tile.axes<"j", "i">>
        %7 = arith.cmpi sle, %5, %6 : tensor<?x?xi64, #tile.axes<"j", "i">>
        tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%arg3, %arg4) [] : !tile.span<"i">, !tile.span<"j">
        %8 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
        %9 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg4) [] <exact> : memref<?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
        %10 = tile.broadcast %9 : tensor<?xf32, #tile.axes<"j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
        %11 = arith.mulf %8, %10 : tensor<?x?xf32, #tile.axes<"i", "j">>
        %12 = tile.reduce <add> %11 over ["j"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
        %13 = arith.addf %arg5, %12 : tensor<?xf32, #tile.axes<"i">>
        tile.yield %13 : tensor<?xf32, #tile.axes<"i">>
      }
      tile.store %2, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    }
    tile.return
  }

// CHECK-LABEL: kernel switched(x: f32[M, M], all: bool) -> (y: f32[M])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: loop j in 0..M: reduce(sum)
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, j]: f32 for i, j; over-approximate: `j <= i` can be switched off
// CHECK-NEXT: write y[i]: f32 for i; exact
  tile.kernel @switched(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0, s0)>, tile.type = "f32"}, %arg1: i1 {tile.mode = "in", tile.name = "all", tile.type = "bool"}, %arg2: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M"]} {
    %0 = tile.dim "M"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0) {
      %cst = arith.constant 0.000000e+00 : f32
      %1 = tile.broadcast %cst : f32 to tensor<?xf32, #tile.axes<"i">>
      %c0_i64_0 = arith.constant 0 : i64
      %2 = tile.for fold %arg4 = "j" %c0_i64_0 to %0 iter_args(%arg5 = %1 : tensor<?xf32, #tile.axes<"i">>) {
        %3 = tile.coords %arg4 : <"j"> -> tensor<?xi64, #tile.axes<"j">>
        %4 = tile.coords %arg3 : <"i"> -> tensor<?xi64, #tile.axes<"i">>
        %5 = tile.broadcast %3 : tensor<?xi64, #tile.axes<"j">> to tensor<?x?xi64, #tile.axes<"j", "i">>
        %6 = tile.broadcast %4 : tensor<?xi64, #tile.axes<"i">> to tensor<?x?xi64, #tile.axes<"j", "i">>
        %7 = arith.cmpi sle, %5, %6 : tensor<?x?xi64, #tile.axes<"j", "i">>
        %8 = tile.broadcast %arg1 : i1 to tensor<?x?xi1, #tile.axes<"j", "i">>
        %9 = arith.ori %8, %7 : tensor<?x?xi1, #tile.axes<"j", "i">>
        tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%arg3, %arg4) [] unless %arg1 : !tile.span<"i">, !tile.span<"j">
        %10 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
        %11 = tile.reduce <add> %10 over ["j"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
        %12 = arith.addf %arg5, %11 : tensor<?xf32, #tile.axes<"i">>
        tile.yield %12 : tensor<?xf32, #tile.axes<"i">>
      }
      tile.store %2, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    }
    tile.return
  }

// CHECK-LABEL: kernel ragged(x: f32[B, N], n: i32[B]) -> (y: f32[B])
// CHECK-NEXT: space
// CHECK-NEXT: each b in 0..B: map
// CHECK-NEXT: axis j in 0..N: reduce(sum)
// CHECK-NEXT: accesses
// CHECK-NEXT: read n[b]: i32 for b; exact
// CHECK-NEXT: read x[b, j]: f32 for b, j; over-approximate: `j < n[b]` depends on data of `n`
// CHECK-NEXT: write y[b]: f32 for b; exact
  tile.kernel @ragged(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xi32> {tile.mode = "in", tile.name = "n", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "i32"}, %arg2: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["B", "N"]} {
    %0 = tile.dim "B"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg3 = each "b" %c0_i64 to %0) {
      %c0_i64_0 = arith.constant 0 : i64
      %2 = tile.axis %c0_i64_0 to %1 : <"j">
      %3 = tile.load %arg1 at affine_map<()[s0] -> (s0)>() [%arg3] <exact> : memref<?xi32>, () -> i32
      %4 = arith.extsi %3 : i32 to i64
      %5 = tile.coords %2 : <"j"> -> tensor<?xi64, #tile.axes<"j">>
      %6 = tile.broadcast %4 : i64 to tensor<?xi64, #tile.axes<"j">>
      %7 = arith.cmpi slt, %5, %6 : tensor<?xi64, #tile.axes<"j">>
      tile.restrict affine_set<(d0)[s0] : (-d0 + s0 - 1 >= 0)>(%2) [%4] : !tile.span<"j">
      %8 = tile.load %arg0 at affine_map<(d0)[s0] -> (s0, d0)>(%2) [%arg3] <exact> : memref<?x?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
      %9 = tile.reduce <add> %8 over ["j"] : tensor<?xf32, #tile.axes<"j">> -> f32
      tile.store %9, %arg2 at affine_map<()[s0] -> (s0)>() [%arg3] : f32, memref<?xf32>, ()
    }
    tile.return
  }

// CHECK-LABEL: kernel columns(x: f32[M, N]) -> (s: f32[N] reduce +)
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: reduce(sum)
// CHECK-NEXT: tiles j in 0..N: map
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, j]: f32 for i, j; exact
// CHECK-NEXT: update(sum) s[j]: f32 for i, j; exact
  tile.kernel @columns(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "reduce", tile.name = "s", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0, %arg3 = tiles "j" %c0_i64_0 to %1) {
      %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %3 = tile.reduce <add> %2 over ["i"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"j">>
      tile.update <add> %3, %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<?xf32, #tile.axes<"j">>, memref<?xf32>, (!tile.span<"j">)
    }
    tile.return
  }

// CHECK-LABEL: kernel histogram(x: i32[N], width: i32) -> (count: i32[B] reduce +)
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..N: reduce(sum)
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i]: i32 for i; exact
// CHECK-NEXT: update(sum) count[x[i] / width]: i32, dropped for i; data-dependent: on `x`
  tile.kernel @histogram(%arg0: memref<?xi32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "i32"}, %arg1: i32 {tile.mode = "in", tile.name = "width", tile.type = "i32"}, %arg2: memref<?xi32> {tile.mode = "reduce", tile.name = "count", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "i32"}) attributes {consts = {B}, dims = ["B", "N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xi32>, (!tile.span<"i">) -> tensor<?xi32, #tile.axes<"i">>
      %2 = tile.broadcast %arg1 : i32 to tensor<?xi32, #tile.axes<"i">>
      %3 = tile.div %1, %2 : tensor<?xi32, #tile.axes<"i">>
      %4 = arith.extsi %3 : tensor<?xi32, #tile.axes<"i">> to tensor<?xi64, #tile.axes<"i">>
      %c1_i32 = arith.constant 1 : i32
      tile.update <add> %c1_i32, %arg2 at affine_map<(d0) -> (d0)>(%4) [] : i32, memref<?xi32>, (tensor<?xi64, #tile.axes<"i">>)
    }
    tile.return
  }

// CHECK-LABEL: grid kernel atomics(x: i32[N], inout h: i32[B]) -> ()
// CHECK-NEXT: space
// CHECK-NEXT: each p in 0..(N + 255) / 256: opaque(grid)
// CHECK-NEXT: axis i in 0..256: opaque(atomic)
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i + 256*p]: i32, promised for p, i where 256*p + i < N; exact
// CHECK-NEXT: atomic(add) h[x[i + 256*p]]: i32, dropped for p, i where 256*p + i < N; data-dependent: on `x`
  tile.kernel @atomics(%arg0: memref<?xi32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "i32"}, %arg1: memref<?xi32> {tile.mode = "inout", tile.name = "h", tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "i32"}) attributes {dims = ["N", "B"]} {
    %0 = tile.dim "N"
    %c256_i64 = arith.constant 256 : i64
    %1 = tile.div %0, %c256_i64 : i64
    %2 = tile.rem %0, %c256_i64 : i64
    %c0_i64 = arith.constant 0 : i64
    %3 = arith.cmpi ne, %2, %c0_i64 : i64
    %4 = arith.cmpi ne, %c256_i64, %c0_i64 : i64
    %5 = arith.andi %3, %4 : i1
    %6 = arith.extui %5 : i1 to i64
    %7 = arith.addi %1, %6 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel grid (%arg2 = each "p" %c0_i64_0 to %7) {
      %c0_i64_1 = arith.constant 0 : i64
      %c256_i64_2 = arith.constant 256 : i64
      %8 = tile.axis %c0_i64_1 to %c256_i64_2 : <"i", 256>
      %9 = tile.coords %8 : <"i", 256> -> tensor<256xi64, #tile.axes<"i">>
      %c256_i64_3 = arith.constant 256 : i64
      %10 = arith.muli %arg2, %c256_i64_3 : i64
      %11 = tile.broadcast %10 : i64 to tensor<256xi64, #tile.axes<"i">>
      %12 = arith.addi %9, %11 : tensor<256xi64, #tile.axes<"i">>
      %13 = tile.broadcast %0 : i64 to tensor<256xi64, #tile.axes<"i">>
      %14 = arith.cmpi slt, %12, %13 : tensor<256xi64, #tile.axes<"i">>
      tile.restrict affine_set<(d0)[s0, s1] : (-(d0 + s0 * 256) + s1 - 1 >= 0)>(%8) [%arg2, %0] : !tile.span<"i", 256>
      %15 = tile.load %arg0 at affine_map<(d0)[s0] -> (d0 + s0 * 256)>(%8) [%arg2] <exact> : memref<?xi32>, (!tile.span<"i", 256>) -> tensor<256xi32, #tile.axes<"i">>
      %16 = arith.extsi %15 : tensor<256xi32, #tile.axes<"i">> to tensor<256xi64, #tile.axes<"i">>
      %c1_i32 = arith.constant 1 : i32
      %17 = tile.atomic <add> <relaxed> %c1_i32, %arg1 at affine_map<(d0) -> (d0)>(%16) [] drop : i32, memref<?xi32>, (tensor<256xi64, #tile.axes<"i">>) -> tensor<256xi32, #tile.axes<"i">>
    }
    tile.return
  }

// CHECK-LABEL: kernel decay(x: f32[M, N]) -> (y: f32[M])
// CHECK-NEXT: space
// CHECK-NEXT: each i in 0..M: map
// CHECK-NEXT: counter r in 1..N: scan(carried)
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, r - 1]: f32 for i, r; exact
// CHECK-NEXT: write y[i]: f32 for i; exact
  tile.kernel @decay(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = each "i" %c0_i64 to %0) {
      %cst = arith.constant 0.000000e+00 : f32
      %c1_i64 = arith.constant 1 : i64
      %c1_i64_0 = arith.constant 1 : i64
      %2 = scf.for %arg3 = %c1_i64 to %1 step %c1_i64_0 iter_args(%arg4 = %cst) -> (f32)  : i64 {
        %cst_1 = arith.constant 5.000000e-01 : f32
        %3 = arith.mulf %arg4, %cst_1 : f32
        %4 = tile.load %arg0 at affine_map<()[s0, s1] -> (s0, s1 - 1)>() [%arg2, %arg3] <exact> : memref<?x?xf32>, () -> f32
        %5 = arith.addf %3, %4 : f32
        scf.yield %5 : f32
      } {tile.name = "r"}
      tile.store %2, %arg1 at affine_map<()[s0] -> (s0)>() [%arg2] : f32, memref<?xf32>, ()
    }
    tile.return
  }

// CHECK-LABEL: kernel branches(x: f32[M, N], z: f32[M, N], s: f32) -> (y: f32[M, N])
// CHECK-NEXT: space
// CHECK-NEXT: each i in 0..M: map
// CHECK-NEXT: tiles j in 0..N: map
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, j]: f32 for i, j; exact
// CHECK-NEXT: read z[i, j]: f32 for i, j where i < M / 2; exact
// CHECK-NEXT: read z[M - i - 1, j]: f32 for i, j; over-approximate: it stands under an `if`
// CHECK-NEXT: write y[i, j]: f32 for i, j; exact
  tile.kernel @branches(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "in", tile.name = "z", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg2: f32 {tile.mode = "in", tile.name = "s", tile.type = "f32"}, %arg3: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg4 = each "i" %c0_i64 to %0, %arg5 = tiles "j" %c0_i64_0 to %1) {
      %2 = tile.load %arg0 at affine_map<(d0)[s0] -> (s0, d0)>(%arg5) [%arg4] <exact> : memref<?x?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
      %c2_i64 = arith.constant 2 : i64
      %3 = tile.div %0, %c2_i64 : i64
      %4 = arith.cmpi slt, %arg4, %3 : i64
      %5 = scf.if %4 -> (tensor<?xf32, #tile.axes<"j">>) {
        %8 = tile.load %arg1 at affine_map<(d0)[s0] -> (s0, d0)>(%arg5) [%arg4] <exact> : memref<?x?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
        %9 = arith.addf %2, %8 : tensor<?xf32, #tile.axes<"j">>
        scf.yield %9 : tensor<?xf32, #tile.axes<"j">>
      } else {
        scf.yield %2 : tensor<?xf32, #tile.axes<"j">>
      }
      %cst = arith.constant 1.000000e+00 : f32
      %6 = arith.cmpf ogt, %arg2, %cst : f32
      %7 = scf.if %6 -> (tensor<?xf32, #tile.axes<"j">>) {
        %8 = tile.load %arg1 at affine_map<(d0)[s0, s1] -> (s0 - s1 - 1, d0)>(%arg5) [%0, %arg4] <exact> : memref<?x?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
        %9 = arith.subf %5, %8 : tensor<?xf32, #tile.axes<"j">>
        scf.yield %9 : tensor<?xf32, #tile.axes<"j">>
      } else {
        scf.yield %5 : tensor<?xf32, #tile.axes<"j">>
      }
      tile.store %7, %arg3 at affine_map<(d0)[s0] -> (s0, d0)>(%arg5) [%arg4] : tensor<?xf32, #tile.axes<"j">>, memref<?x?xf32>, (!tile.span<"j">)
    }
    tile.return
  }

// CHECK-LABEL: kernel dropout(x: f32[M, N], p: f32, seed: i64) -> (y: f32[M, N])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: axis :N in 0..N: map
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, :]: f32 for i, :N; exact
// CHECK-NEXT: write y[i, :]: f32 for i, :N; exact
// CHECK-NEXT: effects
// CHECK-NEXT: random seed seed, stream 3, counter :N + N*i for i, :N; exact
  tile.kernel @dropout(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: f32 {tile.mode = "in", tile.name = "p", tile.type = "f32"}, %arg2: i64 {tile.mode = "in", tile.name = "seed", tile.type = "i64"}, %arg3: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %2 = tile.axis %c0_i64 to %1 : <"N">
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg4 = tiles "i" %c0_i64_0 to %0) {
      %c3_i64 = arith.constant 3 : i64
      %c0_i64_1 = arith.constant 0 : i64
      %3 = tile.coords %arg4 : <"i"> -> tensor<?xi64, #tile.axes<"i">>
      %4 = tile.coords %2 : <"N"> -> tensor<?xi64, #tile.axes<"N">>
      %5 = tile.broadcast %1 : i64 to tensor<?xi64, #tile.axes<"i">>
      %6 = arith.muli %3, %5 : tensor<?xi64, #tile.axes<"i">>
      %7 = tile.broadcast %6 : tensor<?xi64, #tile.axes<"i">> to tensor<?x?xi64, #tile.axes<"i", "N">>
      %8 = tile.broadcast %4 : tensor<?xi64, #tile.axes<"N">> to tensor<?x?xi64, #tile.axes<"i", "N">>
      %9 = arith.addi %7, %8 : tensor<?x?xi64, #tile.axes<"i", "N">>
      %10 = tile.broadcast %arg2 : i64 to tensor<?x?xi64, #tile.axes<"i", "N">>
      %11 = tile.broadcast %c3_i64 : i64 to tensor<?x?xi64, #tile.axes<"i", "N">>
      %12 = tile.philox <own> %10, %11, %9 : tensor<?x?xi64, #tile.axes<"i", "N">> -> tensor<?x?xi32, #tile.axes<"i", "N">>
      %c8_i32 = arith.constant 8 : i32
      %13 = tile.broadcast %c8_i32 : i32 to tensor<?x?xi32, #tile.axes<"i", "N">>
      %14 = arith.shrui %12, %13 : tensor<?x?xi32, #tile.axes<"i", "N">>
      %15 = arith.sitofp %14 : tensor<?x?xi32, #tile.axes<"i", "N">> to tensor<?x?xf32, #tile.axes<"i", "N">>
      %cst = arith.constant 5.96046448E-8 : f32
      %16 = tile.broadcast %cst : f32 to tensor<?x?xf32, #tile.axes<"i", "N">>
      %17 = arith.mulf %15, %16 : tensor<?x?xf32, #tile.axes<"i", "N">>
      %18 = tile.broadcast %arg1 : f32 to tensor<?x?xf32, #tile.axes<"i", "N">>
      %19 = arith.cmpf olt, %17, %18 : tensor<?x?xf32, #tile.axes<"i", "N">>
      %20 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg4, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
      %cst_2 = arith.constant 0.000000e+00 : f32
      %21 = tile.broadcast %cst_2 : f32 to tensor<?x?xf32, #tile.axes<"i", "N">>
      %22 = arith.select %19, %21, %20 : tensor<?x?xi1, #tile.axes<"i", "N">>, tensor<?x?xf32, #tile.axes<"i", "N">>
      tile.store %22, %arg3 at affine_map<(d0, d1) -> (d0, d1)>(%arg4, %2) [] : tensor<?x?xf32, #tile.axes<"i", "N">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
    }
    tile.return
  }

// CHECK-LABEL: kernel shift(inout x: f32[M, N], y: f32[N]) -> ()
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: tiles j in 0..N: map
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, j]: f32 for i, j; exact
// CHECK-NEXT: read y[j]: f32 for i, j; exact
// CHECK-NEXT: write x[i, j]: f32 for i, j; exact
  tile.kernel @shift(%arg0: memref<?x?xf32> {tile.mode = "inout", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "in", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0, %arg3 = tiles "j" %c0_i64_0 to %1) {
      %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %cst = arith.constant 2.000000e+00 : f32
      %3 = tile.broadcast %cst : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
      %4 = arith.mulf %3, %2 : tensor<?x?xf32, #tile.axes<"i", "j">>
      %5 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
      %6 = tile.broadcast %5 : tensor<?xf32, #tile.axes<"j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
      %7 = arith.addf %4, %6 : tensor<?x?xf32, #tile.axes<"i", "j">>
      tile.store %7, %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
    }
    tile.return
  }

// CHECK-LABEL: kernel checked(x: f32[M]) -> (y: f32[M])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i]: f32 for i; exact
// CHECK-NEXT: read x[i]: f32 for i; exact
// CHECK-NEXT: read x[i]: f32 for i; exact
// CHECK-NEXT: write y[i]: f32 for i; exact
// CHECK-NEXT: effects
// CHECK-NEXT: assert "no negative number" for i
// CHECK-NEXT: print "x is  {}" for i
  tile.kernel @checked(%arg0: memref<?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M"]} {
    %0 = tile.dim "M"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      %cst = arith.constant 0.000000e+00 : f32
      %2 = tile.broadcast %cst : f32 to tensor<?xf32, #tile.axes<"i">>
      %3 = arith.cmpf oge, %1, %2 : tensor<?xf32, #tile.axes<"i">>
      tile.assert %3, "no negative number" : tensor<?xi1, #tile.axes<"i">>
      %4 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      tile.print ["x is  ", ""](%4) ["f32"] : (tensor<?xf32, #tile.axes<"i">>)
      %5 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      %6 = math.sqrt %5 : tensor<?xf32, #tile.axes<"i">>
      tile.store %6, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    }
    tile.return
  }

// CHECK-LABEL: kernel ordered(x: f32[M, N]) -> (y: f32[M, N], best: i32[M])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: axis :N in 0..N: map, reduce(argmax), opaque(sort)
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, :]: f32 for i, :N; exact
// CHECK-NEXT: write y[i, :]: f32 for i, :N; exact
// CHECK-NEXT: read x[i, :]: f32 for i, :N; exact
// CHECK-NEXT: write best[i]: i32 for i; exact
  tile.kernel @ordered(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg2: memref<?xi32> {tile.mode = "out", tile.name = "best", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "i32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %2 = tile.axis %c0_i64 to %1 : <"N">
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64_0 to %0) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
      %values, %coordinates = tile.sort %3 over "N" into "N" : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?x?xf32, #tile.axes<"i", "N">>, tensor<?x?xi64, #tile.axes<"i", "N">>
      tile.store %values, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %2) [] : tensor<?x?xf32, #tile.axes<"i", "N">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
      %4 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
      %5 = tile.arg_reduce <max> %4 over "N" : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xi64, #tile.axes<"i">>
      %6 = arith.trunci %5 : tensor<?xi64, #tile.axes<"i">> to tensor<?xi32, #tile.axes<"i">>
      tile.store %6, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<?xi32, #tile.axes<"i">>, memref<?xi32>, (!tile.span<"i">)
    }
    tile.return
  }

// CHECK-LABEL: kernel online(x: f32[M, N]) -> (y: f32[M])
// CHECK-NEXT: space
// CHECK-NEXT: tiles i in 0..M: map
// CHECK-NEXT: loop j in 0..N, reassociable: reduce(max), reduce(promised), reduce(sum)
// CHECK-NEXT: accesses
// CHECK-NEXT: read x[i, j]: f32 for i, j; exact
// CHECK-NEXT: read x[i, j]: f32 for i, j; exact
// CHECK-NEXT: write y[i]: f32 for i; exact
  tile.kernel @online(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0) {
      %cst = arith.constant 0xFF800000 : f32
      %2 = tile.broadcast %cst : f32 to tensor<?xf32, #tile.axes<"i">>
      %cst_0 = arith.constant 0.000000e+00 : f32
      %3 = tile.broadcast %cst_0 : f32 to tensor<?xf32, #tile.axes<"i">>
      %c0_i64_1 = arith.constant 0 : i64
      %4:2 = tile.for reassociable %arg3 = "j" %c0_i64_1 to %1 iter_args(%arg4 = %2 : tensor<?xf32, #tile.axes<"i">>, %arg5 = %3 : tensor<?xf32, #tile.axes<"i">>) {
        %5 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
        %6 = tile.reduce <max> %5 over ["j"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
        %7 = arith.maximumf %arg4, %6 : tensor<?xf32, #tile.axes<"i">>
        %8 = arith.subf %arg4, %7 : tensor<?xf32, #tile.axes<"i">>
        %9 = math.exp %8 : tensor<?xf32, #tile.axes<"i">>
        %cst_2 = arith.constant 0xFF800000 : f32
        %10 = tile.broadcast %cst_2 : f32 to tensor<?xf32, #tile.axes<"i">>
        %11 = arith.cmpf oeq, %arg4, %10 : tensor<?xf32, #tile.axes<"i">>
        %cst_3 = arith.constant 0.000000e+00 : f32
        %12 = tile.broadcast %cst_3 : f32 to tensor<?xf32, #tile.axes<"i">>
        %13 = arith.select %11, %12, %9 : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
        %14 = arith.mulf %arg5, %13 : tensor<?xf32, #tile.axes<"i">>
        %15 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
        %16 = tile.broadcast %7 : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "j">>
        %17 = arith.subf %15, %16 : tensor<?x?xf32, #tile.axes<"i", "j">>
        %18 = math.exp %17 : tensor<?x?xf32, #tile.axes<"i", "j">>
        %cst_4 = arith.constant 0xFF800000 : f32
        %19 = tile.broadcast %cst_4 : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
        %20 = arith.cmpf oeq, %15, %19 : tensor<?x?xf32, #tile.axes<"i", "j">>
        %cst_5 = arith.constant 0.000000e+00 : f32
        %21 = tile.broadcast %cst_5 : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
        %22 = arith.select %20, %21, %18 : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
        %23 = tile.reduce <add> %22 over ["j"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
        %24 = arith.addf %14, %23 : tensor<?xf32, #tile.axes<"i">>
        tile.yield %7, %24 : tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
      }
      tile.store %4#1, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    }
    tile.return
  }
}
