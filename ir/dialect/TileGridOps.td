//===- TileGridOps.td - ops of grid kernels: atomics -----------*- tablegen -*-===//
//
// Part of the tile dialect (TileOps.td, which includes this file at its end).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_GRID_OPS
#define TILE_GRID_OPS

// `max` and `min` of floats propagate NaN, and −0 < +0; `umax` and `umin` are for
// unsigned integers. `cas`: compare and swap.
def Tile_AtomicKind : I32EnumAttr<"AtomicKind", "what an atomic operation makes of an element", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>,
    I32EnumAttrCase<"umax", 3>, I32EnumAttrCase<"umin", 4>, I32EnumAttrCase<"andi", 5, "and">,
    I32EnumAttrCase<"ori", 6, "or">, I32EnumAttrCase<"xori", 7, "xor">,
    I32EnumAttrCase<"exchange", 8>, I32EnumAttrCase<"cas", 9>]> {
  let cppNamespace = "::tile::ir";
  let genSpecializedAttr = 0;
}
def Tile_AtomicKindAttr : EnumAttr<Tile_Dialect, Tile_AtomicKind, "atomic_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

// As C++'s memory orders. `relaxed`: of the one element alone.
def Tile_MemoryOrder : I32EnumAttr<"MemoryOrder", "what an atomic operation orders beside it", [
    I32EnumAttrCase<"relaxed", 0>, I32EnumAttrCase<"acquire", 1>, I32EnumAttrCase<"release", 2>,
    I32EnumAttrCase<"acq_rel", 3>]> {
  let cppNamespace = "::tile::ir";
  let genSpecializedAttr = 0;
}
def Tile_MemoryOrderAttr : EnumAttr<Tile_Dialect, Tile_MemoryOrder, "order"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_AtomicOp : Tile_Op<"atomic", [AttrSizedOperandSegments,
                                       DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Changes elements of an `inout` of a grid kernel, each at once; gives the old ones";
  let description = [{
    For each coordinate of the domain of the axes of the map, `value` and
    `expected` together, in no particular order: one indivisible operation on
    target[map(dims, syms)], which takes the combination of itself and `value`;
    with `exchange` `value`, and with `cas` `value` if its bits are those of
    `expected`, which `cas` alone has. The result has those axes and holds what
    stood there before. With `drops` a coordinate outside the target is left out,
    and its result is 0; without, such an index has no meaning.

    Elements are integers and floats of 32 and 64 bits; `and`, `or`, `xor` and
    the unsigned kinds are for integers.
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_MemoryOrderAttr:$order, UnitAttr:$drops,
                       Tile_Value:$value, Optional<Tile_Value>:$expected, Tile_Memory:$target,
                       AffineMapAttr:$map, Variadic<Tile_Index>:$dims, Variadic<I64>:$syms);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $kind $order $value (`if` $expected^)? `,` $target `at` $map `(` $dims `)` `[` $syms `]`
    (`drop` $drops^)? attr-dict `:` type($value) (`if` type($expected)^)? `,` type($target)
    `,` custom<TypeList>(type($dims)) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The axes that it runs over: those of the index, then those of the values.
    ::tile::ir::AxisList getAxisList();
  }];
}

#endif // TILE_GRID_OPS
