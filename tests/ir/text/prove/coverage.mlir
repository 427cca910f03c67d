// RUN: tile-opt --tile-prove -verify-diagnostics %s

// Outputs that are not stored exactly once, and parameters used against their mode.

// Rounded down: the last, shorter block is left out.
tile.kernel @quantize(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %s: memref<?x?xf32> {tile.name = "s", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M, K floordiv 128)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  %c128 = arith.constant 128 : i64
  %e = tile.div %K, %c128 : i64
  tile.parallel (%i = tiles "i" %c0 to %M, %g = tiles "g" %c0 to %e) {
    %ax_c = tile.axis %c0 to %c128 : !tile.span<"c">
    tile.restrict affine_set<(d0, d1)[s0] : (s0 - 1 - 128*d0 - d1 >= 0)>(%g, %ax_c)[%K] : !tile.span<"g">, !tile.span<"c">
    %tx = tile.load %x at affine_map<(d0, d1, d2) -> (d0, 128*d1 + d2)>(%i, %g, %ax_c)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">, !tile.span<"c">) -> tensor<?x?x?xf32, #tile.axes<"i", "g", "c">>
    // expected-error@+3 {{`y` isn't fully stored by `y[i, 128*g + c]`}}
    // expected-note@+2 {{for example with K = 1, element […, 0] is never stored}}
    // expected-note@+1 {{hint: `K / 128` rounds down and leaves the last, shorter block out; use `(K + 127) / 128`}}
    tile.store %tx, %y at affine_map<(d0, d1, d2) -> (d0, 128*d1 + d2)>(%i, %g, %ax_c)[] : tensor<?x?x?xf32, #tile.axes<"i", "g", "c">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">, !tile.span<"c">)
    %s_1 = tile.reduce <max> %tx over ["c"] : tensor<?x?x?xf32, #tile.axes<"i", "g", "c">> -> tensor<?x?xf32, #tile.axes<"i", "g">>
    tile.store %s_1, %s at affine_map<(d0, d1) -> (d0, d1)>(%i, %g)[] : tensor<?x?xf32, #tile.axes<"i", "g">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">)
  }
  tile.return
}

// expected-error@+2 {{output `y` is never stored}}
// expected-note@+1 {{hint: store each of its elements: `y[…] = …`}}
tile.kernel @never_stored(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
  }
  tile.return
}

tile.kernel @stored_twice(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    // expected-error@+3 {{`y` is stored a second time; an output has one store}}
    // expected-note@-2 {{the first store is here}}
    // expected-note@+1 {{hint: choose the value first, with `where` or a `var`}}
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @part(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N, M] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N, M] -> (M)>})
    attributes {dims = ["N", "M"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  %M = tile.dim "M"
  %q = arith.cmpi sle, %N, %M : i64
  tile.require %q, "N <= M"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+3 {{`y` isn't fully stored by `y[i]`}}
    // expected-note@+2 {{for example with M = 1, N = 0, element 0 is never stored}}
    // expected-note@+1 {{hint: dimension 0 of `y` has `M` elements; let `i` run over all of them}}
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @even(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (2*N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+3 {{`y` isn't fully stored by `y[2*i]`}}
    // expected-note@+2 {{for example with N = 1, element 1 is never stored}}
    // expected-note@+1 {{hint: dimension 0 of `y` has `2*N` elements; let `i` run over all of them}}
    tile.store %tx, %y at affine_map<(d0) -> (2*d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @halves(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> ((N + 1) floordiv 2)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+3 {{`y[i / 2]` stores some element of `y` twice}}
    // expected-note@+2 {{for example i = 0 and i = 1 both store element 0}}
    // expected-note@+1 {{hint: give each program elements of its own, or declare `y` as a `reduce +` output and add to it with `+=`}}
    tile.store %tx, %y at affine_map<(d0) -> (d0 floordiv 2)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @row(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (N)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (M, N)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+6 {{`y[0, i]` may be outside `y` in dimension 0: nothing ensures `0 < M`}}
    // expected-note@+5 {{for example M = 0 writes element 0}}
    // expected-note@+4 {{hint: state `requires 0 < M`}}
    // expected-error@+3 {{`y` isn't fully stored by `y[0, i]`}}
    // expected-note@+2 {{for example with M = 2, element [1, …] is never stored}}
    // expected-note@+1 {{hint: a binder or a condition leaves elements out; outputs are stored completely}}
    tile.store %tx, %y at affine_map<(d0) -> (0, d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?x?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @lacks_block(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (N)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"j">>
    // expected-error@+2 {{each block of `i` stores the same elements of `y`: the index of `y[j]` lacks `i`}}
    // expected-note@+1 {{hint: index `y` by `i` too, or declare `y` as a `reduce +` output and add to it with `+=` a `sum(…, i)`}}
    tile.store %b, %y at affine_map<(d0) -> (d0)>(%j)[] : tensor<?xf32, #tile.axes<"j">>, memref<?xf32>, (!tile.span<"j">)
  }
  tile.return
}

tile.kernel @lacks_each(
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[B, N] -> (N)>})
    attributes {dims = ["B", "N"]} {
  %c0 = arith.constant 0 : i64
  %B = tile.dim "B"
  %N = tile.dim "N"
  tile.parallel (%b = each "b" %c0 to %B, %j = tiles "j" %c0 to %N) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b_1 = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"j">>
    // expected-error@+2 {{each program of `b` stores the same elements of `y`: the index of `y[j]` lacks `b`}}
    // expected-note@+1 {{hint: index `y` by `b` too, or declare `y` as a `reduce +` output and add to it with `+=`}}
    tile.store %b_1, %y at affine_map<(d0) -> (d0)>(%j)[] : tensor<?xf32, #tile.axes<"j">>, memref<?xf32>, (!tile.span<"j">)
  }
  tile.return
}

// Stored once per block.
tile.kernel @in_loop(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    tile.for fold %k = "k" %c0 to %K {
      %f32_0_0 = arith.constant 0.0 : f32
      %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{each block of `k` stores the same elements of `y`: the index of `y[i]` lacks `k`}}
      // expected-note@+1 {{hint: keep the value in a `var` and store it after the loop over `k`}}
      tile.store %b, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
      tile.yield
    }
  }
  tile.return
}

tile.kernel @in_count(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %c3 = arith.constant 3 : i64
    %c1 = arith.constant 1 : i64
    scf.for %r = %c0 to %c3 step %c1 : i64 {
      %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{each round of the loop over `r` stores the same elements of `y`: the index of `y[i]` lacks `r`}}
      // expected-note@+1 {{hint: keep the value in a `var` and store it after the loop over `r`}}
      tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    } {tile.name = "r"}
  }
  tile.return
}

tile.kernel @under_if(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %flag: i1 {tile.name = "flag", tile.type = "bool", tile.mode = "in"},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    scf.if %flag {
      %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+3 {{`y` is stored under an `if`; each of its elements has to be stored on every path}}
      // expected-note@-3 {{the `if` is here}}
      // expected-note@+1 {{hint: store once after it: `where(condition, a, b)`, or a `var` that the `if` sets}}
      tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    }
  }
  tile.return
}

tile.kernel @scatter(
    %ids: memref<?xi64> {tile.name = "ids", tile.type = "i64", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tids = tile.load %ids at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xi64>, (!tile.span<"i">) -> tensor<?xi64, #tile.axes<"i">>
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+2 {{`y[ids[i]]` stores through the index `ids[i]`, which comes from data: two programs may store one element, and some element none}}
    // expected-note@+1 {{hint: declare `y` as a `reduce` output and update it, or gather: index the output by binders and read the inputs through data}}
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%tids)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (tensor<?xi64, #tile.axes<"i">>)
  }
  tile.return
}

// A binder that a scalar switches off stores nothing then.
tile.kernel @conditional_binder(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %flag: i1 {tile.name = "flag", tile.type = "bool", tile.mode = "in"},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    tile.restrict affine_set<(d0) : (-1 - 0*d0 >= 0)>(%i)[] unless %flag : !tile.span<"i">
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+3 {{`y` isn't fully stored by `y[i]`}}
    // expected-note@+2 {{for example with N = 1, element 0 is never stored}}
    // expected-note@+1 {{hint: dimension 0 of `y` has `N` elements; let `i` run over all of them}}
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @restricted(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    tile.restrict affine_set<(d0) : (d0 - 1 >= 0)>(%i)[] : !tile.span<"i">
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+3 {{`y` isn't fully stored by `y[i]`}}
    // expected-note@+2 {{for example with N = 1, element 0 is never stored}}
    // expected-note@+1 {{hint: dimension 0 of `y` has `N` elements; let `i` run over all of them}}
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @ragged_store(
    %len: memref<?xi64> {tile.name = "len", tile.type = "i64", tile.mode = "in", tile.shape = affine_map<()[B, L] -> (B)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[B, L] -> (B, L)>})
    attributes {dims = ["B", "L"]} {
  %c0 = arith.constant 0 : i64
  %B = tile.dim "B"
  %L = tile.dim "L"
  tile.parallel (%b = each "b" %c0 to %B) {
    %tlen = tile.load %len at affine_map<()[s0] -> (s0)>()[%b] <exact> : memref<?xi64>, () -> i64
    %e = arith.minsi %tlen, %L : i64
    tile.for fold %j = "j" %c0 to %e {
      %f32_0_0 = arith.constant 0.0 : f32
      %b_1 = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"j">>
      // expected-error@+2 {{`y` isn't fully stored by `y[b, j]`: a bound or condition of its binders comes from data}}
      // expected-note@+1 {{hint: run the binders of an output over its dimensions; read inputs that end earlier with `.pad(…)`}}
      tile.store %b_1, %y at affine_map<(d0)[s0] -> (s0, d0)>(%j)[%b] : tensor<?xf32, #tile.axes<"j">>, memref<?x?xf32>, (!tile.span<"j">)
      tile.yield
    }
  }
  tile.return
}

// One-to-one and onto, but by no rule of this prover.
tile.kernel @rotated(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+2 {{`y[(i + 1) % N]`: it can't be proved that each element of `y` is stored exactly once}}
    // expected-note@+1 {{hint: index outputs by bare binders or by `c*g + r` with r in `range(c)`; index arithmetic is free on the inputs}}
    tile.store %tx, %y at affine_map<(d0)[s0] -> ((d0 + 1) mod s0)>(%i)[%N] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @diagonals(
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (M + N)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
    // expected-error@+3 {{`y[i + j]` stores some element of `y` twice}}
    // expected-note@+2 {{for example i = 0, j = 1 and i = 1, j = 0 both store element 1}}
    // expected-note@+1 {{hint: give each program elements of its own, or declare `y` as a `reduce +` output and add to it with `+=`}}
    tile.store %b, %y at affine_map<(d0, d1) -> (d0 + d1)>(%i, %j)[] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}

tile.kernel @read_back(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    // expected-error@+2 {{`y` is an output and can't be read}}
    // expected-note@+1 {{hint: keep the value in a `let`, or declare `inout y`}}
    %ty = tile.load %y at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
  }
  tile.return
}

tile.kernel @stored_input(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+2 {{`x` is an input and can't be stored to}}
    // expected-note@+1 {{hint: declare an output, or `inout x`}}
    tile.store %tx, %x at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @updated_output(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+2 {{`y` is no `reduce` output and can't be updated}}
    // expected-note@+1 {{hint: declare it `y: … reduce +`, or store it with `=`}}
    tile.update <add> %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @reduce_misused(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %s: memref<?xf32> {tile.name = "s", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+2 {{`s` is a `reduce` output: programs combine into it, none stores it}}
    // expected-note@+1 {{hint: update it with `+=`, or declare it without `reduce`}}
    tile.store %tx, %s at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    // expected-error@+2 {{`s` combines with `+=`, not with `max=`}}
    // expected-note@+1 {{hint: programs run in any order, so all updates of an output combine alike}}
    tile.update <max> %tx, %s at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    // expected-error@+2 {{`s` is a `reduce` output and can't be read}}
    // expected-note@+1 {{hint: its value is complete after the launch; read it in another kernel}}
    %ts = tile.load %s at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
  }
  tile.return
}

tile.kernel @shifted_in_place(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "inout", tile.shape = affine_map<()[N] -> (N + 1)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    // expected-error@+3 {{`x[i + 1]` reads other elements of `x` than `x[i]` writes; another program may have written them already}}
    // expected-note@+3 {{the store is here}}
    // expected-note@+1 {{hint: an `inout` reads and writes the same element; write to another output instead}}
    %tx = tile.load %x at affine_map<(d0) -> (d0 + 1)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %x at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @read_after(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "inout", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %x at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    // expected-error@+3 {{`x` is read after it was stored}}
    // expected-note@-2 {{the store is here}}
    // expected-note@+1 {{hint: keep the stored value in a `let`}}
    %tx_1 = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx_1, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @in_place_per_block(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "inout", tile.shape = affine_map<()[N, K] -> (N)>})
    attributes {dims = ["N", "K"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    tile.for fold %k = "k" %c0 to %K {
      %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{each block of `k` stores the same elements of `x`: the index of `x[i]` lacks `k`}}
      // expected-note@+1 {{hint: keep the value in a `var` and store it after the loop over `k`}}
      tile.store %tx, %x at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
      tile.yield
    }
  }
  tile.return
}
