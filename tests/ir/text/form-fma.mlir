// RUN: tile-opt %s -tile-form-fma | FileCheck %s

// The rules of ir/transforms/FormFma.h, one kernel each.

#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
!t = tensor<8xf32, #tile.axes<"i">>

// CHECK-LABEL: tile.kernel @forms
tile.kernel @forms(%a: f32, %b: f32, %c: f32, %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 8) {
    // CHECK: %[[A:.*]] = tile.broadcast %arg0
    // CHECK: %[[B:.*]] = tile.broadcast %arg1
    // CHECK: %[[C:.*]] = tile.broadcast %arg2
    %ta = tile.broadcast %a : f32 to !t
    %tb = tile.broadcast %b : f32 to !t
    %tc = tile.broadcast %c : f32 to !t
    // CHECK-NOT: arith.mulf
    // a · b + c
    // CHECK: math.fma %[[A]], %[[B]], %[[C]]
    %p0 = arith.mulf %ta, %tb : !t
    %r0 = arith.addf %p0, %tc : !t
    tile.store %r0, %y at #id(%i)[] : !t, memref<?xf32>, (!tile.span<"i", 8>)
    // c + a · b
    // CHECK: math.fma %[[A]], %[[B]], %[[C]]
    %p1 = arith.mulf %ta, %tb : !t
    %r1 = arith.addf %tc, %p1 : !t
    tile.store %r1, %y at #id(%i)[] : !t, memref<?xf32>, (!tile.span<"i", 8>)
    // a · b − c
    // CHECK: %[[NEG_C:.*]] = arith.negf %[[C]]
    // CHECK: math.fma %[[A]], %[[B]], %[[NEG_C]]
    %p2 = arith.mulf %ta, %tb : !t
    %r2 = arith.subf %p2, %tc : !t
    tile.store %r2, %y at #id(%i)[] : !t, memref<?xf32>, (!tile.span<"i", 8>)
    // c − a · b
    // CHECK: %[[NEG_A:.*]] = arith.negf %[[A]]
    // CHECK: math.fma %[[NEG_A]], %[[B]], %[[C]]
    %p3 = arith.mulf %ta, %tb : !t
    %r3 = arith.subf %tc, %p3 : !t
    tile.store %r3, %y at #id(%i)[] : !t, memref<?xf32>, (!tile.span<"i", 8>)
  }
  tile.return
}

// Of two products the left one is merged.
// CHECK-LABEL: tile.kernel @left
tile.kernel @left(%a: f64, %b: f64, %c: f64, %d: f64, %y: memref<?xf64> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  tile.parallel () {
    // CHECK: %[[Q:.*]] = arith.mulf %arg2, %arg3 : f64
    // CHECK: math.fma %arg0, %arg1, %[[Q]] : f64
    %p = arith.mulf %a, %b : f64
    %q = arith.mulf %c, %d : f64
    %s = arith.addf %p, %q : f64
    tile.store %s, %y at affine_map<() -> (0)>()[] : f64, memref<?xf64>, ()
    // CHECK: %[[Q2:.*]] = arith.mulf %arg2, %arg3 : f64
    // CHECK: %[[NEG:.*]] = arith.negf %[[Q2]]
    // CHECK: math.fma %arg0, %arg1, %[[NEG]] : f64
    %p2 = arith.mulf %a, %b : f64
    %q2 = arith.mulf %c, %d : f64
    %s2 = arith.subf %p2, %q2 : f64
    tile.store %s2, %y at affine_map<() -> (0)>()[] : f64, memref<?xf64>, ()
    // A left product with another use is no candidate: the right one is.
    // CHECK: %[[P3:.*]] = arith.mulf %arg0, %arg1 : f64
    // CHECK: math.fma %arg2, %arg3, %[[P3]] : f64
    %p3 = arith.mulf %a, %b : f64
    %q3 = arith.mulf %c, %d : f64
    %s3 = arith.addf %p3, %q3 : f64
    tile.store %s3, %y at affine_map<() -> (0)>()[] : f64, memref<?xf64>, ()
    tile.store %p3, %y at affine_map<() -> (1)>()[] : f64, memref<?xf64>, ()
    // A sum of three: from left to right.
    // CHECK: %[[Q4:.*]] = arith.mulf %arg2, %arg3 : f64
    // CHECK: %[[S4:.*]] = math.fma %arg0, %arg1, %[[Q4]] : f64
    // CHECK: math.fma %arg1, %arg2, %[[S4]] : f64
    %p4 = arith.mulf %a, %b : f64
    %q4 = arith.mulf %c, %d : f64
    %r4 = arith.mulf %b, %c : f64
    %s4 = arith.addf %p4, %q4 : f64
    %t4 = arith.addf %s4, %r4 : f64
    tile.store %t4, %y at affine_map<() -> (0)>()[] : f64, memref<?xf64>, ()
  }
  tile.return
}

// What stays as it is.
// CHECK-LABEL: tile.kernel @kept
// CHECK-NOT: math.fma
tile.kernel @kept(%a: f32, %b: f32, %h: bf16, %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
                  %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 8) {
    %t = tile.load %x at #id(%i)[] <exact> : memref<?xf32>, (!tile.span<"i", 8>) -> !t
    // The product has two uses: here both in one sum.
    %p0 = arith.mulf %a, %b : f32
    %r0 = arith.addf %p0, %p0 : f32
    tile.store %r0, %y at affine_map<() -> (0)>()[] : f32, memref<?xf32>, ()
    // l · r + sum(…): the sum adds onto the product as it stands.
    %p1 = arith.mulf %a, %b : f32
    %s1 = tile.reduce <add> %t over ["i"] : !t -> f32
    %r1 = arith.addf %p1, %s1 : f32
    tile.store %r1, %y at affine_map<() -> (0)>()[] : f32, memref<?xf32>, ()
    // dot(…) − l · r
    %p2 = arith.mulf %a, %b : f32
    %s2 = tile.dot %t, %t over "i" acc %a : !t, !t -> f32
    %r2 = arith.subf %s2, %p2 : f32
    tile.store %r2, %y at affine_map<() -> (0)>()[] : f32, memref<?xf32>, ()
    // A product that is broadcast is a tile of its own.
    %p3 = arith.mulf %a, %b : f32
    %b3 = tile.broadcast %p3 : f32 to !t
    %r3 = arith.addf %b3, %t : !t
    tile.store %r3, %y at #id(%i)[] : !t, memref<?xf32>, (!tile.span<"i", 8>)
    // Halves are computed in f32; what is left in bf16 rounds at each step.
    %p4 = arith.mulf %h, %h : bf16
    %r4 = arith.addf %p4, %h : bf16
    %e4 = arith.extf %r4 : bf16 to f32
    tile.store %e4, %y at affine_map<() -> (0)>()[] : f32, memref<?xf32>, ()
  }
  tile.return
}

// Where a dot or sum is multiplied, or broadcast before it is added, the rule does not forbid.
// CHECK-LABEL: tile.kernel @sums
tile.kernel @sums(%a: f32, %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
                  %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 8) {
    %t = tile.load %x at #id(%i)[] <exact> : memref<?xf32>, (!tile.span<"i", 8>) -> !t
    // CHECK: %[[DOT:.*]] = tile.dot
    // CHECK: math.fma %[[DOT]], %arg0, %arg0 : f32
    %s = tile.dot %t, %t over "i" acc %a : !t, !t -> f32
    %p = arith.mulf %s, %a : f32
    %r = arith.addf %p, %a : f32
    tile.store %r, %y at affine_map<() -> (0)>()[] : f32, memref<?xf32>, ()
    // CHECK: %[[SUM:.*]] = tile.reduce
    // CHECK: %[[WIDE:.*]] = tile.broadcast %[[SUM]]
    // CHECK: math.fma %{{.*}}, %{{.*}}, %[[WIDE]]
    %s2 = tile.reduce <add> %t over ["i"] : !t -> f32
    %w2 = tile.broadcast %s2 : f32 to !t
    %p2 = arith.mulf %t, %t : !t
    %r2 = arith.addf %p2, %w2 : !t
    tile.store %r2, %y at #id(%i)[] : !t, memref<?xf32>, (!tile.span<"i", 8>)
  }
  tile.return
}

// A carried sum of products, across the loop's edge.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%a: f32, %b: f32, %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %N = tile.dim "N"
  tile.parallel () {
    %p = arith.mulf %a, %b : f32
    // CHECK-NOT: arith.mulf
    // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %arg0)
    // CHECK: math.fma %arg0, %arg1, %[[ACC]] : f32
    %r = scf.for %k = %c0 to %N step %c1 iter_args(%acc = %a) -> (f32) : i64 {
      %s = arith.addf %acc, %p : f32
      scf.yield %s : f32
    }
    tile.store %r, %y at affine_map<() -> (0)>()[] : f32, memref<?xf32>, ()
  }
  tile.return
}

// A tanh that 1 is added to is its own, beside the one that is stored; that of another sum is none.
// CHECK-LABEL: tile.kernel @added_to_one
tile.kernel @added_to_one(%a: f32, %d: f64, %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n},
    %z: memref<?xf64> {tile.name = "z", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %wide = arith.constant 1.0 : f64
  tile.parallel (%i = tiles "i" %c0 to %N by 8) {
    %ta = tile.broadcast %a : f32 to !t
    %ones = tile.broadcast %one : f32 to !t
    %twos = tile.broadcast %two : f32 to !t
    // CHECK: %[[T:.*]] = math.tanh %[[A:.*]] : tensor
    // CHECK-NEXT: %[[OWN:.*]] = math.tanh %[[A]] {tile.added_to_one} : tensor
    %t = math.tanh %ta : !t
    tile.store %t, %y at #id(%i)[] : !t, memref<?xf32>, (!tile.span<"i", 8>)
    // CHECK: arith.addf %{{.*}}, %[[OWN]]
    %sum = arith.addf %ones, %t : !t
    tile.store %sum, %y at #id(%i)[] : !t, memref<?xf32>, (!tile.span<"i", 8>)
    // CHECK: arith.addf %{{.*}}, %[[T]]
    %other = arith.addf %twos, %t : !t
    tile.store %other, %y at #id(%i)[] : !t, memref<?xf32>, (!tile.span<"i", 8>)
    // Of scalars, on the right; the one that nobody asks for any more is gone.
    // CHECK-NOT: math.tanh %arg0 : f32
    // CHECK: math.tanh %arg0 {tile.added_to_one} : f32
    %s = math.tanh %a : f32
    %r = arith.addf %s, %one : f32
    tile.store %r, %y at #id(%i)[] : f32, memref<?xf32>, (!tile.span<"i", 8>)
    // f64 has no such function.
    // CHECK: math.tanh %arg1 : f64
    %v = math.tanh %d : f64
    %w = arith.addf %v, %wide : f64
    tile.store %w, %z at #id(%i)[] : f64, memref<?xf64>, (!tile.span<"i", 8>)
  }
  tile.return
}
