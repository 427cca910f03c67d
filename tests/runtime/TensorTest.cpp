#include "runtime/base/Hash.h"
#include "tests/runtime/TestSupport.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sys/resource.h>

namespace tile::runtime {
namespace {

using test::expectError;

constexpr int64_t most = std::numeric_limits<int64_t>::max();

Tensor make(DType type, Shape shape) {
  Result<Tensor> tensor = Tensor::create(type, std::move(shape));
  EXPECT_TRUE(tensor);
  return *std::move(tensor);
}

/// 0, 1, 2, …
Tensor counting(DType type, Shape shape) {
  Tensor tensor = make(type, std::move(shape));
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    tensor.setInt(i, i);
  return tensor;
}

TEST(TensorTest, startsZeroedAndAligned) {
  for (DType type : allDTypes())
    for (const Shape &shape : {Shape{}, Shape{0}, Shape{7}, Shape{3, 0, 5}, Shape{13, 1, 9}}) {
      Tensor tensor = make(type, shape);
      int64_t count = 1;
      for (int64_t extent : shape)
        count *= extent;
      EXPECT_EQ(tensor.numElements(), count);
      EXPECT_EQ(tensor.byteSize(), static_cast<uint64_t>(count * sizeOf(type)));
      EXPECT_EQ(tensor.rank(), static_cast<int64_t>(shape.size()));
      ASSERT_NE(tensor.data(), nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u);
      for (int64_t i = 0; i < count; ++i)
        EXPECT_EQ(tensor.getDouble(i), 0);
    }
}

TEST(TensorTest, offsetsAreRowMajor) {
  Tensor tensor = make(DType::I16, {3, 5, 7});
  int64_t next = 0;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j)
      for (int64_t k = 0; k < 7; ++k)
        EXPECT_EQ(tensor.offsetOf(Shape{i, j, k}), next++);
  EXPECT_EQ(make(DType::I16, {}).offsetOf({}), 0);
}

TEST(TensorTest, refusesImpossibleShapes) {
  expectError(Tensor::create(DType::F32, {2, -1}), "negative extent -1");
  expectError(Tensor::create(DType::F32, {0, -1}), "negative extent -1");
  expectError(Tensor::create(DType::U8, {most, 2}), "overflows");
  expectError(Tensor::create(DType::F64, {most / 4}), "overflows");
  expectError(Tensor::create(DType::F32, {int64_t(1) << 32, int64_t(1) << 32}), "overflows");
  expectError(Tensor::create(DType::F32, Shape(65, 1)), "65 dimensions");
  EXPECT_TRUE(Tensor::create(DType::F32, Shape(64, 1)));
  // Nothing is stored, so nothing overflows.
  for (const Shape &shape : {Shape{most, 0, most}, Shape{most, most, 0}, Shape{0, most, most}}) {
    Result<Tensor> empty = Tensor::create(DType::F64, shape);
    ASSERT_TRUE(empty);
    EXPECT_EQ(empty->numElements(), 0);
    EXPECT_NE(empty->preview(), "");
  }
}

TEST(TensorTest, refusesMoreMemoryThanThereIs) {
  // No allocator is asked: address sanitizer, for one, would abort.
  expectError(Tensor::create(DType::F32, {int64_t(1) << 50}),
              "f32[1125899906842624] needs 4.0 PiB");
  expectError(Tensor::create(DType::U8, {most}), "memory");
  uint64_t available = availableMemory();
  EXPECT_GT(available, 0u);
  if (available < uint64_t(most) / 2)
    expectError(Tensor::create(DType::U8, {static_cast<int64_t>(available * 2)}), "available");
}

// The system is asked once in many allocations; what is refused doesn't depend on which.
TEST(TensorTest, refusesTooMuchAfterManyAllocations) {
  for (int n = 0; n < 100; ++n)
    ASSERT_TRUE(Tensor::createUninitialized(DType::U8, {int64_t(3) << 20}));
  uint64_t available = availableMemory();
  if (available < uint64_t(most) / 2)
    expectError(Tensor::create(DType::U8, {static_cast<int64_t>(available * 2)}), "available");
  EXPECT_TRUE(Tensor::createUninitialized(DType::U8, {int64_t(3) << 20}));
}

// Sanitizers have an allocator of their own.
#ifndef __SANITIZE_ADDRESS__
// A launch has new results each time; their pages are those of the results before, which cost a few
// faults, not one for each page.
TEST(TensorTest, pagesAreGivenAgain) {
  auto touchOne = [] {
    Result<Tensor> tensor = Tensor::createUninitialized(DType::U8, {int64_t(24) << 20});
    ASSERT_TRUE(tensor);
    std::memset(tensor->data(), 1, tensor->byteSize());
  };
  auto faults = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  touchOne();
  auto before = faults();
  for (int n = 0; n < 20; ++n)
    touchOne();
  EXPECT_LT(faults() - before, 60);
}
#endif

TEST(ResultTest, takenUntestedEndsWithItsText) {
  auto failed = [] { return Result<int>(Error{"no such thing", "look elsewhere"}); };
  EXPECT_DEATH((void)*failed(), "no such thing");
  EXPECT_DEATH((void)failed().operator->(), "look elsewhere");
  EXPECT_DEATH((void)Result<int>(3).error(), "succeeded");
  EXPECT_DEATH((void)Status().error(), "succeeded");
  Result<std::string> text(std::string("here"));
  EXPECT_EQ(*text, "here");
}

TEST(TensorTest, countsBeyondTwoToThe31) {
  Result<int64_t> count = countElements(DType::F8E4M3, Shape{65536, 65537});
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 4295032832);
}

TEST(TensorTest, poisonIsNoPlausibleResult) {
  for (DType type : allDTypes()) {
    Tensor tensor = make(type, {5});
    tensor.poison();
    for (int64_t i = 0; i < 5; ++i)
      EXPECT_TRUE(isFloat(type) ? std::isnan(tensor.getDouble(i)) : tensor.getInt(i) != 0);
    if (!isFloat(type)) {
      EXPECT_TRUE(std::all_of(tensor.bytes().begin(), tensor.bytes().end(),
                              [](std::byte b) { return b == std::byte(0xab); }));
    }
  }
}

TEST(TensorTest, clonesAreIndependent) {
  Tensor tensor = counting(DType::BF16, {3, 3});
  Result<Tensor> copy = tensor.clone();
  ASSERT_TRUE(copy);
  test::expectSame(*copy, tensor);
  copy->setDouble(4, 100);
  EXPECT_EQ(tensor.getDouble(4), 4);
}

TEST(TensorTest, checksumIsXxh64) {
  Tensor tensor = make(DType::U8, {3});
  std::memcpy(tensor.data(), "abc", 3);
  EXPECT_EQ(tensor.checksum(), 0x44bc2cf5ad770999u);
  EXPECT_EQ(make(DType::F32, {0}).checksum(), 0xef46db3751d8e999u);
}

//===----------------------------------------------------------------------===//
// Preview
//===----------------------------------------------------------------------===//

TEST(TensorTest, previewsSmallTensorsWhole) {
  EXPECT_EQ(counting(DType::I32, {2, 3}).preview(), "[[0 1 2]\n [3 4 5]]");
  EXPECT_EQ(counting(DType::U8, {12}).preview(), "[ 0  1  2  3  4  5  6  7  8  9 10 11]");
  EXPECT_EQ(counting(DType::F32, {2, 2, 2}).preview(), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  EXPECT_EQ(make(DType::Bool, {}).preview(), "false");
  EXPECT_EQ(make(DType::F32, {0, 5}).preview(), "[] (f32[0x5])");
}

TEST(TensorTest, previewsTheCornersOfLargeOnes) {
  EXPECT_EQ(counting(DType::I64, {1000}).preview(), "[  0   1   2 … 997 998 999]");
  EXPECT_EQ(counting(DType::I32, {10, 20}).preview(), "[[  0   1   2 …  17  18  19]\n"
                                                      " [ 20  21  22 …  37  38  39]\n"
                                                      " [ 40  41  42 …  57  58  59]\n"
                                                      " …\n"
                                                      " [140 141 142 … 157 158 159]\n"
                                                      " [160 161 162 … 177 178 179]\n"
                                                      " [180 181 182 … 197 198 199]]");
}

TEST(TensorTest, previewsFormatEachType) {
  Tensor floats = make(DType::F32, {5});
  double values[] = {0.1, -1e30, std::nan(""), -HUGE_VAL, -0.0};
  for (int64_t i = 0; i < 5; ++i)
    floats.setDouble(i, values[i]);
  EXPECT_EQ(floats.preview(), "[   0.1 -1e+30    nan   -inf     -0]");
  Tensor wide = make(DType::U64, {1});
  wide.setInt(0, -1);
  EXPECT_EQ(wide.preview(), "[18446744073709551615]");
  Tensor truths = make(DType::Bool, {2});
  truths.setInt(1, 1);
  EXPECT_EQ(truths.preview(), "[false  true]");
  Tensor third = make(DType::F16, {1});
  third.setDouble(0, 1.0 / 3);
  EXPECT_EQ(third.preview(), "[0.3333]");
}

TEST(TensorTest, previewsStaySmallAtAnyRank) {
  std::mt19937_64 engine(7);
  for (size_t rank = 0; rank <= 20; ++rank) {
    Tensor tensor = test::randomTensor(DType::F16, Shape(rank, 2), engine);
    EXPECT_LT(tensor.preview().size(), 4000u) << rank;
  }
  EXPECT_EQ(counting(DType::I32, {1, 1, 1}).preview(), "[[[0]]]");
}

//===----------------------------------------------------------------------===//
// Random access against raw memory
//===----------------------------------------------------------------------===//

TEST(TensorTest, elementsLieWhereTheirOffsetSays) {
  Tensor tensor = make(DType::F64, {4, 5});
  for (int64_t i = 0; i < 20; ++i)
    tensor.setDouble(i, std::sqrt(static_cast<double>(i)));
  const auto *raw = reinterpret_cast<const double *>(tensor.data());
  for (int64_t i = 0; i < 20; ++i)
    EXPECT_EQ(raw[i], std::sqrt(static_cast<double>(i)));
}

} // namespace
} // namespace tile::runtime
