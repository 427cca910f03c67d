// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Short rows of a product between which those of other programs lie are read ahead by no core: the program before
// asks for them, as far away as the next head is, and where there is one head the next block.
// CHECK-LABEL: define internal void @apart.body(
// CHECK: call void @llvm.prefetch
// CHECK: ret void
#shd = affine_map<()[s, h, d] -> (s, h, d)>
#hsd = affine_map<()[s, h, d] -> (h, s, d)>
!id = tensor<8x?xf32, #tile.axes<"i", "D">>
!i = tensor<8xf32, #tile.axes<"i">>
tile.kernel @apart(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #shd},
    %v: memref<?xf32> {tile.name = "v", tile.mode = "in", tile.shape = affine_map<()[s, h, d] -> (d)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[s, h, d] -> (h, s)>})
    attributes {dims = ["S", "H", "D"]} {
  %c0 = arith.constant 0 : i64
  %S = tile.dim "S"
  %H = tile.dim "H"
  %D = tile.dim "D"
  %d = tile.axis %c0 to %D : !tile.span<"D">
  tile.parallel (%h = each "h" %c0 to %H, %i = tiles "i" %c0 to %S by 8) {
    %t = tile.load %x at affine_map<(d0, d1)[s0] -> (d0, s0, d1)>(%i, %d)[%h] <exact> : memref<?x?x?xf32>, (!tile.span<"i", 8>, !tile.span<"D">) -> !id
    %w = tile.load %v at affine_map<(d0) -> (d0)>(%d)[] <exact> : memref<?xf32>, (!tile.span<"D">) -> tensor<?xf32, #tile.axes<"D">>
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero : f32 to !i
    %p = tile.dot %t, %w over "D" acc %init : !id, tensor<?xf32, #tile.axes<"D">> -> !i
    tile.store %p, %y at affine_map<(d0)[s0] -> (s0, d0)>(%i)[%h] : !i, memref<?x?xf32>, (!tile.span<"i", 8>)
  }
  tile.return
}

// -----

// Rows that follow each other come by themselves.
// CHECK-LABEL: define internal void @together.body(
// CHECK-NOT: call void @llvm.prefetch
// CHECK: ret void
#hsd = affine_map<()[s, l, h, d] -> (h, s, d)>
#hld = affine_map<()[s, l, h, d] -> (h, l, d)>
#hsl = affine_map<()[s, l, h, d] -> (h, s, l)>
!id = tensor<8x?xf32, #tile.axes<"i", "D">>
!ld = tensor<?x?xf32, #tile.axes<"L", "D">>
!il = tensor<8x?xf32, #tile.axes<"i", "L">>
tile.kernel @together(
    %q: memref<?x?x?xf32> {tile.name = "q", tile.mode = "in", tile.shape = #hsd},
    %k: memref<?x?x?xf32> {tile.name = "k", tile.mode = "in", tile.shape = #hld},
    %y: memref<?x?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #hsl})
    attributes {dims = ["S", "L", "H", "D"]} {
  %c0 = arith.constant 0 : i64
  %S = tile.dim "S"
  %L = tile.dim "L"
  %H = tile.dim "H"
  %D = tile.dim "D"
  %d = tile.axis %c0 to %D : !tile.span<"D">
  %l = tile.axis %c0 to %L : !tile.span<"L">
  tile.parallel (%h = each "h" %c0 to %H, %i = tiles "i" %c0 to %S by 8) {
    %t = tile.load %q at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%i, %d)[%h] <exact> : memref<?x?x?xf32>, (!tile.span<"i", 8>, !tile.span<"D">) -> !id
    %u = tile.load %k at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%l, %d)[%h] <exact> : memref<?x?x?xf32>, (!tile.span<"L">, !tile.span<"D">) -> !ld
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero : f32 to !il
    %p = tile.dot %t, %u over "D" acc %init : !id, !ld -> !il
    tile.store %p, %y at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%i, %l)[%h] : !il, memref<?x?x?xf32>, (!tile.span<"i", 8>, !tile.span<"L">)
  }
  tile.return
}

// -----

// Unless the program has more to do than to multiply: it asks for the next program's rows while it reads its own.
// CHECK-LABEL: define internal void @more_to_do.body(
// CHECK: call void @llvm.prefetch
// CHECK: call void @llvm.prefetch
// CHECK: ret void
#hsd = affine_map<()[s, l, h, d] -> (h, s, d)>
#hld = affine_map<()[s, l, h, d] -> (h, l, d)>
#hs = affine_map<()[s, l, h, d] -> (h, s)>
!id = tensor<8x?xf32, #tile.axes<"i", "D">>
!ld = tensor<?x?xf32, #tile.axes<"L", "D">>
!il = tensor<8x?xf32, #tile.axes<"i", "L">>
!i = tensor<8xf32, #tile.axes<"i">>
tile.kernel @more_to_do(
    %q: memref<?x?x?xf32> {tile.name = "q", tile.mode = "in", tile.shape = #hsd},
    %k: memref<?x?x?xf32> {tile.name = "k", tile.mode = "in", tile.shape = #hld},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #hs})
    attributes {dims = ["S", "L", "H", "D"]} {
  %c0 = arith.constant 0 : i64
  %S = tile.dim "S"
  %L = tile.dim "L"
  %H = tile.dim "H"
  %D = tile.dim "D"
  %d = tile.axis %c0 to %D : !tile.span<"D">
  %l = tile.axis %c0 to %L : !tile.span<"L">
  tile.parallel (%h = each "h" %c0 to %H, %i = tiles "i" %c0 to %S by 8) {
    %t = tile.load %q at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%i, %d)[%h] <exact> : memref<?x?x?xf32>, (!tile.span<"i", 8>, !tile.span<"D">) -> !id
    %u = tile.load %k at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%l, %d)[%h] <exact> : memref<?x?x?xf32>, (!tile.span<"L">, !tile.span<"D">) -> !ld
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero : f32 to !il
    %p = tile.dot %t, %u over "D" acc %init : !id, !ld -> !il
    %m = tile.reduce <max> %p over ["L"] : !il -> !i
    tile.store %m, %y at affine_map<(d0)[s0] -> (s0, d0)>(%i)[%h] : !i, memref<?x?xf32>, (!tile.span<"i", 8>)
  }
  tile.return
}

// -----

// What is multiplied with few rows is soon needed again by itself: the other operand alone is asked for.
// CHECK-LABEL: define internal void @few_rows.body(
// CHECK-COUNT-1: call void @llvm.prefetch
// CHECK-NOT: call void @llvm.prefetch
// CHECK: ret void
#hsd = affine_map<()[s, l, h, d] -> (h, s, d)>
#hld = affine_map<()[s, l, h, d] -> (h, l, d)>
#hs = affine_map<()[s, l, h, d] -> (h, s)>
!id = tensor<2x?xf32, #tile.axes<"i", "D">>
!ld = tensor<?x?xf32, #tile.axes<"L", "D">>
!il = tensor<2x?xf32, #tile.axes<"i", "L">>
!i = tensor<2xf32, #tile.axes<"i">>
tile.kernel @few_rows(
    %q: memref<?x?x?xf32> {tile.name = "q", tile.mode = "in", tile.shape = #hsd},
    %k: memref<?x?x?xf32> {tile.name = "k", tile.mode = "in", tile.shape = #hld},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #hs})
    attributes {dims = ["S", "L", "H", "D"]} {
  %c0 = arith.constant 0 : i64
  %S = tile.dim "S"
  %L = tile.dim "L"
  %H = tile.dim "H"
  %D = tile.dim "D"
  %d = tile.axis %c0 to %D : !tile.span<"D">
  %l = tile.axis %c0 to %L : !tile.span<"L">
  tile.parallel (%h = each "h" %c0 to %H, %i = tiles "i" %c0 to %S by 2) {
    %t = tile.load %q at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%i, %d)[%h] <exact> : memref<?x?x?xf32>, (!tile.span<"i", 2>, !tile.span<"D">) -> !id
    %u = tile.load %k at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%l, %d)[%h] <exact> : memref<?x?x?xf32>, (!tile.span<"L">, !tile.span<"D">) -> !ld
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero : f32 to !il
    %p = tile.dot %t, %u over "D" acc %init : !id, !ld -> !il
    %m = tile.reduce <max> %p over ["L"] : !il -> !i
    tile.store %m, %y at affine_map<(d0)[s0] -> (s0, d0)>(%i)[%h] : !i, memref<?x?xf32>, (!tile.span<"i", 2>)
  }
  tile.return
}
