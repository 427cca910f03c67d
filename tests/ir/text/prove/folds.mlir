// RUN: tile-opt --tile-prove -verify-diagnostics %s

// Tries to let the size of a block leak into a result.

// Counts the blocks.
tile.kernel @constant_per_block(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %f32_1_0 = arith.constant 1.0 : f32
      %b_1 = tile.broadcast %f32_1_0 : f32 to tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{this adds once per block of `k`: the result depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold what is reduced over `k`, as in `sum(…, k)`, or combine it once, outside}}
      %e = arith.addf %arg, %b_1 : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// Adds a row’s first element once per block.
tile.kernel @value_per_block(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %tx_1 = tile.load %x at affine_map<(d0) -> (d0, 0)>(%i)[] <clamp> : memref<?x?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{this adds once per block of `k`: the result depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold what is reduced over `k`, as in `sum(…, k)`, or combine it once, outside}}
      %e = arith.addf %arg, %tx_1 : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// 2 to the number of blocks.
tile.kernel @count_times(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %f32_2_0 = arith.constant 2.0 : f32
      %b_1 = tile.broadcast %f32_2_0 : f32 to tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{this multiplies once per block of `k`: the result depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold what is reduced over `k`, as in `prod(…, k)`, or combine it once, outside}}
      %e = arith.mulf %arg, %b_1 : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// The greatest block sum.
tile.kernel @max_of_sums(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{`max` takes the `sum` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `+=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %e = arith.maximumf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// The sum of block maxima.
tile.kernel @sum_of_max(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <max> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{`+` takes the `max` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `max=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// The square of a block sum is not linear.
tile.kernel @squared(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{`*` takes the `sum` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `+=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %e = arith.mulf %s, %s : tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.addf %arg, %e : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @exponential(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{`exp` takes the `sum` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `+=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %u = math.exp %s : tensor<?xf32, #tile.axes<"i">>
      %e = arith.addf %arg, %u : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// 1 / sum.
tile.kernel @inverse(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %f32_1_0 = arith.constant 1.0 : f32
      %b_1 = tile.broadcast %f32_1_0 : f32 to tensor<?xf32, #tile.axes<"i">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{`/` takes the `sum` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `+=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %e = arith.divf %b_1, %s : tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.addf %arg, %e : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// sum + 1 adds the 1 once per block.
tile.kernel @offset(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %f32_1_0 = arith.constant 1.0 : f32
      %b_1 = tile.broadcast %f32_1_0 : f32 to tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{this adds once per block of `k`: the result depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold what is reduced over `k`, as in `sum(…, k)`, or combine it once, outside}}
      %e = arith.addf %s, %b_1 : tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.addf %arg, %e : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// The mean of a block: its size is not meaning.
tile.kernel @block_mean(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %n = tile.count %k : !tile.span<"k"> -> i64
      // expected-error@+2 {{`mean` over one block of `k` depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold the `sum` and divide once, after the loop, by how many elements there are}}
      %u = arith.sitofp %n : i64 to f32
      %b_1 = tile.broadcast %u : f32 to tensor<?xf32, #tile.axes<"i">>
      %e = arith.divf %s, %b_1 : tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.addf %arg, %e : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// Each element against the sum of its block.
tile.kernel @centered(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{an element along `k` takes the `sum` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `+=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %b_1 = tile.broadcast %s : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "k">>
      %e = arith.subf %tx, %b_1 : tensor<?x?xf32, #tile.axes<"i", "k">>
      %s_1 = tile.reduce <add> %e over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.addf %arg, %s_1 : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// x * max(x, k) where x has the span.
tile.kernel @weighted(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <max> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{an element along `k` takes the `max` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `max=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %b_1 = tile.broadcast %s : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "k">>
      %e = arith.mulf %tx, %b_1 : tensor<?x?xf32, #tile.axes<"i", "k">>
      %s_1 = tile.reduce <add> %e over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.addf %arg, %s_1 : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @compared(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %f32_0_0_1 = arith.constant 0.0 : f32
      %b_1 = tile.broadcast %f32_0_0_1 : f32 to tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{a comparison takes the `sum` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `+=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %q = arith.cmpf ogt, %s, %b_1 : tensor<?xf32, #tile.axes<"i">>
      %f32_0_0_2 = arith.constant 0.0 : f32
      %b_2 = tile.broadcast %f32_0_0_2 : f32 to tensor<?xf32, #tile.axes<"i">>
      %w = arith.select %q, %s, %b_2 : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
      %e = arith.addf %arg, %w : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @selected(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %tx_1 = tile.load %x at affine_map<(d0) -> (d0, 0)>(%i)[] <clamp> : memref<?x?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      %f32_0_0_1 = arith.constant 0.0 : f32
      %b_1 = tile.broadcast %f32_0_0_1 : f32 to tensor<?xf32, #tile.axes<"i">>
      %q = arith.cmpf ogt, %tx_1, %b_1 : tensor<?xf32, #tile.axes<"i">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      // expected-error@+3 {{the loop over `k` reads this variable, which it folds: the value midway depends on how the blocks are cut}}
      // expected-note@-9 {{this variable is carried from here}}
      // expected-note@+1 {{hint: in such a loop a variable only takes `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`; mark the loop `reassociable` or `sequential(n)` for any other recurrence}}
      %w = arith.select %q, %e, %arg : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
      tile.yield %w : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// acc = acc * 0.5 + sum: decays once per block.
tile.kernel @decayed(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %f32_0_5 = arith.constant 0.5 : f32
      %b_1 = tile.broadcast %f32_0_5 : f32 to tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{this multiplies once per block of `k`: the result depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold what is reduced over `k`, as in `prod(…, k)`, or combine it once, outside}}
      %e = arith.mulf %arg, %b_1 : tensor<?xf32, #tile.axes<"i">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.addf %e, %s : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// The variable takes part in its own step.
tile.kernel @read_midway(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      // expected-error@+3 {{the loop over `k` reads this variable, which it folds: the value midway depends on how the blocks are cut}}
      // expected-note@-3 {{this variable is carried from here}}
      // expected-note@+1 {{hint: in such a loop a variable only takes `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`; mark the loop `reassociable` or `sequential(n)` for any other recurrence}}
      %b_1 = tile.broadcast %arg : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "k">>
      %e = arith.mulf %tx, %b_1 : tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %e over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @doubled(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      // expected-error@+3 {{the loop over `k` reads this variable, which it folds: the value midway depends on how the blocks are cut}}
      // expected-note@-3 {{this variable is carried from here}}
      // expected-note@+1 {{hint: in such a loop a variable only takes `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`; mark the loop `reassociable` or `sequential(n)` for any other recurrence}}
      %e = arith.addf %arg, %arg : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// Assigned: the sum of the last block.
tile.kernel @last_block(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      // expected-error@+3 {{this variable is assigned, not folded, in the loop over `k`: its last value depends on how `k` is cut into blocks}}
      // expected-note@-3 {{this variable is carried from here}}
      // expected-note@+1 {{hint: fold with `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`, or mark the loop `reassociable` or `sequential(n)`}}
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      tile.yield %s : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// Assigned, if there is a block at all.
tile.kernel @last_value(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      // expected-error@+3 {{this variable is assigned, not folded, in the loop over `k`: its last value depends on how `k` is cut into blocks}}
      // expected-note@-3 {{this variable is carried from here}}
      // expected-note@+1 {{hint: fold with `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`, or mark the loop `reassociable` or `sequential(n)`}}
      %tx_1 = tile.load %x at affine_map<(d0) -> (d0, 0)>(%i)[] <clamp> : memref<?x?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      tile.yield %tx_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// acc = sum - acc alternates.
tile.kernel @subtracted_from(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+3 {{the loop over `k` reads this variable, which it folds: the value midway depends on how the blocks are cut}}
      // expected-note@-4 {{this variable is carried from here}}
      // expected-note@+1 {{hint: in such a loop a variable only takes `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`; mark the loop `reassociable` or `sequential(n)` for any other recurrence}}
      %e = arith.subf %s, %arg : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @two_operators(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      %s_1 = tile.reduce <max> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+3 {{this variable is folded with `max=` and with `+=` in one loop: the order of the blocks would matter}}
      // expected-note@-6 {{this variable is carried from here}}
      // expected-note@+1 {{hint: use one variable for each operator}}
      %e_1 = arith.maximumf %e, %s_1 : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// A partial max may not be scaled: a negative factor would turn it round.
tile.kernel @mean_of_max(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <max> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %f32_2_0 = arith.constant 2.0 : f32
      %b_1 = tile.broadcast %f32_2_0 : f32 to tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{`*` takes the `max` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `max=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %e = arith.mulf %s, %b_1 : tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.maximumf %arg, %e : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @cast_early(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf16> {tile.name = "y", tile.type = "f16", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f16_0_0 = arith.constant 0.0 : f16
    %b = tile.broadcast %f16_0_0 : f16 to tensor<?xf16, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf16, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{a cast takes the `sum` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: cast it after the loop: fold it first, uncast, with `+=`}}
      %u = arith.truncf %s : tensor<?xf32, #tile.axes<"i">> to tensor<?xf16, #tile.axes<"i">>
      %e = arith.addf %arg, %u : tensor<?xf16, #tile.axes<"i">>
      tile.yield %e : tensor<?xf16, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf16, #tile.axes<"i">>, memref<?xf16>, (!tile.span<"i">)
  }
  tile.return
}

// Two variables that trade places.
tile.kernel @swapped(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %f32_0_0_1 = arith.constant 0.0 : f32
    %b_1 = tile.broadcast %f32_0_0_1 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r:2 = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>, %arg_1 = %b_1 : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      // expected-error@+3 {{this variable is assigned, not folded, in the loop over `k`: its last value depends on how `k` is cut into blocks}}
      // expected-note@-5 {{this variable is carried from here}}
      // expected-note@+1 {{hint: fold with `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`, or mark the loop `reassociable` or `sequential(n)`}}
      %e_1 = arith.addf %arg_1, %s : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1, %e : tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    }
    %e_2 = arith.addf %r#0, %r#1 : tensor<?xf32, #tile.axes<"i">>
    tile.store %e_2, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @argmax_of_block(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xi64> {tile.name = "y", tile.type = "i64", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %b = tile.broadcast %c0 : i64 to tensor<?xi64, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xi64, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      // expected-error@+2 {{`argmax` needs its whole axis; `k` is a block}}
      // expected-note@+1 {{hint: read the whole dimension: `:`, or `let n = whole(…)`}}
      %m = tile.arg_reduce <max> %tx over "k" : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xi64, #tile.axes<"i">>
      %e = arith.addi %arg, %m : tensor<?xi64, #tile.axes<"i">>
      tile.yield %e : tensor<?xi64, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xi64, #tile.axes<"i">>, memref<?xi64>, (!tile.span<"i">)
  }
  tile.return
}

// Another variable of the loop reads the sum so far.
tile.kernel @other_reads(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %f32_0_0_1 = arith.constant 0.0 : f32
    %b_1 = tile.broadcast %f32_0_0_1 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r:2 = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>, %arg_1 = %b_1 : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      // expected-error@+3 {{the loop over `k` reads this variable, which it folds: the value midway depends on how the blocks are cut}}
      // expected-note@-5 {{this variable is carried from here}}
      // expected-note@+1 {{hint: in such a loop a variable only takes `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`; mark the loop `reassociable` or `sequential(n)` for any other recurrence}}
      %e_1 = arith.maximumf %arg_1, %e : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e, %e_1 : tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r#1, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @stored_midway(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      // expected-error@+5 {{each block of `k` stores the same elements of `y`: the index of `y[i]` lacks `k`}}
      // expected-note@+4 {{hint: keep the value in a `var` and store it after the loop over `k`}}
      // expected-error@+3 {{the loop over `k` reads this variable, which it folds: the value midway depends on how the blocks are cut}}
      // expected-note@-7 {{this variable is carried from here}}
      // expected-note@+1 {{hint: in such a loop a variable only takes `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`; mark the loop `reassociable` or `sequential(n)` for any other recurrence}}
      tile.store %e, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
  }
  tile.return
}

tile.kernel @index_midway(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %lut: memref<?xf32> {tile.name = "lut", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (K)>},
    %n: memref<?xi64> {tile.name = "n", tile.type = "i64", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %b = tile.broadcast %c0 : i64 to tensor<?xi64, #tile.axes<"i">>
    %f32_0_0 = arith.constant 0.0 : f32
    %b_1 = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r:2 = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b_1 : tensor<?xf32, #tile.axes<"i">>, %arg_1 = %b : tensor<?xi64, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %n_1 = tile.count %k : !tile.span<"k"> -> i64
      %b_2 = tile.broadcast %n_1 : i64 to tensor<?xi64, #tile.axes<"i">>
      // expected-error@+3 {{the loop over `k` reads this variable, which it folds: the value midway depends on how the blocks are cut}}
      // expected-note@-5 {{this variable is carried from here}}
      // expected-note@+1 {{hint: in such a loop a variable only takes `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`; mark the loop `reassociable` or `sequential(n)` for any other recurrence}}
      %tlut = tile.load %lut at affine_map<(d0) -> (d0)>(%arg_1)[] <clamp> : memref<?xf32>, (tensor<?xi64, #tile.axes<"i">>) -> tensor<?xf32, #tile.axes<"i">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e = arith.mulf %tlut, %s : tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.addf %arg, %e : tensor<?xf32, #tile.axes<"i">>
      %e_2 = arith.addi %arg_1, %b_2 : tensor<?xi64, #tile.axes<"i">>
      tile.yield %e_1, %e_2 : tensor<?xf32, #tile.axes<"i">>, tensor<?xi64, #tile.axes<"i">>
    }
    tile.store %r#1, %n at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xi64, #tile.axes<"i">>, memref<?xi64>, (!tile.span<"i">)
    tile.store %r#0, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

tile.kernel @bound_from_block(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %x_1 = tile.coords %k : !tile.span<"k"> -> tensor<?xi64, #tile.axes<"k">>
      %s = tile.reduce <add> %x_1 over ["k"] : tensor<?xi64, #tile.axes<"k">> -> i64
      %c1 = arith.constant 1 : i64
      // expected-error@+2 {{a bound of the loop takes the `sum` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `+=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %r_1 = scf.for %n = %c0 to %s step %c1 iter_args(%arg_1 = %arg) -> (tensor<?xf32, #tile.axes<"i">>) : i64 {
        %f32_1_0 = arith.constant 1.0 : f32
        %b_1 = tile.broadcast %f32_1_0 : f32 to tensor<?xf32, #tile.axes<"i">>
        %e = arith.addf %arg_1, %b_1 : tensor<?xf32, #tile.axes<"i">>
        scf.yield %e : tensor<?xf32, #tile.axes<"i">>
      } {tile.name = "n"}
      tile.yield %r_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// The condition looks at one block.
tile.kernel @if_on_block(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %x_1 = tile.coords %k : !tile.span<"k"> -> tensor<?xi64, #tile.axes<"k">>
      %s = tile.reduce <max> %x_1 over ["k"] : tensor<?xi64, #tile.axes<"k">> -> i64
      %c2 = arith.constant 2 : i64
      // expected-error@+2 {{a comparison takes the `max` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `max=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %q = arith.cmpi sgt, %s, %c2 : i64
      %v = scf.if %q -> (tensor<?xf32, #tile.axes<"i">>) {
        %s_1 = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
        %e = arith.addf %arg, %s_1 : tensor<?xf32, #tile.axes<"i">>
        scf.yield %e : tensor<?xf32, #tile.axes<"i">>
      } else {
        scf.yield %arg : tensor<?xf32, #tile.axes<"i">>
      }
      tile.yield %v : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// Declared outside both loops, folded with what saw all of k.
tile.kernel @fold_missing_outer(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K, L] -> (M, K, L)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K, L] -> (M)>})
    attributes {dims = ["M", "K", "L"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  %L = tile.dim "L"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %r_1 = tile.for fold %l = "l" %c0 to %L iter_args(%arg_1 = %arg : tensor<?xf32, #tile.axes<"i">>) {
        %tx = tile.load %x at affine_map<(d0, d1) -> (d0, 0, d1)>(%i, %l)[] <clamp> : memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"l">) -> tensor<?x?xf32, #tile.axes<"i", "l">>
        %s = tile.reduce <add> %tx over ["l"] : tensor<?x?xf32, #tile.axes<"i", "l">> -> tensor<?xf32, #tile.axes<"i">>
        // expected-error@+2 {{this adds once per block of `k`: the result depends on how `k` is cut into blocks}}
        // expected-note@+1 {{hint: fold what is reduced over `k`, as in `sum(…, k)`, or combine it once, outside}}
        %e = arith.addf %arg_1, %s : tensor<?xf32, #tile.axes<"i">>
        tile.yield %e : tensor<?xf32, #tile.axes<"i">>
      }
      tile.yield %r_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// A finished sum over l, added once per block of k.
tile.kernel @inner_total_once(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K, L] -> (M, K, L)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K, L] -> (M)>})
    attributes {dims = ["M", "K", "L"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  %L = tile.dim "L"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %f32_0_0_1 = arith.constant 0.0 : f32
      %b_1 = tile.broadcast %f32_0_0_1 : f32 to tensor<?xf32, #tile.axes<"i">>
      %r_1 = tile.for fold %l = "l" %c0 to %L iter_args(%arg_1 = %b_1 : tensor<?xf32, #tile.axes<"i">>) {
        %tx = tile.load %x at affine_map<(d0, d1) -> (d0, 0, d1)>(%i, %l)[] <clamp> : memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"l">) -> tensor<?x?xf32, #tile.axes<"i", "l">>
        %s = tile.reduce <add> %tx over ["l"] : tensor<?x?xf32, #tile.axes<"i", "l">> -> tensor<?xf32, #tile.axes<"i">>
        %e = arith.addf %arg_1, %s : tensor<?xf32, #tile.axes<"i">>
        tile.yield %e : tensor<?xf32, #tile.axes<"i">>
      }
      // expected-error@+2 {{this adds once per block of `k`: the result depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold what is reduced over `k`, as in `sum(…, k)`, or combine it once, outside}}
      %e_1 = arith.addf %arg, %r_1 : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// The inner variable begins at 1, which would be added once per block of k.
tile.kernel @inner_starts_at_one(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K, L] -> (M, K, L)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K, L] -> (M)>})
    attributes {dims = ["M", "K", "L"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  %L = tile.dim "L"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %f32_1_0 = arith.constant 1.0 : f32
      %b_1 = tile.broadcast %f32_1_0 : f32 to tensor<?xf32, #tile.axes<"i">>
      %r_1 = tile.for fold %l = "l" %c0 to %L iter_args(%arg_1 = %b_1 : tensor<?xf32, #tile.axes<"i">>) {
        %tx = tile.load %x at affine_map<(d0, d1, d2) -> (d0, d1, d2)>(%i, %k, %l)[] <exact> : memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"k">, !tile.span<"l">) -> tensor<?x?x?xf32, #tile.axes<"i", "k", "l">>
        %s = tile.reduce <add> %tx over ["k", "l"] : tensor<?x?x?xf32, #tile.axes<"i", "k", "l">> -> tensor<?xf32, #tile.axes<"i">>
        // expected-error@+2 {{this variable's first value adds once per block of `k`: the result depends on how `k` is cut into blocks}}
        // expected-note@+1 {{hint: fold what is reduced over `k`, as in `sum(…, k)`, or combine it once, outside}}
        %e = arith.addf %arg_1, %s : tensor<?xf32, #tile.axes<"i">>
        tile.yield %e : tensor<?xf32, #tile.axes<"i">>
      }
      %e_1 = arith.addf %arg, %r_1 : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// Each program would store the sum of its own rows.
tile.kernel @block_of_rows(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (N)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %s = tile.reduce <add> %tx over ["i"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"j">>
    // expected-error@+4 {{each block of `i` stores the same elements of `y`: the index of `y[j]` lacks `i`}}
    // expected-note@+3 {{hint: index `y` by `i` too, or declare `y` as a `reduce +` output and add to it with `+=` a `sum(…, i)`}}
    // expected-error@+2 {{a store takes the `sum` over one block of `i`, which depends on how `i` is cut into blocks}}
    // expected-note@+1 {{hint: a value over all of `i` is complete only in a `reduce` output, or with the whole axis `:` instead of a block}}
    tile.store %s, %y at affine_map<(d0) -> (d0)>(%j)[] : tensor<?xf32, #tile.axes<"j">>, memref<?xf32>, (!tile.span<"j">)
  }
  tile.return
}

// Softmax over a block instead of the whole axis.
tile.kernel @normalized_by_block(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (M, N)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %s = tile.reduce <max> %tx over ["j"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    // expected-error@+2 {{an element along `j` takes the `max` over one block of `j`, which depends on how `j` is cut into blocks}}
    // expected-note@+1 {{hint: a value over all of `j` is complete only in a `reduce` output, or with the whole axis `:` instead of a block}}
    %b = tile.broadcast %s : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %e = arith.subf %tx, %b : tensor<?x?xf32, #tile.axes<"i", "j">>
    tile.store %e, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}

// A partial value leaves the loop before its end.
tile.kernel @escapes_reassociable(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for reassociable %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+4 {{each block of `k` stores the same elements of `y`: the index of `y[i]` lacks `k`}}
      // expected-note@+3 {{hint: keep the value in a `var` and store it after the loop over `k`}}
      // expected-error@+2 {{a store takes a value that depends on the blocks of `k`, whose loop is `reassociable`}}
      // expected-note@+1 {{hint: in such a loop partial and carried values reach only the carried variables; use them after the loop}}
      tile.store %s, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
      %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
  }
  tile.return
}

tile.kernel @condition_in_reassociable(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for reassociable %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %n = tile.count %k : !tile.span<"k"> -> i64
      %c2 = arith.constant 2 : i64
      %q = arith.cmpi sgt, %n, %c2 : i64
      // expected-error@+2 {{the condition of `if` takes a value that depends on the blocks of `k`, whose loop is `reassociable`}}
      // expected-note@+1 {{hint: in such a loop partial and carried values reach only the carried variables; use them after the loop}}
      %v = scf.if %q -> (tensor<?xf32, #tile.axes<"i">>) {
        scf.yield %arg : tensor<?xf32, #tile.axes<"i">>
      } else {
        %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
        %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
        scf.yield %e : tensor<?xf32, #tile.axes<"i">>
      }
      tile.yield %v : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// A reassociable loop may not carry what an outer loop folds.
tile.kernel @fold_through_reassociable(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K, L] -> (M, K, L)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K, L] -> (M)>})
    attributes {dims = ["M", "K", "L"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  %L = tile.dim "L"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      // expected-error@+3 {{the loop over `k` reads this variable, which it folds: the value midway depends on how the blocks are cut}}
      // expected-note@-2 {{this variable is carried from here}}
      // expected-note@+1 {{hint: in such a loop a variable only takes `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`; mark the loop `reassociable` or `sequential(n)` for any other recurrence}}
      %r_1 = tile.for reassociable %l = "l" %c0 to %L iter_args(%arg_1 = %arg : tensor<?xf32, #tile.axes<"i">>) {
        %tx = tile.load %x at affine_map<(d0, d1, d2) -> (d0, d1, d2)>(%i, %k, %l)[] <exact> : memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"k">, !tile.span<"l">) -> tensor<?x?x?xf32, #tile.axes<"i", "k", "l">>
        %s = tile.reduce <add> %tx over ["k", "l"] : tensor<?x?x?xf32, #tile.axes<"i", "k", "l">> -> tensor<?xf32, #tile.axes<"i">>
        // expected-error@+2 {{this adds once per block of `k`: the result depends on how `k` is cut into blocks}}
        // expected-note@+1 {{hint: fold what is reduced over `k`, as in `sum(…, k)`, or combine it once, outside}}
        %e = arith.addf %arg_1, %s : tensor<?xf32, #tile.axes<"i">>
        tile.yield %e : tensor<?xf32, #tile.axes<"i">>
      }
      tile.yield %r_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// A `while` may not carry a partial value.
tile.kernel @while_on_sum(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      // expected-error@+2 {{a variable of `while` takes the `sum` over one block of `k`, which depends on how `k` is cut into blocks}}
      // expected-note@+1 {{hint: fold it into a `var` with `+=` and go on with the variable after the loop, or mark the loop `reassociable` if the result does not depend on the blocks}}
      %v = scf.while (%u = %s) : (tensor<?xf32, #tile.axes<"i">>) -> tensor<?xf32, #tile.axes<"i">> {
        %true = arith.constant true
        scf.condition(%true) %u : tensor<?xf32, #tile.axes<"i">>
      } do {
      ^bb0(%o: tensor<?xf32, #tile.axes<"i">>):
        scf.yield %o : tensor<?xf32, #tile.axes<"i">>
      }
      %e = arith.addf %arg, %v : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}
