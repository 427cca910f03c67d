#include "runtime/launch/Scratch.h"

#include <algorithm>
#include <cassert>
#include <vector>

namespace tile::runtime {

namespace {

struct Block {
  AlignedBytes memory;
  uint64_t size;
};

/// Blocks never move, so what was handed out stays in place when the arena grows.
struct Arena {
  std::vector<Block> blocks;
  /// The block that the next bytes come from, and how much of it is taken. Those after it are free.
  size_t block = 0;
  uint64_t used = 0;
  ScratchScope *innermost = nullptr;
};

thread_local Arena arena;

constexpr uint64_t leastBlock = uint64_t(1) << 16;

} // namespace

ScratchScope::ScratchScope() : block(arena.block), used(arena.used), outer(arena.innermost) {
  arena.innermost = this;
}

ScratchScope::~ScratchScope() {
  assert(arena.innermost == this && "scratch scopes must nest");
  arena.block = block;
  arena.used = used;
  arena.innermost = outer;
}

Result<std::byte *> ScratchScope::allocate(uint64_t bytes) {
  assert(arena.innermost == this && "only the innermost scope allocates");
  constexpr uint64_t mask = storageAlignment - 1;
  uint64_t rounded = (std::max<uint64_t>(bytes, 1) + mask) & ~mask;
  if (rounded < bytes)
    return Error{"scratch of " + std::to_string(bytes) + " bytes is impossible", ""};
  for (; arena.block < arena.blocks.size(); ++arena.block, arena.used = 0) {
    Block &current = arena.blocks[arena.block];
    if (rounded <= current.size - arena.used) {
      std::byte *memory = current.memory.get() + arena.used;
      arena.used += rounded;
      return memory;
    }
  }
  // Doubling keeps the blocks few.
  uint64_t held = scratchCapacity();
  uint64_t size = std::max({rounded, leastBlock, held});
  if (size >= hugePage / 4 && size < hugePage)
    size = hugePage;
  Result<AlignedBytes> memory = allocateAligned(size, "scratch memory");
  if (!memory && size > rounded)
    memory = allocateAligned(size = rounded, "scratch memory");
  if (!memory)
    return memory.takeError();
  arena.blocks.push_back({*std::move(memory), size});
  arena.used = rounded;
  return arena.blocks.back().memory.get();
}

uint64_t scratchCapacity() {
  uint64_t total = 0;
  for (const Block &block : arena.blocks)
    total += block.size;
  return total;
}

void releaseScratch() {
  assert(!arena.innermost && "a scratch scope is open");
  arena = Arena();
}

} // namespace tile::runtime
