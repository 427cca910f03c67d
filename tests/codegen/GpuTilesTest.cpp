// Tile sizes and plans for GPUs: what the schedule says stays, and what is chosen fits the device.
#include "codegen/gpu/plan/ProductModel.h"
#include "codegen/gpu/plan/TileSizes.h"

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

/// c = a · b, in tiles of i, j and k.
std::string product(const std::string &type, const std::string &attributes = "") {
  std::string text = R"(
!acc = tensor<?x?xf32, #tile.axes<"i", "j">>
tile.kernel @product(
    %a: memref<?x?xTYPE> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x?xTYPE> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (k, n)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"]ATTRIBUTES} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at affine_map<(i, k) -> (i, k)>(%i, %k) [] <exact> : memref<?x?xTYPE>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xTYPE, #tile.axes<"i", "k">>
      %y = tile.load %b at affine_map<(k, j) -> (k, j)>(%k, %j) [] <exact> : memref<?x?xTYPE>, (!tile.span<"k">, !tile.span<"j">) -> tensor<?x?xTYPE, #tile.axes<"k", "j">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<?x?xTYPE, #tile.axes<"i", "k">>, tensor<?x?xTYPE, #tile.axes<"k", "j">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at affine_map<(i, j) -> (i, j)>(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
})";
  for (auto [word, with] : {std::pair<std::string, std::string>("TYPE", type),
                            std::pair<std::string, std::string>("ATTRIBUTES", attributes)})
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, word.size(), with);
  return text;
}

class GpuTilesTest : public ::testing::Test {
protected:
  GpuTilesTest() { context.loadDialect<TileDialect, mlir::arith::ArithDialect>(); }

  llvm::StringMap<int64_t> choose(const std::string &text, llvm::ArrayRef<int64_t> dims,
                                  const llvm::StringMap<int64_t> &given = {}, bool fixed = false) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return chooseTiles(*module->getOps<KernelOp>().begin(), dims, given, target, fixed);
  }

  tile::codegen::GpuTarget target = tile::codegen::GpuTarget::of(tile::codegen::usualGpuTarget);

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

// A product that fills 132 multiprocessors once would take two rounds on 114.
TEST_F(GpuTilesTest, ProductsAreCutForTheDevicesMultiprocessors) {
  auto programs = [](llvm::StringMap<int64_t> sizes) {
    return (1408 + sizes["i"] - 1) / sizes["i"] * ((3072 + sizes["j"] - 1) / sizes["j"]);
  };
  auto usual = choose(product("bf16"), {1408, 3072, 4096});
  EXPECT_EQ(programs(usual), 132);
  target.multiprocessors = 114;
  auto fewer = choose(product("bf16"), {1408, 3072, 4096});
  EXPECT_LE(programs(fewer) % 114 == 0 ? 0 : 114 - programs(fewer) % 114, 57);
  EXPECT_NE(fewer, usual);
}

// What waits for memory has larger blocks where memory is slower for a clock.
TEST_F(GpuTilesTest, SlowMemoryMakesProductsLonger) {
  ProductExtents extents{.rows = 64, .columns = 8192, .depth = 8192, .bytes = 2};
  ProductBlock block{.rows = 64, .columns = 64, .depth = 128};
  double usual = cyclesOf(extents, block, target);
  target.memoryBandwidth /= 2;
  EXPECT_GT(cyclesOf(extents, block, target), 1.3 * usual);
  target.clock /= 2; // the same for a cycle
  EXPECT_DOUBLE_EQ(cyclesOf(extents, block, target), usual);
}

TEST_F(GpuTilesTest, WhatIsReadAcrossIsSquare) {
  auto sizes = choose(copy("(j, i)"), {8192, 8192});
  EXPECT_EQ(sizes["i"], 64);
  EXPECT_EQ(sizes["j"], 64);
}

TEST_F(GpuTilesTest, WhatIsNextToEachOtherInMemoryComesFirst) {
  // q lies innermost, then p, whatever order the binders have.
  std::string tile = R"(tensor<?x?x?xf32, #tile.axes<"n", "p", "q">>)";
  std::string text = R"(
#shape = affine_map<()[n, p, q] -> (n, p, q)>
#id = affine_map<(n, p, q) -> (n, p, q)>
tile.kernel @copy(%x: memref<?x?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #shape},
                  %y: memref<?x?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #shape})
    attributes {dims = ["N", "P", "Q"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  %P = tile.dim "P"
  %Q = tile.dim "Q"
  tile.parallel (BINDERS) {
    %t = tile.load %x at #id(%n, %p, %q) [] <exact> : memref<?x?x?xf32>, (!tile.span<"n">, !tile.span<"p">, !tile.span<"q">) -> )" +
                     tile + R"(
    tile.store %t, %y at #id(%n, %p, %q) [] : )" +
                     tile +
                     R"(, memref<?x?x?xf32>, (!tile.span<"n">, !tile.span<"p">, !tile.span<"q">)
  }
  tile.return
})";
  for (std::string binders :
       {R"(%n = tiles "n" %c0 to %N, %p = tiles "p" %c0 to %P, %q = tiles "q" %c0 to %Q)",
        R"(%p = tiles "p" %c0 to %P, %q = tiles "q" %c0 to %Q, %n = tiles "n" %c0 to %N)"}) {
    std::string kernel = text;
    kernel.replace(kernel.find("BINDERS"), 7, binders);
    auto sizes = choose(kernel, {4096, 1024, 128});
    EXPECT_EQ(sizes["q"], 128);
    EXPECT_EQ(sizes["p"], 16);
    EXPECT_EQ(sizes["n"], 1);
    // Where it has one element the one before it is innermost.
    sizes = choose(kernel, {4096, 1024, 1});
    EXPECT_EQ(sizes["q"], 1);
    EXPECT_EQ(sizes["p"], 1024);
    EXPECT_LE(sizes["n"], 2);
  }
}

/// Scores · values of which programs have blocks of columns: scores would be made for each.
TEST_F(GpuTilesTest, WhatWouldBeContractedAgainHasOneBlock) {
  std::string text = R"(
!s = tensor<?x?xf32, #tile.axes<"i", "l">>
!o = tensor<?x?xf32, #tile.axes<"i", "j">>
tile.kernel @two(%q: memref<?x64xbf16> {tile.name = "q", tile.mode = "in", tile.shape = affine_map<()[s, l, n] -> (s, 64)>},
                 %k: memref<?x64xbf16> {tile.name = "k", tile.mode = "in", tile.shape = affine_map<()[s, l, n] -> (l, 64)>},
                 %v: memref<?x?xbf16> {tile.name = "v", tile.mode = "in", tile.shape = affine_map<()[s, l, n] -> (l, n)>},
                 %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[s, l, n] -> (s, n)>})
    attributes {dims = ["S", "L", "N"]} {
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant 0.0 : f32
  %S = tile.dim "S"
  %L = tile.dim "L"
  %N = tile.dim "N"
  %d = tile.axis %c0 to %c64 : !tile.span<"d", 64>
  tile.parallel (%i = tiles "i" %c0 to %S, %j = tiles "j" %c0 to %N) {
    %zeros = tile.broadcast %zero : f32 to !o
    %sum = tile.for fold %l = "l" %c0 to %L iter_args(%acc = %zeros : !o) {
      %tq = tile.load %q at affine_map<(i, d) -> (i, d)>(%i, %d) [] <exact> : memref<?x64xbf16>, (!tile.span<"i">, !tile.span<"d", 64>) -> tensor<?x64xbf16, #tile.axes<"i", "d">>
      %tk = tile.load %k at affine_map<(l, d) -> (l, d)>(%l, %d) [] <exact> : memref<?x64xbf16>, (!tile.span<"l">, !tile.span<"d", 64>) -> tensor<?x64xbf16, #tile.axes<"l", "d">>
      %none = tile.broadcast %zero : f32 to !s
      %s = tile.dot %tq, %tk over "d" acc %none : tensor<?x64xbf16, #tile.axes<"i", "d">>, tensor<?x64xbf16, #tile.axes<"l", "d">> -> !s
      %p = arith.truncf %s : !s to tensor<?x?xbf16, #tile.axes<"i", "l">>
      %tv = tile.load %v at affine_map<(l, j) -> (l, j)>(%l, %j) [] <exact> : memref<?x?xbf16>, (!tile.span<"l">, !tile.span<"j">) -> tensor<?x?xbf16, #tile.axes<"l", "j">>
      %next = tile.dot %p, %tv over "l" acc %acc : tensor<?x?xbf16, #tile.axes<"i", "l">>, tensor<?x?xbf16, #tile.axes<"l", "j">> -> !o
      tile.yield %next : !o
    }
    tile.store %sum, %y at affine_map<(i, j) -> (i, j)>(%i, %j) [] : !o, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
})";
  for (int64_t columns : {64, 128, 100}) {
    auto sizes = choose(text, {256, 1024, columns});
    EXPECT_GE(sizes["j"], columns);
    EXPECT_GE(sizes["i"], 32);
  }
  // As many as registers hold.
  EXPECT_LT(choose(text, {4096, 1024, 65536})["j"], 65536);
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

/// Of contractions by plain threads, which would compute what is masked.
TEST_F(GpuTilesTest, BlocksOfPlainProductsAreNoLongerThanTheirAxes) {
  std::string schedule = ", schedule = {i = 32, j = 64, k = 64}";
  auto sizes = choose(product("f32", schedule), {4, 1000, 5});
  EXPECT_EQ(sizes["i"], 4);
  EXPECT_EQ(sizes["j"], 64);
  EXPECT_EQ(sizes["k"], 8);
  EXPECT_EQ(choose(product("f32", schedule), {4, 1000, 5}, {{"i", 32}}).lookup("i"), 32);
  EXPECT_EQ(choose(product("f32", schedule), {}).lookup("i"), 32);
}

/// What was fastest of all on an H200 (docs/performance.md), or within a few hundredths of it.
TEST_F(GpuTilesTest, BlocksOfProductsAreThoseThatWereMeasured) {
  struct Case {
    std::array<int64_t, 3> dims, sizes;
  };
  for (const Case &known :
       {Case{{8192, 8192, 8192}, {128, 256, 64}}, Case{{4096, 4096, 4096}, {128, 256, 64}},
        Case{{2048, 2048, 2048}, {128, 256, 64}}, Case{{1024, 1024, 1024}, {64, 128, 64}},
        Case{{64, 8192, 8192}, {64, 64, 128}}, Case{{16, 16384, 4096}, {64, 128, 128}}}) {
    auto sizes = choose(product("bf16"), known.dims);
    std::array<int64_t, 3> chosen = {sizes["i"], sizes["j"], sizes["k"]};
    EXPECT_EQ(chosen, known.sizes) << known.dims[0] << " × " << known.dims[1];
  }
  // With few programs blocks split what is contracted, and more of it than of anything else.
  for (auto [known, splits] : {std::pair(Case{{512, 512, 8192}, {64, 256, 64}}, 4),
                               std::pair(Case{{64, 2048, 8192}, {64, 128, 64}}, 4),
                               std::pair(Case{{1024, 1024, 4096}, {64, 128, 64}}, 0)}) {
    auto sizes = choose(product("bf16"), known.dims);
    std::array<int64_t, 3> chosen = {sizes["i"], sizes["j"], sizes["k"]};
    EXPECT_EQ(chosen, known.sizes) << known.dims[0] << " × " << known.dims[1];
    EXPECT_EQ(sizes.lookup("split"), splits) << known.dims[0] << " × " << known.dims[1];
  }
  EXPECT_EQ(choose(product("bf16"), {512, 512, 1024}).lookup("split"), 0);
  // Sums of f8 are added apart: with two groups of warps one multiplies while the other adds.
  std::string turned = product("f8E4M3FN");
  for (auto [from, to] :
       {std::pair<std::string, std::string>("-> (k, n)", "-> (n, k)"),
        std::pair<std::string, std::string>("(k, j) -> (k, j)>(%k, %j)",
                                            "(j, k) -> (j, k)>(%j, %k)"),
        std::pair<std::string, std::string>(R"((!tile.span<"k">, !tile.span<"j">))",
                                            R"((!tile.span<"j">, !tile.span<"k">))")})
    turned.replace(turned.find(from), from.size(), to);
  for (size_t at; (at = turned.find(R"(axes<"k", "j">)")) != std::string::npos;)
    turned.replace(at, 14, R"(axes<"j", "k">)");
  for (auto [extent, block] : {std::pair(1024, std::array<int64_t, 3>{128, 64, 128}),
                               {4096, {128, 128, 256}},
                               {8192, {128, 192, 128}}}) {
    auto sizes = choose(turned, {extent, extent, extent});
    EXPECT_EQ((std::array<int64_t, 3>{sizes["i"], sizes["j"], sizes["k"]}), block) << extent;
  }
}

/// A result that is stored across leaves by bulk copies, too, and takes no more room.
TEST_F(GpuTilesTest, WhatIsStoredAcrossTakesNoRoom) {
  std::string across = product("bf16");
  for (auto [from, to] :
       {std::pair<std::string, std::string>("(i, j) -> (i, j)>", "(i, j) -> (j, i)>"),
        std::pair<std::string, std::string>("-> (m, n)>}", "-> (n, m)>}")})
    across.replace(across.find(from), from.size(), to);
  for (int64_t extent : {2048, 4096, 8192}) {
    auto sizes = choose(across, {extent, extent, extent}),
         along = choose(product("bf16"), {extent, extent, extent});
    EXPECT_EQ((std::array<int64_t, 3>{sizes["i"], sizes["j"], sizes["k"]}),
              (std::array<int64_t, 3>{along["i"], along["j"], along["k"]}));
  }
}

/// What the compiler makes no pipeline of gets no blocks of one: half of a contraction, as it ends
/// inside the tensor, and right operands that are computed; left ones may be.
TEST_F(GpuTilesTest, BlocksOfAPipelineAreOnlyForOne) {
  auto changed = [](std::initializer_list<std::pair<std::string, std::string>> changes) {
    std::string text = product("bf16");
    for (const auto &[from, to] : changes)
      text.replace(text.find(from), from.size(), to);
    return text;
  };
  std::string half = changed({{"  tile.parallel", R"(  %c2 = arith.constant 2 : i64
  %half = arith.divsi %K, %c2 : i64
  tile.parallel)"},
                              {"\"k\" %c0 to %K", "\"k\" %c0 to %half"}});
  auto negated = [&](const std::string &side, const std::string &axes) {
    std::string type = " : tensor<?x?xbf16, #tile.axes<" + axes + ">>\n      %next";
    bool isLeft = side == "x";
    return changed(
        {{"      %next", "      %n = arith.negf %" + side + type},
         {isLeft ? "tile.dot %x" : "tile.dot %x, %y", isLeft ? "tile.dot %n" : "tile.dot %x, %n"}});
  };
  auto blocks = [&](const std::string &text) {
    auto sizes = choose(text, {8192, 8192, 8192});
    return std::array<int64_t, 3>{sizes["i"], sizes["j"], sizes["k"]};
  };
  EXPECT_EQ(blocks(product("bf16")), (std::array<int64_t, 3>{128, 256, 64}));
  EXPECT_NE(blocks(half), blocks(product("bf16")));
  EXPECT_NE(blocks(negated("y", "\"k\", \"j\"")), blocks(product("bf16")));
  EXPECT_EQ(blocks(negated("x", "\"i\", \"k\"")), blocks(product("bf16")));
}

TEST_F(GpuTilesTest, BlocksOfProductsAreAmongTheCandidates) {
  std::string schedule = ", schedule = {i = [32, 64], j = [48, 256], k = [16, 64]}";
  auto sizes = choose(product("f16", schedule), {4096, 4096, 4096});
  EXPECT_EQ(sizes["i"], 64);
  EXPECT_EQ(sizes["j"], 256);
  EXPECT_EQ(sizes["k"], 64);
  // So is what splits the contraction; what the caller says comes first.
  schedule = ", schedule = {i = 128, j = 128, split = [1, 2]}";
  EXPECT_EQ(choose(product("f16", schedule), {512, 512, 8192}).lookup("split"), 2);
  EXPECT_EQ(choose(product("f16", schedule), {8192, 8192, 8192}).lookup("split"), 1);
  EXPECT_FALSE(
      choose(product("f16", schedule), {512, 512, 8192}, {{"split", 8}}).contains("split"));
  schedule = ", schedule = {i = [32, 64], j = [48, 256], k = [16, 64]}";
  // None of them is one for tensor cores, the tensors' rows are not, or the type: the first ones.
  EXPECT_EQ(choose(product("f16", ", schedule = {i = [24, 48]}"), {4096, 4096, 4096})["i"], 24);
  EXPECT_EQ(choose(product("f16", schedule), {4096, 4096, 4095})["i"], 32);
  EXPECT_EQ(choose(product("f32", schedule), {4096, 4096, 4096})["i"], 32);
}
} // namespace
