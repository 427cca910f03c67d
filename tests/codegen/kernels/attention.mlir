// Online softmax, causal unless `full`.
// dims: S=1,0,3,4,17,40 L=1,0,3,4,8,33,70 D=1,3,4,16,20
// sizes: i=2,1,5,16 j=3,1,8,16,64
// special: v
// tolerance: 5e-5
// runs: 24
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
}
