// RUN: tile-opt --tile-prove -verify-diagnostics %s

// Updates that would count blocks.

// dg[:] += g[:]
tile.kernel @once_per_block(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %g: memref<?xf32> {tile.name = "g", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (N)>},
    %dg: memref<?xf32> {tile.name = "dg", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[M, N] -> (N)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %ax_N = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tg = tile.load %g at affine_map<(d0) -> (d0)>(%ax_N)[] <exact> : memref<?xf32>, (!tile.span<"N">) -> tensor<?xf32, #tile.axes<"N">>
    // expected-error@+2 {{`dg[:]` adds `g[:]` once per block of `i`: the result depends on how `i` is cut into blocks}}
    // expected-note@+1 {{hint: reduce over `i` first, as in `sum(…, i)`, or index `dg` by `i`}}
    tile.update <add> %tg, %dg at affine_map<(d0) -> (d0)>(%ax_N)[] : tensor<?xf32, #tile.axes<"N">>, memref<?xf32>, (!tile.span<"N">)
  }
  tile.return
}

// The number of blocks.
tile.kernel @one_per_block(
    %c: memref<?xi32> {tile.name = "c", tile.type = "i32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[M, N] -> (1)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %ax_N = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %i32_1 = arith.constant 1 : i32
    // expected-error@+2 {{`c[0]` adds `1` once per block of `i`: the result depends on how `i` is cut into blocks}}
    // expected-note@+1 {{hint: reduce over `i` first, as in `sum(…, i)`, or index `c` by `i`}}
    tile.update <add> %i32_1, %c at affine_map<() -> (0)>()[] : i32, memref<?xi32>, ()
  }
  tile.return
}

// The greatest block sum.
tile.kernel @max_of_sums(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %dg: memref<?xf32> {tile.name = "dg", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<max>, tile.shape = affine_map<()[M, N] -> (N)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %ax_N = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %ax_N)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    %s = tile.reduce <add> %tx over ["i"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"N">>
    // expected-error@+2 {{an update with `max=` takes the `sum` over one block of `i`, which depends on how `i` is cut into blocks}}
    // expected-note@+1 {{hint: a value over all of `i` is complete only in a `reduce` output, or with the whole axis `:` instead of a block}}
    tile.update <max> %s, %dg at affine_map<(d0) -> (d0)>(%ax_N)[] : tensor<?xf32, #tile.axes<"N">>, memref<?xf32>, (!tile.span<"N">)
  }
  tile.return
}

// Each row gets the sum of its block.
tile.kernel @along_and_reduced(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %r: memref<?xf32> {tile.name = "r", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[M, N] -> (M)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %ax_N = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %ax_N)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    %s = tile.reduce <add> %tx over ["i", "N"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> f32
    // expected-error@+2 {{each element along `i` of this update takes the `sum` over one block of `i`, which depends on how `i` is cut into blocks}}
    // expected-note@+1 {{hint: a value over all of `i` is complete only in a `reduce` output, or with the whole axis `:` instead of a block}}
    tile.update <add> %s, %r at affine_map<(d0) -> (d0)>(%i)[] : f32, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// Once per block of the loop.
tile.kernel @per_block_of_loop(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N, K] -> (M, N)>},
    %dg: memref<?xf32> {tile.name = "dg", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[M, N, K] -> (N)>})
    attributes {dims = ["M", "N", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %ax_N = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    tile.for fold %k = "k" %c0 to %K {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %ax_N)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
      %s = tile.reduce <add> %tx over ["i"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"N">>
      // expected-error@+2 {{`dg[:]` adds once per block of `k`: the result depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: reduce over `k` first, as in `sum(…, k)`, or index `dg` by `k`}}
      tile.update <add> %s, %dg at affine_map<(d0) -> (d0)>(%ax_N)[] : tensor<?xf32, #tile.axes<"N">>, memref<?xf32>, (!tile.span<"N">)
      tile.yield
    }
  }
  tile.return
}

tile.kernel @squared_share(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %dg: memref<?xf32> {tile.name = "dg", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[M, N] -> (N)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %ax_N = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %ax_N)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    %s = tile.reduce <add> %tx over ["i"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"N">>
    // expected-error@+2 {{`*` takes the `sum` over one block of `i`, which depends on how `i` is cut into blocks}}
    // expected-note@+1 {{hint: a value over all of `i` is complete only in a `reduce` output, or with the whole axis `:` instead of a block}}
    %e = arith.mulf %s, %s : tensor<?xf32, #tile.axes<"N">>
    tile.update <add> %e, %dg at affine_map<(d0) -> (d0)>(%ax_N)[] : tensor<?xf32, #tile.axes<"N">>, memref<?xf32>, (!tile.span<"N">)
  }
  tile.return
}

// The variable of a loop, before its end.
tile.kernel @midway(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N, K] -> (M, K)>},
    %r: memref<?xf32> {tile.name = "r", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[M, N, K] -> (M)>})
    attributes {dims = ["M", "N", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %ax_N = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r_1 = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      // expected-error@+3 {{the loop over `k` reads this variable, which it folds: the value midway depends on how the blocks are cut}}
      // expected-note@-5 {{this variable is carried from here}}
      // expected-note@+1 {{hint: in such a loop a variable only takes `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`; mark the loop `reassociable` or `sequential(n)` for any other recurrence}}
      tile.update <add> %e, %r at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
  }
  tile.return
}
