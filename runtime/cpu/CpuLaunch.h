// Runs a compiled CPU kernel: all its programs, spread over the cores.
#pragma once

#include "runtime/artifact/CpuEntry.h"
#include "runtime/base/Result.h"

#include <span>

namespace tile::runtime {

class ThreadPool;
struct LaunchReport;
class Sanitizer;

struct CpuArguments {
  /// As CpuKernelFunction takes them; outputs are written through these pointers.
  std::span<const void *const> params;
  std::span<const int64_t> dims;
  /// How many elements each parameter has; only those of `reduce` outputs are read.
  std::span<const int64_t> elements;
  /// Of kernels with `assert` or `print`: what they say. Null: prints go to standard error.
  LaunchReport *report = nullptr;
  /// Of kernels that were compiled to be watched: who watches. All programs then run on the calling
  /// thread.
  Sanitizer *sanitizer = nullptr;
};

/// Runs every program once, on `pool` (null: the pool of this process).
///
/// `reduce` outputs need not be initialized: they start at the identity. Each chunk of programs
/// combines into a copy of its own, and the copies are combined in the order of the chunks;
/// programs that have other elements share one. How programs form chunks follows from their number
/// and the outputs' sizes alone, so the result is the same bit for bit whatever the number of
/// threads.
///
/// Where an assertion of the kernel fails, the error names its place, and the outputs hold
/// anything. Prints come in the order of the programs, those of failed ones and before included.
Status launchCpu(const CpuEntry &entry, const CpuArguments &arguments, ThreadPool *pool = nullptr);

/// Whether the programs are enough work for all threads of the pool of this process, given what
/// launchCpu is given, and may be shared out among them.
bool keepsAllThreadsBusy(const CpuEntry &entry, const CpuArguments &arguments);

} // namespace tile::runtime
