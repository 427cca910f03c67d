//===- Reports.h - where a kernel speaks to its launch --------------------===//
#ifndef TILE_CODEGEN_REPORTS_H
#define TILE_CODEGEN_REPORTS_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen {

/// The ops that may say something, in the order of their numbers in reports: those that a place
/// in the source is known for.
llvm::SmallVector<mlir::Operation *> reportSites(ir::KernelOp kernel);

/// True for kernels with assertions or prints.
bool hasReports(ir::KernelOp kernel);

/// "softmax.tile:7:9"; empty where no place is known.
std::string placeOf(mlir::Location loc);

/// What the runtime has to know of an assertion or print, to say it (runtime/artifact/CpuReport.h).
std::string encodeSite(mlir::Operation *op, unsigned number);

} // namespace tile::codegen

#endif // TILE_CODEGEN_REPORTS_H
