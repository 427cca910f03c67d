// Tile sizes and plans for GPUs: what the schedule says stays, and what is chosen fits the device.
#include "codegen/gpu/TileSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace tile::codegen::gpu;
using namespace tile::ir;

namespace {
/// y = x, or its transpose, in tiles of i and j.
std::string copy(const std::string &write, const std::string &attributes = "") {
  return R"(
tile.kernel @copy(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> )" +
         std::string(write == "(j, i)" ? "(n, m)" : "(m, n)") + R"(>})
    attributes {dims = ["M", "N"])" +
         attributes + R"(} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %t = tile.load %x at affine_map<(i, j) -> (i, j)>(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
    tile.store %t, %y at affine_map<(i, j) -> )" +
         write +
         R"(>(%i, %j) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
})";
}

class GpuTilesTest : public ::testing::Test {
protected:
  GpuTilesTest() { context.loadDialect<TileDialect, mlir::arith::ArithDialect>(); }

  llvm::StringMap<int64_t> choose(const std::string &text, llvm::ArrayRef<int64_t> dims,
                                  const llvm::StringMap<int64_t> &given = {}, bool fixed = false) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return chooseTiles(*module->getOps<KernelOp>().begin(), dims, given, GpuModel(), fixed);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(GpuTilesTest, GivenSizesStay) {
  auto sizes = choose(copy("(i, j)"), {8192, 8192}, {{"i", 7}});
  EXPECT_EQ(sizes["i"], 7);
  EXPECT_GE(sizes["j"], 128);
}

TEST_F(GpuTilesTest, TheScheduleOfTheTargetComesFirst) {
  std::string schedule = R"(, schedule = {i = [3, 64], j = 48, "target.cuda" = {j = 96}})";
  auto sizes = choose(copy("(i, j)", schedule), {8192, 8192});
  EXPECT_TRUE(sizes["i"] == 3 || sizes["i"] == 64) << sizes["i"];
  EXPECT_EQ(sizes["j"], 96);
}

TEST_F(GpuTilesTest, NeighboursAreTogetherAndEveryMultiprocessorHasWork) {
  for (int64_t extent : {512, 1024, 4096, 16384}) {
    auto sizes = choose(copy("(i, j)"), {extent, extent});
    EXPECT_GE(sizes["j"], 256);
    EXPECT_GE((extent / sizes["i"]) * (extent / sizes["j"]), 4 * 132) << extent;
    EXPECT_LE(sizes["i"] * sizes["j"], 2048);
  }
}

TEST_F(GpuTilesTest, WhatIsReadAcrossIsSquare) {
  auto sizes = choose(copy("(j, i)"), {8192, 8192});
  EXPECT_EQ(sizes["i"], 64);
  EXPECT_EQ(sizes["j"], 64);
}

/// Sums of columns: 16 warps have 16 bytes a thread of a row, so that a column is one thread's.
TEST_F(GpuTilesTest, WhatEndsInARowHasThreadsForItsColumns) {
  auto text = [](const std::string &element) {
    std::string tile = "tensor<?x?x" + element + ", #tile.axes<\"i\", \"j\">>";
    std::string row = "tensor<?x" + element + ", #tile.axes<\"j\">>";
    std::string x = "memref<?x?x" + element + ">", y = "memref<?x" + element + ">";
    return "tile.kernel @sums(%x: " + x +
           R"( {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: )" +
           y +
           R"( {tile.name = "y", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[m, n] -> (n)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %t = tile.load %x at affine_map<(i, j) -> (i, j)>(%i, %j) [] <exact> : )" +
           x + ", (!tile.span<\"i\">, !tile.span<\"j\">) -> " + tile + R"(
    %s = tile.reduce <add> %t over ["i"] : )" +
           tile + " -> " + row + R"(
    tile.update <add> %s, %y at affine_map<(j) -> (j)>(%j) [] : )" +
           row + ", " + y + R"(, (!tile.span<"j">)
  }
  tile.return
})";
  };
  auto sizes = choose(text("f32"), {8192, 8192});
  EXPECT_EQ(sizes["i"], 16);
  EXPECT_EQ(sizes["j"], 2048);
  EXPECT_EQ(choose(text("f64"), {8192, 8192}).lookup("j"), 1024);
}

TEST_F(GpuTilesTest, ShortAndUnknownAxesAreChosenFor) {
  auto sizes = choose(copy("(i, j)"), {100000, 3});
  EXPECT_EQ(sizes["j"], 4);
  EXPECT_EQ(sizes["i"], 128); // 782 programs; 256 would make 391
  EXPECT_EQ(choose(copy("(i, j)"), {}).lookup("j"), 1024);
}

TEST_F(GpuTilesTest, BlocksOfSchedulesAreNoLongerThanAnAxisThatIsFixed) {
  std::string schedule = ", schedule = {i = 4, j = 8192}";
  auto sizes = choose(copy("(i, j)", schedule), {1, 33}, {}, /*fixed=*/true);
  EXPECT_EQ(sizes["i"], 1);
  EXPECT_EQ(sizes["j"], 64);
  EXPECT_EQ(choose(copy("(i, j)", schedule), {}, {}, /*fixed=*/true).lookup("j"), 8192);
  // Other lengths share the code.
  EXPECT_EQ(choose(copy("(i, j)", schedule), {1, 33}).lookup("j"), 8192);
}
} // namespace
