// RUN: tile-opt %s -verify-diagnostics -split-input-file

// What the verifiers of scans and sorts refuse, one by one.

!t = tensor<8x4xf32, #tile.axes<"i", "N">>
!r = tensor<8xf32, #tile.axes<"i">>
func.func private @other(%t: !t, %r: !r) {
  // expected-error@+1 {{needs inputs of the same axes, "K" among them}}
  %y:2 = tile.scan "scan" (%t : !t) from (%r : !r) over "K" {
  ^bb0(%a: f32, %b: f32):
    tile.combined %a : f32
  }
  return
}

// -----

!t = tensor<8x4xf32, #tile.axes<"i", "N">>
func.func private @init(%t: !t, %r: f32) {
  // expected-error@+1 {{needs inits of the elements' types, with the axes that are left}}
  %y:2 = tile.scan "scan" (%t : !t) from (%r : f32) over "N" {
  ^bb0(%a: f32, %b: f32):
    tile.combined %a : f32
  }
  return
}

// -----

!t = tensor<8x4xf32, #tile.axes<"i", "N">>
!r = tensor<8xf32, #tile.axes<"i">>
func.func private @arguments(%t: !t, %r: !r) {
  // expected-error@+1 {{combines the state's parts with the elements, all scalars}}
  %y:2 = tile.scan "scan" (%t : !t) from (%r : !r) over "N" {
  ^bb0(%a: f32):
    tile.combined %a : f32
  }
  return
}

// -----

!t = tensor<8x4xf32, #tile.axes<"i", "N">>
!r = tensor<8xf32, #tile.axes<"i">>
func.func private @state(%t: !t, %r: !r) {
  // expected-error@+1 {{needs a tile.combined of 'f32' at the end}}
  %y:2 = tile.scan "scan" (%t : !t) from (%r : !r) over "N" {
  ^bb0(%a: f32, %b: f32):
    tile.combined %a, %b : f32, f32
  }
  return
}

// -----

!t = tensor<8x4xf32, #tile.axes<"i", "N">>
!r = tensor<8xf32, #tile.axes<"i">>
func.func private @branches(%t: !t, %r: !r, %c: i1) {
  %y:2 = tile.scan "scan" (%t : !t) from (%r : !r) over "N" {
  ^bb0(%a: f32, %b: f32):
    // expected-error@+1 {{is no elementwise op on scalars, as a combination is made of}}
    %d = scf.if %c -> f32 {
      scf.yield %a : f32
    } else {
      scf.yield %b : f32
    }
    tile.combined %d : f32
  }
  return
}

// -----

!t = tensor<8x4xf32, #tile.axes<"i", "N">>
func.func private @twice(%t: !t) {
  // expected-error@+1 {{gives an axis "i" that its input has already}}
  %v, %c = tile.sort %t over "N" into "i" : !t -> !t, tensor<8x4xi64, #tile.axes<"i", "N">>
  return
}

// -----

!t = tensor<8x4xf32, #tile.axes<"i", "N">>
func.func private @coordinates(%t: !t) {
  // expected-error@+1 {{gives i64 coordinates on the same axes}}
  %v, %c = tile.sort %t over "N" into "N" : !t -> !t, tensor<8x4xi32, #tile.axes<"i", "N">>
  return
}

// -----

!t = tensor<8x4xi1, #tile.axes<"i", "N">>
func.func private @truths(%t: !t) {
  // expected-error@+1 {{sorts numbers}}
  %v, %c = tile.sort %t over "N" into "N" : !t -> !t, tensor<8x4xi64, #tile.axes<"i", "N">>
  return
}

// -----

!t = tensor<8x4xf32, #tile.axes<"i", "N">>
func.func private @positions(%t: !t, %n: !tile.span<"N", 4>) {
  // expected-error@+1 {{maps to 1 coordinates; its input has 2 axes}}
  %v = tile.take "flip" %t at affine_map<(d0) -> (d0)>(%n) [] : !t, (!tile.span<"N", 4>) -> tensor<4xf32, #tile.axes<"N">>
  return
}

// -----

func.func private @sequence(%n: i64, %s: f32) {
  // expected-error@+1 {{merges, so it has to be reassociable}}
  %r = tile.for fold %k = "k" %n to %n by 4 iter_args(%a = %s : f32) {
    tile.yield %a : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func private @others(%n: i64, %s: f32) {
  // expected-error@+1 {{merges the carried values of two parts}}
  %r = tile.for reassociable %k = "k" %n to %n by 4 iter_args(%a = %s : f32) {
    tile.yield %a : f32
  } merge {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}
