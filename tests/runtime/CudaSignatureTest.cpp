// Compares the functions of Functions.def with those of the toolkit's cuda.h, where the build has
// found one.
#include <gtest/gtest.h>

#ifdef TILE_HAS_CUDA_H

#include "runtime/cuda/Driver.h"

// Declares all versions of a function, old ones too, each by its own name.
#define __CUDA_API_VERSION_INTERNAL
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

} // namespace
} // namespace tile::runtime::cuda::test

#endif
