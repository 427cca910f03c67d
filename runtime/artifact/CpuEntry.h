// The interface between compiled CPU code and who calls it: plain data, no dependencies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tile::runtime {

/// Runs programs [programLo, programHi), numbered row-major over the kernel's binders.
/// `params[n]` is the data of tensor parameter n or the bytes of scalar parameter n, in the order
/// of the kernel's parameters; `dims` has its dimensions in their order. `scratch` holds as many
/// bytes as the kernel's `scratch` function says, at a multiple of 64; each call that runs at the
/// same time needs its own.
///
/// A `reduce` output is combined into: it has to hold values already, halves and fp8 as f32 and
/// wide sums as f64, since they are rounded once, after the last program. When it is complete and
/// rounded, a call with the empty range from cpuAfterAll to cpuAfterAll computes in its place what
/// the kernel makes of it.
using CpuKernelFunction = void (*)(const void *const *params, const int64_t *dims,
                                   int64_t programLo, int64_t programHi, void *scratch);

/// No program: all have ended.
constexpr int64_t cpuAfterAll = -1;

/// A number that depends on parameters and dimensions; −1 where it is beyond 63 bits.
using CpuQueryFunction = int64_t (*)(const void *const *params, const int64_t *dims);

/// How the elements of a `reduce` output combine. Max and min propagate NaN, fmax and fmin don't.
enum class CpuCombine : uint8_t { Add, Mul, Max, Min, UMax, UMin, FMax, FMin, And, Or, Xor };

struct CpuReduceOutput {
  uint32_t param = 0;
  CpuCombine combine = CpuCombine::Add;
  /// The element type as the language spells it.
  std::string type;
};

/// In an image the function that runs programs has the kernel's name; with this behind it if it has
/// wide sums, so that a runtime that knows no such sums doesn't find it.
inline constexpr const char *wideSumsSuffix = ".wide";
/// The function CpuEntry::apart, which kernels have that have `reduce` outputs.
inline constexpr const char *apartSuffix = ".apart";

/// One compiled kernel. Who made it keeps the code alive.
struct CpuEntry {
  CpuKernelFunction kernel = nullptr;
  CpuQueryFunction programs = nullptr;
  CpuQueryFunction scratch = nullptr;
  /// About how many cycles one program takes: to start no more threads than pay. Null: unknown.
  CpuQueryFunction work = nullptr;
  /// How many programs in a row combine into other elements of all `reduce` outputs, each than the
  /// others: their number divides that of all programs. Null: nothing is known of it.
  CpuQueryFunction apart = nullptr;
  uint32_t numParams = 0;
  uint32_t numDims = 0;
  std::vector<CpuReduceOutput> reduceOutputs;
  /// Sums of floats in `reduce` outputs are f64 until they are rounded.
  bool hasWideSums = false;
  /// It takes a CpuReport behind its parameters (CpuReport.h).
  bool reports = false;
};

} // namespace tile::runtime
