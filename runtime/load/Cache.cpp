#include "runtime/load/Cache.h"
#include "runtime/base/Text.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tile::runtime {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view entrySuffix = ".entry";
constexpr std::string_view temporaryPrefix = ".tmp-";
constexpr size_t keyDigits = 32;
/// Temporaries of processes that were killed go after so long.
constexpr int64_t temporarySeconds = 3600;
/// Between two looks at what other processes have stored.
constexpr unsigned storesBetweenLooks = 64;

std::string messageOf(int code) { return std::generic_category().message(code); }

template <typename Call>
auto uninterrupted(Call call) {
  decltype(call()) result;
  do
    result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  int get() const { return number; }
  int release() { return std::exchange(number, -1); }

private:
  int number;
};

//===-- Entries -----------------------------------------------------------===//

/// What stands before the content. The numbers are little-endian.
struct EntryHeader {
  char magic[8] = {'T', 'I', 'L', 'E', 'C', 'A', 'C', '1'};
  uint64_t keyLow = 0, keyHigh = 0;
  uint64_t size = 0;
  uint64_t hashLow = 0, hashHigh = 0;
  /// XXH64 of all before it.
  uint64_t checksum = 0;

  uint64_t ownChecksum() const {
    return hashBytes(std::as_bytes(std::span(this, 1)).first(offsetof(EntryHeader, checksum)));
  }
};
static_assert(sizeof(EntryHeader) == 56);

EntryHeader headerOf(const Hash128 &key, std::span<const std::byte> content) {
  EntryHeader header;
  Hash128 hash = hash128(content);
  header.keyLow = key.low;
  header.keyHigh = key.high;
  header.size = content.size();
  header.hashLow = hash.low;
  header.hashHigh = hash.high;
  header.checksum = header.ownChecksum();
  return header;
}

bool isRight(const EntryHeader &header, const std::string &name,
             std::span<const std::byte> content) {
  Hash128 key{header.keyLow, header.keyHigh};
  return std::memcmp(header.magic, EntryHeader().magic, sizeof header.magic) == 0 &&
         header.checksum == header.ownChecksum() && header.size == content.size() &&
         key.str() + std::string(entrySuffix) == name &&
         hash128(content) == Hash128{header.hashLow, header.hashHigh};
}

std::string nameOf(const Hash128 &key) { return key.str() + std::string(entrySuffix); }

bool isEntryName(std::string_view name) {
  return name.size() == keyDigits + entrySuffix.size() && name.ends_with(entrySuffix) &&
         name.find_first_not_of("0123456789abcdef") == keyDigits;
}

bool readAll(int descriptor, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t got = uninterrupted([&] { return ::read(descriptor, bytes.data(), bytes.size()); });
    if (got <= 0)
      return false;
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
  return true;
}

int writeAll(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t put = uninterrupted([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (put < 0)
      return errno;
    if (put == 0)
      return ENOSPC;
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return 0;
}

/// Calls back with each name in a folder and its status.
template <typename Function>
int forEachFile(int folder, Function function) {
  // A descriptor of its own: a stream has its own position in the folder.
  int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0)
    return errno;
  DIR *stream = ::fdopendir(own);
  if (!stream) {
    int code = errno;
    ::close(own);
    return code;
  }
  while (dirent *item = ::readdir(stream)) {
    struct stat status;
    if (::fstatat(folder, item->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode))
      function(std::string(item->d_name), status);
  }
  ::closedir(stream);
  return 0;
}

struct Used {
  std::string name;
  uint64_t bytes;
  timespec when;

  bool isOlder(const Used &other) const {
    return std::tie(when.tv_sec, when.tv_nsec) < std::tie(other.when.tv_sec, other.when.tv_nsec);
  }
};

} // namespace

//===-- Opening -----------------------------------------------------------===//

Result<std::shared_ptr<Cache>> Cache::open(const std::string &folder, uint64_t maxBytes) {
  std::error_code ignored;
  fs::path path(folder);
  // Those above it are as usual; the folder itself is the user's alone.
  if (path.has_parent_path())
    fs::create_directories(path.parent_path(), ignored);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return Error{"the cache " + quote(folder) + " can't be made: " + messageOf(errno),
                 "set TILE_CACHE_DIR to a folder of yours, or to nothing"};
  Descriptor descriptor(
      uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  struct stat status;
  if (descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0)
    return Error{"the cache " + quote(folder) + " can't be opened: " + messageOf(errno),
                 "set TILE_CACHE_DIR to a folder of yours, or to nothing"};
  if (status.st_uid != ::geteuid())
    return Error{"the cache " + quote(folder) + " belongs to another user",
                 "set TILE_CACHE_DIR to a folder of yours, or to nothing"};
  if (status.st_mode & 077) {
    // What others write to, such as /tmp, is theirs, too: it is not to be closed.
    bool isShared = status.st_mode & (S_ISVTX | S_IWGRP | S_IWOTH);
    std::string another =
        "set TILE_CACHE_DIR to a folder of its own, such as " + (path / "tilec-cache").string();
    return Error{"the cache " + quote(folder) + " is open to other users",
                 isShared ? another : another + ", or chmod 700 " + folder};
  }
  return std::shared_ptr<Cache>(new Cache(folder, descriptor.release(), maxBytes));
}

Cache::~Cache() { ::close(descriptor); }

//===-- Finding -----------------------------------------------------------===//

/// The content of a file; `key`, if given, is touched as used.
std::optional<std::vector<std::byte>> Cache::read(const std::string &name, const Hash128 *key,
                                                  bool &isDamaged) const {
  isDamaged = false;
  // Neither links nor pipes are followed or waited for.
  Descriptor file(uninterrupted([&] {
    return ::openat(descriptor, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  }));
  struct stat status;
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
    return std::nullopt;
  isDamaged = true;
  auto size = static_cast<uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || size < sizeof(EntryHeader) ||
      size > limit)
    return std::nullopt;
  EntryHeader header;
  if (!readAll(file.get(), std::as_writable_bytes(std::span(&header, 1))) ||
      header.size != size - sizeof header)
    return std::nullopt;
  std::vector<std::byte> content(header.size);
  if (!readAll(file.get(), content) || !isRight(header, name, content))
    return std::nullopt;
  isDamaged = false;
  if (key)
    (void)::futimens(file.get(), nullptr); // used now
  return content;
}

std::optional<std::vector<std::byte>> Cache::find(const Hash128 &key) {
  bool isDamaged;
  auto content = read(nameOf(key), &key, isDamaged);
  if (isDamaged)
    remove(key);
  return content;
}

void Cache::remove(const Hash128 &key) { (void)::unlinkat(descriptor, nameOf(key).c_str(), 0); }

//===-- Storing -----------------------------------------------------------===//

/// A complete entry under a name that nobody looks for.
Result<std::string> Cache::writeTemporary(const Hash128 &key, std::span<const std::byte> content) {
  static std::atomic<unsigned> counter{0};
  EntryHeader header = headerOf(key, content);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name =
        std::string(temporaryPrefix) + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    int opened = uninterrupted([&] {
      return ::openat(descriptor, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    });
    if (opened < 0 && errno == EEXIST)
      continue; // of a process with this number that was killed
    if (opened < 0)
      return Error{"the cache " + quote(path) + " can't be written: " + messageOf(errno), ""};
    int code = writeAll(opened, std::as_bytes(std::span(&header, 1)));
    if (code == 0)
      code = writeAll(opened, content);
    // Network file systems report a full disk only here.
    if (::close(opened) != 0 && code == 0)
      code = errno;
    if (code == 0)
      return name;
    (void)::unlinkat(descriptor, name.c_str(), 0);
    return Error{"the cache " + quote(path) + " can't be written: " + messageOf(code), ""};
  }
  return Error{"the cache " + quote(path) + " can't be written: it is full of temporaries", ""};
}

Status Cache::store(const Hash128 &key, std::span<const std::byte> content) {
  uint64_t bytes = content.size() + sizeof(EntryHeader);
  if (bytes > limit)
    return {}; // it would be evicted at once
  evict(bytes);
  Result<std::string> temporary = writeTemporary(key, content);
  if (!temporary)
    return temporary.takeError();
  if (::renameat(descriptor, temporary->c_str(), descriptor, nameOf(key).c_str()) == 0)
    return {};
  int code = errno;
  (void)::unlinkat(descriptor, temporary->c_str(), 0);
  return Error{"the cache " + quote(path) + " can't be written: " + messageOf(code), ""};
}

/// Makes room for what is to be added. Looks at the folder when the bound seems reached, and now
/// and then because others store, too.
void Cache::evict(uint64_t added) {
  std::lock_guard lock(mutex);
  if (knownBytes)
    *knownBytes += added;
  if (knownBytes && *knownBytes <= limit && ++storesSinceLook < storesBetweenLooks)
    return;
  storesSinceLook = 0;
  std::vector<Used> entries;
  uint64_t total = added;
  int64_t now = std::time(nullptr);
  (void)forEachFile(descriptor, [&](std::string name, const struct stat &status) {
    if (isEntryName(name)) {
      total += static_cast<uint64_t>(status.st_size);
      entries.push_back({std::move(name), static_cast<uint64_t>(status.st_size), status.st_mtim});
    } else if (name.starts_with(temporaryPrefix) &&
               now - status.st_mtim.tv_sec > temporarySeconds) {
      (void)::unlinkat(descriptor, name.c_str(), 0);
    }
  });
  if (total > limit) {
    // A little more than needed, so that the next store need not look again.
    uint64_t wanted = limit - limit / 8;
    std::sort(entries.begin(), entries.end(),
              [](const Used &a, const Used &b) { return a.isOlder(b); });
    for (const Used &entry : entries) {
      if (total <= wanted)
        break;
      (void)::unlinkat(descriptor, entry.name.c_str(), 0);
      total -= entry.bytes;
    }
  }
  knownBytes = total;
}

//===-- Looking after it --------------------------------------------------===//

Result<std::vector<CacheEntry>> Cache::list() const {
  std::vector<CacheEntry> entries;
  int code = forEachFile(descriptor, [&](const std::string &name, const struct stat &status) {
    if (isEntryName(name))
      entries.push_back({name.substr(0, keyDigits), static_cast<uint64_t>(status.st_size),
                         status.st_mtim.tv_sec});
  });
  if (code)
    return Error{"the cache " + quote(path) + " can't be read: " + messageOf(code), ""};
  std::sort(entries.begin(), entries.end(), [](const CacheEntry &a, const CacheEntry &b) {
    return std::tie(b.lastUsed, a.key) < std::tie(a.lastUsed, b.key);
  });
  return entries;
}

Result<size_t> Cache::clear() {
  std::vector<std::string> names;
  size_t count = 0;
  int code = forEachFile(descriptor, [&](const std::string &name, const struct stat &) {
    if (isEntryName(name) || name.starts_with(temporaryPrefix))
      names.push_back(name);
    count += isEntryName(name);
  });
  for (const std::string &name : names)
    if (!code && ::unlinkat(descriptor, name.c_str(), 0) != 0 && errno != ENOENT)
      code = errno;
  if (code)
    return Error{"the cache " + quote(path) + " can't be cleared: " + messageOf(code), ""};
  std::lock_guard lock(mutex);
  knownBytes.reset();
  return count;
}

Result<Cache::Verified> Cache::verify() {
  Result<std::vector<CacheEntry>> entries = list();
  if (!entries)
    return entries.takeError();
  Verified result;
  for (const CacheEntry &entry : *entries) {
    std::string name = entry.key + std::string(entrySuffix);
    bool isDamaged;
    if (read(name, nullptr, isDamaged)) {
      ++result.good;
    } else if (isDamaged) { // and not evicted meanwhile
      result.damaged.push_back(entry.key);
      (void)::unlinkat(descriptor, name.c_str(), 0);
    }
  }
  return result;
}

//===-- The environment ---------------------------------------------------===//

std::string defaultCacheFolder() {
  if (const char *folder = std::getenv("TILE_CACHE_DIR"))
    return folder;
  // The specification of XDG base directories ignores relative paths.
  if (const char *folder = std::getenv("XDG_CACHE_HOME"); folder && *folder == '/')
    return std::string(folder) + "/tilec";
  if (const char *home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/tilec";
  return "";
}

Result<uint64_t> parseCacheSize(const char *text) {
  if (!text || !*text)
    return Cache::defaultMaxBytes;
  const char *last = text + std::strlen(text);
  uint64_t size = 0;
  auto [end, problem] = std::from_chars(text, last, size);
  std::string_view unit(end, static_cast<size_t>(last - end));
  unsigned shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : unit == "T" ? 40 : 0;
  if (problem == std::errc() && (shift || unit.empty()) && size <= (UINT64_MAX >> shift))
    return size << shift;
  return Error{"environment variable TILE_CACHE_SIZE is " + quote(text) + ", which is no size",
               "set it to a number of bytes, such as 500M or 2G"};
}

std::shared_ptr<Cache> processCache(std::optional<Error> &warning) {
  static std::mutex mutex;
  static bool isOpened = false;
  // Never destroyed: static objects of a program may use it while they are taken down.
  static auto &cache = *new std::shared_ptr<Cache>();
  std::lock_guard lock(mutex);
  if (std::exchange(isOpened, true))
    return cache;
  std::string folder = defaultCacheFolder();
  if (folder.empty())
    return nullptr;
  Result<uint64_t> size = parseCacheSize(std::getenv("TILE_CACHE_SIZE"));
  if (!size) {
    warning = size.takeError();
    return nullptr;
  }
  Result<std::shared_ptr<Cache>> opened = Cache::open(folder, *size);
  if (opened)
    cache = *opened;
  else
    warning = opened.takeError();
  return cache;
}

} // namespace tile::runtime
