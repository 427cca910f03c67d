#include "runtime/base/ThreadPool.h"
#include "runtime/launch/Scratch.h"
#include "tests/runtime/TestSupport.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace tile::runtime {
namespace {

using test::expectError;

struct Piece {
  int64_t lo = -1, hi = -1;
  std::atomic<int> calls{0};
};

TEST(ThreadPoolTest, everyChunkIsCalledOnceAndTheyCoverTheRange) {
  for (int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.numThreads(), threads);
    for (int64_t n : {0, 1, 2, 13, 1000})
      for (int64_t chunks : {1, 2, 3, 13, 14, 257}) {
        std::vector<Piece> pieces(static_cast<size_t>(chunks));
        pool.parallelChunks(n, chunks, [&](int64_t chunk, int64_t lo, int64_t hi) {
          Piece &piece = pieces[static_cast<size_t>(chunk)];
          piece.lo = lo;
          piece.hi = hi;
          ++piece.calls;
        });
        int64_t next = 0;
        for (const Piece &piece : pieces) {
          ASSERT_EQ(piece.calls, 1);
          ASSERT_EQ(piece.lo, next);
          next = piece.hi;
          ASSERT_GE(piece.hi - piece.lo, n / chunks);
          ASSERT_LE(piece.hi - piece.lo, n / chunks + 1);
        }
        ASSERT_EQ(next, n);
      }
    pool.parallelChunks(5, 0, [](int64_t, int64_t, int64_t) { FAIL(); });
  }
}

TEST(ThreadPoolTest, rangesMayBeHuge) {
  int64_t n = std::numeric_limits<int64_t>::max(), last = 0;
  ThreadPool(1).parallelChunks(n, 3, [&](int64_t, int64_t lo, int64_t hi) {
    EXPECT_EQ(lo, last);
    EXPECT_LT(lo, hi);
    last = hi;
  });
  EXPECT_EQ(last, n);
}

TEST(ThreadPoolTest, noMoreThreadsThanAskedFor) {
  ThreadPool pool(8);
  for (int threads : {1, 2, 3}) {
    std::atomic<int> running{0}, most{0};
    std::vector<std::atomic<int>> calls(40);
    auto run = [&](int64_t chunk, int64_t lo, int64_t hi) {
      int now = ++running;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);)
        ;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_EQ(hi - lo, 2 + (chunk < 20));
      ++calls[static_cast<size_t>(chunk)];
      --running;
    };
    pool.parallelChunks(100, 40, run, threads);
    EXPECT_LE(most, threads);
    for (auto &count : calls)
      EXPECT_EQ(count, 1);
  }
}

TEST(ThreadPoolTest, chunksRunAtTheSameTime) {
  // Each chunk waits until the other has begun; more threads than cores must do as well.
  int threads = static_cast<int>(std::thread::hardware_concurrency()) + 2;
  ThreadPool pool(threads);
  std::atomic<int> begun{0};
  std::set<std::thread::id> ids;
  std::mutex mutex;
  pool.parallelChunks(threads, threads, [&](int64_t, int64_t, int64_t) {
    ++begun;
    for (int spins = 0; begun < threads && spins < 10'000; ++spins)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(begun, threads);
  EXPECT_EQ(ids.size(), static_cast<size_t>(threads));
}

TEST(ThreadPoolTest, chunksMayNest) {
  std::atomic<int64_t> sum{0};
  ASSERT_TRUE(parallelChunks(40, 20, [&](int64_t, int64_t lo, int64_t hi) {
    ASSERT_TRUE(parallelChunks(hi - lo, 5, [&](int64_t, int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i)
        sum += lo + i;
    }));
  }));
  EXPECT_EQ(sum, 40 * 39 / 2);
}

TEST(ThreadPoolTest, copiesAllBytesAndNoMore) {
  std::mt19937_64 random(std::random_device{}());
  auto check = [&](uint64_t bytes) {
    SCOPED_TRACE(bytes);
    size_t size = static_cast<size_t>(bytes), before = random() % 70, behind = random() % 70;
    std::vector<std::byte> from(size), into(before + size + behind, std::byte{0xa5});
    for (std::byte &byte : from)
      byte = static_cast<std::byte>(random());
    copyBytes(into.data() + before, from.data(), bytes);
    EXPECT_TRUE(std::equal(from.begin(), from.end(), into.begin() + before));
    into.erase(into.begin() + before, into.begin() + before + size);
    EXPECT_EQ(std::count(into.begin(), into.end(), std::byte{0xa5}), into.size());
  };
  for (uint64_t bytes : {uint64_t(0), uint64_t(1), (uint64_t(256) << 10) - 1, uint64_t(256) << 10})
    check(bytes);
  for (int n = 0; n < 8; ++n)
    check(random() % (uint64_t(3) << 20));
  ThreadPool pool(3);
  std::vector<std::byte> from(1 << 20, std::byte{7}), into(4 << 20);
  pool.parallelChunks(4, 4, [&](int64_t chunk, int64_t, int64_t) {
    copyBytes(into.data() + (chunk << 20), from.data(), from.size());
  });
  EXPECT_EQ(std::count(into.begin(), into.end(), std::byte{7}), into.size());
}

TEST(ThreadPoolTest, parsesTheNumberOfThreads) {
  EXPECT_EQ(*parseThreadCount("1"), 1);
  EXPECT_EQ(*parseThreadCount("4096"), 4096);
  EXPECT_GE(*parseThreadCount(nullptr), 1);
  EXPECT_EQ(*parseThreadCount(""), *parseThreadCount(nullptr));
  for (const char *bad : {"0", "-1", "4097", "99999999999", "two", "2 ", " 2", "2x", "1.5", "+2"})
    expectError(parseThreadCount(bad),
                std::string("environment variable TILE_NUM_THREADS is '") + bad + "'");
}

/// The variable is read once a process, so each case runs in one of its own.
TEST(ThreadPoolDeathTest, honoursTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto threadsWith = [](const char *value) {
    ::setenv("TILE_NUM_THREADS", value, 1);
    Result<ThreadPool *> pool = ThreadPool::global();
    std::exit(pool ? (*pool)->numThreads() : 100);
  };
  EXPECT_EXIT(threadsWith("3"), ::testing::ExitedWithCode(3), "");
  EXPECT_EXIT(threadsWith("1"), ::testing::ExitedWithCode(1), "");
  EXPECT_EXIT(threadsWith("zero"), ::testing::ExitedWithCode(100), "");
  auto callsWithBadValue = [] {
    ::setenv("TILE_NUM_THREADS", "-3", 1);
    int calls = 0;
    Status done = parallelChunks(5, 5, [&](int64_t, int64_t, int64_t) { ++calls; });
    std::exit(!done && calls == 0 ? 42 : 1);
  };
  EXPECT_EXIT(callsWithBadValue(), ::testing::ExitedWithCode(42), "");
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

std::byte *take(ScratchScope &scope, uint64_t bytes) {
  Result<std::byte *> memory = scope.allocate(bytes);
  EXPECT_TRUE(memory);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*memory) % 64, 0u);
  return *memory;
}

TEST(ScratchTest, scopesNestAndReuse) {
  releaseScratch();
  std::byte *first;
  {
    ScratchScope outer;
    first = take(outer, 100);
    std::memset(first, 1, 100);
    std::byte *inside;
    {
      ScratchScope inner;
      inside = take(inner, 1'000'000);
      std::memset(inside, 2, 1'000'000);
    }
    std::byte *second = take(outer, 1);
    EXPECT_NE(second, first);
    *second = std::byte(3);
    for (int i = 0; i < 100; ++i)
      EXPECT_EQ(first[i], std::byte(1));
  }
  uint64_t held = scratchCapacity();
  EXPECT_GE(held, 1'000'100u);
  for (int round = 0; round < 100; ++round) {
    ScratchScope scope;
    EXPECT_EQ(take(scope, 100), first);
    take(scope, 1'000'000);
  }
  EXPECT_EQ(scratchCapacity(), held);
  releaseScratch();
  EXPECT_EQ(scratchCapacity(), 0u);
}

TEST(ScratchTest, piecesNeverOverlap) {
  uint64_t seed = test::freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  ScratchScope scope;
  std::vector<std::pair<std::byte *, uint64_t>> pieces;
  for (int i = 0; i < 200; ++i) {
    uint64_t size = engine() % (uint64_t(1) << (engine() % 18));
    std::byte *memory = take(scope, size);
    std::memset(memory, i, size);
    pieces.emplace_back(memory, size);
  }
  for (size_t i = 0; i < pieces.size(); ++i)
    for (uint64_t k = 0; k < pieces[i].second; ++k)
      ASSERT_EQ(pieces[i].first[k], std::byte(i));
}

TEST(ScratchTest, refusesTheImpossible) {
  ScratchScope scope;
  EXPECT_FALSE(scope.allocate(UINT64_MAX));
  EXPECT_FALSE(scope.allocate(uint64_t(1) << 60));
  *take(scope, 8) = std::byte(1);
}

TEST(ScratchTest, holdsInNestedParallelChunks) {
  // A thread that waits for its inner chunks may run other outer ones in the meantime.
  ThreadPool pool(4);
  std::atomic<int> wrong{0};
  pool.parallelChunks(64, 64, [&](int64_t chunk, int64_t, int64_t) {
    ScratchScope scope;
    Result<std::byte *> memory = scope.allocate(5000);
    std::memset(*memory, static_cast<int>(chunk), 5000);
    pool.parallelChunks(8, 8, [&](int64_t inner, int64_t, int64_t) {
      ScratchScope own;
      Result<std::byte *> other = own.allocate(3000);
      std::memset(*other, 200 + static_cast<int>(inner), 3000);
    });
    for (int i = 0; i < 5000; ++i)
      wrong += (*memory)[i] != std::byte(chunk);
  });
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace tile::runtime
