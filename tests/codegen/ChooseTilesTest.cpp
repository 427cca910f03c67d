// What the model of tile sizes promises: what is given or scheduled is kept to, sizes are equal for
// equal calls, programs suffice for the cores, and what a program works on fits its caches.

#include "codegen/cpu/ChooseTiles.h"
#include "codegen/Neighbours.h"
#include "codegen/cpu/ShortDims.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

using namespace tile::ir;
using namespace tile::codegen;

namespace {

std::string product(const std::string &schedule = "") {
  return R"(
#mk = affine_map<()[m, k, n] -> (m, k)>
#kn = affine_map<()[m, k, n] -> (k, n)>
#mn = affine_map<()[m, k, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!ij = tensor<?x?xf32, #tile.axes<"i", "j">>
tile.kernel @product(
    %a: memref<?x?xf32> {tile.name = "a", tile.mode = "in", tile.shape = #mk},
    %b: memref<?x?xf32> {tile.name = "b", tile.mode = "in", tile.shape = #kn},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "K", "N"])" +
         schedule + R"(} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero : f32 to !ij
    %acc = tile.for fold %k = "k" %c0 to %K iter_args(%sum = %init : !ij) {
      %ta = tile.load %a at #id(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %tb = tile.load %b at #id(%k, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"k">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"k", "j">>
      %s = tile.dot %ta, %tb over "k" acc %sum : tensor<?x?xf32, #tile.axes<"i", "k">>, tensor<?x?xf32, #tile.axes<"k", "j">> -> !ij
      tile.yield %s : !ij
    }
    tile.store %acc, %c at #id(%i, %j)[] : !ij, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
})";
}

/// y[i, :] = t − max where t = x[i, :]; or t = x[i, :] + r[i, :], which is stored as well.
std::string rowsOf(bool isSum) {
  auto param = [](const std::string &name, const std::string &mode) {
    return "%" + name + ": memref<?x?xf32> {tile.name = \"" + name + "\", tile.mode = \"" + mode +
           "\", tile.shape = #mn}";
  };
  auto load = [](const std::string &to, const std::string &from) {
    return "    %" + to + " = tile.load %" + from +
           " at #id(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<\"i\">, !tile.span<\"N\">)"
           " -> !in\n";
  };
  auto store = [](const std::string &value, const std::string &to) {
    return "    tile.store %" + value + ", %" + to +
           " at #id(%i, %n)[] : !in, memref<?x?xf32>, (!tile.span<\"i\">, !tile.span<\"N\">)\n";
  };
  std::string sum =
      load("a", "x") + load("b", "r") + "    %t = arith.addf %a, %b : !in\n" + store("t", "h");
  return R"(
#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!in = tensor<?x?xf32, #tile.axes<"i", "N">>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @rows()" +
         param("x", "in") + ", " +
         (isSum ? param("r", "in") + ", " + param("h", "out") + ", " : "") + param("y", "out") +
         R"() attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
)" + (isSum ? sum : load("t", "x")) +
         R"(    %m = tile.reduce <max> %t over ["N"] : !in -> !i
    %e = tile.broadcast %m : !i to !in
    %d = arith.subf %t, %e : !in
)" + store("d", "y") +
         R"(  }
  tile.return
})";
}

const std::string rows = rowsOf(/*isSum=*/false), sumsOfRows = rowsOf(/*isSum=*/true);

/// s[a, b] = Σ x[a, b, :]
constexpr const char *planeSums = R"(
!abn = tensor<?x?x?xf32, #tile.axes<"a", "b", "N">>
!ab = tensor<?x?xf32, #tile.axes<"a", "b">>
tile.kernel @sums(%x: memref<?x?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[a, b, n] -> (a, b, n)>},
                  %s: memref<?x?xf32> {tile.name = "s", tile.mode = "out", tile.shape = affine_map<()[a, b, n] -> (a, b)>})
    attributes {dims = ["A", "B", "N"]} {
  %c0 = arith.constant 0 : i64
  %A = tile.dim "A"
  %B = tile.dim "B"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%a = tiles "a" %c0 to %A, %b = tiles "b" %c0 to %B) {
    %t = tile.load %x at affine_map<(d0, d1, d2) -> (d0, d1, d2)>(%a, %b, %n)[] <exact> : memref<?x?x?xf32>, (!tile.span<"a">, !tile.span<"b">, !tile.span<"N">) -> !abn
    %r = tile.reduce <add> %t over ["N"] : !abn -> !ab
    tile.store %r, %s at affine_map<(d0, d1) -> (d0, d1)>(%a, %b)[] : !ab, memref<?x?xf32>, (!tile.span<"a">, !tile.span<"b">)
  }
  tile.return
})";

/// y[i, j] = x[i, j] + sin(sin(sin(exp(b[j]))))
constexpr const char *costlyBias = R"(
!ij = tensor<?x?xf32, #tile.axes<"i", "j">>
!j = tensor<?xf32, #tile.axes<"j">>
tile.kernel @biased(%x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
                    %b: memref<?xf32> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (n)>},
                    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m, n)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %t = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> !ij
    %u = tile.load %b at affine_map<(d0) -> (d0)>(%j)[] <exact> : memref<?xf32>, (!tile.span<"j">) -> !j
    %e = math.exp %u : !j
    %f = math.sin %e : !j
    %g = math.sin %f : !j
    %h = math.sin %g : !j
    %c = tile.broadcast %h : !j to !ij
    %s = arith.addf %t, %c : !ij
    tile.store %s, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] : !ij, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
})";

/// s[i] = Σ x[i, :]
constexpr const char *rowSums = R"(
!in = tensor<?x?xf32, #tile.axes<"i", "N">>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @sums(%x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
                  %s: memref<?xf32> {tile.name = "s", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %t = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> !in
    %r = tile.reduce <add> %t over ["N"] : !in -> !i
    tile.store %r, %s at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
})";

/// y[j, i] = x[i, j] / Σ x[i, :], with blocks along both.
constexpr const char *acrossRows = R"(
#mn = affine_map<()[m, n] -> (m, n)>
#nm = affine_map<()[m, n] -> (n, m)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!ij = tensor<?x?xf32, #tile.axes<"i", "j">>
!in = tensor<?x?xf32, #tile.axes<"i", "N">>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @rows(%x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
                  %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #nm})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %row = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> !in
    %s = tile.reduce <add> %row over ["N"] : !in -> !i
    %t = tile.load %x at #id(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> !ij
    %b = tile.broadcast %s : !i to !ij
    %q = arith.divf %t, %b : !ij
    tile.store %q, %y at #id(%j, %i)[] : !ij, memref<?x?xf32>, (!tile.span<"j">, !tile.span<"i">)
  }
  tile.return
})";

/// r[i] = Σ x[i, :] and c[:] += Σ x[i, :], or the latter in blocks of columns.
std::string columns(bool isWhole) {
  std::string span = isWhole ? "%n" : "%j", axis = isWhole ? "N" : "j";
  std::string in = "tensor<?x?xf32, #tile.axes<\"i\", \"" + axis + "\">>";
  std::string row = "tensor<?xf32, #tile.axes<\"" + axis + "\">>";
  std::string rowSums = R"(
    %r = tile.reduce <add> %t over ["N"] : )" +
                        in + R"( -> tensor<?xf32, #tile.axes<"i">>
    tile.store %r, %y at #one(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">))";
  return R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>
tile.kernel @columns(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m)>},
    %s: memref<?xf32> {tile.name = "s", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[m, n] -> (n)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  )" + std::string(isWhole ? "%n = tile.axis %c0 to %N : !tile.span<\"N\">" : "") +
         R"(
  tile.parallel (%i = tiles "i" %c0 to %M)" +
         std::string(isWhole ? "" : ", %j = tiles \"j\" %c0 to %N") + R"() {
    %t = tile.load %x at #id(%i, )" +
         span + R"()[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<")" + axis +
         R"(">) -> )" + in + (isWhole ? rowSums : "") + R"(
    %c = tile.reduce <add> %t over ["i"] : )" +
         in + " -> " + row + R"(
    tile.update <add> %c, %s at #one()" +
         span + R"()[] : )" + row + R"(, memref<?xf32>, (!tile.span<")" + axis + R"(">)
  }
  tile.return
})";
}

class ChooseTilesTest : public ::testing::Test {
protected:
  ChooseTilesTest() { context.loadDialect<TileDialect, mlir::arith::ArithDialect>(); }

  llvm::StringMap<int64_t> choose(const std::string &text, llvm::ArrayRef<int64_t> dims,
                                  const llvm::StringMap<int64_t> &given = {}) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return chooseTiles(*module->getOps<KernelOp>().begin(), dims, given, machine);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  CpuMachine machine = {4, 48 << 10, 2 << 20};
};

/// y = x + zᵀ, or without x.
std::string across(bool readsBeside) {
  std::string text = R"(
#mn = affine_map<()[m, n] -> (m, n)>
#nm = affine_map<()[m, n] -> (n, m)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!ij = tensor<?x?xf32, #tile.axes<"i", "j">>
!ji = tensor<?x?xf32, #tile.axes<"j", "i">>
tile.kernel @across(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %z: memref<?x?xf32> {tile.name = "z", tile.mode = "in", tile.shape = #nm},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %rows = tile.load %z at #id(%j, %i)[] <exact>
        : memref<?x?xf32>, (!tile.span<"j">, !tile.span<"i">) -> !ji
    %tz = tile.broadcast %rows : !ji to !ij
)";
  if (readsBeside)
    text += R"(
    %tx = tile.load %x at #id(%i, %j)[] <exact>
        : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> !ij
    %sum = arith.addf %tx, %tz : !ij
)";
  text += "    tile.store " + std::string(readsBeside ? "%sum" : "%tz") + R"(, %y at #id(%i, %j)[]
        : !ij, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
})";
  return text;
}

TEST_F(ChooseTilesTest, WhatIsReadBesideABlockAcrossComesFromMemoryInLongPieces) {
  // 16 MiB are what the caches hold: four threads with 2 MiB each, and as much again.
  for (auto [readsBeside, side, wanted] :
       {std::tuple{true, 1024, 64}, {true, 2048, 128}, {true, 4096, 128}, {false, 4096, 64}}) {
    auto sizes = choose(across(readsBeside), {side, side});
    EXPECT_EQ(sizes["i"], wanted) << readsBeside << side;
    EXPECT_EQ(sizes["j"], wanted) << readsBeside << side;
  }
}

/// A rest of each row would be a piece of its own.
TEST_F(ChooseTilesTest, RowsThatAreNotLongStayWhole) {
  std::string rows = R"(
#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!ij = tensor<?x?xf32, #tile.axes<"i", "j">>
tile.kernel @rows(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %tx = tile.load %x at #id(%i, %j)[] <exact>
        : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> !ij
    %sum = arith.addf %tx, %tx : !ij
    tile.store %sum, %y at #id(%i, %j)[] : !ij, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
})";
  for (auto [extent, wanted] :
       {std::tuple{511, 512}, {512, 512}, {1023, 1024}, {1615, 2048}, {4095, 4096}, {5000, 4096}})
    EXPECT_EQ(choose(rows, {2000, extent})["j"], wanted) << extent;
}

TEST_F(ChooseTilesTest, GivenSizesStay) {
  auto sizes = choose(product(), {1000, 1000, 1000}, {{"i", 7}, {"k", 1000}});
  EXPECT_EQ(sizes["i"], 7);
  EXPECT_EQ(sizes["k"], 1000);
  EXPECT_GE(sizes["j"], 16);
}

TEST_F(ChooseTilesTest, SchedulesAreKeptTo) {
  std::string schedule = R"(, schedule = {i = [32, 64], j = 48})";
  auto sizes = choose(product(schedule), {1000, 1000, 1000});
  EXPECT_TRUE(sizes["i"] == 32 || sizes["i"] == 64) << sizes["i"];
  EXPECT_EQ(sizes["j"], 48);
  EXPECT_EQ(choose(product(schedule), {1000, 1000, 1000}, {{"i", 5}})["i"], 5);
}

TEST_F(ChooseTilesTest, TheScheduleOfTheTargetComesFirst) {
  std::string schedule = R"(, schedule = {i = [32, 64], j = 48, "target.cpu" = {i = 96}})";
  auto sizes = choose(product(schedule), {1000, 1000, 1000});
  EXPECT_EQ(sizes["i"], 96);
  EXPECT_EQ(sizes["j"], 48);
}

TEST_F(ChooseTilesTest, ProgramsOfProductsAreEvenlySpread) {
  machine.threads = 16;
  for (int64_t size : {512, 1000, 1024, 1536, 2048}) {
    auto sizes = choose(product(), {size, size, size});
    int64_t i = sizes["i"], j = sizes["j"];
    double programs = static_cast<double>((size + i - 1) / i * ((size + j - 1) / j));
    double rounds = std::ceil(programs / 16);
    // Of what all cores could do in these rounds, what the product needs.
    double share = static_cast<double>(size * size) / (rounds * 16 * static_cast<double>(i * j));
    EXPECT_GE(share, 0.8) << size << ": " << i << " x " << j;
  }
}

TEST_F(ChooseTilesTest, ProductsKeepCoresBusyWithinTheCache) {
  for (int64_t size : {512, 1024, 2048, 4096}) {
    auto sizes = choose(product(), {size, size, size});
    int64_t i = sizes["i"], j = sizes["j"], k = sizes["k"];
    int64_t programs = (size + i - 1) / i * ((size + j - 1) / j);
    EXPECT_GE(programs, machine.threads) << size;
    EXPECT_LE(4 * (i * j + i * k + k * j), machine.level2Bytes) << size;
    EXPECT_GE(i * j, 64 * 64) << size;
  }
}

/// The kernel above with `to` in the place of `from`.
std::string productWith(const std::string &from, const std::string &to) {
  std::string text = product();
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

/// A core finds the rows of 64 pages at once; of more, each block of depth looks up all of them
/// again, whether they are multiplied as they are or something is computed of them first.
TEST_F(ChooseTilesTest, RowsThatLieApartAreFewAtATime) {
  const std::string doubled = productWith(
      "%s = tile.dot %ta,", R"(%twice = arith.addf %ta, %ta : tensor<?x?xf32, #tile.axes<"i", "k">>
      %s = tile.dot %twice,)");
  for (const std::string &text : {product(), doubled}) {
    EXPECT_LE(choose(text, {65536, 4096, 4})["i"], 64);
    EXPECT_GT(choose(text, {65536, 64, 4})["i"], 64);
  }
}

/// y[i, :] = p[i, :] − max(p[i, :]) − Σ p[i, :] of a product p, or p itself.
std::string wholeProduct(bool isReduced) {
  std::string text = R"(
#mk = affine_map<()[m, k, n] -> (m, k)>
#kn = affine_map<()[m, k, n] -> (k, n)>
#mn = affine_map<()[m, k, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!in = tensor<?x?xf32, #tile.axes<"i", "N">>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @whole(
    %a: memref<?x?xf32> {tile.name = "a", tile.mode = "in", tile.shape = #mk},
    %b: memref<?x?xf32> {tile.name = "b", tile.mode = "in", tile.shape = #kn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "K", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero : f32 to !in
    %p = tile.for fold %k = "k" %c0 to %K iter_args(%sum = %init : !in) {
      %ta = tile.load %a at #id(%i, %k)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %tb = tile.load %b at #id(%k, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"k">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"k", "N">>
      %s = tile.dot %ta, %tb over "k" acc %sum : tensor<?x?xf32, #tile.axes<"i", "k">>, tensor<?x?xf32, #tile.axes<"k", "N">> -> !in
      tile.yield %s : !in
    }
)";
  if (isReduced)
    text += R"(
    %m = tile.reduce <max> %p over ["N"] : !in -> !i
    %total = tile.reduce <add> %p over ["N"] : !in -> !i
    %both = arith.addf %m, %total : !i
    %b0 = tile.broadcast %both : !i to !in
    %d = arith.subf %p, %b0 : !in
)";
  text += "    tile.store " + std::string(isReduced ? "%d" : "%p") + R"(, %y at #id(%i, %n)[]
        : !in, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
  }
  tile.return
})";
  return text;
}

/// What is stored of a product, or what reductions go over again, stays in the first-level cache,
/// unless fewer rows cost more: each program packs the other operand.
TEST_F(ChooseTilesTest, ResultsStayNear) {
  auto bytes = [&](bool isReduced, int64_t depth) {
    return choose(wholeProduct(isReduced), {4096, depth, 1024})["i"] * 1024 * 4;
  };
  EXPECT_LE(bytes(true, 1), machine.level1Bytes);
  EXPECT_LE(bytes(false, 1), machine.level1Bytes);
  EXPECT_GT(bytes(false, 256), machine.level1Bytes);
  EXPECT_GT(bytes(true, 256), machine.level1Bytes);
}

/// Where data says what is read, no axis of a tensor is known to be that of its rows.
TEST_F(ChooseTilesTest, ProductsOfWhatDataSays) {
  std::string text =
      productWith("%ta = tile.load %a at #id(%i, %k)[] <exact> : memref<?x?xf32>, "
                  "(!tile.span<\"i\">, !tile.span<\"k\">)",
                  R"(%place = tile.coords %k : !tile.span<"k"> -> tensor<?xi64, #tile.axes<"k">>
      %ta = tile.load %a at #id(%i, %place)[] <clamp> : memref<?x?xf32>, (!tile.span<"i">, tensor<?xi64, #tile.axes<"k">>))");
  EXPECT_GT(choose(text, {65536, 4096, 4})["i"], 64);
}

TEST_F(ChooseTilesTest, UnknownDimensionsCountAsLong) {
  auto open = choose(product(), {}), negative = choose(product(), {-1, -1, -1});
  for (const char *binder : {"i", "j", "k"}) {
    EXPECT_EQ(open[binder], negative[binder]);
    EXPECT_GE(open[binder], 32);
  }
}

TEST_F(ChooseTilesTest, LongRowsComeAloneAndShortOnesTogether) {
  EXPECT_EQ(choose(rows, {100000, 8192})["i"], 1);
  EXPECT_GE(choose(rows, {100000, 64})["i"], 16);
}

/// Fewer rows have room with five arrays than with two; the kept sum is the fifth, without which
/// they would be as many.
TEST_F(ChooseTilesTest, AllThatAProgramHasOfItsRowsStaysNear) {
  for (int64_t length : {255, 511, 1024}) {
    int64_t size = choose(sumsOfRows, {100000, length})["i"];
    EXPECT_LE(size * length * 5 * 4, machine.level1Bytes / 2) << length; // half is the next ones'
    EXPECT_LE(size, choose(rows, {100000, length})["i"]) << length;
  }
}

TEST_F(ChooseTilesTest, RowsThatAreAddedToOneComeTogether) {
  auto sizes = choose(columns(/*isWhole=*/false), {8192, 8192});
  EXPECT_EQ(sizes["i"], 16);
  EXPECT_EQ(sizes["j"], 1024);
  EXPECT_EQ(choose(columns(/*isWhole=*/true), {8192, 8192})["i"], 8);
  EXPECT_GE(choose(columns(/*isWhole=*/false), {8192, 64})["i"], 64);
}

/// That a sum is stored for each row makes no program of many rows.
TEST_F(ChooseTilesTest, RowsOfSumsFillCores) {
  machine.threads = 8;
  for (auto [rows, length] : {std::pair(32, 32768), {256, 4096}, {1023, 1025}})
    EXPECT_GE((rows - 1) / choose(rowSums, {rows, length})["i"] + 1, 32) << rows;
  EXPECT_GE(choose(rowSums, {100000, 4})["i"], 64);
}

/// Sums of rows, for each block of a row, would be made as often as a row has blocks.
TEST_F(ChooseTilesTest, WhatBlocksShareIsComputedOnceForEachThread) {
  auto blocks = [&](int64_t rows, int64_t length) {
    auto sizes = choose(acrossRows, {rows, length});
    return (length + sizes["j"] - 1) / sizes["j"];
  };
  for (int64_t length : {128, 1023, 4096})
    EXPECT_EQ(blocks(4096, length), 1) << length;
  machine.threads = 64;
  EXPECT_LE(blocks(1, 4096), 8);
}

/// Blocks lie in one piece in memory, whatever the order of binders.
TEST_F(ChooseTilesTest, WhatLiesTogetherIsTakenFirst) {
  auto sizes = choose(planeSums, {1000, 16, 32});
  EXPECT_EQ(sizes["b"], 16);
  EXPECT_EQ(sizes["a"], 4);
}

/// Where a program has several rows, as what it computes for all of them is dear, pieces of rows
/// are long: behind each of them a core reads ahead in vain.
TEST_F(ChooseTilesTest, PiecesOfSeveralRowsAreLong) {
  for (int threads : {1, 2, 8, 64})
    for (int64_t n : {1023, 2048, 4096, 100000}) {
      machine = {threads};
      auto sizes = choose(costlyBias, {4096, n});
      EXPECT_GT(sizes["i"], 16) << threads << " threads, " << n;
      EXPECT_GE(sizes["j"], std::min<int64_t>(n, 4096)) << threads << " threads, " << n;
    }
}

/// The tile of each program that is computed once and read more than once.
TEST_F(ChooseTilesTest, KeptTilesCountByTheirBlocks) {
  module = mlir::parseSourceString<mlir::ModuleOp>(costlyBias, &context);
  KernelOp kernel = *module->getOps<KernelOp>().begin();
  auto kept = [&](int64_t size) {
    llvm::StringMap<int64_t> sizes = {{"i", 16}, {"j", size}};
    return programOf(kernel, {4096, 1 << 20}, sizes, machine).keptBytes;
  };
  EXPECT_EQ(kept(64), 256);
  EXPECT_EQ(kept(1 << 20), 4 << 20);
  module = mlir::parseSourceString<mlir::ModuleOp>(rows, &context);
  kernel = *module->getOps<KernelOp>().begin();
  EXPECT_EQ(programOf(kernel, {4096, 4096}, {{"i", 16}}, machine).keptBytes, 0);
}

/// Code for axes of any length would leave most lanes of short ones empty, and loop over few rows.
TEST_F(ChooseTilesTest, ShortAxesAreBound) {
  auto bound = [&](const std::string &text, llvm::ArrayRef<int64_t> dims) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    Bindings bindings;
    bindShortDims(*module->getOps<KernelOp>().begin(), dims, bindings);
    return bindings.dims;
  };
  EXPECT_EQ(bound(rows, {1, 1}).size(), 2u);
  EXPECT_EQ(bound(rows, {1, 1000}).lookup("M"), 1);
  EXPECT_EQ(bound(rows, {1000, 3}).lookup("N"), 3);
  EXPECT_TRUE(bound(rows, {1000, 17}).empty());
  EXPECT_TRUE(bound(rows, {1000, 0}).empty());
  EXPECT_TRUE(bound(rows, {1000, -1}).empty());
  EXPECT_TRUE(bound(rows, {}).empty());
  EXPECT_EQ(bound(product(), {4, 4, 4}).lookup("N"), 4);
  EXPECT_EQ(bound(product(), {4, 9, 4}).lookup("M"), 4);
  EXPECT_FALSE(bound(product(), {17, 17, 4}).contains("M"));
}

/// Dimensions of one element have no neighbours, and those that nobody knows may have some.
TEST_F(ChooseTilesTest, TheInnermostDimensionHasSeveralElements) {
  module = mlir::parseSourceString<mlir::ModuleOp>(R"(
tile.kernel @planes(%x: memref<?x?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, h, w] -> (m, h * w, w - h + 1)>})
    attributes {dims = ["M", "H", "W"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M) {
  }
  tile.return
})",
                                                   &context);
  ASSERT_TRUE(module);
  KernelOp kernel = *module->getOps<KernelOp>().begin();
  auto innermost = [&](llvm::ArrayRef<int64_t> dims) {
    return innermostDimension(kernel, kernel.getBody().getArgument(0), dims);
  };
  EXPECT_EQ(innermost({5, 3, 7}), 2u);
  EXPECT_EQ(innermost({5, 3, 3}), 1u);
  EXPECT_EQ(innermost({5, 1, 1}), 0u);
  EXPECT_EQ(innermost({1, 1, 1}), 0u);
  EXPECT_EQ(innermost({-1, -1, -1}), 2u);
  EXPECT_EQ(innermost({5, 3, -1}), 2u);
  EXPECT_EQ(innermost({}), 2u);
}

/// Loops under a plan are told of them, and stay those of any length.
TEST_F(ChooseTilesTest, ShortAxesOfLoopsUnderAPlanAreLikely) {
  auto planned = [&](const std::string &text, llvm::ArrayRef<int64_t> dims) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    KernelOp kernel = *module->getOps<KernelOp>().begin();
    EXPECT_TRUE(likelyDims(kernel, dims).empty());
    kernel->setAttr(pinnedAttrName, mlir::UnitAttr::get(&context));
    return kernel;
  };
  KernelOp kernel = planned(product(), {1000, 64, 3});
  Bindings bindings;
  bindShortDims(kernel, {1000, 64, 3}, bindings);
  EXPECT_TRUE(bindings.dims.empty());
  auto likely = likelyDims(kernel, {1000, 64, 3});
  ASSERT_EQ(likely.size(), 1u);
  EXPECT_EQ(likely.getAs<mlir::IntegerAttr>("N").getInt(), 3);
  EXPECT_TRUE(likelyDims(kernel, {1000, 64, 17}).empty());
  // Without a loop all that decides bits is pinned.
  kernel = planned(rows, {1000, 3});
  EXPECT_TRUE(likelyDims(kernel, {1000, 3}).empty());
  bindShortDims(kernel, {1000, 3}, bindings);
  EXPECT_EQ(bindings.dims.lookup("N"), 3);
}

/// Packing and storing take longer than the multiply-adds where a contraction is short; for few
/// rows nothing is packed, and each vector that is read serves one of them.
TEST_F(ChooseTilesTest, ShortContractionsCostMoreThanTheirArithmetic) {
  module = mlir::parseSourceString<mlir::ModuleOp>(product(), &context);
  KernelOp kernel = *module->getOps<KernelOp>().begin();
  auto cycles = [&](int64_t m, int64_t k, int64_t n) {
    llvm::StringMap<int64_t> sizes = {{"i", 96}, {"j", 1024}, {"k", 256}};
    double least = static_cast<double>(m * k * n) / 32; // two vectors of 16 at a time
    return programOf(kernel, {m, k, n}, sizes, machine).contractionCycles / least;
  };
  EXPECT_LT(cycles(96, 1024, 1024), 2);
  EXPECT_GT(cycles(96, 4, 1024), 3);
  EXPECT_GT(cycles(1, 1024, 1024), 2);
  EXPECT_LT(cycles(1, 1024, 1024), 2.2);
  EXPECT_LT(cycles(24, 1024, 1024), 2.2);
}

/// Whatever machine chooses, a sum goes over the same blocks; the other sizes are its own.
TEST_F(ChooseTilesTest, CoresAndCachesDecideNoOrder) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> extent(1, 3000);
  int differences = 0;
  for (int n = 0; n < 40; ++n) {
    int64_t M = extent(random), K = extent(random), N = extent(random);
    std::set<std::vector<int64_t>> reduced;
    std::set<int64_t> rowsOfProducts;
    for (CpuMachine other :
         {CpuMachine{1}, {2}, {3}, {7, 48 << 10, 2 << 20}, {64, 128 << 10, 8 << 20}}) {
      machine = other;
      auto sizes = choose(product(), {M, K, N});
      reduced.insert({sizes["k"], choose(columns(/*isWhole=*/false), {M, N})["i"],
                      choose(columns(/*isWhole=*/true), {M, N})["i"]});
      rowsOfProducts.insert(sizes["i"]);
    }
    EXPECT_EQ(reduced.size(), 1U) << M << " x " << K << " x " << N;
    differences += rowsOfProducts.size() > 1;
  }
  EXPECT_GT(differences, 10);
}

TEST_F(ChooseTilesTest, EmptyAndHugeDimensions) {
  int64_t huge = int64_t(1) << 47;
  for (int64_t extent : {int64_t(0), int64_t(1), huge})
    for (const auto &[binder, size] : choose(product(), {extent, extent, extent})) {
      EXPECT_GE(size, 1);
      EXPECT_LE(size, maxTileSize);
    }
}

} // namespace
