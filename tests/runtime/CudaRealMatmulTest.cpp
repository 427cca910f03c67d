// The matmul that is written on the tile_gpu level (tests/codegen/text/matmul-in-roles.mlir), on
// this machine's device: tensor maps, bulk copies, barriers and tensor cores together.
#include "CudaRealSupport.h"

#include "runtime/cuda/Launch.h"
#include "runtime/cuda/TensorMap.h"

#include <bit>
#include <cmath>
#include <random>
#include <regex>

namespace tile::runtime::cuda::test {
namespace {

float toFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// Normal numbers that bf16 has.
std::vector<uint16_t> randomMatrix(std::mt19937 &random, size_t count) {
  std::normal_distribution<float> normal;
  std::vector<uint16_t> matrix(count);
  for (uint16_t &element : matrix)
    element = static_cast<uint16_t>(std::bit_cast<uint32_t>(normal(random)) >> 16);
  return matrix;
}

class CudaRealMatmul : public CudaRealTest {
protected:
  void SetUp() override {
    CudaRealTest::SetUp();
    if (IsSkipped() || HasFatalFailure())
      return;
    if (!isHopper())
      GTEST_SKIP() << "the instructions are those of compute capability 9.0";
    ptx = BuiltPtx::read("matmul-in-roles");
    function = ptx.load(device);
    ASSERT_TRUE(function);
  }

  /// The map of a rows × columns matrix, for boxes as the n-th line of the PTX says.
  CUtensorMap mapOf(const DeviceBuffer &buffer, uint64_t rows, uint64_t columns, size_t n) {
    std::regex line("// tensor map: parameter \\d+, box (\\d+)x(\\d+), swizzle 128");
    auto found = std::next(std::sregex_iterator(ptx.text.begin(), ptx.text.end(), line), n);
    TensorMapLayout layout;
    layout.address = buffer.address();
    layout.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    layout.rank = 2;
    layout.extents = {columns, rows};
    layout.strides = {columns * 2};
    layout.box[0] = std::stoul((*found)[1]);
    layout.box[1] = std::stoul((*found)[2]);
    layout.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    CUtensorMap map;
    auto made = encodeTensorMap(*device, layout, map);
    EXPECT_TRUE(made) << made.error().str();
    return map;
  }

  std::shared_ptr<Function> function;
  BuiltPtx ptx;
};

TEST_F(CudaRealMatmul, IsRightForAllShapes) {
  std::mt19937 random(std::random_device{}());
  struct Shape {
    int64_t m, n, k;
  };
  for (Shape shape : {Shape{1, 16, 8}, Shape{128, 256, 64}, Shape{129, 272, 72},
                      Shape{1000, 784, 520}, Shape{64, 2048, 1032}, Shape{3000, 16, 16}}) {
    auto [m, n, k] = shape;
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k));
    std::vector<uint16_t> a = randomMatrix(random, m * k), b = randomMatrix(random, n * k);
    // NaN before, and some elements behind that are nobody's.
    constexpr uint16_t poison = 0xFFFF;
    std::vector<uint16_t> c(m * n + 512, poison);
    DeviceBuffer onDevice[] = {upload(a), upload(b), upload(c)};
    CUtensorMap maps[] = {mapOf(onDevice[0], m, k, 0), mapOf(onDevice[1], n, k, 1)};
    uint64_t addresses[] = {onDevice[0].address(), onDevice[1].address(), onDevice[2].address()};
    void *parameters[] = {&addresses[0], &addresses[1], &addresses[2], &m, &n, &k,
                          &maps[0],      &maps[1]};
    LaunchConfig config;
    config.grid.x = device->properties().multiprocessors;
    config.block.x = ptx.threads;
    config.sharedBytes = ptx.sharedBytes;
    auto launched = launch(*function, config, *stream, parameters);
    ASSERT_TRUE(launched) << launched.error().str();
    ASSERT_TRUE(onDevice[2].download(std::as_writable_bytes(std::span(c))));
    auto done = stream->synchronize();
    ASSERT_TRUE(done) << done.error().str();
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        double sum = 0, size = 0;
        for (int64_t d = 0; d < k; ++d) {
          double term = double(toFloat(a[row * k + d])) * toFloat(b[column * k + d]);
          sum += term;
          size += std::abs(term);
        }
        // Half a unit of bf16 for the result, and what tensor cores cut off of terms: at most a
        // unit of f32 of the greatest of a few, at each of their steps.
        double bound = std::abs(sum) * 0x1p-8 + size * 0x1p-20;
        ASSERT_NEAR(toFloat(c[row * n + column]), sum, bound) << row << ", " << column;
      }
    for (size_t at = m * n; at < c.size(); ++at)
      ASSERT_EQ(c[at], poison) << "written beyond the end";
  }
}

} // namespace
} // namespace tile::runtime::cuda::test
