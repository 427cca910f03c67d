// Quotients by a number that all lanes share are multiplied, not divided; they must be those of the
// division all the same, bit for bit.

#include "codegen/cpu/CpuCompiler.h"
#include "ir/dialect/TileOps.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

using namespace tile::ir;
using namespace tile::codegen;

namespace {

/// y[i, j] = x[i, j] / s[i]
constexpr const char *source = R"(
#m = affine_map<()[m, n] -> (m)>
#mn = affine_map<()[m, n] -> (m, n)>
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
!i = tensor<4xf32, #tile.axes<"i">>
!ij = tensor<4x64xf32, #tile.axes<"i", "j">>
tile.kernel @quotients(%x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
                       %s: memref<?xf32> {tile.name = "s", tile.mode = "in", tile.shape = #m},
                       %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M by 4, %j = tiles "j" %c0 to %N by 64) {
    %v = tile.load %x at #id2(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>) -> !ij
    %w = tile.load %s at #id1(%i)[] <exact> : memref<?xf32>, (!tile.span<"i", 4>) -> !i
    %b = tile.broadcast %w : !i to !ij
    %q = arith.divf %v, %b : !ij
    tile.store %q, %y at #id2(%i, %j)[] : !ij, memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>)
  }
  tile.return
})";

float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

TEST(DivisionTest, QuotientsByASharedNumberAreExact) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<TileDialect, mlir::arith::ArithDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  ASSERT_TRUE(module);
  auto code = CpuCompiler().jit(*module->getOps<KernelOp>().begin());
  ASSERT_TRUE(succeeded(code));

  unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr int64_t rows = 700, columns = 1003;
  std::vector<float> x(rows * columns), s(rows), y(rows * columns, -7);
  const float special[] = {
      0.0f,           -0.0f, INFINITY,        -INFINITY,      NAN, 1e-45f, -1e-45f, 1.17549435e-38f,
      3.40282347e38f, 1.0f,  1.17549421e-38f, -3.40282347e38f};
  for (float &value : s)
    value = fromBits(random());
  std::copy(std::begin(special), std::end(special), s.begin());
  // Small whole divisors: quotients that are midpoints between subnormal numbers.
  for (int n = 0; n < 64; ++n)
    s[20 + n] = static_cast<float>(n + 1);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      float &value = x[r * columns + c];
      switch (random() % 4) {
      case 0: // anything
        value = fromBits(random());
        break;
      case 1: // subnormal numbers and what is near them
        value = fromBits(random() % (40u << 23) | (random() & 0x80000000u));
        break;
      case 2: { // near a midpoint: (m + ½) · s
        float near = fromBits(random()) * s[r];
        value = fromBits([&] {
          uint32_t bits;
          std::memcpy(&bits, &near, sizeof bits);
          return bits + random() % 3 - 1;
        }());
        break;
      }
      default:
        value = special[random() % std::size(special)];
      }
    }
  const void *params[] = {x.data(), s.data(), y.data()};
  int64_t dims[] = {rows, columns};
  code->entry().kernel(params, dims, 0, code->entry().programs(params, dims), nullptr);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      float actual = y[r * columns + c], expected = x[r * columns + c] / s[r];
      bool isSame = std::isnan(expected) ? std::isnan(actual)
                                         : std::memcmp(&actual, &expected, sizeof actual) == 0;
      ASSERT_TRUE(isSame) << std::hexfloat << x[r * columns + c] << " / " << s[r] << " = "
                          << expected << ", not " << actual;
    }
}

} // namespace
