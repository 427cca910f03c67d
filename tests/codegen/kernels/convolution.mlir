// 3×3 windows, stride 2, padded by 1; the accumulator goes through three loops.
// types: f32 f16
// dims: B=1,2 H=1,0,5,9 W=1,4,7,20 C=1,3,8,20 F=1,5,17,40
// sizes: p=1,2,3 q=2,1,4,16 f=3,1,16,40 c=2,1,4,64
// tolerance: 1e-4
// runs: 8
#x = affine_map<()[b, h, w, c, f] -> (b, h, w, c)>
#w = affine_map<()[b, h, w, c, f] -> (3, 3, c, f)>
#y = affine_map<()[b, h, w, c, f] -> (b, (h + 1) floordiv 2, (w + 1) floordiv 2, f)>
!pqf = tensor<?x?x?xf32, #tile.axes<"p", "q", "f">>
!pqc = tensor<?x?x?x$T, #tile.axes<"p", "q", "c">>
!cf = tensor<?x?x$T, #tile.axes<"c", "f">>
tile.kernel @convolution(
    %x: memref<?x?x?x?x$T> {tile.name = "x", tile.type = "$T", tile.mode = "in", tile.shape = #x},
    %w: memref<3x3x?x?x$T> {tile.name = "w", tile.type = "$T", tile.mode = "in", tile.shape = #w},
    %y: memref<?x?x?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = #y})
    attributes {dims = ["B", "H", "W", "C", "F"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %B = tile.dim "B"
  %H = tile.dim "H"
  %W = tile.dim "W"
  %C = tile.dim "C"
  %F = tile.dim "F"
  %H1 = arith.addi %H, %c1 : i64
  %W1 = arith.addi %W, %c1 : i64
  %P = tile.div %H1, %c2 : i64
  %Q = tile.div %W1, %c2 : i64
  tile.parallel (%n = each "n" %c0 to %B, %p = tiles "p" %c0 to %P, %q = tiles "q" %c0 to %Q, %f = tiles "f" %c0 to %F) {
    %zero = arith.constant 0.0 : f32
    %pad = arith.constant 0.0 : $T
    %init = tile.broadcast %zero : f32 to !pqf
    %acc = scf.for %r = %c0 to %c3 step %c1 iter_args(%a0 = %init) -> (!pqf) : i64 {
      %row = scf.for %s = %c0 to %c3 step %c1 iter_args(%a1 = %a0) -> (!pqf) : i64 {
        %sum = tile.for fold %c = "c" %c0 to %C iter_args(%a2 = %a1 : !pqf) {
          %tx = tile.load %x at affine_map<(d0, d1, d2)[s0, s1, s2] -> (s0, d0 * 2 + s1 - 1, d1 * 2 + s2 - 1, d2)>(%p, %q, %c)[%n, %r, %s] <pad> else %pad : memref<?x?x?x?x$T>, (!tile.span<"p">, !tile.span<"q">, !tile.span<"c">), $T -> !pqc
          %tw = tile.load %w at affine_map<(d0, d1)[s0, s1] -> (s0, s1, d0, d1)>(%c, %f)[%r, %s] <exact> : memref<3x3x?x?x$T>, (!tile.span<"c">, !tile.span<"f">) -> !cf
          %d = tile.dot %tx, %tw over "c" acc %a2 : !pqc, !cf -> !pqf
          tile.yield %d : !pqf
        }
        scf.yield %sum : !pqf
      }
      scf.yield %row : !pqf
    }
    tile.store %acc, %y at affine_map<(d0, d1, d2)[s0] -> (s0, d0, d1, d2)>(%p, %q, %f)[%n] : !pqf, memref<?x?x?x?xf32>, (!tile.span<"p">, !tile.span<"q">, !tile.span<"f">)
  }
  tile.return
}
