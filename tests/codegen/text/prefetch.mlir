// RUN: tile-translate --tile-gpu-to-ptx -split-input-file %s | FileCheck %s

// Rows of programs to come are asked for as a whole: an instruction takes what begins at a multiple of 16 bytes,
// and is one. Rows of a tensor whose rows are longer by an element begin anywhere: what lies between such places.

// CHECK-LABEL: .entry whole_rows(
// CHECK: cp.async.bulk.prefetch.L2.global [%{{.*}}], 32768;
#square = affine_map<()[m] -> (m, 8192)>
#id = affine_map<(i, n) -> (i, n)>
tile.kernel @whole_rows(
    %x: memref<?x8192xf32> {tile.name = "x", tile.mode = "in", tile.shape = #square},
    %y: memref<?x8192xf32> {tile.name = "y", tile.mode = "out", tile.shape = #square})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c8192 = arith.constant 8192 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c8192 : !tile.span<"n", 8192>
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at #id(%i, %n) [] <exact> : memref<?x8192xf32>, (!tile.span<"i", 1>, !tile.span<"n", 8192>) -> tensor<1x8192xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <add> %t over ["n"] : tensor<1x8192xf32, #tile.axes<"i", "n">> -> tensor<1xf32, #tile.axes<"i">>
    %b = tile.broadcast %s : tensor<1xf32, #tile.axes<"i">> to tensor<1x8192xf32, #tile.axes<"i", "n">>
    %d = arith.subf %t, %b : tensor<1x8192xf32, #tile.axes<"i", "n">>
    tile.store %d, %y at #id(%i, %n) [] : tensor<1x8192xf32, #tile.axes<"i", "n">>, memref<?x8192xf32>, (!tile.span<"i", 1>, !tile.span<"n", 8192>)
  }
  tile.return
}

// -----

// CHECK-LABEL: .entry parts_of_rows(
// CHECK: and.b64 %[[UP:rd[0-9]+]], %{{.*}}, -16;
// CHECK: cp.async.bulk.prefetch.L2.global [%[[UP]]], 32752;
#wide = affine_map<()[m] -> (m, 8193)>
#square = affine_map<()[m] -> (m, 8192)>
#id = affine_map<(i, n) -> (i, n)>
tile.kernel @parts_of_rows(
    %x: memref<?x8193xf32> {tile.name = "x", tile.mode = "in", tile.shape = #wide},
    %y: memref<?x8192xf32> {tile.name = "y", tile.mode = "out", tile.shape = #square})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c8192 = arith.constant 8192 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c8192 : !tile.span<"n", 8192>
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at #id(%i, %n) [] <exact> : memref<?x8193xf32>, (!tile.span<"i", 1>, !tile.span<"n", 8192>) -> tensor<1x8192xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <add> %t over ["n"] : tensor<1x8192xf32, #tile.axes<"i", "n">> -> tensor<1xf32, #tile.axes<"i">>
    %b = tile.broadcast %s : tensor<1xf32, #tile.axes<"i">> to tensor<1x8192xf32, #tile.axes<"i", "n">>
    %d = arith.subf %t, %b : tensor<1x8192xf32, #tile.axes<"i", "n">>
    tile.store %d, %y at #id(%i, %n) [] : tensor<1x8192xf32, #tile.axes<"i", "n">>, memref<?x8192xf32>, (!tile.span<"i", 1>, !tile.span<"n", 8192>)
  }
  tile.return
}

// -----

// An axis of limited length: how long it is, and where rows begin, is not known before the launch.
// CHECK-LABEL: .entry limited_rows(
// CHECK-NOT: cp.async.bulk.prefetch
#rows = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(i, n) -> (i, n)>
tile.kernel @limited_rows(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #rows},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #rows})
    attributes {dims = ["M", "N"], tile.limits = {N = 8192 : i64}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"n">
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at #id(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 1>, !tile.span<"n">) -> tensor<1x?xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <add> %t over ["n"] : tensor<1x?xf32, #tile.axes<"i", "n">> -> tensor<1xf32, #tile.axes<"i">>
    %b = tile.broadcast %s : tensor<1xf32, #tile.axes<"i">> to tensor<1x?xf32, #tile.axes<"i", "n">>
    %d = arith.subf %t, %b : tensor<1x?xf32, #tile.axes<"i", "n">>
    tile.store %d, %y at #id(%i, %n) [] : tensor<1x?xf32, #tile.axes<"i", "n">>, memref<?x?xf32>, (!tile.span<"i", 1>, !tile.span<"n">)
  }
  tile.return
}
