//===- Tile.h - the C++ API of tilec --------------------------------------===//
//
// Builds kernels from C++ with the language's names, loads `.tile` files, and
// runs both. Needs no MLIR headers.
//
//   tile::Module module = tile::Module::load("softmax.tile");
//   tile::Result<tile::Function> softmax = module.compile("softmax");
//   if (!softmax) …                       // softmax.error().str()
//   auto y = (*softmax)({{"x", x}});      // x: a tile::Tensor
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TILE_TILE_H
#define TILE_FRONTEND_TILE_TILE_H

#include "frontend/tile/Cuda.h"
#include "frontend/tile/Extent.h"
#include "frontend/tile/Grid.h"
#include "frontend/tile/Kernel.h"
#include "frontend/tile/Module.h"
#include "frontend/tile/Scan.h"
#include "frontend/tile/Type.h"
#include "frontend/tile/Value.h"

#endif // TILE_FRONTEND_TILE_TILE_H
