//===- TileDialect.td - what other dialects know of the tile one *- tablegen -*-===//

#ifndef TILE_DIALECT
#define TILE_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "ir/dialect/TileInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tile::ir";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def Tile_AxesAttr : AttrDef<Tile_Dialect, "Axes", [Tile_AxesEncoding]> {
  let mnemonic = "axes";
  let summary = "The axes of a tile, in the order of its dimensions";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let assemblyFormat = "`<` $names `>`";
}

// Who combines how. `max` and `min` propagate NaN, `fmax` and `fmin` ignore it;
// `umax` and `umin` are for unsigned integers.
def Tile_CombineKind : I32EnumAttr<"CombineKind", "an associative combination", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"mul", 1>, I32EnumAttrCase<"max", 2>,
    I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"umax", 4>, I32EnumAttrCase<"umin", 5>,
    I32EnumAttrCase<"fmax", 6>, I32EnumAttrCase<"fmin", 7>, I32EnumAttrCase<"andi", 8, "and">,
    I32EnumAttrCase<"ori", 9, "or">, I32EnumAttrCase<"xori", 10, "xor">]> {
  let cppNamespace = "::tile::ir";
  let genSpecializedAttr = 0;
}
def Tile_CombineKindAttr : EnumAttr<Tile_Dialect, Tile_CombineKind, "combine"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // TILE_DIALECT
