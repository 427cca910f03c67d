// RUN: tile-opt %s -verify-diagnostics -split-input-file

// What the verifier of tile.finish refuses, one by one.

#one = affine_map<()[] -> (1)>
#first = affine_map<() -> (0)>
tile.kernel @k(%a: f32, %x: memref<1xf32> {tile.mode = "in", tile.shape = #one, tile.name = "x", tile.type = "f32"},
    %y: memref<1xf32> {tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #one, tile.name = "y", tile.type = "f32"})
    attributes {dims = []} {
  tile.parallel () {
  }
  // expected-error@+1 {{finishes a `reduce` output of its kernel}}
  tile.finish %x : memref<1xf32> {
  ^bb0(%s: f32):
    tile.combined %s : f32
  }
  tile.return
}

// -----

#one = affine_map<()[] -> (1)>
#first = affine_map<() -> (0)>
tile.kernel @k(%a: f32, %x: memref<1xf32> {tile.mode = "in", tile.shape = #one, tile.name = "x", tile.type = "f32"},
    %y: memref<1xf32> {tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #one, tile.name = "y", tile.type = "f32"})
    attributes {dims = []} {
  tile.parallel () {
  }
  // expected-error@+1 {{is not the only one of its output}}
  tile.finish %y : memref<1xf32> {
  ^bb0(%s: f32):
    tile.combined %s : f32
  }
  tile.finish %y : memref<1xf32> {
  ^bb0(%s: f32):
    tile.combined %s : f32
  }
  tile.return
}

// -----

#one = affine_map<()[] -> (1)>
#first = affine_map<() -> (0)>
tile.kernel @k(%a: f32, %x: memref<1xf32> {tile.mode = "in", tile.shape = #one, tile.name = "x", tile.type = "f32"},
    %y: memref<1xf32> {tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #one, tile.name = "y", tile.type = "f32"})
    attributes {dims = []} {
  // expected-error@+1 {{stands behind tile.parallel}}
  tile.finish %y : memref<1xf32> {
  ^bb0(%s: f32):
    tile.combined %s : f32
  }
  tile.parallel () {
  }

  tile.return
}

// -----

#one = affine_map<()[] -> (1)>
#first = affine_map<() -> (0)>
tile.kernel @k(%a: f32, %x: memref<1xf32> {tile.mode = "in", tile.shape = #one, tile.name = "x", tile.type = "f32"},
    %y: memref<1xf32> {tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #one, tile.name = "y", tile.type = "f32"})
    attributes {dims = []} {
  tile.parallel () {
  }
  // expected-error@+1 {{begins with an element of its output}}
  tile.finish %y : memref<1xf32> {
  ^bb0(%s: f64):
    tile.combined %a : f32
  }
  tile.return
}

// -----

#one = affine_map<()[] -> (1)>
#first = affine_map<() -> (0)>
tile.kernel @k(%a: f32, %x: memref<1xf32> {tile.mode = "in", tile.shape = #one, tile.name = "x", tile.type = "f32"},
    %y: memref<1xf32> {tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #one, tile.name = "y", tile.type = "f32"})
    attributes {dims = []} {
  tile.parallel () {
  }
  // expected-error@+1 {{needs a tile.combined of 'f32' at the end}}
  tile.finish %y : memref<1xf32> {
  ^bb0(%s: f32):
    %h = arith.truncf %s : f32 to f16
    tile.combined %h : f16
  }
  tile.return
}

// -----

#one = affine_map<()[] -> (1)>
#first = affine_map<() -> (0)>
tile.kernel @k(%a: f32, %x: memref<1xf32> {tile.mode = "in", tile.shape = #one, tile.name = "x", tile.type = "f32"},
    %y: memref<1xf32> {tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #one, tile.name = "y", tile.type = "f32"})
    attributes {dims = []} {
  tile.parallel () {
  }
  tile.finish %y : memref<1xf32> {
  ^bb0(%s: f32):
    // expected-error@+1 {{is no elementwise op on scalars, as a combination is made of}}
    %t = tile.load %x at #first() [] <exact> : memref<1xf32>, () -> f32
    tile.combined %t : f32
  }
  tile.return
}

// -----

#one = affine_map<()[] -> (1)>
#first = affine_map<() -> (0)>
tile.kernel @k(%a: f32, %x: memref<1xf32> {tile.mode = "in", tile.shape = #one, tile.name = "x", tile.type = "f32"},
    %y: memref<1xf32> {tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #one, tile.name = "y", tile.type = "f32"})
    attributes {dims = []} {
  tile.parallel () {
  }
  %b = arith.negf %a : f32
  tile.finish %y : memref<1xf32> {
  ^bb0(%s: f32):
    // expected-error@+1 {{uses what is computed behind tile.parallel}}
    %t = arith.addf %s, %b : f32
    tile.combined %t : f32
  }
  tile.return
}
