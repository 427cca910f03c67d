// RUN: tile-opt %s -verify-diagnostics -split-input-file -tile-static-assertions

// What the verifiers of assertions and prints refuse, and assertions that can't hold.

tile.kernel @number() attributes {dims = []} {
  tile.parallel () {
    %x = arith.constant 1.0 : f32
    // expected-error@+1 {{takes a condition of i1, not of 'f32'}}
    tile.assert %x, "x" : f32
  }
  tile.return
}

// -----

tile.kernel @outside() attributes {dims = []} {
  %x = arith.constant true
  // expected-error@+1 {{stands outside tile.parallel}}
  tile.assert %x, "x" : i1
  tile.parallel () {
  }
  tile.return
}

// -----

tile.kernel @texts(%x: f32) attributes {dims = []} {
  tile.parallel () {
    // expected-error@+1 {{has 1 texts around 1 values}}
    tile.print ["x"] (%x) ["f32"] : (f32)
  }
  tile.return
}

// -----

tile.kernel @types(%x: f32) attributes {dims = []} {
  tile.parallel () {
    // expected-error@+1 {{names 0 types for 1 values}}
    tile.print ["x", ""] (%x) [] : (f32)
  }
  tile.return
}

// -----

tile.kernel @type(%x: f32) attributes {dims = []} {
  tile.parallel () {
    // expected-error@+1 {{calls a value of 'f32' `f16`}}
    tile.print ["x", ""] (%x) ["f16"] : (f32)
  }
  tile.return
}

// -----

tile.kernel @never() attributes {dims = []} {
  %c3 = arith.constant 3 : i64
  %x = arith.cmpi slt, %c3, %c3 : i64
  tile.parallel () {
    // expected-error@+2 {{assertion failed: three is less than three}}
    // expected-note@+1 {{it fails whatever the arguments are}}
    tile.assert %x, "three is less than three" : i1
  }
  tile.return
}
