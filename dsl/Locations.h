//===- Locations.h - source ranges as MLIR locations, and back ------------===//
#ifndef TILE_DSL_LOCATIONS_H
#define TILE_DSL_LOCATIONS_H

#include "dsl/Elaborator.h"

#include "mlir/IR/Location.h"

namespace tile::dsl {

mlir::Location toLocation(mlir::MLIRContext *context, const SourceFile &file, Range range);
/// The range in the file that `toLocation` made the location of.
Range toRange(mlir::Location location, const SourceFile &file);

} // namespace tile::dsl

#endif // TILE_DSL_LOCATIONS_H
