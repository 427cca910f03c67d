#include "CudaFake.h"
#include "TestSupport.h"

#include "runtime/cuda/TensorMap.h"

#include <functional>

namespace tile::runtime::cuda::test {
namespace {

using runtime::test::expectError;
using CudaTensorMap = CudaTest;

/// Rows of 4096 halves.
TensorMapLayout matrix() {
  TensorMapLayout layout;
  layout.address = 0x7f0000000000;
  layout.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  layout.rank = 2;
  layout.extents = {4096, 1000};
  layout.strides = {8192};
  layout.box = {64, 128, 1, 1, 1};
  layout.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  return layout;
}

using Change = std::function<void(TensorMapLayout &)>;

TEST(CudaTensorMapCheck, WhatIsRight) {
  const Change changes[] = {
      [](auto &) {},
      [](auto &layout) { layout.rank = 1; },
      [](auto &layout) { layout.extents[1] = uint64_t(1) << 32; },
      [](auto &layout) { layout.strides[0] = (uint64_t(1) << 40) - 16; },
      [](auto &layout) { layout.strides[0] = 16; }, // rows that overlap, as windows do
      [](auto &layout) { layout.box[1] = 256; },
      [](auto &layout) { layout.steps[1] = 8; },
      [](auto &layout) { layout.box[0] = 8; }, // 16 bytes
      [](auto &layout) {
        layout.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
        layout.box[0] = 256;
      },
      [](auto &layout) { layout.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; },
      [](auto &layout) {
        layout.rank = 5;
        layout.extents = {4096, 2, 3, 4, 5};
        layout.strides = {8192, 16384, 49152, 196608};
      }};
  for (const Change &change : changes) {
    TensorMapLayout layout = matrix();
    change(layout);
    Status status = checkTensorMap(layout);
    EXPECT_TRUE(status) << &change - changes << ": " << status.error().str();
  }
}

TEST(CudaTensorMapCheck, WhatIsRefused) {
  const std::pair<Change, const char *> cases[] = {
      {[](auto &layout) { layout.rank = 0; }, "rank 0"},
      {[](auto &layout) { layout.rank = 6; }, "rank 6"},
      {[](auto &layout) { layout.type = static_cast<CUtensorMapDataType>(77); }, "type 77"},
      {[](auto &layout) { layout.address = 0; }, "the address 0"},
      {[](auto &layout) { layout.address += 8; }, "the address 139637976727560"},
      {[](auto &layout) { layout.extents[1] = 0; }, "an extent of 0 along dimension 1"},
      {[](auto &layout) { layout.extents[0] = (uint64_t(1) << 32) + 1; },
       "an extent of 4294967297 along dimension 0"},
      {[](auto &layout) { layout.strides[0] = 8200; }, "a stride of 8200 along dimension 1"},
      {[](auto &layout) { layout.strides[0] = uint64_t(1) << 40; },
       "a stride of 1099511627776 along dimension 1"},
      {[](auto &layout) { layout.box[1] = 257; }, "a box of 257 along dimension 1"},
      {[](auto &layout) { layout.box[0] = 0; }, "a box of 0 along dimension 0"},
      {[](auto &layout) { layout.box[0] = 4; }, "a box of 8 bytes along its innermost"},
      {[](auto &layout) { layout.box[0] = 12; }, "a box of 24 bytes along its innermost"},
      {[](auto &layout) { layout.box[0] = 72; }, "144 bytes along its innermost dimension with a "
                                                 "swizzle of 128"},
      {[](auto &layout) { layout.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }, "swizzle of 64"},
      {[](auto &layout) { layout.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; }, "swizzle of 32"},
      {[](auto &layout) { layout.steps[1] = 9; }, "a step of 9 along dimension 1"},
      {[](auto &layout) { layout.steps[0] = 2; }, "a step of 2 along dimension 0"},
      {[](auto &layout) {
         layout.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
         layout.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
       },
       "NaNs outside of a tensor of integers"}};
  for (const auto &[change, part] : cases) {
    TensorMapLayout layout = matrix();
    change(layout);
    expectError(checkTensorMap(layout), std::string("a tensor map can't have "));
    expectError(checkTensorMap(layout), part);
  }
}

TEST_F(CudaTensorMap, TheDriverGetsAll) {
  TensorMapLayout layout = matrix();
  layout.steps[1] = 2;
  CUtensorMap map = {};
  Status status = encodeTensorMap(*fake.device(), layout, map);
  ASSERT_TRUE(status) << status.error().str();
  CUtensorMap expected = {};
  expected.opaque[0] = 6;
  expected.opaque[1] = 2;
  expected.opaque[2] = 0x7f0000000000;
  expected.opaque[3] = 3;
  expected.opaque[4] = 3;
  expected.opaque[6] = uint64_t(4096) << 32 | 64 << 8 | 1;
  expected.opaque[7] = uint64_t(1000) << 32 | 128 << 8 | 2;
  expected.opaque[12] = 8192;
  EXPECT_EQ(map, expected);
}

TEST_F(CudaTensorMap, Failures) {
  auto device = fake.device();
  TensorMapLayout layout = matrix();
  layout.rank = 0;
  CUtensorMap map = {{17}};
  expectError(encodeTensorMap(*device, layout, map), "rank 0");
  EXPECT_EQ(fake.numEncoded, 0);
  fake.failures["tensorMapEncodeTiled"] = CUDA_ERROR_INVALID_VALUE;
  expectError(encodeTensorMap(*device, matrix(), map),
              "a tensor map can't be made: invalid argument (CUDA_ERROR_INVALID_VALUE)");
  TensorMapCache cache(device);
  expectError(cache.get(matrix(), map), "a tensor map can't be made");
  EXPECT_EQ(map, (CUtensorMap{{17}}));
  fake.failures.clear();
  EXPECT_TRUE(cache.get(matrix(), map)); // a failure is not kept
  fake.devices[0].setCapability(8, 9);
  expectError(encodeTensorMap(*fake.device(), matrix(), map),
              "tensor maps need compute capability 9.0; device 0, Fake 9000, has 8.9");
}

TEST_F(CudaTensorMap, TheCacheTellsEveryArgumentApart) {
  TensorMapCache cache(fake.device());
  const Change changes[] = {
      [](auto &) {},
      [](auto &layout) { layout.address += 16; },
      [](auto &layout) { layout.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16; },
      [](auto &layout) { layout.rank = 1; },
      [](auto &layout) { layout.extents[0] = 4095; },
      [](auto &layout) { layout.extents[1] = 999; },
      [](auto &layout) { layout.strides[0] = 8208; },
      [](auto &layout) { layout.box[0] = 56; },
      [](auto &layout) { layout.box[1] = 127; },
      [](auto &layout) { layout.steps[1] = 2; },
      [](auto &layout) { layout.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE; },
      [](auto &layout) { layout.promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE; },
      [](auto &layout) { layout.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; }};
  auto device = fake.device();
  for (int round = 0; round < 3; ++round)
    for (const Change &change : changes) {
      TensorMapLayout layout = matrix();
      change(layout);
      CUtensorMap map = {}, expected = {};
      Status status = cache.get(layout, map);
      ASSERT_TRUE(status) << status.error().str();
      int before = fake.numEncoded;
      ASSERT_TRUE(encodeTensorMap(*device, layout, expected));
      EXPECT_EQ(map, expected) << &change - changes;
      fake.numEncoded = before;
    }
  EXPECT_EQ(fake.numEncoded, static_cast<int>(std::size(changes)));
  // What its rank doesn't use makes no difference.
  TensorMapLayout same = matrix();
  same.box[4] = 17;
  same.extents[3] = 5;
  CUtensorMap map = {};
  ASSERT_TRUE(cache.get(same, map));
  EXPECT_EQ(fake.numEncoded, static_cast<int>(std::size(changes)));
}

TEST_F(CudaTensorMap, ACacheThatIsFullIsRightAllTheSame) {
  auto device = fake.device();
  TensorMapCache cache(device);
  std::mt19937_64 engine(runtime::test::freshSeed());
  for (int n = 0; n < 3000; ++n) {
    TensorMapLayout layout = matrix();
    layout.address += 16 * (engine() % 500);
    CUtensorMap map = {};
    ASSERT_TRUE(cache.get(layout, map));
    EXPECT_EQ(map.opaque[2], layout.address);
  }
  EXPECT_GT(fake.numEncoded, 500); // 128 places
}

} // namespace
} // namespace tile::runtime::cuda::test
