// A shared library with the driver's symbols and nothing behind them, for the tests that open one.
// FAKE_VERSION is what it says it is for; renaming a symbol on the command line leaves it out.
// There are no devices, and it counts who asks.
#include "runtime/cuda/DriverTypes.h"

using namespace tile::runtime::cuda;

#define cuDriverGetVersion tile_fake_unused
#define cuDeviceGetCount tile_fake_unused_count
#define TILE_CUDA_FUNCTION(NAME, SYMBOL, PARAMETERS)                                               \
  extern "C" CUresult SYMBOL PARAMETERS { return CUDA_SUCCESS; }
#include "runtime/cuda/Functions.def"
#undef TILE_CUDA_FUNCTION
#undef cuDriverGetVersion
#undef cuDeviceGetCount

extern "C" CUresult cuDriverGetVersion(int *version) {
  *version = FAKE_VERSION;
  return CUDA_SUCCESS;
}

extern "C" {
int tile_fake_times_counted = 0;
}

extern "C" CUresult cuDeviceGetCount(int *count) {
  ++tile_fake_times_counted;
  *count = 0;
  return CUDA_SUCCESS;
}
