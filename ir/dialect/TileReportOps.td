//===- TileReportOps.td - what kernels say to their user -------*- tablegen -*-===//
//
// Assertions and prints, and loops that may not end. None changes what a kernel
// computes: passes may look past a tile.print where they ask who uses a value.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_REPORT_OPS
#define TILE_REPORT_OPS

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "Ends the launch with an error where a condition does not hold";
  let description = [{
    Every element of `condition` inside its domain has to be true; outside the
    domain nothing is checked. What follows in the same program runs only if
    all of them are. The error names `message`, the place, and one element: of
    the lowest program with a failure, the first assertion in the order of
    execution, and its first element in row-major order. The outputs of a
    launch that failed hold anything.
  }];
  let arguments = (ins Tile_Value:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Shows texts and values";
  let description = [{
    Texts and values take turns: `texts` has one entry more than there are
    values. `types` says how the language calls the elements of each value
    (`u8`, `bool`), since integers here have no sign. The lines of a launch
    come in the order of its programs.
  }];
  let arguments = (ins StrArrayAttr:$texts, Variadic<Tile_Value>:$values, StrArrayAttr:$types);
  let assemblyFormat = "$texts `(` $values `)` $types attr-dict `:` custom<TypeList>(type($values))";
  let hasVerifier = 1;
}

def Tile_Progress : Resource<"::tile::ir::ProgressResource">;

def Tile_MayNotEndOp : Tile_Op<"may_not_end", [MemoryEffects<[MemWrite<Tile_Progress>]>]> {
  let summary = "Keeps the loop around it, which may not end";
  let description = [{
    A `while` goes on for as long as its condition holds, also where nobody
    uses what it computes. Without an effect in it such a loop would be taken
    for dead code, and a program that doesn't end would end.
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_REPORT_OPS
