// RUN: tile-opt %s -tile-summaries=json -o /dev/null | FileCheck %s

// A summary for programs. Points are named by positions in the space.

// CHECK: "accesses": [
// CHECK-NEXT: {
// CHECK-NEXT: "data": [],
// CHECK-NEXT: "element": [
// CHECK-NEXT: "i",
// CHECK-NEXT: "j"
// CHECK-NEXT: ],
// CHECK-NEXT: "kind": "read",
// CHECK-NEXT: "outside": "inside",
// CHECK-NEXT: "over": [
// CHECK-NEXT: 0,
// CHECK-NEXT: 1
// CHECK-NEXT: ],
// CHECK-NEXT: "parameter": 0,
// CHECK-NEXT: "place": "summaries-json.mlir:{{[0-9]+}}:{{[0-9]+}}",
// CHECK-NEXT: "precision": "exact",
// CHECK-NEXT: "reasons": [],
// CHECK-NEXT: "tensor": "x",
// CHECK-NEXT: "text": "x[i, j]",
// CHECK-NEXT: "type": "f32",
// CHECK-NEXT: "where": [
// CHECK-NEXT: "j <= i"
// CHECK-NEXT: ]
// CHECK: "precision": "over-approximate",
// CHECK-NEXT: "reasons": [
// CHECK-NEXT: "blocks of `j` are skipped where `j <= i` holds nowhere"
// CHECK: "dims": [
// CHECK-NEXT: "M"
// CHECK-NEXT: ],
// CHECK-NEXT: "effects": [],
// CHECK-NEXT: "grid": false,
// CHECK-NEXT: "kernel": "causal",
// CHECK-NEXT: "parameters": [
// CHECK: "mode": "in",
// CHECK-NEXT: "name": "x",
// CHECK-NEXT: "shape": [
// CHECK-NEXT: "M",
// CHECK-NEXT: "M"
// CHECK: "space": [
// CHECK: "cut": "fold",
// CHECK-NEXT: "kind": "loop",
// CHECK-NEXT: "lower": "0",
// CHECK-NEXT: "name": "j",
// CHECK-NEXT: "roles": [
// CHECK-NEXT: "reduce(sum)"
// CHECK-NEXT: ],
// CHECK-NEXT: "upper": "M"

module {
  tile.kernel @causal(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0, s0)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "in", tile.name = "v", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}, %arg2: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M"]} {
    %0 = tile.dim "M"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0) {
      %cst = arith.constant 0.000000e+00 : f32
      %1 = tile.broadcast %cst : f32 to tensor<?xf32, #tile.axes<"i">>
      %c0_i64_0 = arith.constant 0 : i64
      %2 = tile.for fold %arg4 = "j" %c0_i64_0 to %0 iter_args(%arg5 = %1 : tensor<?xf32, #tile.axes<"i">>) {
        %3 = tile.coords %arg4 : <"j"> -> tensor<?xi64, #tile.axes<"j">>
        %4 = tile.coords %arg3 : <"i"> -> tensor<?xi64, #tile.axes<"i">>
        %5 = tile.broadcast %3 : tensor<?xi64, #tile.axes<"j">> to tensor<?x?xi64, #tile.axes<"j", "i">>
        %6 = tile.broadcast %4 : tensor<?xi64, #tile.axes<"i">> to tensor<?x?xi64, #tile.axes<"j", "i">>
        %7 = arith.cmpi sle, %5, %6 : tensor<?x?xi64, #tile.axes<"j", "i">>
        tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%arg3, %arg4) [] : !tile.span<"i">, !tile.span<"j">
        %8 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
        %9 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg4) [] <exact> : memref<?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
        %10 = tile.broadcast %9 : tensor<?xf32, #tile.axes<"j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
        %11 = arith.mulf %8, %10 : tensor<?x?xf32, #tile.axes<"i", "j">>
        %12 = tile.reduce <add> %11 over ["j"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
        %13 = arith.addf %arg5, %12 : tensor<?xf32, #tile.axes<"i">>
        tile.yield %13 : tensor<?xf32, #tile.axes<"i">>
      }
      tile.store %2, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
    }
    tile.return
  }
}
