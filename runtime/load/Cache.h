// A cache on disk: content by the hash of what it was made from. One checksummed file an entry.
//
// Whatever else happens — other processes, a kill at any moment, a full disk, damaged files, a
// folder of somebody else — `find` gives what was stored under that very key, or nothing, and no
// call waits for another process.
#pragma once

#include "runtime/base/Hash.h"
#include "runtime/base/Result.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace tile::runtime {

struct CacheEntry {
  /// The key's digits.
  std::string key;
  uint64_t bytes = 0;
  /// Seconds since 1970 when it was last used.
  int64_t lastUsed = 0;
};

class Cache {
public:
  /// Makes the folder if it isn't there, private to the user. Refused: a folder that belongs to
  /// another user, or that others may read or write. `maxBytes` bounds what all entries take:
  /// those that were used least recently go first.
  static Result<std::shared_ptr<Cache>> open(const std::string &folder,
                                             uint64_t maxBytes = defaultMaxBytes);

  static constexpr uint64_t defaultMaxBytes = uint64_t(1) << 30;

  ~Cache();
  Cache(const Cache &) = delete;

  const std::string &folder() const { return path; }
  uint64_t maxBytes() const { return limit; }

  /// What was stored under a key. A damaged entry is removed.
  std::optional<std::vector<std::byte>> find(const Hash128 &key);
  /// Afterwards `find` gives it, until it is evicted. An error leaves the cache as it was.
  Status store(const Hash128 &key, std::span<const std::byte> content);
  void remove(const Hash128 &key);

  /// All entries, the last used first.
  Result<std::vector<CacheEntry>> list() const;
  /// Removes everything that is the cache's; how many entries that were.
  Result<size_t> clear();
  struct Verified {
    size_t good = 0;
    /// Keys of damaged entries, which were removed.
    std::vector<std::string> damaged;
  };
  Result<Verified> verify();

private:
  Cache(std::string path, int descriptor, uint64_t limit)
      : path(std::move(path)), descriptor(descriptor), limit(limit) {}

  std::optional<std::vector<std::byte>> read(const std::string &name, const Hash128 *key,
                                             bool &isDamaged) const;
  Result<std::string> writeTemporary(const Hash128 &key, std::span<const std::byte> content);
  void evict(uint64_t added);

  std::string path;
  int descriptor;
  uint64_t limit;
  std::mutex mutex; // of what follows
  /// What the entries take, as far as this process knows; nothing before it has looked.
  std::optional<uint64_t> knownBytes;
  unsigned storesSinceLook = 0;
};

/// Where the cache is: TILE_CACHE_DIR, else tilec in XDG_CACHE_HOME or ~/.cache. Empty if
/// TILE_CACHE_DIR is (no cache), or if there is no home.
std::string defaultCacheFolder();

/// The value of TILE_CACHE_SIZE ("200M", "2G", bytes without a unit; null: not set) in bytes.
Result<uint64_t> parseCacheSize(const char *text);

/// The cache of this process, as the environment says; null if there is none. Opened at the first
/// call; where that fails the reason is in `warning` at that one call.
std::shared_ptr<Cache> processCache(std::optional<Error> &warning);

} // namespace tile::runtime
