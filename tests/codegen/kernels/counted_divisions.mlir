// Quotients and remainders of coordinates by numbers that a launch knows: more or fewer than a
// vector has lanes, 0 and less, and the greatest; of coordinates below 0 and of those that the last
// integers turn into; where they are stored, in front of a loop over another axis and in rows that
// a product takes across; and in conditions.
// types: f32 f64 bf16 f16
// dims: N=1,0,5,15,16,17,40,100 K=1,0,2,3,15,16,17,40
// sizes: i=64,1,16,32,7
// range s: -40 .. 40
// range t: -20 .. 40
// runs: 12
#n = affine_map<()[n, k] -> (n)>
#nk = affine_map<()[n, k] -> (n, k)>
!ik = tensor<?x?x$T, #tile.axes<"i", "K">>
!jk = tensor<?x?x$T, #tile.axes<"J", "K">>
!i = tensor<?x$T, #tile.axes<"i">>
tile.kernel @counted_divisions(
    %x: memref<?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %w: memref<?x?x$T> {tile.name = "w", tile.mode = "in", tile.shape = #nk},
    %s: i64 {tile.name = "s", tile.mode = "in"},
    %t: i64 {tile.name = "t", tile.mode = "in"},
    %y: memref<?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #n},
    %z: memref<?x$T> {tile.name = "z", tile.mode = "out", tile.shape = #n},
    %u: memref<?x$T> {tile.name = "u", tile.mode = "out", tile.shape = #n},
    %v: memref<?x$T> {tile.name = "v", tile.mode = "out", tile.shape = #n},
    %q: memref<?x$T> {tile.name = "q", tile.mode = "out", tile.shape = #n},
    %r: memref<?x$T> {tile.name = "r", tile.mode = "out", tile.shape = #n},
    %o: memref<?x$T> {tile.name = "o", tile.mode = "out", tile.shape = #n},
    %p: memref<?x?x$A> {tile.name = "p", tile.mode = "out", tile.shape = affine_map<()[n, k] -> (n, n)>})
    attributes {dims = ["N", "K"]} {
  %c0 = arith.constant 0 : i64
  %most = arith.constant 9223372036854775770 : i64
  %none = arith.constant 7.0 : $T
  %greatest = arith.constant 9223372036854775807 : i64
  %N = tile.dim "N"
  %K = tile.dim "K"
  %k = tile.axis %c0 to %K : !tile.span<"K">
  %high = arith.addi %most, %s : i64
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %turned = tile.load %x at affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)>(%i)[%s, %N] <clamp> : memref<?x$T>, (!tile.span<"i">) -> !i
    tile.store %turned, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %rest = tile.load %x at affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)>(%i)[%s, %t] <pad> else %none : memref<?x$T>, (!tile.span<"i">), $T -> !i
    tile.store %rest, %z at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %part = tile.load %x at affine_map<(d0)[s0, s1] -> ((d0 + s0) floordiv s1)>(%i)[%s, %t] <pad> else %none : memref<?x$T>, (!tile.span<"i">), $T -> !i
    tile.store %part, %u at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %last = tile.load %x at affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)>(%i)[%high, %N] <pad> else %none : memref<?x$T>, (!tile.span<"i">), $T -> !i
    %far = tile.load %x at affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)>(%i)[%s, %greatest] <pad> else %none : memref<?x$T>, (!tile.span<"i">), $T -> !i
    tile.store %far, %q at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    tile.store %last, %v at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %rows = tile.load %w at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"K">) -> !ik
    %factors = tile.broadcast %turned : !i to !ik
    %others = tile.load %w at affine_map<(d0, d1)[s0, s1] -> ((d0 + s0) mod s1, d1)>(%i, %k)[%s, %N] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"K">) -> !ik
    %sums = arith.addf %rows, %others : !ik
    %products = arith.mulf %sums, %factors : !ik
    %most_of = tile.reduce <max> %products over ["K"] : !ik -> !i
    tile.store %most_of, %r at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %round = tile.load %x at affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)>(%i)[%s, %N] <exact> : memref<?x$T>, (!tile.span<"i">) -> !i
    %third = tile.load %x at affine_map<(d0) -> (d0 floordiv 3)>(%i)[] <exact> : memref<?x$T>, (!tile.span<"i">) -> !i
    %behind = tile.load %x at affine_map<(d0)[s0, s1, s2] -> ((d0 + s0) mod s1 + s2)>(%i)[%s, %t, %t] <pad> else %none : memref<?x$T>, (!tile.span<"i">), $T -> !i
    %two = arith.addf %round, %third : !i
    %three = arith.addf %two, %behind : !i
    tile.store %three, %o at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %j = tile.axis %c0 to %N : !tile.span<"J">
    %own = tile.load %w at affine_map<(d0, d1) -> (d0, d1)>(%j, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"J">, !tile.span<"K">) -> !jk
    %next = tile.load %w at affine_map<(d0, d1)[s0, s1] -> (d0, (d1 + s0) mod s1)>(%j, %k)[%s, %K] <exact> : memref<?x?x$T>, (!tile.span<"J">, !tile.span<"K">) -> !jk
    %both = arith.addf %own, %next : !jk
    %zero = arith.constant $Z : $A
    %init = tile.broadcast %zero : $A to tensor<?x?x$A, #tile.axes<"i", "J">>
    %product = tile.dot %rows, %both over "K" acc %init : !ik, !jk -> tensor<?x?x$A, #tile.axes<"i", "J">>
    tile.store %product, %p at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] : tensor<?x?x$A, #tile.axes<"i", "J">>, memref<?x?x$A>, (!tile.span<"i">, !tile.span<"J">)
  }
  tile.return
}
