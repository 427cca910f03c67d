#include "runtime/tensor/Memory.h"
#include "runtime/base/Text.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#ifndef TILE_SANITIZED
#include <oneapi/tbb/scalable_allocator.h>
#endif

namespace tile::runtime {

namespace {

constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max();

/// The number after `key` in a file of "key value" lines; an empty key takes the first number.
std::optional<uint64_t> readNumber(const std::string &path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::string_view rest = line;
    if (!rest.starts_with(key))
      continue;
    rest.remove_prefix(key.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    uint64_t value;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec == std::errc())
      return value;
    return std::nullopt;
  }
  return std::nullopt;
}

/// What the control group at `directory` leaves. Files cached on its behalf can be dropped, so
/// they don't count as used.
uint64_t groupHeadroom(const std::string &directory, const char *limitFile, const char *usageFile,
                       std::string_view cacheKey) {
  std::optional<uint64_t> limit = readNumber(directory + limitFile, "");
  std::optional<uint64_t> usage = readNumber(directory + usageFile, "");
  if (!limit || !usage)
    return unlimited;
  uint64_t cache = readNumber(directory + "/memory.stat", cacheKey).value_or(0);
  uint64_t held = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, held);
}

/// The least headroom of this process's control group and the groups around it.
uint64_t controlGroupHeadroom() {
  uint64_t least = unlimited;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "0::/path" is version 2, "7:memory:/path" version 1.
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    bool v2 = controllers.empty();
    if (!v2 && ("," + controllers + ",").find(",memory,") == std::string::npos)
      continue;
    std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (std::string path = line.substr(second + 1);; path.erase(path.rfind('/'))) {
      least = std::min(
          least, v2 ? groupHeadroom(root + path, "/memory.max", "/memory.current", "inactive_file ")
                    : groupHeadroom(root + path, "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                    "total_inactive_file "));
      if (path.find('/') == std::string::npos)
        break;
    }
  }
  return least;
}

} // namespace

/// What is available, not counting what this process has freed and keeps.
static uint64_t headroom() {
  std::optional<uint64_t> kibibytes = readNumber("/proc/meminfo", "MemAvailable:");
  uint64_t machine = kibibytes ? *kibibytes * 1024 : unlimited;
  return std::min(machine, controlGroupHeadroom());
}

static constexpr uint64_t page = 4096;

namespace {
// Sanitizers have allocators of their own, which see what is used after it was freed.
#ifdef TILE_SANITIZED
constexpr bool isWatched = true;
void *allocate(uint64_t bytes, uint64_t alignment) {
  void *memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}
void release(void *memory) { std::free(memory); }
void releaseCached() {}
uint64_t cachedBytes() { return 0; }
#else
constexpr bool isWatched = false;
/// Blocks that were freed lately, of sizes that oneTBB gives back to the system at once: new pages
/// take longer to be cleared than to be filled.
class FreedBlocks {
public:
  static constexpr uint64_t least = uint64_t(60) << 20, most = (uint64_t(256) << 20) + page;

  /// The smallest one that has room and is not much larger; null if there is none.
  void *take(uint64_t bytes) {
    std::lock_guard lock(mutex);
    auto best = blocks.end();
    for (auto block = blocks.begin(); block != blocks.end(); ++block)
      if (uint64_t size = scalable_msize(*block); size >= bytes && size - bytes <= bytes / 16)
        if (best == blocks.end() || size <= scalable_msize(*best))
          best = block;
    if (best == blocks.end())
      return nullptr;
    void *block = *best;
    blocks.erase(best);
    total -= scalable_msize(block);
    return block;
  }
  /// Keeps a block; where that is too much in all, those that were freed first are given back.
  void put(void *block) {
    std::lock_guard lock(mutex);
    static const uint64_t mostInAll = std::min(2 * most, headroom() / 8);
    blocks.push_back(block);
    total += scalable_msize(block);
    shrink(mostInAll);
  }
  void clear() {
    std::lock_guard lock(mutex);
    shrink(0);
  }
  uint64_t bytes() {
    std::lock_guard lock(mutex);
    return total;
  }

private:
  void shrink(uint64_t left) {
    for (; total > left; blocks.pop_front()) {
      total -= scalable_msize(blocks.front());
      scalable_aligned_free(blocks.front());
    }
  }

  std::mutex mutex;
  std::deque<void *> blocks;
  uint64_t total = 0;
};

/// Nothing ends it: what is freed last may outlive any other object.
FreedBlocks &freedBlocks() {
  static auto *blocks = new FreedBlocks;
  return *blocks;
}

void releaseCached() {
  freedBlocks().clear();
  scalable_allocation_command(TBBMALLOC_CLEAN_ALL_BUFFERS, nullptr);
}
uint64_t cachedBytes() { return freedBlocks().bytes(); }
void *allocate(uint64_t bytes, uint64_t alignment) {
  // All of them begin with a huge page, which is the greatest alignment.
  if (bytes >= FreedBlocks::least && bytes <= FreedBlocks::most)
    if (void *freed = freedBlocks().take(bytes))
      return freed;
  if (void *made = scalable_aligned_malloc(bytes, alignment))
    return made;
  releaseCached();
  return scalable_aligned_malloc(bytes, alignment);
}
void release(void *memory) {
  size_t bytes = memory ? scalable_msize(memory) : 0;
  if (bytes >= FreedBlocks::least && bytes <= FreedBlocks::most)
    freedBlocks().put(memory);
  else
    scalable_aligned_free(memory);
}
#endif

/// What is sure to be left: what was available when the system was asked last, less all that was
/// allocated since. What was freed in the meantime is not counted, which errs on the safe side.
std::atomic<uint64_t> known = 0;

/// The bytes that are available, if `bytes` are more. The system is asked, which reads more than a
/// dozen files, only where they are much of what is known to be left: launches that allocate less
/// ask it once in many.
std::optional<uint64_t> shortage(uint64_t bytes) {
  constexpr uint64_t alwaysTried = uint64_t(1) << 20;
  if (bytes <= alwaysTried)
    return std::nullopt;
  for (uint64_t left = known; bytes <= left / 2;)
    if (known.compare_exchange_weak(left, left - bytes))
      return std::nullopt;
  uint64_t available = headroom();
  if (bytes > available) {
    releaseCached();
    available = headroom();
  }
  known = available - std::min(available, bytes);
  return bytes > available ? std::optional(available) : std::nullopt;
}
} // namespace

uint64_t availableMemory() {
  uint64_t available = headroom();
  return available == unlimited ? unlimited : available + cachedBytes();
}

/// Where in its first page the next large block begins. A load waits for a store before it that is
/// at the same place of another page, or a little behind that: processors compare these bits first.
/// Where all tensors began with a page, rows of few vectors took twice as long, each waiting for
/// the end of the one before. Of results that are new in each launch one in seven is as slow.
static uint64_t nextShift() {
  constexpr uint64_t step = 576, count = page / step;
  static std::atomic<uint64_t> blocks = 0;
  return step * (blocks++ % count);
}

void AlignedDeleter::operator()(std::byte *memory) const { release(memory - shift); }

Result<AlignedBytes> allocateAligned(uint64_t bytes, const std::string &what) {
  constexpr const char *hint = "use a smaller shape or type, or free memory";
  if (std::optional<uint64_t> available = shortage(bytes))
    return Error{what + " needs " + formatBytes(bytes) + ", but only " + formatBytes(*available) +
                     " of memory are available",
                 hint};
  const bool isLarge = bytes >= hugePage;
  const uint64_t shift = isLarge ? nextShift() : 0;
  // A size of 0 may give null, which is no address that a kernel may be handed.
  // Blocks have room for all shifts, so that those of equal tensors are alike; where each access is
  // watched they end with the tensor.
  void *memory = !isLarge ? allocate(std::max<uint64_t>(bytes, 1), storageAlignment)
                 : bytes > UINT64_MAX - page
                     ? nullptr
                     : allocate(bytes + (isWatched ? shift : page), hugePage);
  if (!memory)
    return Error{what + " needs " + formatBytes(bytes) + ", which the system refused", hint};
#ifdef MADV_HUGEPAGE
  // Only advice: what it fails for stays in small pages.
  if (uint64_t whole = bytes / hugePage * hugePage)
    madvise(memory, whole, MADV_HUGEPAGE);
#endif
  return AlignedBytes(static_cast<std::byte *>(memory) + shift, AlignedDeleter{shift});
}

} // namespace tile::runtime
