//===- TileOps.td - the tile dialect ---------------------------*- tablegen -*-===//
//
// Kernels on tiles: program spaces, spans, tile loads and stores by index maps.
// Elementwise work uses `arith` and `math` on tile values, control flow on
// ordinary integers uses `scf`. docs/tile-ir.md tells the whole story.
//
// A *tile value* is `tensor<AxBxf32, #tile.axes<"i", "k">>`: one extent and one
// axis name a dimension; a scalar is the plain element type. Which coordinates
// of a tile hold values is not in its type: it follows from its axes and from
// the binders and `tile.restrict`s in scope (the *domain*).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_OPS
#define TILE_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ir/dialect/TileDialect.td"
include "ir/dialect/TileInterfaces.td"

//===-- Attributes and types ----------------------------------------------===//

def Tile_SpanType : TypeDef<Tile_Dialect, "Span"> {
  let mnemonic = "span";
  let summary = "A block of one dimension, or a whole axis: opaque, not an integer";
  let description = [{
    Names an axis. `extent` is how many lanes the axis has in a tile: the block
    size or the length of a resident axis; dynamic until `specialize`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        DefaultValuedParameter<"int64_t", "::mlir::ShapedType::kDynamic">:$extent);
  let assemblyFormat = "`<` $name (`,` $extent^)? `>`";
}

// What a load does outside its tensor: `exact` has been proved to stay inside,
// `within` has too but for indices that are data, which the author answers for.
def Tile_BoundsMode : I32EnumAttr<"BoundsMode", "treatment of coordinates outside the tensor", [
    I32EnumAttrCase<"exact", 0>, I32EnumAttrCase<"pad", 1>, I32EnumAttrCase<"clamp", 2>,
    I32EnumAttrCase<"within", 3>]> {
  let cppNamespace = "::tile::ir";
  let genSpecializedAttr = 0;
}
def Tile_BoundsModeAttr : EnumAttr<Tile_Dialect, Tile_BoundsMode, "bounds"> {
  let assemblyFormat = "`<` $value `>`";
}

// How a span loop may be cut. `fold`: every carried variable only folds, proved;
// `reassociable`: the author's promise; `sequential`: blocks of exactly `size`.
def Tile_LoopKind : I32EnumAttr<"LoopKind", "how a span loop may be cut into blocks", [
    I32EnumAttrCase<"fold", 0>, I32EnumAttrCase<"reassociable", 1>,
    I32EnumAttrCase<"sequential", 2>]> {
  let cppNamespace = "::tile::ir";
  let genSpecializedAttr = 0;
}
def Tile_LoopKindAttr : EnumAttr<Tile_Dialect, Tile_LoopKind, "loop"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_Memory : Type<CPred<"::mlir::isa<::mlir::MemRefType>($_self)">, "tensor in memory",
                       "::mlir::MemRefType">;
def Tile_Span : Type<CPred<"::mlir::isa<::tile::ir::SpanType>($_self)">, "span", "::tile::ir::SpanType">;
// A tile value or a scalar.
def Tile_Value : Type<CPred<"::tile::ir::isTileValue($_self)">, "tile or scalar">;
// What indexes a dimension: a span, or a tile of integer coordinates.
def Tile_Index : Type<CPred<"::tile::ir::isIndexOperand($_self)">, "span or tile of integers">;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

//===-- Kernels and graphs ------------------------------------------------===//

class Tile_FunctionLike<string mnemonic> : Tile_Op<mnemonic, [
    FunctionOpInterface, IsolatedFromAbove]> {
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       StrArrayAttr:$dims, OptionalAttr<DictionaryAttr>:$consts,
                       OptionalAttr<DictionaryAttr>:$schedule,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The name a parameter has in the source.
    ::mlir::StringRef getParamName(unsigned index);
    /// The parameter's element type as the language spells it (`u8`, `bf16`).
    ::mlir::StringRef getParamType(unsigned index);
  }];
}

def Tile_KernelOp : Tile_FunctionLike<"kernel"> {
  let summary = "One kernel: parameters in memory, one tile.parallel";
  let description = [{
    Parameters are memrefs (row-major, dense) and scalars, inputs first, then
    outputs; the function type has no results. Argument attributes:
    `tile.name`, `tile.type` (the language's element type), `tile.mode`
    (`in`, `out`, `inout`, `reduce`), `tile.reduce` (a #tile.combine) and
    `tile.unordered` of reduce outputs, `tile.shape` (an affine map without
    dims; its symbols are the kernel's `dims`, its results the extents),
    `tile.default` of scalars.

    The axes of a tile are spans in scope where it is made, except those of
    arith.constant, which folding may hoist. No two spans have the same name.

    `dims` names the symbolic dimensions and constants; `tile.dim` reads one.
    `consts` gives, by name, those that no input shape binds, with their
    default (unit: none). `schedule` maps a binder's name to its candidate
    tile sizes, and other keys to their values.
  }];
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::mlir::StringRef getParamName(unsigned index);
    ::mlir::StringRef getParamType(unsigned index);
    ::tile::ir::ParamMode getParamMode(unsigned index);
    /// Extents of a tensor parameter over the symbols `dims`; null for scalars.
    ::mlir::AffineMap getParamShape(unsigned index);
    /// How a `reduce` output combines.
    ::tile::ir::CombineKind getParamReduce(unsigned index);
    /// The kernel's program space.
    ::tile::ir::ParallelOp getParallel();
    /// True of a grid kernel, which is proved nothing of.
    bool isGrid();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_GraphOp : Tile_FunctionLike<"graph"> {
  let summary = "Calls of kernels on whole tensors, value semantics";
  let description = [{
    Parameters and results are `tensor`s without axes, and scalars. Argument
    and result attributes are `tile.name`, `tile.type` and `tile.shape` as on
    kernels.
  }];
  let hasVerifier = 1;
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, ReturnLike,
                                       ParentOneOf<["KernelOp", "GraphOp"]>]> {
  let summary = "Ends a kernel, or gives a graph's results";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def Tile_CallOp : Tile_Op<"call", [Pure, AttrSizedOperandSegments,
                                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls a kernel or graph on whole tensors; the results are its outputs";
  let description = [{
    Operands are the callee's inputs in order; `constNames` and `constValues`
    give its constants. Result shapes follow from the callee's `tile.shape`.
    Equalities of extents that are not proved are checked at launch.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$constNames, Variadic<I64>:$constValues);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` (`consts` $constNames `(` $constValues^ `)`)? attr-dict `:`
    functional-type($inputs, $results)
  }];
}

def Tile_DimOp : Tile_Op<"dim", [Pure]> {
  let summary = "A symbolic dimension or constant of the kernel or graph";
  let arguments = (ins StrAttr:$name);
  let results = (outs I64:$result);
  let assemblyFormat = "$name attr-dict";
  let hasVerifier = 1;
}

def Tile_RequireOp : Tile_Op<"require", [MemoryEffects<[MemWrite]>]> {
  let summary = "A condition the launch checks before the kernel runs";
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

//===-- Program space, spans, domains -------------------------------------===//

def Tile_ParallelOp : Tile_Op<"parallel", [SingleBlock, NoTerminator, HasParent<"KernelOp">, SameVariadicOperandSize]> {
  let summary = "The program space: one program per block of each binder";
  let description = [{
    Binder n ranges over [lower n, upper n). `tiles` binders cut it into blocks
    of `sizes[n]` (dynamic until `specialize`) and bind a !tile.span; `each`
    binders bind an i64. Programs are independent and run in any order.

    With `grid`, a grid kernel: all binders are `each`, no block has an open size,
    loads and stores go where their index says without proof, an `inout` may be
    read and stored anywhere, and elements are where programs meet. Nothing may
    be assumed of such a kernel but what its accesses say by themselves.
  }];
  let arguments = (ins Variadic<I64>:$lower, Variadic<I64>:$upper, StrArrayAttr:$names,
                       DenseBoolArrayAttr:$each, DenseI64ArrayAttr:$sizes, UnitAttr:$grid);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_ForOp : Tile_Op<"for", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "A loop over the blocks of [lower, upper), in increasing order";
  let description = [{
    Binds a !tile.span and the carried values. Blocks without an element are
    skipped. A carried value keeps, at each of its coordinates, the value from
    before the block where the block's domain (by the `tile.restrict`s of this
    body over the loop's span and the value's axes) has no element for that
    coordinate: skipping equals executing.

    A `reassociable` loop may have a `merge` region, which joins the carried
    values of two parts of its range, the earlier part's first, each part run
    from `inits`: elementwise ops without effects. The author promises that the
    result is the same.
  }];
  let arguments = (ins I64:$lower, I64:$upper, Variadic<Tile_Value>:$inits, StrAttr:$name,
                       I64Attr:$size, Tile_LoopKindAttr:$kind);
  let results = (outs Variadic<Tile_Value>:$results);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$merge);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getSpan() { return getBody().front().getArgument(0); }
    ::mlir::Block::BlockArgListType getCarried() {
      return getBody().front().getArguments().drop_front();
    }
    ::tile::ir::YieldOp getYield();
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, HasParent<"ForOp">]> {
  let summary = "The carried values after a block";
  let arguments = (ins Variadic<Tile_Value>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

// Not Pure: tiles name their axes in their types alone, so an axis whose span
// nothing uses may be needed still.
def Tile_AxisOp : Tile_Op<"axis", [MemoryEffects<[MemWrite]>]> {
  let summary = "A whole axis with coordinates [lower, upper)";
  let description = [{
    `:` over a dimension, `whole(N)` and `range(128)`. All its coordinates are
    in every tile that has it.
  }];
  let arguments = (ins I64:$lower, I64:$upper);
  let results = (outs Tile_Span:$span);
  let assemblyFormat = "$lower `to` $upper attr-dict `:` type($span)";
}

def Tile_RestrictOp : Tile_Op<"restrict", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "Restricts the domain of the tiles that have all its spans as axes";
  let description = [{
    Holds for the rest of the enclosing block and what it nests. `constraint`
    is an integer set with exactly one constraint over `dims` (spans) and
    `syms` (integers). With `unless`, the constraint applies only where that
    scalar is false. Stands at the start of the binder's body, or right after
    its tile.axis.
  }];
  let arguments = (ins IntegerSetAttr:$constraint, Variadic<Tile_Span>:$dims, Variadic<I64>:$syms,
                       Optional<I1>:$unless);
  let assemblyFormat = [{
    $constraint `(` $dims `)` `[` $syms `]` (`unless` $unless^)? attr-dict `:` type($dims)
  }];
  let hasVerifier = 1;
}

//===-- Memory ------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
                                   DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Loads a tile through an index map";
  let description = [{
    Element (l0, l1, …) of the result is source[map(dims, syms)], one map
    result a tensor dimension. `dims` are spans (their coordinate) or tiles of
    integers (their value: a gather); `syms` are integers. Result axes: the
    union of the axes in the map's results, in order of first appearance.
    `bounds` says what coordinates outside the tensor give: with `pad` the
    value `pad`, with `clamp` the nearest element inside (of an empty tensor:
    zero).
  }];
  let arguments = (ins Tile_Memory:$source, AffineMapAttr:$map, Variadic<Tile_Index>:$dims,
                       Variadic<I64>:$syms, Tile_BoundsModeAttr:$bounds,
                       Optional<AnyType>:$pad);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $source `at` $map `(` $dims `)` `[` $syms `]` $bounds (`else` $pad^)? attr-dict
    `:` type($source) `,` custom<TypeList>(type($dims)) (`,` type($pad)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

class Tile_WriteOp<string mnemonic, dag extra> : Tile_Op<mnemonic, [AttrSizedOperandSegments,
                                   DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = !con((ins Tile_Value:$value, Tile_Memory:$target, AffineMapAttr:$map,
                            Variadic<Tile_Index>:$dims, Variadic<I64>:$syms), extra);
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_WriteOp<"store", (ins UnitAttr:$drops)> {
  let summary = "Stores a tile through an index map";
  let description = [{
    target[map(dims, syms)] = value, at each coordinate of the domain of the
    map's axes. The value's axes are among the map's; it broadcasts along the
    others. With `drops`, in grid kernels, what falls outside is left out.
  }];
  let assemblyFormat = [{
    $value `,` $target `at` $map `(` $dims `)` `[` $syms `]` (`drop` $drops^)? attr-dict
    `:` type($value) `,` type($target) `,` custom<TypeList>(type($dims))
  }];
}

def Tile_UpdateOp : Tile_WriteOp<"update", (ins Tile_CombineKindAttr:$kind)> {
  let summary = "Combines a tile into a `reduce` output";
  let description = [{
    target[map(dims, syms)] = combine(target[…], value), once for each
    coordinate of the domain of the map's axes. Through tiles of integers,
    updates that fall outside the target are dropped.
  }];
  let assemblyFormat = [{
    $kind $value `,` $target `at` $map `(` $dims `)` `[` $syms `]` attr-dict
    `:` type($value) `,` type($target) `,` custom<TypeList>(type($dims))
  }];
}

def Tile_FinishOp : Tile_Op<"finish", [SingleBlock, HasParent<"KernelOp">]> {
  let summary = "What the elements of a `reduce` output become in the end";
  let description = [{
    When all programs have ended, each element of the output, complete and rounded
    to the output's type, becomes the region's value of it. No source says this: the
    fuser puts here what another kernel computes of the output, element by element.

    Stands behind tile.parallel, once at most for an output. The region holds
    elementwise ops on scalars, and may use others from before tile.parallel.
  }];
  let arguments = (ins Tile_Memory:$output);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$output `:` type($output) $body attr-dict";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// What an element becomes, of the region.
    ::mlir::Value getFinished() { return getBody().front().getTerminator()->getOperand(0); }
  }];
}

//===-- Tiles -------------------------------------------------------------===//

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "A tile or scalar on more axes, or with its axes in another order";
  let arguments = (ins Tile_Value:$input);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_CoordsOp : Tile_Op<"coords", [Pure]> {
  let summary = "The tile of a span's coordinates";
  let arguments = (ins Tile_Span:$span);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$span attr-dict `:` type($span) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, DeclareOpInterfaceMethods<Tile_AlongAxes>]> {
  let summary = "Reduces a tile along axes, over its domain";
  let description = [{
    Over an empty domain gives the identity of `kind`: 0, 1, −inf or the
    type's least value, +inf or its greatest, all ones, 0.
    Floats combine in an order of the implementation's choosing.
  }];
  let arguments = (ins Tile_CombineKindAttr:$kind, AnyTensor:$input, StrArrayAttr:$axes);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$kind $input `over` $axes attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ArgReduceOp : Tile_Op<"arg_reduce", [
    Pure, DeclareOpInterfaceMethods<Tile_AlongAxes, ["needsWholeAxis"]>]> {
  let summary = "The coordinate of the greatest or least element along one axis";
  let description = [{
    The lowest coordinate on ties; the first NaN wins; −1 over an empty domain.
    `kind` is max, min, umax or umin.
  }];
  let arguments = (ins Tile_CombineKindAttr:$kind, AnyTensor:$input, StrAttr:$axis);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$kind $input `over` $axis attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_CountOp : Tile_Op<"count", [Pure]> {
  let summary = "How many elements the domain has along axes, per remaining coordinate";
  let description = [{
    `spans` are the axes counted, and the result's axes are the others whose
    conditions join them: the count of (spans) inside the domain of the tiles
    with axes result ∪ spans.
  }];
  let arguments = (ins Variadic<Tile_Span>:$spans);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$spans attr-dict `:` type($spans) `->` type($result)";
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>,
                                 DeclareOpInterfaceMethods<Tile_AlongAxes>]> {
  let summary = "Contracts one axis of two tiles, accumulating onto a third";
  let description = [{
    result = acc + Σ_axis lhs · rhs. Axes that both have and that are not
    contracted are batch axes. Coordinates outside either domain contribute
    nothing, even against Inf or NaN. Products and sums are in the element
    type of `acc` (f32, f64, i32 or i64).
  }];
  let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs, StrAttr:$axis, Tile_Value:$acc);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `over` $axis `acc` $acc attr-dict
    `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===-- Elementwise ops that upstream lacks -------------------------------===//

class Tile_Elementwise<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic, !listconcat(
    [Pure, Elementwise, Scalarizable, Vectorizable, Tensorizable], traits)>;

class Tile_IntBinary<string mnemonic> : Tile_Elementwise<mnemonic, [SameOperandsAndResultType]> {
  let arguments = (ins SignlessIntegerLike:$lhs, SignlessIntegerLike:$rhs,
                       UnitAttr:$isUnsigned, UnitAttr:$truncates);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = [{
    (`unsigned` $isUnsigned^)? (`trunc` $truncates^)? $lhs `,` $rhs attr-dict `:` type($result)
  }];
  let hasFolder = 1;
}

def Tile_DivOp : Tile_IntBinary<"div"> {
  let summary = "Integer division for all inputs: x / 0 = 0, least / −1 wraps";
  let description = "Rounds toward −∞; with `trunc` toward zero.";
}
def Tile_RemOp : Tile_IntBinary<"rem"> {
  let summary = "Integer remainder for all inputs: x % 0 = x";
  let description = "x − div(x, y) · y: the sign of y; with `trunc` that of x.";
}

def Tile_FpToIntOp : Tile_Elementwise<"fptoint"> {
  let summary = "Float to integer, toward zero, saturating; NaN gives 0";
  let arguments = (ins FloatLike:$input, UnitAttr:$isUnsigned);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = [{
    (`unsigned` $isUnsigned^)? $input attr-dict `:` type($input) `to` type($result)
  }];
}

def Tile_RoundTf32Op : Tile_Elementwise<"round_tf32", [SameOperandsAndResultType]> {
  let summary = "The nearest f32 with 10 bits of mantissa, of two the even one: a tf32";
  let description = [{
    From half a step past the greatest one, (2 − 2⁻¹⁰) · 2¹²⁷, on: infinite.
    Subnormal numbers keep those of the 10 upper bits of mantissa. What
    multiplies such numbers may do it on tf32 hardware, with the same result.
  }];
  let arguments = (ins FloatLike:$input);
  let results = (outs FloatLike:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
  let hasVerifier = 1;
}

// Which word of a Philox block an element takes: that of its own draw, or one of the two of the pair
// of draws that it belongs to.
def Tile_DrawKind : I32EnumAttr<"DrawKind", "a word of a block of random bits", [
    I32EnumAttrCase<"own", 0>, I32EnumAttrCase<"first", 1>, I32EnumAttrCase<"second", 2>]> {
  let cppNamespace = "::tile::ir";
  let genSpecializedAttr = 0;
}
def Tile_DrawKindAttr : EnumAttr<Tile_Dialect, Tile_DrawKind, "draw"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_PhiloxOp : Tile_Elementwise<"philox", [AllTypesMatch<["seed", "stream", "index"]>]> {
  let summary = "32 random bits that depend on nothing but the operands";
  let description = [{
    Draws come from blocks of four words, which Philox4x32-10 makes (J. K.
    Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as
    easy as 1, 2, 3", SC '11). Draw `index`, taken without a sign, is word
    index mod 4 of block b = ⌊index / 4⌋, of which the key is the seed and the
    counter b + 2⁶⁴ · stream, low words first. Draws 0 and 1 of a block are a
    pair, and so are 2 and 3: `own` gives the draw, `first` and `second` the
    two words of its pair.
  }];
  let arguments = (ins Tile_DrawKindAttr:$kind, SignlessIntegerLike:$seed,
                       SignlessIntegerLike:$stream, SignlessIntegerLike:$index);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = [{
    $kind $seed `,` $stream `,` $index attr-dict `:` type($index) `->` type($result)
  }];
  let hasVerifier = 1;
}

include "ir/dialect/TileAlongOps.td"
include "ir/dialect/TileGridOps.td"
include "ir/dialect/TileReportOps.td"

#endif // TILE_OPS
