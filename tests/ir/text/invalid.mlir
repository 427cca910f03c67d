// RUN: tile-opt %s -verify-diagnostics -split-input-file

// What the verifiers of the tile dialect refuse, one by one.

// expected-error@+1 {{has results; outputs are memref parameters}}
tile.kernel @k() -> f32 attributes {dims = []} {
  %s = arith.constant 0.0 : f32
  tile.parallel () {
  }
  tile.return %s : f32
}

// -----

// expected-error@+1 {{needs a body of one block}}
tile.kernel @k() attributes {dims = []}

// -----

// expected-error@+1 {{needs exactly one tile.parallel}}
tile.kernel @k() attributes {dims = []} {
  tile.return
}

// -----

// expected-error@+1 {{needs a tile.return without values at the end}}
tile.kernel @k() attributes {dims = []} {
  tile.parallel () {
  }
}

// -----

// expected-error@+1 {{needs a tile.return without values at the end}}
tile.kernel @k(%s: f32) attributes {dims = []} {
  tile.parallel () {
  }
  tile.return %s : f32
}

// -----

// expected-error@+1 {{needs a tile.return at the end}}
tile.graph @g(%x: f32) -> f32 attributes {dims = []} {
  %y = arith.negf %x : f32
}

// -----

// expected-error@+1 {{needs a tile.return at the end}}
"tile.graph"() ({
^bb0(%x: f32):
}) {sym_name = "g", dims = [], function_type = (f32) -> f32} : () -> ()

// -----

// expected-error@+1 {{needs exactly one tile.parallel}}
tile.kernel @k() attributes {dims = []} {
  tile.parallel () {
  }
  tile.parallel () {
  }
  tile.return
}

// -----

// expected-error@+1 {{parameter 1 is neither a memref nor a number}}
tile.kernel @k(%s: f32, %x: tensor<3xf32>) attributes {dims = []} {
  tile.parallel () {
  }
  tile.return
}

// -----

// expected-error@+1 {{parameter 0 needs a tile.shape over the kernel's dims, one result a dimension}}
tile.kernel @k(%x: memref<?xf32>) attributes {dims = []} {
  tile.parallel () {
  }
  tile.return
}

// -----

// The map has no symbol for the dim.
// expected-error@+1 {{parameter 0 needs a tile.shape over the kernel's dims, one result a dimension}}
tile.kernel @k(%x: memref<?xf32> {tile.shape = affine_map<() -> (3)>}) attributes {dims = ["N"]} {
  tile.parallel () {
  }
  tile.return
}

// -----

// expected-error@+1 {{parameter 0 needs a tile.shape over the kernel's dims, one result a dimension}}
tile.kernel @k(%x: memref<?x?xf32> {tile.shape = affine_map<()[n] -> (n)>}) attributes {dims = ["N"]} {
  tile.parallel () {
  }
  tile.return
}

// -----

// expected-error@+1 {{reduce parameter 0 needs a tile.reduce}}
tile.kernel @k(%x: memref<?xf32> {tile.mode = "reduce", tile.shape = affine_map<()[n] -> (n)>}) attributes {dims = ["N"]} {
  tile.parallel () {
  }
  tile.return
}

// -----

// expected-error@+1 {{returns other types than its signature says}}
tile.graph @g(%x: tensor<?xf32>) -> tensor<?xf64> attributes {dims = ["N"]} {
  tile.return %x : tensor<?xf32>
}

// -----

tile.graph @g(%x: tensor<?xf32>) -> tensor<?xf32> attributes {dims = ["N"]} {
  // expected-error@+1 {{callee @h is no kernel or graph}}
  %y = tile.call @h(%x) : (tensor<?xf32>) -> tensor<?xf32>
  tile.return %y : tensor<?xf32>
}

// -----

tile.graph @h(%x: tensor<?xf32>) -> tensor<?xf32> attributes {dims = ["N"]} {
  tile.return %x : tensor<?xf32>
}
tile.graph @g(%x: tensor<?xf32>) -> tensor<?xf32> attributes {dims = ["N"]} {
  // expected-error@+1 {{passes 2 inputs and takes 1 results; @h has 1 and 1}}
  %y = tile.call @h(%x, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  tile.return %y : tensor<?xf32>
}

// -----

tile.kernel @k() attributes {dims = ["N"]} {
  // expected-error@+1 {{names no dimension of its kernel}}
  %m = tile.dim "M"
  tile.parallel () {
  }
  tile.return
}

// -----

// expected-error@+1 {{names no dimension of its kernel}}
%m = tile.dim "M"

// -----

tile.kernel @k() attributes {dims = []} {
  %c0 = arith.constant 0 : i64
  // expected-error@+1 {{expected tiles or each}}
  tile.parallel (%i = blocks "i" %c0 to %c0) {
  }
  tile.return
}

// -----

tile.kernel @k() attributes {dims = []} {
  %c0 = arith.constant 0 : i64
  // expected-error@+1 {{binder "i" has a size that is not positive}}
  tile.parallel (%i = tiles "i" %c0 to %c0 by 0) {
  }
  tile.return
}

// -----

tile.kernel @k() attributes {dims = []} {
  %c0 = arith.constant 0 : i64
  // expected-error@+1 {{binder "i" has the wrong argument type}}
  "tile.parallel"(%c0, %c0) ({
  ^bb0(%i: !tile.span<"i", 5>):
  }) {names = ["i"], each = array<i1: false>, sizes = array<i64: 4>} : (i64, i64) -> ()
  tile.return
}

// -----

tile.kernel @k() attributes {dims = []} {
  %c0 = arith.constant 0 : i64
  // expected-error@+1 {{has binders of unequal numbers}}
  "tile.parallel"(%c0, %c0) ({
  ^bb0(%i: !tile.span<"i", 4>):
  }) {names = ["i", "j"], each = array<i1: false>, sizes = array<i64: 4>} : (i64, i64) -> ()
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{expected fold, reassociable or sequential}}
    tile.for parallel %k = "k" %c0 to %M {
      tile.yield
    }
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{has a size that is not positive}}
    tile.for fold %k = "k" %c0 to %M by -1 {
      tile.yield
    }
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{expects a non-empty block}}
    tile.for fold %k = "k" %c0 to %M {
    }
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{needs a tile.yield at the end}}
    "tile.for"(%c0, %M) ({
    ^bb0(%k: !tile.span<"k", 4>):
      %z = arith.constant 0 : i64
    }, {}) {name = "k", size = 4 : i64, kind = #tile.loop<fold>} : (i64, i64) -> ()
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{needs its span as first block argument}}
    "tile.for"(%c0, %M) ({
    ^bb0(%k: !tile.span<"k", 5>):
      tile.yield
    }, {}) {name = "k", size = 4 : i64, kind = #tile.loop<fold>} : (i64, i64) -> ()
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{carries values whose types differ between entry, body and result}}
    %r = tile.for fold %k = "k" %c0 to %M by 4 iter_args(%a = %s : f32) {
      tile.yield %t : tensor<4x8xf32, #tile.axes<"i", "j">>
    }
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    %w = tile.broadcast %s : f32 to tensor<4xf32, #tile.axes<"k">>
    // expected-error@+1 {{carries a value with its own span "k" as an axis}}
    %r = tile.for fold %k = "k" %c0 to %M by 4 iter_args(%a = %w : tensor<4xf32, #tile.axes<"k">>) {
      tile.yield %a : tensor<4xf32, #tile.axes<"k">>
    }
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{needs exactly one constraint}}
    tile.restrict affine_set<(d0) : (d0 >= 0, -d0 + 9 >= 0)>(%i)[] : !tile.span<"i", 4>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{has another number of operands than its constraint}}
    tile.restrict affine_set<(d0)[s0] : (d0 - s0 >= 0)>(%i)[] : !tile.span<"i", 4>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{restricts no span}}
    "tile.restrict"(%c0) {constraint = affine_set<()[s0] : (s0 >= 0)>, operandSegmentSizes = array<i32: 0, 1, 0>} : (i64) -> ()
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    %j = tile.axis %c0 to %M : <"j">
    %r = tile.for fold %k = "k" %c0 to %M by 8 iter_args(%a = %s : f32) {
      // expected-error@+1 {{restricts spans from outside of its loop}}
      tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%j, %i)[] : !tile.span<"j">, !tile.span<"i", 4>
      tile.yield %a : f32
    }
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{has another number of operands than its map}}
    %v = tile.load %x at #id(%i)[] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>) -> tensor<4xf32, #tile.axes<"i">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{maps to 1 indices; the tensor has 2 dimensions}}
    %v = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>) -> tensor<4xf32, #tile.axes<"i">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{loads 'tensor<4x8xf32, #tile.axes<"i", "j">>', not 'tensor<8x4xf32, #tile.axes<"j", "i">>'}}
    %v = tile.load %x at #id(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 8>) -> tensor<8x4xf32, #tile.axes<"j", "i">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{needs a pad value of the tensor's element type with `pad`, and only then}}
    %v = tile.load %x at #id(%i, %j)[] <pad> : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 8>) -> tensor<4x8xf32, #tile.axes<"i", "j">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{needs a pad value of the tensor's element type with `pad`, and only then}}
    %v = tile.load %x at #id(%i, %j)[] <pad> else %c0 : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 8>), i64 -> tensor<4x8xf32, #tile.axes<"i", "j">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{needs a pad value of the tensor's element type with `pad`, and only then}}
    %v = tile.load %x at #id(%i, %j)[] <clamp> else %s : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 8>), f32 -> tensor<4x8xf32, #tile.axes<"i", "j">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{stores another element type than the tensor's}}
    tile.store %c0, %y at #id(%i, %j)[] : i64, memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 8>)
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{stores a value with axis "j", which no index has}}
    tile.store %t, %y at #id(%i, %i)[] : tensor<4x8xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"i", 4>)
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{stores a value with axis "j", which no index has}}
    tile.update <add> %t, %y at affine_map<(d0) -> (d0, 0)>(%i)[] : tensor<4x8xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i", 4>)
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{needs a tile of the same element type as result}}
    %v = tile.broadcast %s : f32 to tensor<4xf64, #tile.axes<"i">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{needs a tile of the same element type as result}}
    %v = tile.broadcast %s : f32 to tensor<4xf32>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{drops or resizes axis "j"}}
    %v = tile.broadcast %t : tensor<4x8xf32, #tile.axes<"i", "j">> to tensor<4xf32, #tile.axes<"i">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{drops or resizes axis "i"}}
    %v = tile.broadcast %t : tensor<4x8xf32, #tile.axes<"i", "j">> to tensor<5x8xf32, #tile.axes<"i", "j">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{gives a tile of i64 along its span}}
    %v = tile.coords %i : !tile.span<"i", 4> -> tensor<4xi32, #tile.axes<"i">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{reduces axis "k", which its input has not}}
    %v = tile.reduce <add> %t over ["k"] : tensor<4x8xf32, #tile.axes<"i", "j">> -> tensor<4x8xf32, #tile.axes<"i", "j">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{needs a result with the axes that are left}}
    %v = tile.reduce <add> %t over ["j"] : tensor<4x8xf32, #tile.axes<"i", "j">> -> tensor<8xf32, #tile.axes<"j">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{changes the element type}}
    %v = tile.reduce <add> %t over ["j"] : tensor<4x8xf32, #tile.axes<"i", "j">> -> tensor<4xf64, #tile.axes<"i">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{gives i64 coordinates}}
    %v = tile.arg_reduce <max> %t over "j" : tensor<4x8xf32, #tile.axes<"i", "j">> -> tensor<4xi32, #tile.axes<"i">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{takes max, min, umax or umin}}
    %v = tile.arg_reduce <add> %t over "j" : tensor<4x8xf32, #tile.axes<"i", "j">> -> tensor<4xi64, #tile.axes<"i">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{contracts axis "k", which both operands need}}
    %v = tile.dot %t, %t over "k" acc %t : tensor<4x8xf32, #tile.axes<"i", "j">>, tensor<4x8xf32, #tile.axes<"i", "j">> -> tensor<4x8xf32, #tile.axes<"i", "j">>
  }
  tile.return
}

// -----

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @k(%x: memref<?x?xf32> {tile.mode = "in", tile.shape = #mn}, %y: memref<?x?xf32> {tile.mode = "out", tile.shape = #mn}, %s: f32)
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %M by 8) {
    %t = tile.broadcast %s : f32 to tensor<4x8xf32, #tile.axes<"i", "j">>
    // expected-error@+1 {{accumulates and gives 'tensor<4xf32, #tile.axes<"i">>'}}
    %v = tile.dot %t, %t over "j" acc %t : tensor<4x8xf32, #tile.axes<"i", "j">>, tensor<4x8xf32, #tile.axes<"i", "j">> -> tensor<4x8xf32, #tile.axes<"i", "j">>
  }
  tile.return
}

// -----

tile.kernel @k(%s: f32) attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    // expected-error@+1 {{has a tile with the axis "q", which is not in scope}}
    %t = tile.broadcast %s : f32 to tensor<?xf32, #tile.axes<"q">>
  }
  tile.return
}

// -----

// The loop's axis ends with the loop.
tile.kernel @k(%s: f32) attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel () {
    %a = tile.for sequential %k = "k" %c0 to %M by 4 iter_args(%acc = %s : f32) {
      tile.yield %acc : f32
    }
    // expected-error@+1 {{has a tile with the axis "k", which is not in scope}}
    %t = tile.broadcast %a : f32 to tensor<4xf32, #tile.axes<"k">>
  }
  tile.return
}

// -----

// A constant may stand outside, but not what is computed with it.
tile.kernel @k(%s: f32) attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %one = arith.constant dense<1.0> : tensor<4xf32, #tile.axes<"i">>
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    %t = arith.negf %one : tensor<4xf32, #tile.axes<"i">>
  }
  // expected-error@+1 {{has a tile with the axis "i", which is not in scope}}
  %t = arith.negf %one : tensor<4xf32, #tile.axes<"i">>
  tile.return
}

// -----

tile.kernel @k(%s: f32) attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    // expected-error@+1 {{makes another span "i"}}
    %j = tile.axis %c0 to %M : !tile.span<"i", 4>
  }
  tile.return
}

// -----

tile.kernel @k(%x: f64, %n: i64) attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    // expected-error@+1 {{rounds f32, not 'f64'}}
    %v = tile.round_tf32 %x : f64
  }
  tile.return
}

// -----

tile.kernel @k(%x: f64, %n: i64) attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    // expected-error@+1 {{makes i32 of i64}}
    %v = tile.philox <own> %n, %n, %n : i64 -> i64
  }
  tile.return
}

// -----

tile.kernel @k(%x: f64, %n: i64) attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    // expected-error@+2 {{to be one of: own, first, second}}
    // expected-error@+1 {{failed to parse Tile_DrawKindAttr}}
    %v = tile.philox <third> %n, %n, %n : i64 -> i32
  }
  tile.return
}
