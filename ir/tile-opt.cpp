//===- tile-opt.cpp - runs passes on tile IR text, for tests --------------===//

#include "ir/Passes.h"
#include "ir/TileOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tile::ir::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect, mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  tile::ir::registerTilePasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Runs passes on tile IR\n", registry));
}
