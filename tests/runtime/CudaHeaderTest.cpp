// Compares what DriverTypes.h and Functions.def declare with the toolkit's cuda.h, where the build
// has found one.
#include <gtest/gtest.h>

#ifndef TILE_HAS_CUDA_H

TEST(CudaHeader, IsAsTheToolkitSays) {
  GTEST_SKIP()
      << "NOT COMPARED: no toolkit's cuda.h of 12.0 or newer was found when this was built";
}

#else

#include "runtime/cuda/Driver.h"

#include <cuda.h>

#include <type_traits>

namespace tile::runtime::cuda::test {
namespace {

/// Whether two types are passed the same way and mean the same: handles are pointers to any
/// structure, enumerations are integers.
template <typename Theirs, typename Ours>
constexpr bool isSame() {
  if constexpr (std::is_pointer_v<Theirs> && std::is_pointer_v<Ours>) {
    using Their = std::remove_pointer_t<Theirs>;
    using Our = std::remove_pointer_t<Ours>;
    return std::is_const_v<Their> == std::is_const_v<Our> &&
           isSame<std::remove_const_t<Their>, std::remove_const_t<Our>>();
  } else if constexpr (std::is_void_v<Theirs> || std::is_class_v<Theirs>) {
    return std::is_void_v<Theirs> == std::is_void_v<Ours> &&
           std::is_class_v<Theirs> == std::is_class_v<Ours>;
  } else if constexpr (std::is_enum_v<Theirs> || std::is_enum_v<Ours>) {
    return std::is_enum_v<Theirs> && std::is_enum_v<Ours> && sizeof(Theirs) == sizeof(Ours);
  } else if constexpr (std::is_arithmetic_v<Theirs> && std::is_arithmetic_v<Ours>) {
    return std::is_integral_v<Theirs> == std::is_integral_v<Ours> &&
           std::is_signed_v<Theirs> == std::is_signed_v<Ours> && sizeof(Theirs) == sizeof(Ours);
  } else {
    return false;
  }
}

template <typename Theirs, typename... Their, typename Ours, typename... Our>
constexpr bool isSameFunction(Theirs (*)(Their...), Ours (*)(Our...)) {
  if constexpr (sizeof...(Their) == sizeof...(Our))
    return isSame<Theirs, Ours>() && (isSame<Their, Our>() && ...);
  else
    return false;
}

static_assert(!isSame<int *, const int *>() && !isSame<int, unsigned>() &&
              !isSame<void *, CUstream>() && !isSame<float, int>() && !isSame<int, long>() &&
              !isSame<void **, void *>() && isSame<::CUstream *, CUstream *>());

TEST(CudaHeader, FunctionsTakeTheSame) {
  // Only types are asked for: nothing of the toolkit is linked.
#define TILE_CUDA_FUNCTION(NAME, SYMBOL, PARAMETERS)                                               \
  EXPECT_TRUE(isSameFunction(static_cast<decltype(&::SYMBOL)>(nullptr), DriverTable().NAME))       \
      << #SYMBOL;
#include "runtime/cuda/Functions.def"
#undef TILE_CUDA_FUNCTION
}

TEST(CudaHeader, SymbolsHaveTheVersionsOfCuda12) {
  // What cuda.h makes of the plain name is what has to be looked up. Other names have one version,
  // or got a second only in CUDA 13.
#define TILE_TEXT2(TEXT) #TEXT
#define TILE_TEXT(TEXT) TILE_TEXT2(TEXT)
  EXPECT_STREQ(TILE_TEXT(cuDeviceTotalMem), "cuDeviceTotalMem_v2");
  EXPECT_STREQ(TILE_TEXT(cuDevicePrimaryCtxRelease), "cuDevicePrimaryCtxRelease_v2");
  EXPECT_STREQ(TILE_TEXT(cuStreamDestroy), "cuStreamDestroy_v2");
  EXPECT_STREQ(TILE_TEXT(cuEventDestroy), "cuEventDestroy_v2");
  EXPECT_STREQ(TILE_TEXT(cuStreamBeginCapture), "cuStreamBeginCapture_v2");
  EXPECT_STREQ(TILE_TEXT(cuLinkCreate), "cuLinkCreate_v2");
  EXPECT_STREQ(TILE_TEXT(cuLinkAddData), "cuLinkAddData_v2");
  EXPECT_STREQ(TILE_TEXT(cuMemGetInfo), "cuMemGetInfo_v2");
  EXPECT_STREQ(TILE_TEXT(cuMemAlloc), "cuMemAlloc_v2");
  EXPECT_STREQ(TILE_TEXT(cuMemFree), "cuMemFree_v2");
  EXPECT_STREQ(TILE_TEXT(cuMemcpyHtoDAsync), "cuMemcpyHtoDAsync_v2");
  EXPECT_STREQ(TILE_TEXT(cuMemcpyDtoHAsync), "cuMemcpyDtoHAsync_v2");
  EXPECT_STREQ(TILE_TEXT(cuMemcpyDtoDAsync), "cuMemcpyDtoDAsync_v2");
}

#define EXPECT_NUMBER(NAME) EXPECT_EQ(static_cast<int>(NAME), static_cast<int>(::NAME)) << #NAME

TEST(CudaHeader, Codes) {
  EXPECT_NUMBER(CUDA_SUCCESS);
  EXPECT_NUMBER(CUDA_ERROR_INVALID_VALUE);
  EXPECT_NUMBER(CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_NUMBER(CUDA_ERROR_NO_DEVICE);
  EXPECT_NUMBER(CUDA_ERROR_INVALID_DEVICE);
  EXPECT_NUMBER(CUDA_ERROR_INVALID_IMAGE);
  EXPECT_NUMBER(CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NUMBER(CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_NUMBER(CUDA_ERROR_INVALID_PTX);
  EXPECT_NUMBER(CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
  EXPECT_NUMBER(CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_NUMBER(CUDA_ERROR_NOT_FOUND);
  EXPECT_NUMBER(CUDA_ERROR_NOT_READY);
  EXPECT_NUMBER(CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NUMBER(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_NUMBER(CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_NUMBER(CUDA_ERROR_ASSERT);
  EXPECT_NUMBER(CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_NUMBER(CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_NUMBER(CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_NUMBER(CUDA_ERROR_INVALID_ADDRESS_SPACE);
  EXPECT_NUMBER(CUDA_ERROR_INVALID_PC);
  EXPECT_NUMBER(CUDA_ERROR_LAUNCH_FAILED);
}

TEST(CudaHeader, Attributes) {
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_NUMBER(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  EXPECT_NUMBER(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_NUMBER(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  EXPECT_NUMBER(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  EXPECT_NUMBER(CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_NUMBER(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_NUMBER(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
}

TEST(CudaHeader, Options) {
  EXPECT_NUMBER(CU_JIT_INFO_LOG_BUFFER);
  EXPECT_NUMBER(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
  EXPECT_NUMBER(CU_JIT_ERROR_LOG_BUFFER);
  EXPECT_NUMBER(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  EXPECT_NUMBER(CU_JIT_LOG_VERBOSE);
  EXPECT_NUMBER(CU_JIT_GENERATE_LINE_INFO);
  EXPECT_NUMBER(CU_JIT_INPUT_PTX);
  EXPECT_NUMBER(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
  EXPECT_NUMBER(CU_STREAM_NON_BLOCKING);
  EXPECT_NUMBER(CU_EVENT_DEFAULT);
  EXPECT_NUMBER(CU_EVENT_DISABLE_TIMING);
  EXPECT_NUMBER(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  EXPECT_NUMBER(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
}

TEST(CudaHeader, TensorMaps) {
  EXPECT_NUMBER(CU_TENSOR_MAP_DATA_TYPE_UINT8);
  EXPECT_NUMBER(CU_TENSOR_MAP_DATA_TYPE_UINT16);
  EXPECT_NUMBER(CU_TENSOR_MAP_DATA_TYPE_UINT32);
  EXPECT_NUMBER(CU_TENSOR_MAP_DATA_TYPE_INT32);
  EXPECT_NUMBER(CU_TENSOR_MAP_DATA_TYPE_UINT64);
  EXPECT_NUMBER(CU_TENSOR_MAP_DATA_TYPE_INT64);
  EXPECT_NUMBER(CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  EXPECT_NUMBER(CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  EXPECT_NUMBER(CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
  EXPECT_NUMBER(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_NUMBER(CU_TENSOR_MAP_INTERLEAVE_NONE);
  EXPECT_NUMBER(CU_TENSOR_MAP_SWIZZLE_NONE);
  EXPECT_NUMBER(CU_TENSOR_MAP_SWIZZLE_32B);
  EXPECT_NUMBER(CU_TENSOR_MAP_SWIZZLE_64B);
  EXPECT_NUMBER(CU_TENSOR_MAP_SWIZZLE_128B);
  EXPECT_NUMBER(CU_TENSOR_MAP_L2_PROMOTION_NONE);
  EXPECT_NUMBER(CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
  EXPECT_NUMBER(CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
  EXPECT_NUMBER(CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  EXPECT_NUMBER(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  EXPECT_NUMBER(CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}

TEST(CudaHeader, Structures) {
  EXPECT_EQ(sizeof(CUtensorMap), sizeof(::CUtensorMap));
  // The toolkit's has asked for 64 and for 128 bytes; ours is right for both.
  EXPECT_EQ(alignof(CUtensorMap) % alignof(::CUtensorMap), 0u);
  EXPECT_EQ(sizeof(CUdeviceptr), sizeof(::CUdeviceptr));
  EXPECT_EQ(sizeof(CUlaunchAttributeValue), sizeof(::CUlaunchAttributeValue));
  EXPECT_EQ(alignof(CUlaunchAttributeValue), alignof(::CUlaunchAttributeValue));
  EXPECT_EQ(sizeof(CUlaunchAttribute), sizeof(::CUlaunchAttribute));
  EXPECT_EQ(offsetof(CUlaunchAttribute, value), offsetof(::CUlaunchAttribute, value));
  EXPECT_EQ(sizeof(CUlaunchConfig), sizeof(::CUlaunchConfig));
#define EXPECT_OFFSET(FIELD)                                                                       \
  EXPECT_EQ(offsetof(CUlaunchConfig, FIELD), offsetof(::CUlaunchConfig, FIELD))
  EXPECT_OFFSET(gridDimX);
  EXPECT_OFFSET(gridDimY);
  EXPECT_OFFSET(gridDimZ);
  EXPECT_OFFSET(blockDimX);
  EXPECT_OFFSET(blockDimY);
  EXPECT_OFFSET(blockDimZ);
  EXPECT_OFFSET(sharedMemBytes);
  EXPECT_OFFSET(hStream);
  EXPECT_OFFSET(attrs);
  EXPECT_OFFSET(numAttrs);
}

} // namespace
} // namespace tile::runtime::cuda::test

#endif
