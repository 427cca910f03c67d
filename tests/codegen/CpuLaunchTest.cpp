// Launches of hand-written kernels: chunks, scratch, reductions in a fixed order, errors.

#include "runtime/cpu/CpuLaunch.h"
#include "runtime/base/ThreadPool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

using namespace tile::runtime;

namespace {

int64_t oneEach(const void *const *, const int64_t *dims) { return dims[0]; }
int64_t noScratch(const void *const *, const int64_t *) { return 0; }
int64_t someScratch(const void *const *, const int64_t *) { return 1000; }
int64_t tooMuch(const void *const *, const int64_t *) { return -1; }
int64_t moreThanThereIs(const void *const *, const int64_t *) { return int64_t(1) << 60; }

/// y[p] += 1, and scratch that is ours alone.
void touch(const void *const *params, const int64_t *, int64_t lo, int64_t hi, void *scratch) {
  auto *counts = static_cast<std::atomic<int> *>(const_cast<void *>(params[0]));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch) % 64, 0u);
  std::memset(scratch, 0x55, 1000);
  for (int64_t p = lo; p < hi; ++p)
    ++counts[p];
}

/// out[0] += x[p]
void sum(const void *const *params, const int64_t *, int64_t lo, int64_t hi, void *) {
  auto *x = static_cast<const float *>(params[0]);
  auto *out = static_cast<float *>(const_cast<void *>(params[1]));
  for (int64_t p = lo; p < hi; ++p)
    *out += x[p];
}

/// out[0] = max(out[0], x[p]), NaN wins
void largest(const void *const *params, const int64_t *, int64_t lo, int64_t hi, void *) {
  auto *x = static_cast<const double *>(params[0]);
  auto *out = static_cast<double *>(const_cast<void *>(params[1]));
  for (int64_t p = lo; p < hi; ++p)
    if (std::isnan(x[p]) || x[p] > *out)
      *out = x[p];
}

CpuEntry entryOf(CpuKernelFunction kernel, CpuQueryFunction scratch, uint32_t params) {
  CpuEntry entry;
  entry.kernel = kernel;
  entry.programs = oneEach;
  entry.scratch = scratch;
  entry.numParams = params;
  entry.numDims = 1;
  return entry;
}

TEST(CpuLaunchTest, EveryProgramRunsOnce) {
  CpuEntry entry = entryOf(touch, someScratch, 1);
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (int64_t programs : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> counts(programs);
      const void *params[] = {counts.data()};
      ASSERT_TRUE(launchCpu(entry, {params, std::span(&programs, 1), {}}, &pool));
      for (auto &count : counts)
        ASSERT_EQ(count, 1);
    }
  }
}

/// Notes the thread of each program.
void noteThread(const void *const *params, const int64_t *, int64_t lo, int64_t hi, void *) {
  auto *threads = static_cast<std::thread::id *>(const_cast<void *>(params[0]));
  for (int64_t p = lo; p < hi; ++p)
    threads[p] = std::this_thread::get_id();
}

TEST(CpuLaunchTest, LittleWorkStaysWithTheCaller) {
  CpuEntry entry = entryOf(noteThread, someScratch, 1);
  entry.work = [](const void *const *, const int64_t *) -> int64_t { return 100; };
  ThreadPool pool(4);
  int64_t programs = 100;
  std::vector<std::thread::id> threads(programs);
  const void *params[] = {threads.data()};
  ASSERT_TRUE(launchCpu(entry, {params, std::span(&programs, 1), {}}, &pool));
  for (std::thread::id id : threads)
    EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(CpuLaunchTest, EnoughWorkInEnoughProgramsKeepsAllThreadsBusy) {
  int64_t threads = (*ThreadPool::global())->numThreads();
  CpuEntry entry = entryOf(touch, someScratch, 1);
  const void *params[] = {nullptr};
  auto isBusy = [&](int64_t programs) {
    return keepsAllThreadsBusy(entry, {params, std::span(&programs, 1), {}});
  };
  entry.work = [](const void *const *, const int64_t *) -> int64_t { return 1'000'000'000; };
  EXPECT_TRUE(isBusy(threads));
  EXPECT_EQ(isBusy(threads - 1), threads == 1);
  // All programs add to one copy that is too large to have several, or parts of it.
  entry.reduceOutputs = {{0, CpuCombine::Add, "f32"}};
  int64_t elements = 1;
  auto isBusyAdding = [&] {
    return keepsAllThreadsBusy(entry, {params, std::span(&threads, 1), std::span(&elements, 1)});
  };
  EXPECT_EQ(isBusyAdding(), threads <= 64); // copies
  elements = int64_t(1) << 40;
  EXPECT_EQ(isBusyAdding(), threads == 1);
  entry.apart = [](const void *const *, const int64_t *programs) { return *programs; };
  EXPECT_TRUE(isBusyAdding());
  entry.reports = true; // whose order is that of the programs
  EXPECT_EQ(isBusyAdding(), threads == 1);
  entry.reports = false;
  entry.reduceOutputs = {};
  entry.work = [](const void *const *, const int64_t *) -> int64_t { return 1; };
  EXPECT_EQ(isBusy(threads), threads == 1);
  entry.programs = tooMuch;
  EXPECT_FALSE(isBusy(threads));
}

TEST(CpuLaunchTest, SumsDoNotDependOnThreads) {
  CpuEntry entry = entryOf(sum, noScratch, 2);
  entry.reduceOutputs = {{1, CpuCombine::Add, "f32"}};
  std::mt19937 random(std::random_device{}());
  std::vector<float> x(10007);
  for (float &value : x)
    value = std::uniform_real_distribution<float>(-1, 1)(random);
  std::vector<float> results;
  for (int threads : {1, 2, 5, 1, 5}) {
    ThreadPool pool(threads);
    float out = NAN; // it starts at the identity, whatever it held
    const void *params[] = {x.data(), &out};
    int64_t dims[] = {static_cast<int64_t>(x.size())}, elements[] = {0, 1};
    ASSERT_TRUE(launchCpu(entry, {params, dims, elements}, &pool));
    results.push_back(out);
  }
  double exact = 0;
  for (float value : x)
    exact += value;
  EXPECT_NEAR(results[0], exact, 1e-2);
  for (float result : results)
    EXPECT_EQ(std::memcmp(&result, &results[0], sizeof(float)), 0);
}

/// out[p mod dims[1]] += x[p], and notes where out is.
void sumOfColumns(const void *const *params, const int64_t *dims, int64_t lo, int64_t hi, void *) {
  if (lo == cpuAfterAll)
    return;
  auto *x = static_cast<const float *>(params[0]);
  auto *out = static_cast<double *>(const_cast<void *>(params[1]));
  auto *places = static_cast<std::atomic<const void *> *>(const_cast<void *>(params[2]));
  for (int64_t p = lo; p < hi; ++p) {
    out[p % dims[1]] += x[p];
    places[p] = out;
  }
}

TEST(CpuLaunchTest, ProgramsOfOtherElementsShareACopy) {
  CpuEntry entry = entryOf(sumOfColumns, noScratch, 3);
  entry.programs = [](const void *const *, const int64_t *dims) { return dims[0] * dims[1]; };
  entry.apart = [](const void *const *, const int64_t *dims) { return dims[1]; };
  entry.numDims = 2;
  entry.hasWideSums = true;
  entry.reduceOutputs = {{1, CpuCombine::Add, "f32"}};
  std::mt19937 random(std::random_device{}());
  // Rows, columns, and the copies that there are at most.
  for (auto [rows, columns, most] :
       {std::tuple(1, 5000, 1), {7, 1001, 1}, {313, 5, 13}, {9, 1, 9}}) {
    std::vector<float> x(rows * columns);
    std::vector<double> exact(columns);
    for (size_t n = 0; n < x.size(); ++n)
      exact[n % columns] += x[n] = std::uniform_real_distribution<float>(-1, 1)(random);
    std::vector<float> first;
    for (int threads : {1, 2, 7}) {
      ThreadPool pool(threads);
      std::vector<float> out(columns, NAN);
      std::vector<std::atomic<const void *>> places(x.size());
      const void *params[] = {x.data(), out.data(), places.data()};
      int64_t dims[] = {rows, columns}, elements[] = {0, columns, 0};
      ASSERT_TRUE(launchCpu(entry, {params, dims, elements}, &pool));
      for (int64_t n = 0; n < columns; ++n)
        ASSERT_NEAR(out[n], exact[n], 1e-7 * (1 + std::abs(exact[n])));
      EXPECT_LE(std::set<const void *>(places.begin(), places.end()).size(), size_t(most));
      if (first.empty())
        first = out;
      EXPECT_EQ(std::memcmp(out.data(), first.data(), columns * sizeof(float)), 0);
    }
  }
}

TEST(CpuLaunchTest, NothingGivesTheIdentity) {
  CpuEntry entry = entryOf(largest, noScratch, 2);
  entry.reduceOutputs = {{1, CpuCombine::Max, "f64"}};
  ThreadPool pool(2);
  std::vector<double> x;
  double out = 5;
  auto launch = [&] {
    const void *params[] = {x.data(), &out};
    int64_t dims[] = {static_cast<int64_t>(x.size())}, elements[] = {0, 1};
    return launchCpu(entry, {params, dims, elements}, &pool);
  };
  ASSERT_TRUE(launch());
  EXPECT_EQ(out, -std::numeric_limits<double>::infinity());
  x.assign(500, -3);
  x[17] = 2;
  ASSERT_TRUE(launch());
  EXPECT_EQ(out, 2);
  x[400] = NAN;
  ASSERT_TRUE(launch());
  EXPECT_TRUE(std::isnan(out));
}

TEST(CpuLaunchTest, ErrorsAreReported) {
  ThreadPool pool(2);
  std::vector<std::atomic<int>> counts(10);
  const void *params[] = {counts.data()};
  int64_t dims[] = {10};
  for (CpuQueryFunction scratch : {tooMuch, moreThanThereIs}) {
    Status status = launchCpu(entryOf(touch, scratch, 1), {params, dims, {}}, &pool);
    ASSERT_FALSE(status);
    EXPECT_FALSE(status.error().message.empty());
  }
  CpuEntry entry = entryOf(touch, someScratch, 1);
  entry.programs = tooMuch;
  EXPECT_FALSE(launchCpu(entry, {params, dims, {}}, &pool));
  EXPECT_FALSE(launchCpu(entryOf(touch, someScratch, 2), {params, dims, {}}, &pool));
  for (auto &count : counts)
    EXPECT_EQ(count, 0);
}

} // namespace
