// Chunks of a range on the cores of the machine.
#pragma once

#include "runtime/base/FunctionRef.h"
#include "runtime/base/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tile::runtime {

/// Called with chunk number and the range [lo, hi); must not throw.
using ChunkFunction = FunctionRef<void(int64_t chunk, int64_t lo, int64_t hi)>;

class ThreadPool {
public:
  /// A pool of so many threads, the calling one among them. 1 <= threads <= maxThreads.
  explicit ThreadPool(int threads);
  ~ThreadPool();

  /// The pool of this process: TILE_NUM_THREADS threads if that is set, one a core otherwise. The
  /// variable is read once, at the first call; a bad value is the error of every call.
  static Result<ThreadPool *> global();

  static constexpr int maxThreads = 4096;
  int numThreads() const;

  /// Cuts [0, n) into `chunks` ranges in order, whose lengths differ by at most 1 and depend on
  /// nothing else, and calls `function` once for each, empty ones included, on any thread and in
  /// any order, on no more than `threads` at a time; returns when all calls have returned. May be
  /// called from inside a chunk.
  void parallelChunks(int64_t n, int64_t chunks, ChunkFunction function, int threads = maxThreads);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The value of TILE_NUM_THREADS (null: not set) as a number of threads.
Result<int> parseThreadCount(const char *text);

/// ThreadPool::parallelChunks on the global pool. On an error nothing was called.
Status parallelChunks(int64_t n, int64_t chunks, ChunkFunction function);

/// memcpy, on the threads of the global pool where there is much to copy, so that each core has a
/// part of it; on this thread where there is no pool.
void copyBytes(std::byte *to, const std::byte *from, uint64_t bytes);

} // namespace tile::runtime
