// How far ahead a core reads by itself of what it computes much of (docs/performance.md), with and
// without asking for what is 2 KB ahead. Of its own, for a processor with AVX-512:
//
//   c++ -O3 -march=native -std=c++20 tests/bench/ReadAhead.cpp -o read-ahead && ./read-ahead
//
// A row for each number of multiply-adds a vector, one waiting for the other; in it, for each size
// of what is read, the ns a line of 64 bytes, the least of 20 runs each way.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <immintrin.h>
#include <sys/mman.h>

static constexpr size_t line = 64, hugePage = 2 << 20, ahead = 2 << 10;
static constexpr size_t megabytes[] = {1, 8, 16, 32};

/// Memory of zeros that a table of pages describes in few entries.
static char *allocate(size_t bytes) {
  void *memory = mmap(nullptr, bytes + ahead + hugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  auto address = (reinterpret_cast<size_t>(memory) + hugePage - 1) & ~(hugePage - 1);
  auto *begin = reinterpret_cast<char *>(address);
  madvise(begin, bytes + ahead, MADV_HUGEPAGE);
  for (size_t at = 0; at < bytes + ahead; at += line)
    begin[at] = 0;
  return begin;
}

static double nanosecondsALine(const char *begin, size_t bytes, int steps, bool asks) {
  double least = 1e9;
  for (int run = 0; run < 20; ++run) {
    auto start = std::chrono::steady_clock::now();
    __m512 sum = _mm512_setzero_ps();
    for (size_t at = 0; at < bytes; at += line) {
      if (asks)
        _mm_prefetch(begin + at + ahead, _MM_HINT_T0);
      __m512 x = _mm512_load_ps(begin + at), y = x;
      for (int step = 0; step < steps; ++step)
        y = _mm512_fmadd_ps(y, x, x);
      sum = _mm512_add_ps(sum, y);
    }
    volatile float used = _mm512_reduce_add_ps(sum);
    (void)used;
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return least / (static_cast<double>(bytes) / line);
}

int main() {
  char *begin = allocate(megabytes[std::size(megabytes) - 1] << 20);
  if (!begin)
    return std::puts("there isn't enough memory"), 1;
  std::printf("| *n* |");
  for (size_t size : megabytes)
    std::printf(" %zu MB |", size);
  std::printf("\n|---|---|---|---|---|\n");
  for (int steps : {4, 8, 16, 30, 60}) {
    std::printf("| %d |", steps);
    for (size_t size : megabytes)
      std::printf(" %.1f, %.1f |", nanosecondsALine(begin, size << 20, steps, false),
                  nanosecondsALine(begin, size << 20, steps, true));
    std::printf("\n");
  }
}
