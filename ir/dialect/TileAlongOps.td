//===- TileAlongOps.td - ops along axes: scans and orders ------*- tablegen -*-===//
//
// Part of the tile dialect (TileOps.td, which includes this file at its end).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_ALONG_OPS
#define TILE_ALONG_OPS

def Tile_ScanOp : Tile_Op<"scan", [
    Pure, SingleBlock, SameVariadicOperandSize, DeclareOpInterfaceMethods<Tile_AlongAxes>]> {
  let summary = "All running combinations of elements along an axis, and the last one";
  let description = [{
    The state, one number for each input, begins as `inits`. For each coordinate
    of `axis` inside the inputs' domain, in increasing order (decreasing with
    `reverse`), it becomes the combination of state and elements: the region's
    value, of scalars, first the state's parts and then the elements. The first
    results are the states after each coordinate, on the inputs' axes; the others
    are the last states, on the axes without `axis`: of an empty domain, `inits`.

    All inputs have the same axes, all inits those without `axis`. The region
    holds elementwise ops on scalars, so that backends may run it on vectors.
    The combination is associative by the author's promise, so a backend may
    combine in another order, if it is fixed by the plan.
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs, Variadic<Tile_Value>:$inits, StrAttr:$axis,
                       UnitAttr:$reverse, StrAttr:$word);
  let results = (outs Variadic<Tile_Value>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// How many numbers a state has.
    unsigned getCount() { return getNumResults() / 2; }
    ::mlir::ResultRange getScanned() { return getResults().take_front(getCount()); }
    ::mlir::ResultRange getLast() { return getResults().drop_front(getCount()); }
    /// The state after an element, of the region.
    ::mlir::OperandRange getCombined();
  }];
}

def Tile_CombinedOp : Tile_Op<"combined", [Pure, Terminator,
                                           ParentOneOf<["ScanOp", "FinishOp"]>]> {
  let summary = "The state after an element, or what a sum becomes";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict $operands `:` type($operands)";
}

def Tile_SortOp : Tile_Op<"sort", [Pure, DeclareOpInterfaceMethods<Tile_AlongAxes, ["needsWholeAxis"]>]> {
  let summary = "The elements along an axis in order, and where they stood";
  let description = [{
    Sorts the elements of `axis` that are inside the domain: ascending, or
    `descending`; equal ones (−0 and +0, and all NaNs, are equal) by their
    coordinate, lowest first. NaN counts as greater than every number.

    With `rank` = `axis` the results have the input's axes: the n-th coordinate
    inside the domain gets the n-th element. With another axis in its place, the
    coordinate r of `rank` gets the r-th element; where there are fewer, the
    value that comes last in this order (the least with `descending`, the
    greatest without; ±inf for floats) and the coordinate −1.
  }];
  let arguments = (ins AnyTensor:$input, StrAttr:$axis, StrAttr:$rank, UnitAttr:$descending,
                       UnitAttr:$isUnsigned);
  let results = (outs AnyTensor:$values, AnyTensor:$coordinates);
  let assemblyFormat = [{
    (`descending` $descending^)? (`unsigned` $isUnsigned^)? $input `over` $axis `into` $rank
    attr-dict `:` type($input) `->` type($values) `,` type($coordinates)
  }];
  let hasVerifier = 1;
}

def Tile_TakeOp : Tile_Op<"take", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Tile_AlongAxes, ["needsWholeAxis"]>]> {
  let summary = "A tile whose elements are those of another at other coordinates";
  let description = [{
    Element (l0, l1, …) of the result is input[map(dims, syms)], one map result
    for each axis of the input: a coordinate of that axis. What the input hasn't
    is zero. Axes of the input that the map leaves as they are may be blocks; all
    others are whole axes. Result axes: those of the map's results, in order of
    first appearance.
  }];
  let arguments = (ins AnyTensor:$input, AffineMapAttr:$map, Variadic<Tile_Span>:$dims,
                       Variadic<I64>:$syms, StrAttr:$word);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $word $input `at` $map `(` $dims `)` `[` $syms `]` attr-dict
    `:` type($input) `,` custom<TypeList>(type($dims)) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TILE_ALONG_OPS
