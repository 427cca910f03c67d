//===- LocalMemory.h - registers that became memory -----------------------===//
#ifndef TILE_FRONTEND_EXECUTE_LOCALMEMORY_H
#define TILE_FRONTEND_EXECUTE_LOCALMEMORY_H

#include "ir/dialect/TileOps.h"

namespace tile::frontend {

/// A remark at the kernel where its code for a GPU takes local memory: registers were spilled,
/// since the backend uses none by itself. `bytes` a thread are what the driver or ptxas says.
void remarkOnLocalMemory(ir::KernelOp kernel, int64_t bytes);

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_LOCALMEMORY_H
