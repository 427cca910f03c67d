//===- tile-opt.cpp - runs passes on IR text of all levels, for tests -----===//

#include "codegen/gpu/Passes.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "ir/Passes.h"
#include "ir/dialect/TileOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry
      .insert<tile::ir::TileDialect, tile::codegen::gpu::TileGpuDialect, mlir::arith::ArithDialect,
              mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  tile::ir::registerTilePasses();
  tile::codegen::gpu::registerGpuPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Runs passes on IR of all levels\n", registry));
}
