//===- Pipeline.td - roles, channels and tensor cores ----------*- tablegen -*-===//
//
// How a tile_gpu kernel says that some of its warps fetch what others multiply:
//
//   %items = tile_gpu.channel : !tile_gpu.channel<4, [A, B]>
//   tile.parallel (…) {
//     tile_gpu.roles
//       "load" warps 4 registers 40 { … tile_gpu.put %items[%n] from … },
//       "multiply" warps 8 registers 232 { … tile_gpu.get %items[%n] … }
//   }
//
// docs/gpu.md shows a whole kernel.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_GPU_PIPELINE
#define TILE_GPU_PIPELINE

//===-- Types -------------------------------------------------------------===//

class TileGpu_Type<string name, string typeMnemonic> : TypeDef<TileGpu_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def TileGpu_SharedType : TileGpu_Type<"Shared", "shared"> {
  let summary = "A matrix in the program's shared memory";
  let description = [{
    Its columns are cut into panels of `swizzle` bytes (128, 64 or 32); a panel lies row
    by row, and within each 8 rows (4, 2) the 16-byte pieces of a row are permuted: piece p of row
    r stands where piece p xor r would. That is what bulk copies of tensors write and
    tensor cores read without conflicts of banks.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$matrix, "int64_t":$swizzle);
  let assemblyFormat = "`<` $matrix `,` `swizzle` `=` $swizzle `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRows() const { return getMatrix().getDimSize(0); }
    int64_t getColumns() const { return getMatrix().getDimSize(1); }
    ::mlir::Type getElement() const { return getMatrix().getElementType(); }
    int64_t getBytes() const;
    /// Columns of a panel, and its bytes.
    int64_t getPanelColumns() const;
    int64_t getPanelBytes() const { return getRows() * getSwizzle(); }
  }];
}

def TileGpu_ChannelType : TileGpu_Type<"Channel", "channel"> {
  let summary = "A ring of slots in shared memory, between warps that fill them and warps that read";
  let description = [{
    Items are numbered from 0 on and go through slot number % depth. An item is put, then
    got, then released by each warp that gets it; only then is its slot filled again.
  }];
  let parameters = (ins "int64_t":$depth, ArrayRefParameter<"::mlir::Type">:$slot);
  let assemblyFormat = "`<` $depth `,` `[` $slot `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::tile::codegen::gpu::SharedType getPart(size_t n) const;
    /// Of a slot; each part begins at a multiple of 1024 bytes.
    int64_t getSlotBytes() const;
  }];
}

def TileGpu_PendingType : TileGpu_Type<"Pending", "pending"> {
  let summary = "A tile whose registers the tensor cores may still be writing";
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
  let genVerifyDecl = 1;
}

//===-- Channels ----------------------------------------------------------===//

def TileGpu_ChannelOp : Op<TileGpu_Dialect, "channel", []> {
  let summary = "Makes a channel, which lives as long as the block of threads";
  let description = [{ Stands in the kernel's body, before its tile.parallel. }];
  let results = (outs TileGpu_ChannelType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TileGpu_PutOp : Op<TileGpu_Dialect, "put", [AttrSizedOperandSegments]> {
  let summary = "Waits until the item's slot is free and has it filled from memory";
  let description = [{
    Doesn't wait for the copies. Part p is the box of source p that begins where maps[p] says,
    of the dims' values; a span's value is where its block begins. The box has the
    part's rows along the source's dimension before the last, its columns along the last,
    and 1 along others. What lies beyond the tensor becomes zero. Items are put in order,
    each once, by one role.

    Where programs are clusters of blocks, each block has its own channel, and split[p] says what
    of part p it gets: -1, all blocks get the same, of which each fetches a share for all;
    0 or 1, each its own, which follow each other along the source's rows or columns. Without `split`
    each gets what is where the maps say, for which `rank` tells blocks apart.

    `tf32`: elements are f32, and each becomes the nearest tf32 on the way, as tile.round_tf32
    has it.
  }];
  let arguments = (ins TileGpu_ChannelType:$channel, I64:$number, Variadic<AnyMemRef>:$sources,
                       Variadic<AnyType>:$dims, AffineMapArrayAttr:$maps,
                       OptionalAttr<DenseI64ArrayAttr>:$split,
                       UnitAttr:$tf32);
  let assemblyFormat = [{
    $channel `[` $number `]` `from` $sources `at` $maps `(` $dims `)` (`split` $split^)? (`tf32` $tf32^)?
    attr-dict `:` type($channel) `from` type($sources) `at` type($dims)
  }];
  let hasVerifier = 1;
}

def TileGpu_GetOp : Op<TileGpu_Dialect, "get", []> {
  let summary = "Waits until an item is there; its parts may be read until it is released";
  let arguments = (ins TileGpu_ChannelType:$channel, I64:$number);
  let results = (outs Variadic<TileGpu_SharedType>:$parts);
  let assemblyFormat = "$channel `[` $number `]` attr-dict `:` type($channel) `to` type($parts)";
  let hasVerifier = 1;
}

def TileGpu_ReleaseOp : Op<TileGpu_Dialect, "release", []> {
  let summary = "This warp doesn't read the item any more";
  let description = [{
    Its slot is filled again once all warps have said so; of all blocks of a cluster, where these
    fetch for each other (`split` of `put`).
  }];
  let arguments = (ins TileGpu_ChannelType:$channel, I64:$number);
  let assemblyFormat = "$channel `[` $number `]` attr-dict `:` type($channel)";
}

//===-- Roles -------------------------------------------------------------===//

def TileGpu_RolesOp : Op<TileGpu_Dialect, "roles", [NoTerminator, HasParent<"::tile::ir::ParallelOp">]> {
  let summary = "What the warps of a program do, each group its own";
  let description = [{
    All of the body of its tile.parallel. The kernel's warps are those of the roles, in
    order; the layouts of a role's tiles are of its warps alone. A role that puts is one thread's:
    it gets nothing and has no tiles. `registers` is what a thread
    may use. With the attribute `tile_gpu.persistent` of the kernel, a block of threads runs
    program after program, and each role goes on to the next when it is done with its own
    part: channels connect them across programs.
  }];
  let arguments = (ins StrArrayAttr:$names, DenseI64ArrayAttr:$warps, DenseI64ArrayAttr:$registers);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def TileGpu_WorkItemOp : Op<TileGpu_Dialect, "work_item", [Pure]> {
  let summary = "How many programs this CTA has run before";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def TileGpu_PositionOp : Op<TileGpu_Dialect, "position", []> {
  let summary = "The number of the first item of a channel that this program puts or gets";
  let description = [{
    0, and from program to program what the role's `advance` of the channel adds: programs of a
    persistent kernel may differ in how many items they have.
  }];
  let arguments = (ins TileGpu_ChannelType:$channel);
  let results = (outs I64:$result);
  let assemblyFormat = "$channel attr-dict `:` type($channel)";
  let hasVerifier = 1;
}

def TileGpu_AdvanceOp : Op<TileGpu_Dialect, "advance", []> {
  let summary = "Says how many items of a channel this program has put or got";
  let description = [{
    Stands in the body of a role itself, once for a channel. All roles of a channel advance it by
    the same number in a program.
  }];
  let arguments = (ins TileGpu_ChannelType:$channel, I64:$count);
  let assemblyFormat = "$channel `by` $count attr-dict `:` type($channel)";
  let hasVerifier = 1;
}

def TileGpu_AwaitTurnOp : Op<TileGpu_Dialect, "await_turn", []> {
  let summary = "Waits until it is this warpgroup's turn";
  let description = [{
    The warpgroups (four warps) of a role take turns in the order of their numbers, over and over; the
    first turn is that of number 0. All warpgroups of the role run as many `await_turn` as
    `pass_turn`, by turns, and the same number of them. At most one role of a kernel has turns.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def TileGpu_PassTurnOp : Op<TileGpu_Dialect, "pass_turn", []> {
  let summary = "Gives the turn to the next warpgroup, and doesn't wait";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def TileGpu_RankOp : Op<TileGpu_Dialect, "rank", [Pure]> {
  let summary = "The number of this block in its cluster";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

//===-- Tensor cores ------------------------------------------------------===//

def TileGpu_ReadOp : Op<TileGpu_Dialect, "read", []> {
  let summary = "Reads a matrix in shared memory into registers, as `mma` takes its first operand";
  let description = [{
    Elements of 16 bits. The result has the matrix' rows along its first axis, its columns along the
    second one (`by_columns`: the other way round), and `mmaLayout` of its shape. When the op is done
    the matrix has been read: the stage may be released.
  }];
  let arguments = (ins TileGpu_SharedType:$matrix, UnitAttr:$by_columns);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = [{
    $matrix (`by_columns` $by_columns^)? attr-dict `:` type($matrix) `to` type($result)
  }];
  let hasVerifier = 1;
}

def TileGpu_PartialReduceOp : Op<TileGpu_Dialect, "partial_reduce", [Pure]> {
  let summary = "Reduces what each thread has of a tile along an axis";
  let description = [{
    The result has the axis `into` in the place of `axis`, with one element for each thread that has
    a part of it: `partialLayout` (codegen/gpu/dialect/Layout.h). What a loop adds up needs no exchange
    between threads until the loop is done: a `tile.reduce` over `into` then gives the rest.
    All elements of the tile count, inside of the domain or not.
  }];
  let arguments = (ins Tile_CombineKindAttr:$kind, TileGpu_Tile:$input, StrAttr:$axis, StrAttr:$into);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = [{
    $kind $input `over` $axis `into` $into attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGpu_MmaBeginOp : Op<TileGpu_Dialect, "mma_begin", [Pure]> {
  let summary = "Hands a tile's registers to the tensor cores";
  let arguments = (ins TileGpu_Tile:$input);
  let results = (outs TileGpu_PendingType:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def TileGpu_MmaFreshOp : Op<TileGpu_Dialect, "mma_fresh", [Pure]> {
  let summary = "Registers for the tensor cores, which hold anything: the first mma must not add to them";
  let results = (outs TileGpu_PendingType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGpu_MmaOp : Op<TileGpu_Dialect, "mma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "Starts acc + a · b, of a matrix in shared memory or in registers and one in shared memory";
  let description = [{
    In registers `a` is a tile of 16-bit floats with `mmaLayout`, which an accumulator's is, too: what
    was made of one product is the operand of the next. Its registers are the tensor cores' until the
    op's group is done.
    In shared memory `a` has the rows of the result along its rows and what is contracted along its
    columns, `b` the columns of the result along its rows and what is contracted along its
    columns; with `a_by_columns`, `b_by_columns` the other way round (elements of 16 bits). Of a cluster
    each block has its own rows of the result in its `a`.
    The result's layout is `mmaLayout` of its shape (codegen/gpu/dialect/Mma.h). All that is started
    by one op is one group. Where `adds` is false, acc counts as zeros.
  }];
  let arguments = (ins AnyTypeOf<[TileGpu_SharedType, TileGpu_Tile]>:$a, TileGpu_SharedType:$b,
                       TileGpu_PendingType:$acc,
                       Optional<I1>:$adds, UnitAttr:$a_by_columns, UnitAttr:$b_by_columns);
  let results = (outs TileGpu_PendingType:$result);
  let assemblyFormat = [{
    $a (`by_columns` $a_by_columns^)? `,` $b (`by_columns` $b_by_columns^)? `,` $acc
    (`if` $adds^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def TileGpu_CombineOp : Op<TileGpu_Dialect, "combine", []> {
  let summary = "Adds up what the blocks of a cluster have, in the order of their numbers";
  let description = [{
    Each block has sums of all places (`mmaLayout`, Sharing::Parts) and gets the total of its own
    columns (Sharing::Columns). They are exchanged through the slots of the channel, all of whose
    items have been released: a program does it once, and the kernel's programs have blocks of their own.
  }];
  let arguments = (ins TileGpu_Tile:$input, TileGpu_ChannelType:$channel);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = "$input `through` $channel attr-dict `:` type($input) `through` type($channel) `to` type($result)";
  let hasVerifier = 1;
}

def TileGpu_SendOp : Op<TileGpu_Dialect, "send", []> {
  let summary = "Has a tile stored by bulk copies, and doesn't wait for them";
  let description = [{
    The tile has `mmaLayout` (codegen/gpu/dialect/Mma.h), and elements of 16 or 32 bits. Its first element goes
    to where the map says, of the dims' values, its rows along the target's dimension before
    the last, its columns along the last, or the other way round. What lies beyond the tensor is dropped. Each warp moves its
    rows through shared memory that nobody else has, so warps don't wait for each other.
  }];
  let arguments = (ins TileGpu_Tile:$value, AnyMemRef:$target, Variadic<AnyType>:$dims,
                       AffineMapAttr:$map);
  let assemblyFormat = [{
    $value `to` $target `at` $map `(` $dims `)` attr-dict
    `:` type($value) `to` type($target) `at` type($dims)
  }];
  let hasVerifier = 1;
}

def TileGpu_MmaWaitOp : Op<TileGpu_Dialect, "mma_wait", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "Waits until at most so many groups run; what the others read is read";
  let arguments = (ins TileGpu_PendingType:$acc, I64Attr:$pending);
  let results = (outs TileGpu_PendingType:$result);
  let assemblyFormat = "$acc `pending` $pending attr-dict `:` type($acc)";
  let hasVerifier = 1;
}

def TileGpu_MmaEndOp : Op<TileGpu_Dialect, "mma_end", []> {
  let summary = "Waits until at most so many groups run (0), and gives the tile";
  let description = [{ Those that may still run add to other tiles, and have been started later. }];
  let arguments = (ins TileGpu_PendingType:$acc, DefaultValuedAttr<I64Attr, "0">:$pending);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = "$acc (`pending` $pending^)? attr-dict `:` type($acc) `to` type($result)";
  let hasVerifier = 1;
}

#endif // TILE_GPU_PIPELINE
