// Atomic operations on integers.
// types: i32 i64
// dims: N=0,1,7,40
// runs: 10
#n = affine_map<()[n] -> (n)>
#at = affine_map<(d0)[s0] -> (d0 + s0 * 8)>
#p = affine_map<()[s0] -> (s0)>
!i = tensor<8x$T, #tile.axes<"i">>
!span = !tile.span<"i", 8>
tile.kernel @atomics_integers(
    %x: memref<?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %z: memref<?x$T> {tile.name = "z", tile.mode = "in", tile.shape = #n},
    %add: memref<?x$T> {tile.name = "add", tile.mode = "inout", tile.shape = #n},
    %max: memref<?x$T> {tile.name = "max", tile.mode = "inout", tile.shape = #n},
    %min: memref<?x$T> {tile.name = "min", tile.mode = "inout", tile.shape = #n},
    %umax: memref<?x$T> {tile.name = "umax", tile.mode = "inout", tile.shape = #n},
    %umin: memref<?x$T> {tile.name = "umin", tile.mode = "inout", tile.shape = #n},
    %and: memref<?x$T> {tile.name = "and", tile.mode = "inout", tile.shape = #n},
    %or: memref<?x$T> {tile.name = "or", tile.mode = "inout", tile.shape = #n},
    %xor: memref<?x$T> {tile.name = "xor", tile.mode = "inout", tile.shape = #n},
    %exchange: memref<?x$T> {tile.name = "exchange", tile.mode = "inout", tile.shape = #n},
    %cas: memref<?x$T> {tile.name = "cas", tile.mode = "inout", tile.shape = #n},
    %add_old: memref<?x$T> {tile.name = "add_old", tile.mode = "out", tile.shape = #n},
    %max_old: memref<?x$T> {tile.name = "max_old", tile.mode = "out", tile.shape = #n},
    %min_old: memref<?x$T> {tile.name = "min_old", tile.mode = "out", tile.shape = #n},
    %umax_old: memref<?x$T> {tile.name = "umax_old", tile.mode = "out", tile.shape = #n},
    %umin_old: memref<?x$T> {tile.name = "umin_old", tile.mode = "out", tile.shape = #n},
    %and_old: memref<?x$T> {tile.name = "and_old", tile.mode = "out", tile.shape = #n},
    %or_old: memref<?x$T> {tile.name = "or_old", tile.mode = "out", tile.shape = #n},
    %xor_old: memref<?x$T> {tile.name = "xor_old", tile.mode = "out", tile.shape = #n},
    %exchange_old: memref<?x$T> {tile.name = "exchange_old", tile.mode = "out", tile.shape = #n},
    %cas_old: memref<?x$T> {tile.name = "cas_old", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %c7 = arith.constant 7 : i64
  %c8 = arith.constant 8 : i64
  %N = tile.dim "N"
  %more = arith.addi %N, %c7 : i64
  %blocks = tile.div %more, %c8 : i64
  tile.parallel grid (%p = each "p" %c0 to %blocks) {
    %i = tile.axis %c0 to %c8 : !span
    tile.restrict affine_set<(d0)[s0, s1] : (s1 - d0 - s0 * 8 - 1 >= 0)>(%i)[%p, %N] : !span
    %v = tile.load %x at #at(%i)[%p] <exact> : memref<?x$T>, (!span) -> !i
    %w = tile.load %z at #at(%i)[%p] <exact> : memref<?x$T>, (!span) -> !i
    %radd = tile.atomic <add> <relaxed> %v, %add at #at(%i)[%p] : !i, memref<?x$T>, (!span) -> !i
    %rmax = tile.atomic <max> <relaxed> %v, %max at #at(%i)[%p] : !i, memref<?x$T>, (!span) -> !i
    %rmin = tile.atomic <min> <relaxed> %v, %min at #at(%i)[%p] : !i, memref<?x$T>, (!span) -> !i
    %rumax = tile.atomic <umax> <relaxed> %v, %umax at #at(%i)[%p] : !i, memref<?x$T>, (!span) -> !i
    %rumin = tile.atomic <umin> <relaxed> %v, %umin at #at(%i)[%p] : !i, memref<?x$T>, (!span) -> !i
    %rand = tile.atomic <and> <relaxed> %v, %and at #at(%i)[%p] : !i, memref<?x$T>, (!span) -> !i
    %ror = tile.atomic <or> <relaxed> %v, %or at #at(%i)[%p] : !i, memref<?x$T>, (!span) -> !i
    %rxor = tile.atomic <xor> <relaxed> %v, %xor at #at(%i)[%p] : !i, memref<?x$T>, (!span) -> !i
    %rexchange = tile.atomic <exchange> <relaxed> %v, %exchange at #at(%i)[%p] : !i, memref<?x$T>, (!span) -> !i
    %there = tile.load %cas at #at(%i)[%p] <exact> : memref<?x$T>, (!span) -> !i
    %coords = tile.coords %i : !span -> tensor<8xi64, #tile.axes<"i">>
    %threes = tile.broadcast %c3 : i64 to tensor<8xi64, #tile.axes<"i">>
    %zeros = tile.broadcast %c0 : i64 to tensor<8xi64, #tile.axes<"i">>
    %rest = tile.rem %coords, %threes : tensor<8xi64, #tile.axes<"i">>
    %pick = arith.cmpi eq, %rest, %zeros : tensor<8xi64, #tile.axes<"i">>
    %expected = arith.select %pick, %w, %there : tensor<8xi1, #tile.axes<"i">>, !i
    %rcas = tile.atomic <cas> <acq_rel> %v if %expected, %cas at #at(%i)[%p] : !i if !i, memref<?x$T>, (!span) -> !i
    tile.store %radd, %add_old at #at(%i)[%p] : !i, memref<?x$T>, (!span)
    tile.store %rmax, %max_old at #at(%i)[%p] : !i, memref<?x$T>, (!span)
    tile.store %rmin, %min_old at #at(%i)[%p] : !i, memref<?x$T>, (!span)
    tile.store %rumax, %umax_old at #at(%i)[%p] : !i, memref<?x$T>, (!span)
    tile.store %rumin, %umin_old at #at(%i)[%p] : !i, memref<?x$T>, (!span)
    tile.store %rand, %and_old at #at(%i)[%p] : !i, memref<?x$T>, (!span)
    tile.store %ror, %or_old at #at(%i)[%p] : !i, memref<?x$T>, (!span)
    tile.store %rxor, %xor_old at #at(%i)[%p] : !i, memref<?x$T>, (!span)
    tile.store %rexchange, %exchange_old at #at(%i)[%p] : !i, memref<?x$T>, (!span)
    tile.store %rcas, %cas_old at #at(%i)[%p] : !i, memref<?x$T>, (!span)
  }
  tile.return
}
