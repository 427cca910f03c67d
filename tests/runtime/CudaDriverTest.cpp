#include "CudaFake.h"
#include "TestSupport.h"

namespace tile::runtime::cuda::test {
namespace {

using runtime::test::expectError;
using runtime::test::Variable;

TEST(CudaDriver, NoFile) {
  auto driver = Driver::openFile("/no/such/libcuda.so.1");
  expectError(driver, "there is no CUDA driver: '/no/such/libcuda.so.1' can't be opened: ");
  expectError(driver, "No such file or directory"); // what the loader says
}

TEST(CudaDriver, TheVariableNamesTheFile) {
  Variable variable("TILE_CUDA_DRIVER", "/no/such/driver.so");
  expectError(Driver::open(), "'/no/such/driver.so'");
  Variable right("TILE_CUDA_DRIVER", FAKE_DRIVER);
  auto driver = Driver::open();
  ASSERT_TRUE(driver) << driver.error().str();
  EXPECT_EQ((*driver)->name(), FAKE_DRIVER);
  EXPECT_EQ((*driver)->version(), 12040);
  EXPECT_EQ(formatVersion((*driver)->version()), "12.4");
}

TEST(CudaDriver, AnEmptyVariableIsNone) {
  Variable variable("TILE_CUDA_DRIVER", "");
  if (auto driver = Driver::open())
    EXPECT_EQ((*driver)->name(), "libcuda.so.1");
  else
    EXPECT_NE(driver.error().message.find("libcuda.so.1"), std::string::npos)
        << driver.error().str();
}

TEST(CudaDriver, ATooOldLibrary) {
  auto driver = Driver::openFile(FAKE_OLD_DRIVER); // which lacks a function, too
  expectError(driver, "is too old: it is for CUDA 11.4, and launches of clusters need 12.0");
}

TEST(CudaDriver, AMissingSymbol) {
  auto driver = Driver::openFile(FAKE_PARTIAL_DRIVER);
  expectError(driver, "has no function cuTensorMapEncodeTiled");
}

TEST(CudaDriver, EveryFunctionIsFound) {
  auto driver = Driver::openFile(FAKE_DRIVER);
  ASSERT_TRUE(driver) << driver.error().str();
#define TILE_CUDA_FUNCTION(NAME, SYMBOL, PARAMETERS) EXPECT_NE((*driver)->api().NAME, nullptr);
#include "runtime/cuda/Functions.def"
#undef TILE_CUDA_FUNCTION
}

using CudaFakeDriver = CudaTest;

TEST_F(CudaFakeDriver, TheFakeIsWhole) {
#define TILE_CUDA_FUNCTION(NAME, SYMBOL, PARAMETERS) EXPECT_NE(fake.table().NAME, nullptr) << #NAME;
#include "runtime/cuda/Functions.def"
#undef TILE_CUDA_FUNCTION
}

TEST_F(CudaFakeDriver, TheVersionIsAskedFirst) {
  fake.version = 11080;
  expectError(Driver::fromTable(fake.table(), "it"),
              "the CUDA driver 'it' is too old: it is for CUDA 11.8, and launches of clusters need "
              "12.0");
  EXPECT_EQ(fake.count("init"), 0);
  fake.version = 12000;
  EXPECT_TRUE(Driver::fromTable(fake.table(), "it"));
  EXPECT_EQ(fake.count("init"), 1);
}

TEST_F(CudaFakeDriver, WhatCantBeInitialized) {
  fake.failures["init"] = static_cast<CUresult>(803);
  // Codes that the driver itself doesn't know are told by their number.
  expectError(Driver::fromTable(fake.table(), "it"), "can't be initialized: error 803");
  fake.failures = {{"driverGetVersion", static_cast<CUresult>(34)}};
  expectError(Driver::fromTable(fake.table(), "it"), "doesn't tell its version: error 34");
}

TEST_F(CudaFakeDriver, Descriptions) {
  auto driver = fake.driver();
  EXPECT_EQ(driver->describe(CUDA_ERROR_OUT_OF_MEMORY), "out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
  EXPECT_EQ(driver->describe(static_cast<CUresult>(12345)), "error 12345");
}

} // namespace
} // namespace tile::runtime::cuda::test
