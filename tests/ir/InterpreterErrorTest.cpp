// Planted faults: each has to be found, and named.

#include "tests/ir/InterpreterTestSupport.h"

using namespace tile::ir;
using namespace tile::ir::test;

namespace {
class InterpreterErrorTest : public IrTest {
protected:
  /// A kernel x[M, N] → y[M, N] with programs over blocks of 4 rows and 5 columns, and the body.
  static std::string kernel(const std::string &body, const std::string &mode = "\"out\"") {
    return R"(
#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!i = !tile.span<"i", 4>
!j = !tile.span<"j", 5>
!ij = tensor<4x5xf32, #tile.axes<"i", "j">>
tile.kernel @faulty(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = )" +
           mode + R"(, tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %N by 5) {
)" + body + R"(
  }
  tile.return
})";
  }

  static std::string load(const std::string &map) {
    return "%v = tile.load %x at " + map +
           "(%i, %j)[] <exact> : memref<?x?xf32>, (!i, !j) -> !ij\n";
  }
  static std::string store(const std::string &map) {
    return "tile.store %v, %y at " + map + "(%i, %j)[] : !ij, memref<?x?xf32>, (!i, !j)\n";
  }

  InterpreterResult runFaulty(const std::string &text, int64_t M = 3, int64_t N = 9,
                              const InterpreterOptions &options = {}) {
    auto x = uniform<float>({M, N}, 0, 1);
    Tensor<float> y({M, N});
    return run(text, {{"M", M}, {"N", N}}, {}, {x.argument(), y.argument()}, false, options);
  }
};

TEST_F(InterpreterErrorTest, TilesBeyondTheirMemory) {
  InterpreterOptions options;
  options.maxTileBytes = 79; // a block of 4 rows and 5 columns has 80
  auto result = runFaulty(kernel(load("#id") + store("#id")), 4, 5, options);
  EXPECT_EQ(result.message,
            "a tile of 80 bytes, where 79 are left (in the program at i = 0, j = 0)");
  ASSERT_TRUE(result.shortage);
  EXPECT_EQ(result.shortage->neededBytes, 80);
  EXPECT_EQ(result.shortage->leftBytes, 79);
  // What the block covers of the tensor is less.
  result = runFaulty(kernel(load("#id") + store("#id")), 3, 9, options);
  EXPECT_TRUE(result.ok()) << result.message;
  EXPECT_FALSE(result.shortage);
}

TEST_F(InterpreterErrorTest, ConstantsOfBlocksThatStickOut) {
  // Element (r, c) of each block is 10 r + c, the blocks at the ends have fewer.
  std::string rows;
  for (int r = 0; r < 4; ++r) {
    rows += r ? ", [" : "[";
    for (int c = 0; c < 5; ++c)
      rows += (c ? ", " : "") + std::to_string(10 * r + c) + ".0";
    rows += "]";
  }
  Tensor<float> x({7, 9}), y({7, 9});
  y.poison();
  auto result = run(kernel("%v = arith.constant dense<[" + rows + "]> : !ij\n" + store("#id")),
                    {{"M", 7}, {"N", 9}}, {}, {x.argument(), y.argument()}, false);
  ASSERT_TRUE(result.ok()) << result.message;
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t j = 0; j < 9; ++j)
      EXPECT_EQ(y(i, j), float(10 * (i % 4) + j % 5)) << i << ", " << j;
}

TEST_F(InterpreterErrorTest, ReadOutsideTheTensor) {
  auto result = runFaulty(kernel(load("affine_map<(d0, d1) -> (d0, d1 + 1)>") + store("#id")));
  EXPECT_EQ(result.message,
            "`x[0, 9]` is outside [0, 3) × [0, 9) (in the program at i = 0, j = 5)");
  EXPECT_TRUE(result.loc);
}

TEST_F(InterpreterErrorTest, ReadBelowTheTensor) {
  auto result = runFaulty(kernel(load("affine_map<(d0, d1) -> (d0 - 1, d1)>") + store("#id")));
  EXPECT_EQ(result.message,
            "`x[-1, 0]` is outside [0, 3) × [0, 9) (in the program at i = 0, j = 0)");
}

TEST_F(InterpreterErrorTest, IndicesWrap) {
  auto result = runFaulty(
      kernel(load("affine_map<(d0, d1) -> ((d0 - 9223372036854775807) * 3, d1)>") + store("#id")));
  EXPECT_EQ(result.message, "`x[-9223372036854775805, 0]` is outside [0, 3) × [0, 9) (in the "
                            "program at i = 0, j = 0)");
}

TEST_F(InterpreterErrorTest, StoreOutsideTheTensor) {
  auto result =
      runFaulty(kernel(load("#id") + store("affine_map<(d0, d1) -> (d0 + 1, d1)>")), 5, 5);
  EXPECT_EQ(result.message,
            "`y[5, 0]` is outside [0, 5) × [0, 5) (in the program at i = 4, j = 0)");
}

TEST_F(InterpreterErrorTest, StoredTwice) {
  auto result = runFaulty(kernel(load("#id") + store("#id") + store("#id")));
  EXPECT_EQ(result.message, "`y[0, 0]` is stored twice (in the program at i = 0, j = 0)");
}

TEST_F(InterpreterErrorTest, StoredByTwoPrograms) {
  auto result =
      runFaulty(kernel(load("#id") + store("affine_map<(d0, d1) -> (d0, d1 floordiv 6)>")), 3, 9);
  EXPECT_EQ(result.message, "`y[0, 0]` is stored twice (in the program at i = 0, j = 0)");
  result = runFaulty(kernel(load("#id") + store("affine_map<(d0, d1) -> (d0 mod 4, d1)>")), 8, 5);
  EXPECT_EQ(result.message, "`y[0, 0]` is stored twice, by different programs "
                            "(in the program at i = 4, j = 0)");
}

TEST_F(InterpreterErrorTest, NeverStored) {
  auto result =
      runFaulty(kernel("tile.restrict affine_set<(d0, d1) : (d0 + d1 - 1 >= 0)>(%i, %j)[] : "
                       "!i, !j\n" +
                       load("#id") + store("#id")));
  EXPECT_EQ(result.message, "`y[0, 0]` is never stored");
  result = runFaulty(kernel("tile.restrict affine_set<(d0) : (6 - d0 >= 0)>(%j)[] : !j\n" +
                            load("#id") + store("#id")));
  EXPECT_EQ(result.message, "`y[0, 7]` is never stored");
}

TEST_F(InterpreterErrorTest, UseOfWhatDoesNotExist) {
  // The restriction ends with the scf.if, the tile made under it does not.
  auto result = runFaulty(kernel(R"(
    %t = arith.cmpi sgt, %M, %c0 : i64
    %v = scf.if %t -> (!ij) {
      tile.restrict affine_set<(d0, d1) : (d1 - d0 >= 0)>(%i, %j)[] : !i, !j
      %w = tile.load %x at #id(%i, %j)[] <exact> : memref<?x?xf32>, (!i, !j) -> !ij
      scf.yield %w : !ij
    } else {
      %z = arith.constant 0.0 : f32
      %w = tile.broadcast %z : f32 to !ij
      scf.yield %w : !ij
    }
)" + store("#id")));
  EXPECT_EQ(result.message, "uses an element outside the domain of its operand, at "
                            "[i = 1, j = 0] (in the program at i = 0, j = 0)");
}

TEST_F(InterpreterErrorTest, OutputsAreNotRead) {
  auto result = runFaulty(
      kernel("%v = tile.load %y at #id(%i, %j)[] <exact> : memref<?x?xf32>, (!i, !j) -> !ij\n" +
             store("#id")));
  EXPECT_NE(result.message.find("`y` is an output, it cannot be read"), std::string::npos)
      << result.message;
}

TEST_F(InterpreterErrorTest, InOutStaysInItsProgram) {
  std::string text = kernel(
      "%v = tile.load %y at affine_map<(d0, d1) -> (0, 0)>(%i, %j)[] <exact> : memref<?x?xf32>, "
      "(!i, !j) -> f32\n"
      "tile.store %v, %y at #id(%i, %j)[] : f32, memref<?x?xf32>, (!i, !j)\n",
      "\"inout\"");
  auto result = runFaulty(text, 3, 9);
  EXPECT_EQ(result.message,
            "`y[0, 0]` was stored by another program (in the program at i = 0, j = 5)");
}

TEST_F(InterpreterErrorTest, UpdatesMustFitTheDeclaration) {
  std::string update = "tile.update <max> %v, %y at #id(%i, %j)[] : !ij, memref<?x?xf32>, (!i, !j)";
  std::string reduce = "\"reduce\", tile.reduce = #tile.combine<add>";
  auto result = runFaulty(kernel(load("#id") + update, reduce));
  EXPECT_NE(result.message.find("`y` is not declared to combine by `max`"), std::string::npos)
      << result.message;
  std::string outside = "tile.update <add> %v, %y at affine_map<(d0, d1) -> (d0, d1 + 3)>(%i, %j)"
                        "[] : !ij, memref<?x?xf32>, (!i, !j)";
  result = runFaulty(kernel(load("#id") + outside, reduce));
  EXPECT_EQ(result.message, "`y[0, 9]` is outside [0, 3) × [0, 9) (in the program at i = 0, j = 5)")
      << "only data may fall outside";
}

TEST_F(InterpreterErrorTest, EndlessLoopsEndWithALimit) {
  InterpreterOptions options;
  options.maxSteps = 1000;
  auto result = runFaulty(kernel(R"(
    %t = arith.constant true
    %r = scf.while (%n = %c0) : (i64) -> i64 {
      scf.condition(%t) %n : i64
    } do {
    ^bb0(%n: i64):
      %m = arith.addi %n, %M : i64
      scf.yield %m : i64
    }
    %f = arith.sitofp %r : i64 to f32
    %v = tile.broadcast %f : f32 to !ij
)" + store("#id")),
                          3, 9, options);
  EXPECT_NE(result.message.find("gave up after 1000 steps"), std::string::npos) << result.message;
}

TEST_F(InterpreterErrorTest, StepsMustBePositive) {
  auto result = runFaulty(kernel(R"(
    %z = tile.div %M, %N : i64
    %r = scf.for %k = %c0 to %M step %z iter_args(%n = %c0) -> (i64) : i64 {
      scf.yield %k : i64
    }
    %f = arith.sitofp %r : i64 to f32
    %v = tile.broadcast %f : f32 to !ij
)" + store("#id")));
  EXPECT_NE(result.message.find("the step of the loop is 0"), std::string::npos) << result.message;
}

TEST_F(InterpreterErrorTest, AbsurdAxes) {
  auto result = runFaulty(kernel(R"(
    %big = arith.constant 9223372036854775807 : i64
    %a = tile.axis %c0 to %big : !tile.span<"a">
    %z = arith.constant 0.0 : f32
    %w = tile.broadcast %z : f32 to tensor<?x4xf32, #tile.axes<"a", "i">>
    %s = tile.reduce <add> %w over ["a", "i"] : tensor<?x4xf32, #tile.axes<"a", "i">> -> f32
    %v = tile.broadcast %s : f32 to !ij
)" + store("#id")));
  EXPECT_NE(result.message.find("a tile of 432345564227567616 bytes, where"), std::string::npos)
      << result.message;
  ASSERT_TRUE(result.shortage);
  EXPECT_EQ(result.shortage->leftBytes, InterpreterOptions().maxTileBytes);
}

TEST_F(InterpreterErrorTest, ConstantsOfAnotherLength) {
  auto result = runFaulty(kernel(R"(
    %a = tile.axis %c0 to %N : !tile.span<"a">
    %short = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32, #tile.axes<"a">>
    %w = tile.broadcast %short : tensor<3xf32, #tile.axes<"a">> to tensor<4x3xf32, #tile.axes<"i", "a">>
    %s = tile.reduce <add> %w over ["a"] : tensor<4x3xf32, #tile.axes<"i", "a">> -> tensor<4xf32, #tile.axes<"i">>
    %v = tile.broadcast %s : tensor<4xf32, #tile.axes<"i">> to !ij
)" + store("#id")));
  EXPECT_NE(result.message.find("a constant of 3 elements along the axis `a`, which has 9 here"),
            std::string::npos)
      << result.message;
}

TEST_F(InterpreterErrorTest, Requires) {
  auto result = runFaulty(R"(
#mn = affine_map<()[m, n] -> (m, n)>
tile.kernel @demanding(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "inout", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %same = arith.cmpi eq, %M, %N : i64
  tile.require %same, "M == N"
  tile.parallel () {
  }
  tile.return
})");
  EXPECT_EQ(result.message, "requires M == N");
}

TEST_F(InterpreterErrorTest, BadArguments) {
  KernelOp kernelOp = parse(kernel(load("#id") + store("#id")));
  auto x = uniform<float>({3, 9}, 0, 1), wrong = uniform<float>({9, 3}, 0, 1);
  std::vector<InterpreterArgument> swapped = {x.argument(), wrong.argument()};
  EXPECT_EQ(interpret(kernelOp, swapped, {3, 9}).message,
            "the argument for `y` has another shape than declared");
  EXPECT_EQ(interpret(kernelOp, {x.argument()}, {3, 9}).message,
            "the kernel takes 2 arguments and 2 dimensions, not 1 and 2");
  std::vector<InterpreterArgument> noData = {x.argument(),
                                             InterpreterArgument::tensor(nullptr, {3, 9})};
  EXPECT_EQ(interpret(kernelOp, noData, {3, 9}).message, "no data is given for `y`");
}

TEST_F(InterpreterErrorTest, TemplatesDoNotRun) {
  std::string text = R"(
#n = affine_map<()[n] -> (n)>
tile.kernel @open(%y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %z = arith.constant 0.0 : f32
    tile.store %z, %y at affine_map<(d0) -> (d0)>(%i)[] : f32, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
})";
  Tensor<float> y({4});
  KernelOp kernelOp = parse(text);
  std::vector<InterpreterArgument> args = {y.argument()};
  EXPECT_EQ(interpret(kernelOp, args, {4}).message,
            "the kernel is not specialized: a tile size is open");
  Bindings bindings;
  bindings.dims["N"] = 4;
  ASSERT_TRUE(succeeded(specialize(kernelOp, bindings)));
  Tensor<float> other({5});
  std::vector<InterpreterArgument> otherArgs = {other.argument()};
  EXPECT_EQ(interpret(kernelOp, otherArgs, {5}).message,
            "the kernel is specialized to N = 4, not 5");
  EXPECT_TRUE(interpret(kernelOp, args, {4}).ok());
}
} // namespace
