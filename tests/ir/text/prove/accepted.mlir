// RUN: tile-opt --tile-prove %s -o /dev/null

// Kernels that hold to every rule.

tile.kernel @matmul(
    %a: memref<?x?xf16> {tile.name = "a", tile.type = "f16", tile.mode = "in", tile.shape = affine_map<()[M, K, N] -> (M, K)>},
    %b: memref<?x?xf16> {tile.name = "b", tile.type = "f16", tile.mode = "in", tile.shape = affine_map<()[M, K, N] -> (K, N)>},
    %c: memref<?x?xf16> {tile.name = "c", tile.type = "f16", tile.mode = "out", tile.shape = affine_map<()[M, K, N] -> (M, N)>})
    attributes {dims = ["M", "K", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b_1 = tile.broadcast %f32_0_0 : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b_1 : tensor<?x?xf32, #tile.axes<"i", "j">>) {
      %ta = tile.load %a at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf16>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf16, #tile.axes<"i", "k">>
      %tb = tile.load %b at affine_map<(d0, d1) -> (d0, d1)>(%k, %j)[] <exact> : memref<?x?xf16>, (!tile.span<"k">, !tile.span<"j">) -> tensor<?x?xf16, #tile.axes<"k", "j">>
      %d = tile.dot %ta, %tb over "k" acc %arg : tensor<?x?xf16, #tile.axes<"i", "k">>, tensor<?x?xf16, #tile.axes<"k", "j">> -> tensor<?x?xf32, #tile.axes<"i", "j">>
      tile.yield %d : tensor<?x?xf32, #tile.axes<"i", "j">>
    }
    %u = arith.truncf %r : tensor<?x?xf32, #tile.axes<"i", "j">> to tensor<?x?xf16, #tile.axes<"i", "j">>
    tile.store %u, %c at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] : tensor<?x?xf16, #tile.axes<"i", "j">>, memref<?x?xf16>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}

tile.kernel @softmax(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (M, N)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %ax_N = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %ax_N)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    %s = tile.reduce <max> %tx over ["N"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"i">>
    %b = tile.broadcast %s : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "N">>
    %e = arith.subf %tx, %b : tensor<?x?xf32, #tile.axes<"i", "N">>
    %u = math.exp %e : tensor<?x?xf32, #tile.axes<"i", "N">>
    %s_1 = tile.reduce <add> %u over ["N"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"i">>
    %b_1 = tile.broadcast %s_1 : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "N">>
    %e_1 = arith.divf %u, %b_1 : tensor<?x?xf32, #tile.axes<"i", "N">>
    tile.store %e_1, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %ax_N)[] : tensor<?x?xf32, #tile.axes<"i", "N">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
  }
  tile.return
}

// Causal, with grouped heads: h / (H / G) < G by what `requires H % G == 0` says.
tile.kernel @attention(
    %q: memref<?x?x?x?xf32> {tile.name = "q", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[B, H, S, D, G, L] -> (B, H, S, D)>},
    %k: memref<?x?x?x?xf32> {tile.name = "k", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[B, H, S, D, G, L] -> (B, G, L, D)>},
    %v: memref<?x?x?x?xf32> {tile.name = "v", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[B, H, S, D, G, L] -> (B, G, L, D)>},
    %scale: f32 {tile.name = "scale", tile.type = "f32", tile.mode = "in"},
    %causal: i1 {tile.name = "causal", tile.type = "bool", tile.mode = "in"},
    %o: memref<?x?x?x?xf32> {tile.name = "o", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[B, H, S, D, G, L] -> (B, H, S, D)>})
    attributes {dims = ["B", "H", "S", "D", "G", "L"]} {
  %c0 = arith.constant 0 : i64
  %B = tile.dim "B"
  %H = tile.dim "H"
  %S = tile.dim "S"
  %D = tile.dim "D"
  %G = tile.dim "G"
  %L = tile.dim "L"
  %e = tile.rem %H, %G : i64
  %q_1 = arith.cmpi eq, %e, %c0 : i64
  tile.require %q_1, "H % G == 0"
  %ax_D = tile.axis %c0 to %D : !tile.span<"D">
  tile.parallel (%b = each "b" %c0 to %B, %h = each "h" %c0 to %H, %i = tiles "i" %c0 to %S) {
    %true = arith.constant true
    %e_1 = arith.xori %causal, %true : i1
    %f32_minf = arith.constant 0xFF800000 : f32
    %b_1 = tile.broadcast %f32_minf : f32 to tensor<?xf32, #tile.axes<"i">>
    %f32_0_0 = arith.constant 0.0 : f32
    %b_2 = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %f32_0_0_1 = arith.constant 0.0 : f32
    %b_3 = tile.broadcast %f32_0_0_1 : f32 to tensor<?x?xf32, #tile.axes<"i", "D">>
    %e_2 = arith.subi %L, %S : i64
    %r:3 = tile.for reassociable %j = "j" %c0 to %L iter_args(%arg = %b_1 : tensor<?xf32, #tile.axes<"i">>, %arg_1 = %b_2 : tensor<?xf32, #tile.axes<"i">>, %arg_2 = %b_3 : tensor<?x?xf32, #tile.axes<"i", "D">>) {
      tile.restrict affine_set<(d0, d1)[s0, s1] : (d1 - d0 + s0 - s1 >= 0)>(%j, %i)[%L, %S] unless %e_1 : !tile.span<"j">, !tile.span<"i">
      %tq = tile.load %q at affine_map<(d0, d1)[s0, s1] -> (s0, s1, d0, d1)>(%i, %ax_D)[%b, %h] <exact> : memref<?x?x?x?xf32>, (!tile.span<"i">, !tile.span<"D">) -> tensor<?x?xf32, #tile.axes<"i", "D">>
      %tk = tile.load %k at affine_map<(d0, d1)[s0, s1, s2, s3] -> (s0, s1 floordiv (s2 floordiv s3), d0, d1)>(%j, %ax_D)[%b, %h, %H, %G] <exact> : memref<?x?x?x?xf32>, (!tile.span<"j">, !tile.span<"D">) -> tensor<?x?xf32, #tile.axes<"j", "D">>
      %f32_0_0_2 = arith.constant 0.0 : f32
      %b_4 = tile.broadcast %f32_0_0_2 : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
      %d = tile.dot %tq, %tk over "D" acc %b_4 : tensor<?x?xf32, #tile.axes<"i", "D">>, tensor<?x?xf32, #tile.axes<"j", "D">> -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %b_5 = tile.broadcast %scale : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
      %e_3 = arith.mulf %d, %b_5 : tensor<?x?xf32, #tile.axes<"i", "j">>
      %s = tile.reduce <max> %e_3 over ["j"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
      %e_4 = arith.maximumf %arg, %s : tensor<?xf32, #tile.axes<"i">>
      %b_6 = tile.broadcast %e_4 : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "j">>
      %e_5 = arith.subf %e_3, %b_6 : tensor<?x?xf32, #tile.axes<"i", "j">>
      %u = math.exp %e_5 : tensor<?x?xf32, #tile.axes<"i", "j">>
      %e_6 = arith.subf %arg, %e_4 : tensor<?xf32, #tile.axes<"i">>
      %u_1 = math.exp %e_6 : tensor<?xf32, #tile.axes<"i">>
      %e_7 = arith.mulf %arg_1, %u_1 : tensor<?xf32, #tile.axes<"i">>
      %s_1 = tile.reduce <add> %u over ["j"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
      %e_8 = arith.addf %e_7, %s_1 : tensor<?xf32, #tile.axes<"i">>
      %tv = tile.load %v at affine_map<(d0, d1)[s0, s1, s2, s3] -> (s0, s1 floordiv (s2 floordiv s3), d0, d1)>(%j, %ax_D)[%b, %h, %H, %G] <exact> : memref<?x?x?x?xf32>, (!tile.span<"j">, !tile.span<"D">) -> tensor<?x?xf32, #tile.axes<"j", "D">>
      %b_7 = tile.broadcast %u_1 : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "D">>
      %e_9 = arith.mulf %arg_2, %b_7 : tensor<?x?xf32, #tile.axes<"i", "D">>
      %d_1 = tile.dot %u, %tv over "j" acc %e_9 : tensor<?x?xf32, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"j", "D">> -> tensor<?x?xf32, #tile.axes<"i", "D">>
      tile.yield %e_4, %e_8, %d_1 : tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>, tensor<?x?xf32, #tile.axes<"i", "D">>
    }
    %b_8 = tile.broadcast %r#1 : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "D">>
    %e_10 = arith.divf %r#2, %b_8 : tensor<?x?xf32, #tile.axes<"i", "D">>
    tile.store %e_10, %o at affine_map<(d0, d1)[s0, s1] -> (s0, s1, d0, d1)>(%i, %ax_D)[%b, %h] : tensor<?x?xf32, #tile.axes<"i", "D">>, memref<?x?x?x?xf32>, (!tile.span<"i">, !tile.span<"D">)
  }
  tile.return
}

tile.kernel @layer_norm_backward(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %dy: memref<?x?xf32> {tile.name = "dy", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %g: memref<?xf32> {tile.name = "g", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (N)>},
    %dx: memref<?x?xf32> {tile.name = "dx", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %dg: memref<?xf32> {tile.name = "dg", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[M, N] -> (N)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %ax_N = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %ax_N)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    %tdy = tile.load %dy at affine_map<(d0, d1) -> (d0, d1)>(%i, %ax_N)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    %tg = tile.load %g at affine_map<(d0) -> (d0)>(%ax_N)[] <exact> : memref<?xf32>, (!tile.span<"N">) -> tensor<?xf32, #tile.axes<"N">>
    %b = tile.broadcast %tg : tensor<?xf32, #tile.axes<"N">> to tensor<?x?xf32, #tile.axes<"i", "N">>
    %e = arith.mulf %tdy, %b : tensor<?x?xf32, #tile.axes<"i", "N">>
    %n = tile.count %ax_N : !tile.span<"N"> -> i64
    %u = arith.sitofp %n : i64 to f32
    %s = tile.reduce <add> %e over ["N"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"i">>
    %b_1 = tile.broadcast %u : f32 to tensor<?xf32, #tile.axes<"i">>
    %e_1 = arith.divf %s, %b_1 : tensor<?xf32, #tile.axes<"i">>
    %b_2 = tile.broadcast %e_1 : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "N">>
    %e_2 = arith.subf %e, %b_2 : tensor<?x?xf32, #tile.axes<"i", "N">>
    tile.store %e_2, %dx at affine_map<(d0, d1) -> (d0, d1)>(%i, %ax_N)[] : tensor<?x?xf32, #tile.axes<"i", "N">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
    %e_3 = arith.mulf %tdy, %tx : tensor<?x?xf32, #tile.axes<"i", "N">>
    %s_1 = tile.reduce <add> %e_3 over ["i"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"N">>
    tile.update <add> %s_1, %dg at affine_map<(d0) -> (d0)>(%ax_N)[] : tensor<?xf32, #tile.axes<"N">>, memref<?xf32>, (!tile.span<"N">)
  }
  tile.return
}

// Stride 2, padded: the variable goes through two loops over integers and one over blocks.
tile.kernel @convolution(
    %x: memref<?x?x?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N, H, W, C, F] -> (N, H, W, C)>},
    %w: memref<?x?x?x?xf32> {tile.name = "w", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N, H, W, C, F] -> (3, 3, C, F)>},
    %y: memref<?x?x?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N, H, W, C, F] -> (N, (H - 1) floordiv 2 + 1, (W - 1) floordiv 2 + 1, F)>})
    attributes {dims = ["N", "H", "W", "C", "F"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %N = tile.dim "N"
  %H = tile.dim "H"
  %W = tile.dim "W"
  %C = tile.dim "C"
  %F = tile.dim "F"
  %e = arith.subi %H, %c1 : i64
  %e_1 = tile.div %e, %c2 : i64
  %e_2 = arith.addi %e_1, %c1 : i64
  %e_3 = arith.subi %W, %c1 : i64
  %e_4 = tile.div %e_3, %c2 : i64
  %e_5 = arith.addi %e_4, %c1 : i64
  tile.parallel (%n = each "n" %c0 to %N, %p = tiles "p" %c0 to %e_2, %q = tiles "q" %c0 to %e_5, %f = tiles "f" %c0 to %F) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?x?x?xf32, #tile.axes<"p", "q", "f">>
    %f32_0_0_1 = arith.constant 0.0 : f32
    %r_1 = scf.for %r = %c0 to %c3 step %c1 iter_args(%arg = %b) -> (tensor<?x?x?xf32, #tile.axes<"p", "q", "f">>) : i64 {
      %r_2 = scf.for %s = %c0 to %c3 step %c1 iter_args(%arg_1 = %arg) -> (tensor<?x?x?xf32, #tile.axes<"p", "q", "f">>) : i64 {
        %r_3 = tile.for fold %c = "c" %c0 to %C iter_args(%arg_2 = %arg_1 : tensor<?x?x?xf32, #tile.axes<"p", "q", "f">>) {
          %tx = tile.load %x at affine_map<(d0, d1, d2)[s0, s1, s2] -> (s0, 2*d0 + s1 - 1, 2*d1 + s2 - 1, d2)>(%p, %q, %c)[%n, %r, %s] <pad> else %f32_0_0_1 : memref<?x?x?x?xf32>, (!tile.span<"p">, !tile.span<"q">, !tile.span<"c">), f32 -> tensor<?x?x?xf32, #tile.axes<"p", "q", "c">>
          %tw = tile.load %w at affine_map<(d0, d1)[s0, s1] -> (s0, s1, d0, d1)>(%c, %f)[%r, %s] <exact> : memref<?x?x?x?xf32>, (!tile.span<"c">, !tile.span<"f">) -> tensor<?x?xf32, #tile.axes<"c", "f">>
          %d = tile.dot %tx, %tw over "c" acc %arg_2 : tensor<?x?x?xf32, #tile.axes<"p", "q", "c">>, tensor<?x?xf32, #tile.axes<"c", "f">> -> tensor<?x?x?xf32, #tile.axes<"p", "q", "f">>
          tile.yield %d : tensor<?x?x?xf32, #tile.axes<"p", "q", "f">>
        }
        scf.yield %r_3 : tensor<?x?x?xf32, #tile.axes<"p", "q", "f">>
      } {tile.name = "s"}
      scf.yield %r_2 : tensor<?x?x?xf32, #tile.axes<"p", "q", "f">>
    } {tile.name = "r"}
    tile.store %r_1, %y at affine_map<(d0, d1, d2)[s0] -> (s0, d0, d1, d2)>(%p, %q, %f)[%n] : tensor<?x?x?xf32, #tile.axes<"p", "q", "f">>, memref<?x?x?x?xf32>, (!tile.span<"p">, !tile.span<"q">, !tile.span<"f">)
  }
  tile.return
}

// (d + D / 2) % D lies in [0, D) because d does.
tile.kernel @rotary(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[B, S, D] -> (B, S, D)>},
    %y: memref<?x?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[B, S, D] -> (B, S, D)>})
    attributes {dims = ["B", "S", "D"]} {
  %c0 = arith.constant 0 : i64
  %B = tile.dim "B"
  %S = tile.dim "S"
  %D = tile.dim "D"
  %ax_d = tile.axis %c0 to %D : !tile.span<"d">
  tile.parallel (%b = each "b" %c0 to %B, %i = tiles "i" %c0 to %S) {
    %tx = tile.load %x at affine_map<(d0, d1)[s0, s1] -> (s0, d0, (d1 + s1 floordiv 2) mod s1)>(%i, %ax_d)[%b, %D] <exact> : memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"d">) -> tensor<?x?xf32, #tile.axes<"i", "d">>
    %tx_1 = tile.load %x at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%i, %ax_d)[%b] <exact> : memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"d">) -> tensor<?x?xf32, #tile.axes<"i", "d">>
    %e = arith.addf %tx_1, %tx : tensor<?x?xf32, #tile.axes<"i", "d">>
    tile.store %e, %y at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%i, %ax_d)[%b] : tensor<?x?xf32, #tile.axes<"i", "d">>, memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"d">)
  }
  tile.return
}

tile.kernel @quantize(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %s: memref<?x?xf32> {tile.name = "s", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M, (K + 127) floordiv 128)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  %c128 = arith.constant 128 : i64
  %c127 = arith.constant 127 : i64
  %e = arith.addi %K, %c127 : i64
  %e_1 = tile.div %e, %c128 : i64
  tile.parallel (%i = tiles "i" %c0 to %M, %g = tiles "g" %c0 to %e_1) {
    %ax_c = tile.axis %c0 to %c128 : !tile.span<"c">
    tile.restrict affine_set<(d0, d1)[s0] : (s0 - 1 - 128*d0 - d1 >= 0)>(%g, %ax_c)[%K] : !tile.span<"g">, !tile.span<"c">
    %tx = tile.load %x at affine_map<(d0, d1, d2) -> (d0, 128*d1 + d2)>(%i, %g, %ax_c)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">, !tile.span<"c">) -> tensor<?x?x?xf32, #tile.axes<"i", "g", "c">>
    tile.store %tx, %y at affine_map<(d0, d1, d2) -> (d0, 128*d1 + d2)>(%i, %g, %ax_c)[] : tensor<?x?x?xf32, #tile.axes<"i", "g", "c">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">, !tile.span<"c">)
    %s_1 = tile.reduce <max> %tx over ["c"] : tensor<?x?x?xf32, #tile.axes<"i", "g", "c">> -> tensor<?x?xf32, #tile.axes<"i", "g">>
    tile.store %s_1, %s at affine_map<(d0, d1) -> (d0, d1)>(%i, %g)[] : tensor<?x?xf32, #tile.axes<"i", "g">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">)
  }
  tile.return
}

// One add a coordinate; updates that fall outside are dropped.
tile.kernel @histogram(
    %x: memref<?xi64> {tile.name = "x", tile.type = "i64", tile.mode = "in", tile.shape = affine_map<()[N, NB] -> (N)>},
    %h: memref<?xi32> {tile.name = "h", tile.type = "i32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[N, NB] -> (NB)>})
    attributes {dims = ["N", "NB"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xi64>, (!tile.span<"i">) -> tensor<?xi64, #tile.axes<"i">>
    %i32_1 = arith.constant 1 : i32
    tile.update <add> %i32_1, %h at affine_map<(d0) -> (d0)>(%tx)[] : i32, memref<?xi32>, (tensor<?xi64, #tile.axes<"i">>)
  }
  tile.return
}

tile.kernel @transpose(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, N] -> (M, N)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, N] -> (N, M)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
    tile.store %tx, %y at affine_map<(d0, d1) -> (d1, d0)>(%i, %j)[] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}

// h*D + d is a number in mixed radix: it lies below H*D, and reaches all of it.
tile.kernel @merge_heads(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[S, H, D] -> (H, S, D)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[S, H, D] -> (S, H * D)>})
    attributes {dims = ["S", "H", "D"]} {
  %c0 = arith.constant 0 : i64
  %S = tile.dim "S"
  %H = tile.dim "H"
  %D = tile.dim "D"
  %ax_D = tile.axis %c0 to %D : !tile.span<"D">
  tile.parallel (%h = each "h" %c0 to %H, %i = tiles "i" %c0 to %S) {
    %tx = tile.load %x at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%i, %ax_D)[%h] <exact> : memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"D">) -> tensor<?x?xf32, #tile.axes<"i", "D">>
    tile.store %tx, %y at affine_map<(d0, d1)[s0, s1] -> (d0, d1 + s0 * s1)>(%i, %ax_D)[%h, %D] : tensor<?x?xf32, #tile.axes<"i", "D">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"D">)
  }
  tile.return
}

tile.kernel @int4(
    %w: memref<?x?xi8> {tile.name = "w", tile.type = "i8", tile.mode = "in", tile.shape = affine_map<()[K, N] -> ((K + 1) floordiv 2, N)>},
    %s: memref<?x?xf32> {tile.name = "s", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[K, N] -> ((K + 31) floordiv 32, N)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[K, N] -> (K, N)>})
    attributes {dims = ["K", "N"]} {
  %c0 = arith.constant 0 : i64
  %K = tile.dim "K"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %K, %j = tiles "j" %c0 to %N) {
    %tw = tile.load %w at affine_map<(d0, d1) -> (d0 floordiv 2, d1)>(%i, %j)[] <exact> : memref<?x?xi8>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xi8, #tile.axes<"i", "j">>
    %u = arith.sitofp %tw : tensor<?x?xi8, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %ts = tile.load %s at affine_map<(d0, d1) -> (d0 floordiv 32, d1)>(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %e = arith.mulf %u, %ts : tensor<?x?xf32, #tile.axes<"i", "j">>
    tile.store %e, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}

// No rule covers this store; a Presburger set does.
tile.kernel @reverse(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0)[s0] -> (s0 - 1 - d0)>(%i)[%N] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0)[s0] -> (s0 - 1 - d0)>(%i)[%N] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// A negative extent refuses the launch, so N - 2 isn't one.
tile.kernel @stencil(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N - 2)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  %c2 = arith.constant 2 : i64
  %e = arith.subi %N, %c2 : i64
  tile.parallel (%i = tiles "i" %c0 to %e) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    %tx_1 = tile.load %x at affine_map<(d0) -> (d0 + 2)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    %e_1 = arith.addf %tx, %tx_1 : tensor<?xf32, #tile.axes<"i">>
    tile.store %e_1, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// S <= L is required; the gather pads.
tile.kernel @embedding(
    %ids: memref<?xi64> {tile.name = "ids", tile.type = "i64", tile.mode = "in", tile.shape = affine_map<()[S, V, D, L] -> (S)>},
    %table: memref<?x?xf32> {tile.name = "table", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[S, V, D, L] -> (V, D)>},
    %pos: memref<?x?xf32> {tile.name = "pos", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[S, V, D, L] -> (L, D)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[S, V, D, L] -> (S, D)>})
    attributes {dims = ["S", "V", "D", "L"]} {
  %c0 = arith.constant 0 : i64
  %S = tile.dim "S"
  %V = tile.dim "V"
  %D = tile.dim "D"
  %L = tile.dim "L"
  %q = arith.cmpi sle, %S, %L : i64
  tile.require %q, "S <= L"
  tile.parallel (%s = tiles "s" %c0 to %S, %d = tiles "d" %c0 to %D) {
    %f32_0_0 = arith.constant 0.0 : f32
    %tids = tile.load %ids at affine_map<(d0) -> (d0)>(%s)[] <exact> : memref<?xi64>, (!tile.span<"s">) -> tensor<?xi64, #tile.axes<"s">>
    %ttable = tile.load %table at affine_map<(d0, d1) -> (d0, d1)>(%tids, %d)[] <pad> else %f32_0_0 : memref<?x?xf32>, (tensor<?xi64, #tile.axes<"s">>, !tile.span<"d">), f32 -> tensor<?x?xf32, #tile.axes<"s", "d">>
    %tpos = tile.load %pos at affine_map<(d0, d1) -> (d0, d1)>(%s, %d)[] <exact> : memref<?x?xf32>, (!tile.span<"s">, !tile.span<"d">) -> tensor<?x?xf32, #tile.axes<"s", "d">>
    %e = arith.addf %ttable, %tpos : tensor<?x?xf32, #tile.axes<"s", "d">>
    tile.store %e, %y at affine_map<(d0, d1) -> (d0, d1)>(%s, %d)[] : tensor<?x?xf32, #tile.axes<"s", "d">>, memref<?x?xf32>, (!tile.span<"s">, !tile.span<"d">)
  }
  tile.return
}

// An index from data that was cut to size by hand is as good as any.
tile.kernel @clamped_gather(
    %ids: memref<?xi64> {tile.name = "ids", tile.type = "i64", tile.mode = "in", tile.shape = affine_map<()[N, V] -> (N)>},
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N, V] -> (V)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N, V] -> (N)>})
    attributes {dims = ["N", "V"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %N = tile.dim "N"
  %V = tile.dim "V"
  %q = arith.cmpi sgt, %V, %c0 : i64
  tile.require %q, "V > 0"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %e = arith.subi %V, %c1 : i64
    %tids = tile.load %ids at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xi64>, (!tile.span<"i">) -> tensor<?xi64, #tile.axes<"i">>
    %b = tile.broadcast %c0 : i64 to tensor<?xi64, #tile.axes<"i">>
    %e_1 = arith.maxsi %tids, %b : tensor<?xi64, #tile.axes<"i">>
    %b_1 = tile.broadcast %e : i64 to tensor<?xi64, #tile.axes<"i">>
    %e_2 = arith.minsi %e_1, %b_1 : tensor<?xi64, #tile.axes<"i">>
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%e_2)[] <exact> : memref<?xf32>, (tensor<?xi64, #tile.axes<"i">>) -> tensor<?xf32, #tile.axes<"i">>
    tile.store %tx, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// An `if` over integers is known inside its branches.
tile.kernel @guarded(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[N] -> (N)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %N = tile.dim "N"
  tile.parallel (%b = each "b" %c0 to %N) {
    %e = arith.addi %b, %c1 : i64
    %f32_0_0 = arith.constant 0.0 : f32
    %q = arith.cmpi slt, %e, %N : i64
    %v = scf.if %q -> (f32) {
      %tx = tile.load %x at affine_map<()[s0] -> (s0)>()[%e] <exact> : memref<?xf32>, () -> f32
      scf.yield %tx : f32
    } else {
      scf.yield %f32_0_0 : f32
    }
    tile.store %v, %y at affine_map<()[s0] -> (s0)>()[%b] : f32, memref<?xf32>, ()
  }
  tile.return
}

// The end of the loop is data: reads pad.
tile.kernel @ragged(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[B, L, D] -> (B, L, D)>},
    %len: memref<?xi64> {tile.name = "len", tile.type = "i64", tile.mode = "in", tile.shape = affine_map<()[B, L, D] -> (B)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[B, L, D] -> (B, D)>})
    attributes {dims = ["B", "L", "D"]} {
  %c0 = arith.constant 0 : i64
  %B = tile.dim "B"
  %L = tile.dim "L"
  %D = tile.dim "D"
  tile.parallel (%b = each "b" %c0 to %B, %d = tiles "d" %c0 to %D) {
    %f32_0_0 = arith.constant 0.0 : f32
    %tlen = tile.load %len at affine_map<()[s0] -> (s0)>()[%b] <exact> : memref<?xi64>, () -> i64
    %f32_0_0_1 = arith.constant 0.0 : f32
    %b_1 = tile.broadcast %f32_0_0_1 : f32 to tensor<?xf32, #tile.axes<"d">>
    %r = tile.for fold %j = "j" %c0 to %tlen iter_args(%arg = %b_1 : tensor<?xf32, #tile.axes<"d">>) {
      %tx = tile.load %x at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%j, %d)[%b] <pad> else %f32_0_0 : memref<?x?x?xf32>, (!tile.span<"j">, !tile.span<"d">), f32 -> tensor<?x?xf32, #tile.axes<"j", "d">>
      %s = tile.reduce <add> %tx over ["j"] : tensor<?x?xf32, #tile.axes<"j", "d">> -> tensor<?xf32, #tile.axes<"d">>
      %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"d">>
      tile.yield %e : tensor<?xf32, #tile.axes<"d">>
    }
    tile.store %r, %y at affine_map<(d0)[s0] -> (s0, d0)>(%d)[%b] : tensor<?xf32, #tile.axes<"d">>, memref<?x?xf32>, (!tile.span<"d">)
  }
  tile.return
}

tile.kernel @in_place(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "inout", tile.shape = affine_map<()[N] -> (N)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    %tx_1 = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    %e = arith.mulf %tx, %tx_1 : tensor<?xf32, #tile.axes<"i">>
    tile.store %e, %x at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// The index uses the loop's span: each block stores its own elements.
tile.kernel @store_in_loop(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M, K)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    tile.for fold %k = "k" %c0 to %K {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      tile.store %tx, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] : tensor<?x?xf32, #tile.axes<"i", "k">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">)
      tile.yield
    }
  }
  tile.return
}

// A variable through two loops folds what is partial over both.
tile.kernel @nested_folds(
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
        %tx = tile.load %x at affine_map<(d0, d1, d2) -> (d0, d1, d2)>(%i, %k, %l)[] <exact> : memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"k">, !tile.span<"l">) -> tensor<?x?x?xf32, #tile.axes<"i", "k", "l">>
        %s = tile.reduce <add> %tx over ["k", "l"] : tensor<?x?x?xf32, #tile.axes<"i", "k", "l">> -> tensor<?xf32, #tile.axes<"i">>
        %e = arith.addf %arg_1, %s : tensor<?xf32, #tile.axes<"i">>
        tile.yield %e : tensor<?xf32, #tile.axes<"i">>
      }
      tile.yield %r_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// A fresh variable of the inner loop is partial over the outer block only.
tile.kernel @inner_total(
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
        %tx = tile.load %x at affine_map<(d0, d1, d2) -> (d0, d1, d2)>(%i, %k, %l)[] <exact> : memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"k">, !tile.span<"l">) -> tensor<?x?x?xf32, #tile.axes<"i", "k", "l">>
        %s = tile.reduce <add> %tx over ["k", "l"] : tensor<?x?x?xf32, #tile.axes<"i", "k", "l">> -> tensor<?xf32, #tile.axes<"i">>
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

// A loop over integers gathers partial sums, which are folded after it.
tile.kernel @counted_total(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[K, R] -> (K, R)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[K, R] -> (1)>})
    attributes {dims = ["K", "R"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %K = tile.dim "K"
  %R = tile.dim "R"
  tile.parallel (%i = tiles "i" %c0 to %c1) {
    %f32_0_0 = arith.constant 0.0 : f32
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %f32_0_0 : f32) {
      %f32_0_0_1 = arith.constant 0.0 : f32
      %r_2 = scf.for %r_1 = %c0 to %R step %c1 iter_args(%arg_1 = %f32_0_0_1) -> (f32) : i64 {
        %tx = tile.load %x at affine_map<(d0)[s0] -> (d0, s0)>(%k)[%r_1] <exact> : memref<?x?xf32>, (!tile.span<"k">) -> tensor<?xf32, #tile.axes<"k">>
        %s = tile.reduce <add> %tx over ["k"] : tensor<?xf32, #tile.axes<"k">> -> f32
        %e = arith.addf %arg_1, %s : f32
        scf.yield %e : f32
      } {tile.name = "r"}
      %e_1 = arith.addf %arg, %r_2 : f32
      tile.yield %e_1 : f32
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : f32, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// Negated, scaled and divided by what is free of the span, combined with its like; counts fold too.
tile.kernel @scaled(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %w: memref<?xf32> {tile.name = "w", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>},
    %n: memref<?xi64> {tile.name = "n", tile.type = "i64", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %b_1 = tile.broadcast %c0 : i64 to tensor<?xi64, #tile.axes<"i">>
    %tw = tile.load %w at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    %r:2 = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>, %arg_1 = %b_1 : tensor<?xi64, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %u = arith.negf %s : tensor<?xf32, #tile.axes<"i">>
      %e = arith.mulf %u, %tw : tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.subf %e, %s : tensor<?xf32, #tile.axes<"i">>
      %e_2 = arith.divf %e_1, %tw : tensor<?xf32, #tile.axes<"i">>
      %e_3 = arith.addf %arg, %e_2 : tensor<?xf32, #tile.axes<"i">>
      %e_4 = arith.subf %e_3, %s : tensor<?xf32, #tile.axes<"i">>
      %n_1 = tile.count %k : !tile.span<"k"> -> i64
      %b_2 = tile.broadcast %n_1 : i64 to tensor<?xi64, #tile.axes<"i">>
      %e_5 = arith.addi %arg_1, %b_2 : tensor<?xi64, #tile.axes<"i">>
      tile.yield %e_4, %e_5 : tensor<?xf32, #tile.axes<"i">>, tensor<?xi64, #tile.axes<"i">>
    }
    tile.store %r#0, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    tile.store %r#1, %n at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xi64, #tile.axes<"i">>, memref<?xi64>, (!tile.span<"i">)
  }
  tile.return
}

// Blocks of a `sequential` loop have a meaning of their own: any recurrence.
tile.kernel @running(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K] -> (M, K)>},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K] -> (M)>})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for sequential %k = "k" %c0 to %K by 4 iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k", 4>) -> tensor<?x4xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x4xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %e = arith.mulf %arg, %arg : tensor<?xf32, #tile.axes<"i">>
      %u = math.exp %s : tensor<?xf32, #tile.axes<"i">>
      %e_1 = arith.addf %e, %u : tensor<?xf32, #tile.axes<"i">>
      tile.yield %e_1 : tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %r, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// In an update each span in scope is an index axis or reduced.
tile.kernel @update_in_loop(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K, D] -> (M, K)>},
    %q: memref<?xf32> {tile.name = "q", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[M, K, D] -> (M)>},
    %c: memref<?xf32> {tile.name = "c", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<max>, tile.shape = affine_map<()[M, K, D] -> (K)>})
    attributes {dims = ["M", "K", "D"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    tile.for fold %k = "k" %c0 to %K {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      tile.update <add> %s, %q at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
      %s_1 = tile.reduce <max> %tx over ["i"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"k">>
      tile.update <max> %s_1, %c at affine_map<(d0) -> (d0)>(%k)[] : tensor<?xf32, #tile.axes<"k">>, memref<?xf32>, (!tile.span<"k">)
      tile.yield
    }
  }
  tile.return
}

tile.kernel @folded_under_if(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = affine_map<()[M, K, R] -> (M, K)>},
    %flag: i1 {tile.name = "flag", tile.type = "bool", tile.mode = "in"},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = affine_map<()[M, K, R] -> (M)>})
    attributes {dims = ["M", "K", "R"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f32_0_0 = arith.constant 0.0 : f32
    %b = tile.broadcast %f32_0_0 : f32 to tensor<?xf32, #tile.axes<"i">>
    %r = tile.for fold %k = "k" %c0 to %K iter_args(%arg = %b : tensor<?xf32, #tile.axes<"i">>) {
      %tx = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %v = scf.if %flag -> (tensor<?xf32, #tile.axes<"i">>) {
        %s = tile.reduce <add> %tx over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
        %e = arith.addf %arg, %s : tensor<?xf32, #tile.axes<"i">>
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
