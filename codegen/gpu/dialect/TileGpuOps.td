//===- TileGpuOps.td - the tile_gpu level ----------------------*- tablegen -*-===//
//
// Kernels at this level are those of the `tile` dialect, op for op, but the types
// of tiles have layouts in the place of axes: who holds which elements is said, and
// every move of elements between threads is an op. docs/gpu.md tells the story.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_GPU_OPS
#define TILE_GPU_OPS

include "ir/dialect/TileDialect.td"
include "ir/dialect/TileInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TileGpu_Dialect : Dialect {
  let name = "tile_gpu";
  let cppNamespace = "::tile::codegen::gpu";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def TileGpu_LayoutAttr : AttrDef<TileGpu_Dialect, "Layout", [Tile_AxesEncoding]> {
  let mnemonic = "layout";
  let summary = "The axes of a tile, and which thread holds which of its elements";
  let description = [{
    codegen/gpu/dialect/Layout.h says what the lists mean: for each bit of the number of
    a register, lane and warp a step, with one coordinate an axis, and of a block
    where programs are clusters of them; then how often all that is repeated
    along each axis. Steps that are not zero are linearly
    independent over F2 and reach all of the atom.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"int64_t">:$registers, ArrayRefParameter<"int64_t">:$lanes,
                        ArrayRefParameter<"int64_t">:$warps, ArrayRefParameter<"int64_t">:$blocks,
                        ArrayRefParameter<"int64_t">:$repeats);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::mlir::StringAttr>":$names,
                                   "const ::tile::codegen::gpu::Layout &":$layout)>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::tile::codegen::gpu::Layout getLayout() const;
  }];
}

def TileGpu_Tile : Type<CPred<"::tile::codegen::gpu::hasLayout($_self)">, "tile with a layout">;

def TileGpu_ConvertOp : Op<TileGpu_Dialect, "convert", [Pure]> {
  let summary = "The same tile, held by other threads or in other registers";
  let arguments = (ins TileGpu_Tile:$input);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

include "codegen/gpu/dialect/Pipeline.td"

#endif // TILE_GPU_OPS
