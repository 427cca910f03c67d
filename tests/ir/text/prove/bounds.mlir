// RUN: tile-opt --tile-prove -verify-diagnostics %s

// Accesses that may leave their tensors: the message names the missing bound, gives
// an example and advice.

tile.kernel @other_dimension(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (M)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    // expected-error@+3 {{`x[i]` may be outside `x` in dimension 0: nothing ensures `i < N`}}
    // expected-note@+2 {{for example N = 0, M = 1: i = 0 reads element 0}}
    // expected-note@+1 {{hint: state `requires M <= N`, or run `i` over `N`; or read `x.pad(0)[…]`}}
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @neighbour(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    // expected-error@+3 {{`x[i + 1]` may be outside `x` in dimension 0: nothing ensures `i + 1 < N`}}
    // expected-note@+2 {{for example N = 1: i = 0 reads element 1}}
    // expected-note@+1 {{hint: read `x.pad(0)[…]` for zeros outside or `x.clamp[…]` for the nearest element, or restrict a binder with `if i + 1 < N`, or state a `requires`}}
    %tx = tile.load %x at affine_map<(d0) -> (d0 + 1)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @before(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    // expected-error@+3 {{`x[i - 1]` may be outside `x` in dimension 0: nothing ensures `i - 1 >= 0`}}
    // expected-note@+2 {{for example N = 1: i = 0 reads element -1}}
    // expected-note@+1 {{hint: read `x.pad(0)[…]` for zeros outside or `x.clamp[…]` for the nearest element, or restrict a binder with `if i - 1 >= 0`, or state a `requires`}}
    %tx = tile.load %x at affine_map<(d0) -> (d0 - 1)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// Stride 2 without pad.
tile.kernel @convolution(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[H, P] -> (H)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[H, P] -> ((H - 1) floordiv 2 + 1)>})
    attributes {dims = ["H", "P"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %H = tile.dim "H"
  %e = arith.subi %H, %c1 : i64
  %e_1 = tile.div %e, %c2 : i64
  %e_2 = arith.addi %e_1, %c1 : i64
  tile.parallel (%p = tiles "p" %c0 to %e_2) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"p">>
    %r_1 = scf.for %r = %c0 to %c3 step %c1 iter_args(%arg = %b) -> (tensor<?xf32, #tile.axes<"p">>) : i64 {
      // expected-error@+3 {{`x[2*p + r - 1]` may be outside `x` in dimension 0: nothing ensures `2*p + r - 1 >= 0` and `2*p + r - 1 < H`}}
      // expected-note@+2 {{for example H = 1: p = 0, r = 2 reads element 1}}
      // expected-note@+1 {{hint: read `x.pad(0)[…]` for zeros outside or `x.clamp[…]` for the nearest element, or restrict a binder with `if 2*p + r - 1 < H`, or state a `requires`}}
      %tx = tile.load %x at affine_map<(d0)[s0] -> (2*d0 + s0 - 1)>(%p)[%r] <exact> : memref<?xf32>, (!tile.span<"p">) -> tensor<?xf32, #tile.axes<"p">>
      %e_3 = arith.addf %arg, %tx : tensor<?xf32, #tile.axes<"p">>
      scf.yield %e_3 : tensor<?xf32, #tile.axes<"p">>
    } {tile.name = "r"}
    tile.store %r_1, %y at affine_map<(d0) -> (d0)>(%p)[] : tensor<?xf32, #tile.axes<"p">>, memref<?xf32>, (!tile.span<"p">)
  }
  tile.return
}

tile.kernel @gather(
    %ids: memref<?xi64> {tile.name = "ids", tile.type = "i64", tile.mode = "in", tile.shape = affine_map<()[N, V] -> (N)>},
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N, V] -> (V)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N, V] -> (N)>})
    attributes {dims = ["N", "V"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  %V = tile.dim "V"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tids = tile.load %ids at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xi64>, (!tile.span<"i">) -> tensor<?xi64, #tile.axes<"i">>
    // expected-error@+2 {{`x[ids[i]]` may be outside `x` in dimension 0: its index `ids[i]` comes from data}}
    // expected-note@+1 {{hint: read `x.pad(0)[…]` for zeros outside or `x.clamp[…]` for the nearest element}}
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%tids)[] <exact> : memref<?xf32>, (tensor<?xi64, #tile.axes<"i">>) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// Without `requires H % G == 0`.
tile.kernel @grouped_heads(
    %k: memref<?x?xf32> {tile.name = "k", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[H, G, D] -> (G, D)>},
    %o: memref<?x?xf32> {tile.name = "o", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[H, G, D] -> (H, D)>})
    attributes {dims = ["H", "G", "D"]} {
  %c0 = arith.constant 0 : i64
  %H = tile.dim "H"
  %G = tile.dim "G"
  %D = tile.dim "D"
  %ax_D = tile.axis %c0 to %D : !tile.span<"D">
  tile.parallel (%h = each "h" %c0 to %H) {
    // expected-error@+3 {{`k[h / (H / G), :]` may be outside `k` in dimension 0: nothing ensures `h / (H / G) < G`}}
    // expected-note@+2 {{for example H = 1, G = 0: h = 0 reads element 0}}
    // expected-note@+1 {{hint: state `requires H % G == 0`}}
    %tk = tile.load %k at affine_map<(d0)[s0, s1, s2] -> (s0 floordiv (s1 floordiv s2), d0)>(%ax_D)[%h, %H, %G] <exact> : memref<?x?xf32>, (!tile.span<"D">) -> tensor<?xf32, #tile.axes<"D">>
    tile.store %tk, %o at affine_map<(d0)[s0] -> (s0, d0)>(%ax_D)[%h] : tensor<?xf32, #tile.axes<"D">>, memref<?x?xf32>, (!tile.span<"D">)
  }
  tile.return
}

// A remainder by another number stays below that number only.
tile.kernel @rotated(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[D] -> (D)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[D] -> (D)>})
    attributes {dims = ["D"]} {
  %c0 = arith.constant 0 : i64
  %D = tile.dim "D"
  tile.parallel (%i = tiles "i" %c0 to %D) {
    // expected-error@+3 {{`x[(i + 1) % (D + 1)]` may be outside `x` in dimension 0: nothing ensures `(i + 1) % (D + 1) < D`}}
    // expected-note@+2 {{for example D = 1: i = 0 reads element 1}}
    // expected-note@+1 {{hint: read `x.pad(0)[…]` for zeros outside or `x.clamp[…]` for the nearest element, or restrict a binder with `if (i + 1) % (D + 1) < D`, or state a `requires`}}
    %tx = tile.load %x at affine_map<(d0)[s0] -> ((d0 + 1) mod (s0 + 1))>(%i)[%D] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @first(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (M)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    // expected-error@+3 {{`x[i, 0]` may be outside `x` in dimension 1: nothing ensures `0 < N`}}
    // expected-note@+2 {{for example N = 0 reads element 0}}
    // expected-note@+1 {{hint: read `x.pad(0)[…]` for zeros outside or `x.clamp[…]` for the nearest element, or state `requires 0 < N`}}
    %tx = tile.load %x at affine_map<(d0) -> (d0, 0)>(%i)[] <exact> : memref<?x?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// 128*g + c without its condition.
tile.kernel @radix_unrestricted(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[K] -> (K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[K] -> (K)>})
    attributes {dims = ["K"]} {
  %c0 = arith.constant 0 : i64
  %K = tile.dim "K"
  %c127 = arith.constant 127 : i64
  %e = arith.addi %K, %c127 : i64
  %c128 = arith.constant 128 : i64
  %e_1 = tile.div %e, %c128 : i64
  tile.parallel (%g = tiles "g" %c0 to %e_1) {
    %c128_1 = arith.constant 128 : i64
    %ax_c = tile.axis %c0 to %c128_1 : !tile.span<"c">
    // expected-error@+3 {{`x[128*g + c]` may be outside `x` in dimension 0: nothing ensures `128*g + c < K`}}
    // expected-note@+2 {{for example K = 1: g = 0, c = 1 reads element 1}}
    // expected-note@+1 {{hint: read `x.pad(0)[…]` for zeros outside or `x.clamp[…]` for the nearest element, or restrict a binder with `if 128*g + c < K`, or state a `requires`}}
    %tx = tile.load %x at affine_map<(d0, d1) -> (128*d0 + d1)>(%g, %ax_c)[] <exact> : memref<?xf32>, (!tile.span<"g">, !tile.span<"c">) -> tensor<?x?xf32, #tile.axes<"g", "c">>
    // expected-error@+3 {{`y[128*g + c]` may be outside `y` in dimension 0: nothing ensures `128*g + c < K`}}
    // expected-note@+2 {{for example K = 1: g = 0, c = 1 writes element 1}}
    // expected-note@+1 {{hint: restrict a binder with `if 128*g + c < K`, or state a `requires`}}
    tile.update <add> %tx, %y at affine_map<(d0, d1) -> (128*d0 + d1)>(%g, %ax_c)[] : tensor<?x?xf32, #tile.axes<"g", "c">>, memref<?xf32>, (!tile.span<"g">, !tile.span<"c">)
  }
  tile.return
}

// A condition on i and r does not restrict a tile that has no axis r.
tile.kernel @restricted_elsewhere(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (M)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %c3 = arith.constant 3 : i64
    %ax_r = tile.axis %c0 to %c3 : !tile.span<"r">
    tile.restrict affine_set<(d0, d1)[s0] : (s0 - 1 - d0 + 0*d1 >= 0)>(%i, %ax_r)[%N] : !tile.span<"i">, !tile.span<"r">
    // expected-error@+3 {{`x[i]` may be outside `x` in dimension 0: nothing ensures `i < N`}}
    // expected-note@+2 {{for example N = 0, M = 1: i = 0 reads element 0}}
    // expected-note@+1 {{hint: state `requires M <= N`, or run `i` over `N`; or read `x.pad(0)[…]`}}
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// A condition that a scalar switches off bounds nothing.
tile.kernel @unless(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (N)>},
    %flag: i1 {tile.name = "flag", tile.type = "bool", tile.mode = "in"},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (M)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    tile.restrict affine_set<(d0)[s0] : (s0 - 1 - d0 >= 0)>(%i)[%N] unless %flag : !tile.span<"i">
    // expected-error@+3 {{`x[i]` may be outside `x` in dimension 0: nothing ensures `i < N`}}
    // expected-note@+2 {{for example N = 0, M = 1: i = 0 reads element 0}}
    // expected-note@+1 {{hint: state `requires M <= N`, or run `i` over `N`; or read `x.pad(0)[…]`}}
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+3 {{`y` isn't fully stored by `y[i]`}}
    // expected-note@+2 {{for example with M = 1, N = 0, element 0 is never stored}}
    // expected-note@+1 {{hint: dimension 0 of `y` has `M` elements; let `i` run over all of them}}
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @too_far(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N + 1)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+6 {{`y[i + 2]` may be outside `y` in dimension 0: nothing ensures `i + 2 < N + 1`}}
    // expected-note@+5 {{for example N = 1: i = 0 writes element 2}}
    // expected-note@+4 {{hint: restrict a binder with `if i + 2 < N + 1`, or state a `requires`}}
    // expected-error@+3 {{`y` isn't fully stored by `y[i + 2]`}}
    // expected-note@+2 {{for example with N = 0, element 0 is never stored}}
    // expected-note@+1 {{hint: dimension 0 of `y` has `N + 1` elements; let `i` run over all of them}}
    tile.store %tx, %y at affine_map<(d0) -> (d0 + 2)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// A loop whose step nothing keeps from being 0 might never end.
tile.kernel @step(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M] -> (M)>},
    %s: i64 {tile.name = "s", tile.type = "i64", tile.mode = "in"},
    %t: i64 {tile.name = "t", tile.type = "i64", tile.mode = "in"},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M] -> (M)>})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %M = tile.dim "M"
  %known = arith.cmpi sge, %t, %c1 : i64
  tile.require %known, "t >= 1"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+2 {{nothing ensures that the step `s` is positive}}
    // expected-note@+1 {{hint: state `requires s >= 1`}}
    %a = scf.for %r = %c0 to %c8 step %s iter_args(%arg = %tx) -> (tensor<?xf32, #tile.axes<"i">>) : i64 {
      %b = arith.addf %arg, %arg : tensor<?xf32, #tile.axes<"i">>
      scf.yield %b : tensor<?xf32, #tile.axes<"i">>
    }
    %c = scf.for %r = %c0 to %c8 step %t iter_args(%arg = %a) -> (tensor<?xf32, #tile.axes<"i">>) : i64 {
      %d = arith.addf %arg, %arg : tensor<?xf32, #tile.axes<"i">>
      scf.yield %d : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %c, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}
