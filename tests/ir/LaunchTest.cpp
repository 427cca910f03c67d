#include "tests/ir/InterpreterTestSupport.h"

using namespace tile::ir;
using namespace tile::ir::test;

namespace {
using Shapes = std::vector<std::vector<int64_t>>;

class LaunchTest : public IrTest {
protected:
  /// Binds; "" or the error with its hint.
  std::string bind(KernelOp kernel, const Shapes &shapes, const Dims &explicitDims = {}) {
    std::vector<llvm::ArrayRef<int64_t>> views(shapes.begin(), shapes.end());
    UserError error;
    auto result = bindLaunch(kernel, views, toMap(explicitDims), error);
    if (succeeded(result)) {
      binding = *result;
      return "";
    }
    return error.message + (error.hint.empty() ? "" : " | " + error.hint);
  }

  static std::vector<int64_t> shape(const LaunchBinding &binding, unsigned param) {
    return {binding.shapes[param].begin(), binding.shapes[param].end()};
  }

  LaunchBinding binding;
};

const char *const convolutionText = R"(
#x = affine_map<()[n, h, r, pad, p] -> (n, h)>
#w = affine_map<()[n, h, r, pad, p] -> (r)>
#y = affine_map<()[n, h, r, pad, p] -> (n, (h + pad * 2 - r) floordiv 2 + 1)>
#s = affine_map<()[n, h, r, pad, p] -> (h + r)>
tile.kernel @conv(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #x},
    %bias: f32 {tile.name = "bias", tile.mode = "in"},
    %w: memref<?xf32> {tile.name = "w", tile.mode = "in", tile.shape = #w},
    %s: memref<?xf32> {tile.name = "s", tile.mode = "inout", tile.shape = #s},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #y})
    attributes {dims = ["N", "H", "R", "pad", "P"], consts = {pad = 1 : i64, P}} {
  tile.parallel () {
  }
  tile.return
})";

TEST_F(LaunchTest, BindsDimensionsAndConstants) {
  KernelOp kernel = parse(convolutionText);
  ASSERT_EQ(bind(kernel, {{2, 9}, {}, {3}, {12}}, {{"P", 7}}), "");
  EXPECT_EQ(binding.dims, (llvm::SmallVector<int64_t>{2, 9, 3, 1, 7}));
  EXPECT_EQ(shape(binding, 0), (std::vector<int64_t>{2, 9}));
  EXPECT_EQ(shape(binding, 1), std::vector<int64_t>{});
  EXPECT_EQ(shape(binding, 4), (std::vector<int64_t>{2, 5}));
  ASSERT_EQ(bind(kernel, {{2, 9}, {}, {3}, {12}, {999}}, {{"P", 7}, {"pad", 4}, {"N", 2}}), "");
  EXPECT_EQ(shape(binding, 4), (std::vector<int64_t>{2, 8}));
}

TEST_F(LaunchTest, SaysWhatIsWrong) {
  KernelOp kernel = parse(convolutionText);
  EXPECT_EQ(bind(kernel, {{2, 9}, {}, {3}, {12}}),
            "the constant `P` of `conv` has no value | give it by name, such as P = 1");
  EXPECT_EQ(bind(kernel, {{2, 9}, {}, {3}, {12}}, {{"Q", 7}}),
            "`conv` has no dimension or constant `Q` | it has N, H, R, pad, P");
  EXPECT_EQ(bind(kernel, {{2, 9}, {}, {3}, {12}}, {{"P", 7}, {"padd", 7}}),
            "`conv` has no dimension or constant `padd` | did you mean `pad`? it has N, H, R, pad, "
            "P");
  EXPECT_EQ(bind(kernel, {{2, 9, 1}, {}, {3}, {12}}, {{"P", 7}}),
            "`x` has 2 dimensions, the argument has 3 | its shape is [N, H]");
  EXPECT_EQ(bind(kernel, {{2, 9}, {}, {3}}, {{"P", 7}}), "no shape is given for `s`");
  EXPECT_EQ(bind(kernel, {{2, 9}, {}, {3}, {12}}, {{"P", 7}, {"N", 3}}),
            "`N` is 3 as given by name but 2 in `x`");
  EXPECT_EQ(bind(kernel, {{2, 9}, {}, {3}, {11}}, {{"P", 7}}),
            "dimension 0 of `s` is 11, but `H + R` is 12 with H = 9, R = 3");
  EXPECT_EQ(bind(kernel, {{2, 9}, {}, {20}, {29}}, {{"P", 7}}),
            "extent `(H + 2 * pad - R) / 2 + 1` of `y` is -4, less than 0 with H = 9, R = 20, pad "
            "= 1");
  EXPECT_EQ(bind(kernel, {{2, -9}, {}, {20}, {11}}, {{"P", 7}}),
            "an extent of `x` is -9, less than 0");
  EXPECT_EQ(bind(kernel, {{2, INT64_MAX}, {}, {20}, {11}}, {{"P", 7}}),
            "`H` is 9223372036854775807 in `x`, beyond 2^47");
  EXPECT_EQ(bind(kernel, {{2, 9}, {}, {20}, {11}}, {{"P", INT64_MIN}}),
            "`P` is -9223372036854775808 as given by name, beyond 2^47");
  // An empty tensor has no bytes, but its extents take part in indices.
  EXPECT_EQ(bind(kernel, {{0, int64_t(1) << 46}, {}, {20}, {11}}, {{"P", 7}}),
            "`x` with shape [0, 70368744177664] has more bytes than an address space, 2^47");
}

TEST_F(LaunchTest, ConflictsNameBothPlaces) {
  KernelOp kernel = parse(R"(
#mk = affine_map<()[m, k] -> (m, k)>
#km = affine_map<()[m, k] -> (k, m)>
tile.kernel @both(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mk},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "in", tile.shape = #km})
    attributes {dims = ["M", "K"]} {
  tile.parallel () {
  }
  tile.return
})");
  EXPECT_EQ(bind(kernel, {{5, 3}, {3, 7}}), "`M` is 5 in `x` but 7 in `y`");
  EXPECT_EQ(bind(kernel, {{5, 3}, {3, 5}}), "");
  Bindings bindings;
  bindings.dims["M"] = 4;
  ASSERT_TRUE(succeeded(specialize(kernel, bindings)));
  EXPECT_EQ(bind(kernel, {{5, 3}, {3, 5}}), "`M` is 4 in this specialized kernel but 5 in `x`");
  EXPECT_EQ(bind(kernel, {{4, 3}, {3, 4}}), "");
}

TEST_F(LaunchTest, DimensionsInNoInput) {
  KernelOp kernel = parse(R"(
#twice = affine_map<()[m] -> (m * 2)>
tile.kernel @half(%x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #twice})
    attributes {dims = ["M"]} {
  tile.parallel () {
  }
  tile.return
})");
  EXPECT_EQ(bind(kernel, {{6}}),
            "the dimension `M` of `half` stands bare in no input shape, so nothing says what it "
            "is | give it by name, such as M = 1");
  EXPECT_EQ(bind(kernel, {{6}}, {{"M", 3}}), "");
  EXPECT_EQ(bind(kernel, {{6}}, {{"M", 4}}),
            "dimension 0 of `x` is 6, but `2 * M` is 8 with M = 4");
}

TEST_F(LaunchTest, Graphs) {
  module = mlir::parseSourceString<mlir::ModuleOp>(R"(
#mn = affine_map<()[m, n] -> (m, n)>
#nm = affine_map<()[m, n] -> (n * 2, m)>
tile.graph @g(%x: tensor<?x?xf32> {tile.name = "x", tile.shape = #mn}, %s: f32 {tile.name = "s"})
    -> (tensor<?x?xf32> {tile.name = "y", tile.shape = #mn}) attributes {dims = ["M", "N"]} {
  tile.return %x : tensor<?x?xf32>
})",
                                                   &context);
  ASSERT_TRUE(module) << diagnostics;
  GraphOp graph = *module->getOps<GraphOp>().begin();
  UserError error;
  std::vector<int64_t> x = {3, 4}, none, wrong = {3};
  auto result = bindLaunch(graph, {x, none}, {}, error);
  ASSERT_TRUE(succeeded(result)) << error.message;
  EXPECT_EQ(shape(*result, 2), x);
  EXPECT_TRUE(failed(bindLaunch(graph, {wrong, none}, {}, error)));
  EXPECT_EQ(error.message, "`x` has 2 dimensions, the argument has 1");
}

TEST_F(LaunchTest, Requires) {
  KernelOp kernel = parse(R"(
#h = affine_map<()[h, g, n] -> (h, g, n)>
tile.kernel @grouped(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #h},
    %k: i32 {tile.name = "k", tile.mode = "in"})
    attributes {dims = ["H", "G", "N"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0 : i32
  %H = tile.dim "H"
  %G = tile.dim "G"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  %t = tile.load %x at affine_map<(d0)[] -> (0, 0, d0)>(%n)[] <exact> : memref<?x?x?xf32>, (!tile.span<"N">) -> tensor<?xf32, #tile.axes<"N">>
  %r = tile.rem %H, %G : i64
  %ok = arith.cmpi eq, %r, %c0 : i64
  tile.require %ok, "H % G == 0"
  %positive = arith.cmpi sgt, %k, %zero : i32
  tile.require %positive, "k > 0"
  tile.parallel () {
  }
  tile.return
})");
  UserError error;
  uint64_t scalars[] = {0, 5}, negative[] = {0, uint32_t(-5)};
  EXPECT_TRUE(succeeded(checkRequires(kernel, {8, 4, 3}, scalars, error)));
  EXPECT_TRUE(failed(checkRequires(kernel, {6, 4, 3}, scalars, error)));
  EXPECT_EQ(error.message, "`grouped` requires H % G == 0, but H = 6, G = 4");
  EXPECT_TRUE(failed(checkRequires(kernel, {8, 4, 3}, negative, error)));
  EXPECT_EQ(error.message, "`grouped` requires k > 0, but k = -5");
}
} // namespace
