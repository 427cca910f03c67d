// What specialize leaves behind, and what it refuses; its text tests show the IR.

#include "tests/ir/InterpreterTestSupport.h"

using namespace tile::ir;
using namespace tile::ir::test;

namespace {
const char *const text = R"(
#mn = affine_map<()[m, n] -> (m, n)>
tile.kernel @walk(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "inout", tile.shape = #mn})
    attributes {dims = ["M", "N"], schedule = {i = [8, 16], k = 32, stages = 3}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%b = each "b" %c0 to %M, %i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %p = tile.for fold %k = "k" %c0 to %N iter_args(%n = %c0 : i64) {
      %n2 = arith.addi %n, %N : i64
      tile.yield %n2 : i64
    }
    %q = tile.for fold %l = "l" %c0 to %N iter_args(%n = %p : i64) {
      %r = tile.for sequential %s = "s" %c0 to %N by 3 iter_args(%m = %n : i64) {
        %m2 = arith.addi %m, %n : i64
        tile.yield %m2 : i64
      }
      tile.yield %r : i64
    }
    %f = arith.sitofp %q : i64 to f32
    %fb = tile.broadcast %f : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
    %t = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %u = arith.addf %t, %fb : tensor<?x?xf32, #tile.axes<"i", "j">>
    tile.store %u, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
})";

class SpecializeTest : public IrTest {
protected:
  std::string specializeWith(const Sizes &sizes, const Dims &dims = {}) {
    kernel = parse(text);
    std::string before = print();
    Bindings bindings;
    bindings.sizes = toMap(sizes), bindings.dims = toMap(dims);
    diagnostics.clear();
    if (failed(specialize(kernel, bindings))) {
      EXPECT_EQ(print(), before) << "a refused kernel has changed";
    }
    return diagnostics;
  }

  std::string print() {
    std::string result;
    llvm::raw_string_ostream stream(result);
    kernel.print(stream);
    return result;
  }

  std::map<std::string, int64_t> sizes() {
    std::map<std::string, int64_t> result;
    ParallelOp parallel = kernel.getParallel();
    for (auto [name, size] : llvm::zip(parallel.getNames(), parallel.getSizes()))
      result[mlir::cast<mlir::StringAttr>(name).str()] = size;
    kernel.walk([&](ForOp loop) { result[loop.getName().str()] = loop.getSize(); });
    return result;
  }

  KernelOp kernel;
};

TEST_F(SpecializeTest, ChoosesSizes) {
  EXPECT_EQ(specializeWith({}), "");
  // The binding, else the schedule's first candidate, else the default.
  EXPECT_EQ(sizes(), (Sizes{{"b", 1}, {"i", 8}, {"j", 16}, {"k", 32}, {"l", 64}, {"s", 3}}));
  EXPECT_EQ(specializeWith({{"i", 5}, {"l", 7}}), "");
  EXPECT_EQ(sizes(), (Sizes{{"b", 1}, {"i", 5}, {"j", 16}, {"k", 32}, {"l", 7}, {"s", 3}}));
  llvm::SmallVector<mlir::StringAttr> binders = sizableBinders(kernel);
  std::vector<std::string> names;
  for (mlir::StringAttr name : binders)
    names.push_back(name.str());
  EXPECT_EQ(names, (std::vector<std::string>{"i", "j", "k", "l"}));
}

TEST_F(SpecializeTest, Again) {
  EXPECT_EQ(specializeWith({{"i", 5}}, {{"M", 11}}), "");
  Bindings bindings;
  bindings.sizes["i"] = 5;
  bindings.dims["N"] = 12;
  EXPECT_TRUE(succeeded(specialize(kernel, bindings))) << diagnostics;
  EXPECT_EQ(boundDims(kernel).size(), 2u);
  bindings.sizes["i"] = 6;
  EXPECT_TRUE(failed(specialize(kernel, bindings)));
  EXPECT_EQ(diagnostics, "`i` is specialized to tiles of 5 already, not 6\n");
  diagnostics.clear();
  bindings.sizes.clear();
  bindings.dims["M"] = 12;
  EXPECT_TRUE(failed(specialize(kernel, bindings)));
  EXPECT_EQ(diagnostics, "`M` is specialized to 11 already, not 12\n");
}

TEST_F(SpecializeTest, RefusesBadBindings) {
  EXPECT_EQ(
      specializeWith({{"ii", 5}}),
      "kernel `walk` has no binder `ii`\nhint: kernel `walk` has the tile sizes i, j, k, l\n");
  EXPECT_EQ(specializeWith({{"b", 5}}), "`b` takes one element at a time, it has no tile size\n"
                                        "hint: kernel `walk` has the tile sizes i, j, k, l\n");
  EXPECT_EQ(specializeWith({{"s", 5}}),
            "the blocks of `s` are `sequential`: their size is part of the meaning\n"
            "hint: kernel `walk` has the tile sizes i, j, k, l\n");
  EXPECT_EQ(specializeWith({{"i", 0}}), "tile size 0 of `i` is not in 1 .. 16777216\n");
  EXPECT_EQ(specializeWith({{"k", -1}}), "tile size -1 of `k` is not in 1 .. 16777216\n");
  EXPECT_EQ(specializeWith({{"k", INT64_MAX}}),
            "tile size 9223372036854775807 of `k` is not in 1 .. 16777216\n");
  EXPECT_EQ(specializeWith({}, {{"K", 3}}),
            "kernel `walk` has no dimension `K`\nhint: it has M, N\n");
  EXPECT_EQ(specializeWith({}, {{"M", -3}}), "an extent of `x` is -3 with these dimensions\n");
}
} // namespace
