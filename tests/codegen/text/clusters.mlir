// RUN: tile-translate --tile-gpu-to-ptx -split-input-file %s | FileCheck %s

// A row in two blocks: what each has folded is sent to both, once.

// CHECK: // norm: {{.*}}, 2 blocks a program
// CHECK: mbarrier.init
// CHECK: barrier.cluster.wait
// CHECK-COUNT-2: st.async
// CHECK-NOT: st.async
// CHECK: mbarrier.try_wait
tile.kernel @norm(
    %x: memref<?x65536xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 65536)>},
    %y: memref<?x65536xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, 65536)>})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 65536 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c1 : !tile.span<"n", 65536>
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %n) [] <exact> : memref<?x65536xf32>, (!tile.span<"i", 1>, !tile.span<"n", 65536>) -> tensor<1x65536xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <add> %t over ["n"] : tensor<1x65536xf32, #tile.axes<"i", "n">> -> tensor<1xf32, #tile.axes<"i">>
    %b = tile.broadcast %s : tensor<1xf32, #tile.axes<"i">> to tensor<1x65536xf32, #tile.axes<"i", "n">>
    %d = arith.divf %t, %b : tensor<1x65536xf32, #tile.axes<"i", "n">>
    tile.store %d, %y at affine_map<(i, n) -> (i, n)>(%i, %n) [] : tensor<1x65536xf32, #tile.axes<"i", "n">>, memref<?x65536xf32>, (!tile.span<"i", 1>, !tile.span<"n", 65536>)
  }
  tile.return
}

// -----

// Planes, in chunks of rows: each chunk has sums of its own, and what blocks send arrives once. So a
// program is one block; and chunks are as short as its registers want them.

// CHECK: // planes: 512 threads, {{[0-9]+}} bytes of shared memory; i = 1
// CHECK-NOT: st.async
#shape = affine_map<()[m] -> (m, 512, 512)>
#id = affine_map<(i, a, n) -> (i, a, n)>
tile.kernel @planes(
    %x: memref<?x512x512xf32> {tile.name = "x", tile.mode = "in", tile.shape = #shape},
    %y: memref<?x512x512xf32> {tile.name = "y", tile.mode = "out", tile.shape = #shape})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 512 : i64
  %M = tile.dim "M"
  %a = tile.axis %c0 to %c1 : !tile.span<"a", 512>
  %n = tile.axis %c0 to %c1 : !tile.span<"n", 512>
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at #id(%i, %a, %n) [] <exact> : memref<?x512x512xf32>, (!tile.span<"i", 1>, !tile.span<"a", 512>, !tile.span<"n", 512>) -> tensor<1x512x512xf32, #tile.axes<"i", "a", "n">>
    %s = tile.reduce <add> %t over ["n"] : tensor<1x512x512xf32, #tile.axes<"i", "a", "n">> -> tensor<1x512xf32, #tile.axes<"i", "a">>
    %b = tile.broadcast %s : tensor<1x512xf32, #tile.axes<"i", "a">> to tensor<1x512x512xf32, #tile.axes<"i", "a", "n">>
    %d = arith.divf %t, %b : tensor<1x512x512xf32, #tile.axes<"i", "a", "n">>
    tile.store %d, %y at #id(%i, %a, %n) [] : tensor<1x512x512xf32, #tile.axes<"i", "a", "n">>, memref<?x512x512xf32>, (!tile.span<"i", 1>, !tile.span<"a", 512>, !tile.span<"n", 512>)
  }
  tile.return
}
