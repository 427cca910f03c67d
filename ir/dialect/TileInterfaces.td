//===- TileInterfaces.td - what passes ask of tile ops and types *- tablegen -*-===//
//
// Passes read these instead of op names, so that a new op is known to all of
// them by what it declares here.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_INTERFACES
#define TILE_INTERFACES

include "mlir/IR/OpBase.td"

def Tile_AxesEncoding : AttrInterface<"AxesEncoding"> {
  let cppNamespace = "::tile::ir";
  let description = [{
    What stands as the encoding of a tile's type: it names the axes. `#tile.axes`
    says no more; the layouts of a target say, too, who holds which elements.
  }];
  let methods = [
    InterfaceMethod<"The axes of the tile, in the order of its dimensions.",
                    "::llvm::ArrayRef<::mlir::StringAttr>", "getNames">
  ];
}

def Tile_AlongAxes : OpInterface<"AlongAxes"> {
  let cppNamespace = "::tile::ir";
  let description = [{
    An op whose result at one coordinate takes elements from several coordinates
    of its operands: reductions, contractions, scans, sorts. Backends give it a
    loop nest of its own; its result is data, never a coordinate.
  }];
  let methods = [
    InterfaceMethod<"The axes along which elements meet.",
                    "::llvm::SmallVector<::mlir::StringAttr>", "getAxesAlong">,
    InterfaceMethod<"The operands whose elements meet: each has those axes.",
                    "::llvm::SmallVector<::mlir::Value>", "getOperandsAlong">,
    InterfaceMethod<"What the language calls it, as in `sum`.", "::llvm::StringRef", "getWord">,
    InterfaceMethod<"True if over one block of an axis it would mean nothing.", "bool",
                    "needsWholeAxis", (ins), "", "return false;">
  ];
}

#endif // TILE_INTERFACES
