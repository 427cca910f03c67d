// A shared library with the driver's symbols and nothing behind them, for the tests that open one.
// FAKE_VERSION is what it says it is for; renaming a symbol on the command line leaves it out.
#include "runtime/cuda/DriverTypes.h"

using namespace tile::runtime::cuda;

#define cuDriverGetVersion tile_fake_unused
#define TILE_CUDA_FUNCTION(NAME, SYMBOL, PARAMETERS)                                               \
  extern "C" CUresult SYMBOL PARAMETERS { return CUDA_SUCCESS; }
#include "runtime/cuda/Functions.def"
#undef TILE_CUDA_FUNCTION
#undef cuDriverGetVersion

extern "C" CUresult cuDriverGetVersion(int *version) {
  *version = FAKE_VERSION;
  return CUDA_SUCCESS;
}
