#include "runtime/base/ThreadPool.h"
#include "runtime/base/Text.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace tile::runtime {

using oneapi::tbb::global_control;

namespace {
/// Chunks that one thread begins with; in a cache line of its own.
struct alignas(64) Share {
  std::atomic<int64_t> next;
  int64_t end;
};

/// Keeps workers awake for a while that find nothing more to do: often the next kernel of a graph
/// comes before one that has gone to sleep would be awake again.
class Lingering : public oneapi::tbb::task_scheduler_observer {
public:
  explicit Lingering(oneapi::tbb::task_arena &arena) : task_scheduler_observer(arena) {
    observe(true);
  }
  ~Lingering() override { observe(false); }

  /// Called by a thread as it leaves the arena.
  void on_scheduler_exit(bool isWorker) override {
    using Clock = std::chrono::steady_clock;
    // Twice what it takes to wake a thread of a virtual machine.
    constexpr std::chrono::microseconds most(100);
    for (auto end = Clock::now() + most; isWorker && open == 0 && Clock::now() < end;)
      std::this_thread::yield();
  }

  std::atomic<int> open = 0; // calls of parallelChunks that have a chunk that nobody has begun
};
} // namespace

struct ThreadPool::State {
  explicit State(int threads) : threads(threads), arena(threads) {
    // By itself oneTBB starts at most one thread a core in a process, whatever an arena asks for.
    // Fewer need no such limit, and setting one would bind other users of oneTBB, too.
    if (threads > oneapi::tbb::info::default_concurrency())
      limit.emplace(global_control::max_allowed_parallelism, static_cast<size_t>(threads));
    if (threads > 1)
      lingering.emplace(arena); // only now: with it oneTBB starts, and takes limits no more
  }

  int threads;
  std::optional<global_control> limit;
  oneapi::tbb::task_arena arena;
  std::optional<Lingering> lingering; // null where there are no workers
};

ThreadPool::ThreadPool(int threads) {
  assert(threads >= 1 && threads <= maxThreads);
  state = std::make_unique<State>(threads);
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::numThreads() const { return state->threads; }

void ThreadPool::parallelChunks(int64_t n, int64_t chunks, ChunkFunction function, int threads) {
  assert(n >= 0 && chunks >= 0 && threads >= 1);
  if (chunks == 0)
    return;
  int64_t length = n / chunks, longer = n % chunks;
  auto run = [&](int64_t chunk) {
    int64_t lo = chunk * length + std::min(chunk, longer);
    function(chunk, lo, lo + length + (chunk < longer));
  };
  threads = static_cast<int>(std::min<int64_t>({threads, numThreads(), chunks}));
  if (threads == 1) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      run(chunk);
    return;
  }
  // Each thread begins with a share of its own, the same one each time: its data may still be in
  // that core's cache. Then it takes what others have left, so that nobody waits for those that
  // wake up late.
  std::vector<Share> shares(static_cast<size_t>(threads));
  for (int n = 0; n < threads; ++n) {
    shares[n].next = n * chunks / threads;
    shares[n].end = (n + 1) * chunks / threads;
  }
  std::atomic<bool> isOpen = false, isClosed = false;
  auto runShares = [&](const auto &) {
    // By now there is a task for others: a worker that left earlier would go to sleep all the same.
    if (!isOpen.exchange(true))
      ++state->lingering->open;
    int first = oneapi::tbb::this_task_arena::current_thread_index();
    for (int n = 0; n < threads; ++n) {
      Share &share = shares[static_cast<size_t>((first + n) % threads)];
      while (share.next < share.end) {
        int64_t chunk = share.next++;
        if (chunk < share.end)
          run(chunk);
      }
    }
    if (!isClosed.exchange(true))
      --state->lingering->open;
  };
  state->arena.execute([&] {
    oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<int>(0, threads), runShares,
                              oneapi::tbb::simple_partitioner());
  });
}

Result<int> parseThreadCount(const char *text) {
  if (!text || !*text)
    return std::clamp(oneapi::tbb::info::default_concurrency(), 1, ThreadPool::maxThreads);
  int threads = 0;
  const char *last = text + std::strlen(text);
  auto [end, error] = std::from_chars(text, last, threads);
  if (error != std::errc() || end != last || threads < 1 || threads > ThreadPool::maxThreads)
    return Error{"environment variable TILE_NUM_THREADS is " + quote(text) +
                     ", which is no number of threads",
                 "set it to a number from 1 to " + std::to_string(ThreadPool::maxThreads) +
                     ", or unset it for one thread a core"};
  return threads;
}

Result<ThreadPool *> ThreadPool::global() {
  static const Result<int> threads = parseThreadCount(std::getenv("TILE_NUM_THREADS"));
  if (!threads)
    return threads.error();
  // Never destroyed: a program may still use it while static objects are taken down.
  static ThreadPool *const pool = new ThreadPool(*threads);
  return pool;
}

Status parallelChunks(int64_t n, int64_t chunks, ChunkFunction function) {
  Result<ThreadPool *> pool = ThreadPool::global();
  if (!pool)
    return pool.takeError();
  (*pool)->parallelChunks(n, chunks, function);
  return {};
}

void copyBytes(std::byte *to, const std::byte *from, uint64_t bytes) {
  if (bytes == 0)
    return;                                      // from nowhere, maybe
  constexpr uint64_t part = uint64_t(128) << 10; // takes longer than to wake a thread
  auto chunks = static_cast<int64_t>(bytes / part);
  Result<ThreadPool *> pool = ThreadPool::global();
  if (chunks < 2 || !pool)
    std::memcpy(to, from, bytes);
  else
    (*pool)->parallelChunks(static_cast<int64_t>(bytes), chunks,
                            [&](int64_t, int64_t lo, int64_t hi) {
                              std::memcpy(to + lo, from + lo, static_cast<size_t>(hi - lo));
                            });
}

} // namespace tile::runtime
