// Storage: aligned, and with pages that are there already where as much was freed lately.
#include "runtime/tensor/Memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <vector>

namespace {

using tile::runtime::AlignedBytes;

AlignedBytes allocated(uint64_t bytes) {
  auto result = tile::runtime::allocateAligned(bytes, "a test");
  EXPECT_TRUE(result);
  return result ? *std::move(result) : AlignedBytes();
}

constexpr uint64_t mebi = uint64_t(1) << 20;

TEST(Memory, IsAligned) {
  for (uint64_t bytes :
       {uint64_t(0), uint64_t(1), uint64_t(63), mebi + 1, 40 * mebi + 3, 70 * mebi}) {
    AlignedBytes memory = allocated(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % tile::runtime::storageAlignment, 0u);
    std::memset(memory.get(), 1, bytes);
  }
}

/// Where in a page of 4096 bytes a block begins.
uint64_t placeInPage(const AlignedBytes &memory) {
  return reinterpret_cast<uintptr_t>(memory.get()) % 4096;
}

TEST(Memory, NeighboursBeginAtDifferentPlacesOfTheirPages) {
  for (uint64_t bytes : {2 * mebi, 4 * mebi, 40 * mebi + 3, 70 * mebi}) {
    std::vector<AlignedBytes> blocks;
    for (int n = 0; n < 7; ++n)
      blocks.push_back(allocated(bytes));
    for (const AlignedBytes &x : blocks)
      for (const AlignedBytes &y : blocks)
        if (&x != &y) {
          EXPECT_GE((placeInPage(x) + 4096 - placeInPage(y)) % 4096, 512u) << bytes;
        }
  }
}

#ifndef TILE_SANITIZED // those have allocators of their own

/// The bytes that the process has mapped.
uint64_t mappedBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages;
  return pages * 4096;
}

/// Whether memory is no reason to keep less: an eighth of it is kept at most.
bool hasPlenty() { return tile::runtime::availableMemory() >= (uint64_t(6) << 30); }

TEST(Memory, GivesAgainWhatWasFreed) {
  if (!hasPlenty())
    GTEST_SKIP() << "less than 6 GiB of memory";
  for (uint64_t bytes : {61 * mebi, 64 * mebi, 100 * mebi + 12, 256 * mebi}) {
    // A block may begin at another place of the same first page.
    auto pageOf = [](const AlignedBytes &memory) {
      return reinterpret_cast<uintptr_t>(memory.get()) / 4096;
    };
    AlignedBytes first = allocated(bytes), smaller = allocated(bytes - 4096);
    uintptr_t place = pageOf(first), other = pageOf(smaller);
    first.reset();
    smaller.reset();
    EXPECT_EQ(pageOf(allocated(bytes)), place) << bytes;
    AlignedBytes least = allocated(bytes - 8192);
    EXPECT_EQ(pageOf(least), other) << bytes;
    std::memset(least.get(), 1, bytes - 8192);
    EXPECT_NE(pageOf(allocated(bytes / 2)), place) << bytes;
  }
}

TEST(Memory, WhatIsKeptIsAvailable) {
  if (!hasPlenty())
    GTEST_SKIP() << "less than 6 GiB of memory";
  uint64_t bytes = 256 * mebi, during = 0;
  // The second time these are all that is kept.
  for (int round = 0; round < 2; ++round) {
    AlignedBytes first = allocated(bytes), second = allocated(bytes);
    std::memset(first.get(), 1, bytes);
    std::memset(second.get(), 1, bytes);
    during = tile::runtime::availableMemory();
  }
  EXPECT_GE(tile::runtime::availableMemory(), during + 400 * mebi);
}

TEST(Memory, KeepsNoMoreThanItSays) {
  if (!hasPlenty())
    GTEST_SKIP() << "less than 6 GiB of memory";
  uint64_t before = mappedBytes();
  {
    std::vector<AlignedBytes> many;
    for (int n = 0; n < 8; ++n)
      many.push_back(allocated(200 * mebi));
    EXPECT_GE(mappedBytes(), before + 1600 * mebi - 512 * mebi); // some may have been kept before
  }
  EXPECT_LE(mappedBytes(), before + 512 * mebi + 64 * mebi);
  before = mappedBytes();
  allocated(300 * mebi);
  EXPECT_LE(mappedBytes(), before + 64 * mebi);
}

#endif

} // namespace
