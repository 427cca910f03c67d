// RUN: tile-opt %s -verify-diagnostics -split-input-file

// What the verifiers refuse of grid kernels.

#n = affine_map<()[n] -> (n)>
#one = affine_map<()[s0] -> (s0)>
tile.kernel @k(%x: memref<?xf32> {tile.mode = "inout", tile.shape = #n}, %s: f32) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%p = each "p" %c0 to %N) {
    // expected-error@+1 {{stands in grid kernels only}}
    %v = tile.atomic <add> <relaxed> %s, %x at #one()[%p] : f32, memref<?xf32>, () -> f32
  }
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
#one = affine_map<()[s0] -> (s0)>
tile.kernel @k(%x: memref<?xf32> {tile.mode = "inout", tile.shape = #n}, %s: f32) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%p = each "p" %c0 to %N) {
    // expected-error@+1 {{as only grid kernels may}}
    tile.store %s, %x at #one()[%p] drop : f32, memref<?xf32>, ()
  }
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
#one = affine_map<()[s0] -> (s0)>
tile.kernel @k(%x: memref<?xf32> {tile.mode = "inout", tile.shape = #n}, %s: f32) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel grid (%p = each "p" %c0 to %N) {
    // expected-error@+1 {{has no `or` of 'f32'}}
    %v = tile.atomic <or> <relaxed> %s, %x at #one()[%p] : f32, memref<?xf32>, () -> f32
  }
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
#one = affine_map<()[s0] -> (s0)>
tile.kernel @k(%x: memref<?xf16> {tile.mode = "inout", tile.shape = #n}, %s: f16) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel grid (%p = each "p" %c0 to %N) {
    // expected-error@+1 {{has no `add` of 'f16'}}
    %v = tile.atomic <add> <relaxed> %s, %x at #one()[%p] : f16, memref<?xf16>, () -> f16
  }
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
#one = affine_map<()[s0] -> (s0)>
tile.kernel @k(%x: memref<?xi32> {tile.mode = "inout", tile.shape = #n}, %s: i32) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel grid (%p = each "p" %c0 to %N) {
    // expected-error@+1 {{needs an expected value with `cas`, and only then}}
    %v = tile.atomic <cas> <relaxed> %s, %x at #one()[%p] : i32, memref<?xi32>, () -> i32
  }
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
#one = affine_map<()[s0] -> (s0)>
tile.kernel @k(%x: memref<?xi32> {tile.mode = "inout", tile.shape = #n}, %s: i32) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel grid (%p = each "p" %c0 to %N) {
    // expected-error@+1 {{needs an expected value with `cas`, and only then}}
    %v = tile.atomic <add> <relaxed> %s if %s, %x at #one()[%p] : i32 if i32, memref<?xi32>, () -> i32
  }
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
#one = affine_map<()[s0] -> (s0)>
tile.kernel @k(%x: memref<?xi32> {tile.mode = "inout", tile.shape = #n}, %s: i32) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel grid (%p = each "p" %c0 to %N) {
    // expected-error@+1 {{gives 'i32', not 'tensor<4xi32, #tile.axes<"i">>'}}
    %v = tile.atomic <add> <relaxed> %s, %x at #one()[%p] : i32, memref<?xi32>, () -> tensor<4xi32, #tile.axes<"i">>
  }
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
#one = affine_map<()[s0] -> (s0)>
tile.kernel @k(%x: memref<?xi32> {tile.mode = "inout", tile.shape = #n}, %s: i32) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel grid (%p = each "p" %c0 to %N) {
    // expected-error@+1 {{takes values of another element type}}
    %v = tile.atomic <add> <relaxed> %p, %x at #one()[%p] : i64, memref<?xi32>, () -> i32
  }
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
#one = affine_map<()[s0] -> (s0)>
tile.kernel @k(%x: memref<?xi32> {tile.mode = "inout", tile.shape = #n}, %s: i32) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel grid (%p = each "p" %c0 to %N) {
    // expected-error@+1 {{has no place in a grid kernel}}
    tile.for fold %k = "k" %c0 to %N by 4 {
      tile.yield
    }
  }
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
#one = affine_map<()[s0] -> (s0)>
tile.kernel @k(%x: memref<?xi32> {tile.mode = "inout", tile.shape = #n}, %s: i32) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  // expected-error@+1 {{of a grid binds no integer}}
  tile.parallel grid (%i = tiles "i" %c0 to %N by 4) {
  }
  tile.return
}
