// RUN: tile-opt %s -tile-inline-producers | FileCheck %s

// Two kernels in which elements of a row meet. Blocks that both want of one size have it in the kernel of both; where
// they want others, neither knows what the other needs, and the target chooses.

// CHECK-LABEL: tile.graph @alike
// CHECK-LABEL: tile.graph @otherwise
// CHECK: tile.kernel @many.four({{.*}}schedule = {}
// CHECK: tile.kernel @four.also_four({{.*}}schedule = {i = 4{{.*}}}

#id = affine_map<(d0, d1) -> (d0, d1)>
!in = tensor<?x?xf32, #tile.axes<"i", "N">>

module {
  tile.graph @alike(%x: tensor<?x?xf32> {tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) -> (tensor<?x?xf32> {tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %t = tile.call @four(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %y = tile.call @also_four(%t) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    tile.return %y : tensor<?x?xf32>
  }
  tile.graph @otherwise(%x: tensor<?x?xf32> {tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) -> (tensor<?x?xf32> {tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %t = tile.call @many(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %y = tile.call @four(%t) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    tile.return %y : tensor<?x?xf32>
  }
  tile.kernel @four(%x: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %y: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"], schedule = {i = 4}} {
    %M = tile.dim "M"
    %N = tile.dim "N"
    %c0 = arith.constant 0 : i64
    %n = tile.axis %c0 to %N : <"N">
    tile.parallel (%i = tiles "i" %c0 to %M) {
      %row = tile.load %x at #id(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> !in
      %sum = tile.reduce <add> %row over ["N"] : !in -> tensor<?xf32, #tile.axes<"i">>
      %all = tile.broadcast %sum : tensor<?xf32, #tile.axes<"i">> to !in
      %share = arith.divf %row, %all : !in
      tile.store %share, %y at #id(%i, %n) [] : !in, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
    }
    tile.return
  }
  tile.kernel @also_four(%x: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %y: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"], schedule = {i = 4}} {
    %M = tile.dim "M"
    %N = tile.dim "N"
    %c0 = arith.constant 0 : i64
    %n = tile.axis %c0 to %N : <"N">
    tile.parallel (%i = tiles "i" %c0 to %M) {
      %row = tile.load %x at #id(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> !in
      %sum = tile.reduce <add> %row over ["N"] : !in -> tensor<?xf32, #tile.axes<"i">>
      %all = tile.broadcast %sum : tensor<?xf32, #tile.axes<"i">> to !in
      %share = arith.divf %row, %all : !in
      tile.store %share, %y at #id(%i, %n) [] : !in, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
    }
    tile.return
  }
  tile.kernel @many(%x: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %y: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"], schedule = {i = 32}} {
    %M = tile.dim "M"
    %N = tile.dim "N"
    %c0 = arith.constant 0 : i64
    %n = tile.axis %c0 to %N : <"N">
    tile.parallel (%i = tiles "i" %c0 to %M) {
      %row = tile.load %x at #id(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> !in
      %sum = tile.reduce <add> %row over ["N"] : !in -> tensor<?xf32, #tile.axes<"i">>
      %all = tile.broadcast %sum : tensor<?xf32, #tile.axes<"i">> to !in
      %share = arith.divf %row, %all : !in
      tile.store %share, %y at #id(%i, %n) [] : !in, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
    }
    tile.return
  }
}
