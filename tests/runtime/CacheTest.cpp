// The cache on disk, with all that can go wrong around it: never a wrong load, never a hang.

#include "runtime/load/Cache.h"
#include "tests/runtime/TestSupport.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <numeric>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

using Bytes = std::vector<std::byte>;

Hash128 keyOf(uint64_t n) { return {n * 0x9e3779b97f4a7c15u + 1, n}; }

/// What belongs to a key: of a length and content that follow from it alone.
Bytes valueOf(uint64_t n) {
  std::mt19937_64 random(n + 1);
  Bytes content(random() % 6000);
  for (std::byte &byte : content)
    byte = static_cast<std::byte>(random());
  return content;
}

class CacheTest : public FileTest {
protected:
  std::string place() const { return path("cache"); }
  std::shared_ptr<Cache> open(uint64_t limit = Cache::defaultMaxBytes) const {
    Result<std::shared_ptr<Cache>> cache = Cache::open(place(), limit);
    EXPECT_TRUE(cache) << cache.error().str();
    return cache ? *cache : nullptr;
  }
  std::string entryFile(uint64_t n) const { return place() + "/" + keyOf(n).str() + ".entry"; }
  size_t files() const {
    return std::distance(std::filesystem::directory_iterator(place()),
                         std::filesystem::directory_iterator());
  }
};

/// Runs in a process of its own; it exits with what the function returns.
template <typename Function>
pid_t start(Function function) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(function());
  return child;
}

int exitCodeOf(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(CacheTest, GivesWhatWasStored) {
  auto cache = open();
  EXPECT_FALSE(cache->find(keyOf(1)));
  for (uint64_t n = 0; n < 50; ++n)
    ASSERT_TRUE(cache->store(keyOf(n), valueOf(n)));
  ASSERT_TRUE(cache->store(keyOf(99), {})); // nothing is something, too
  for (uint64_t n = 0; n < 50; ++n)
    EXPECT_EQ(cache->find(keyOf(n)), valueOf(n));
  EXPECT_EQ(cache->find(keyOf(99)), Bytes());
  EXPECT_EQ(open()->find(keyOf(7)), valueOf(7));
  EXPECT_EQ(cache->list()->size(), 51u);
  EXPECT_EQ(cache->verify()->good, 51u);
  EXPECT_EQ(files(), 51u); // no temporaries
  struct stat status;
  ASSERT_EQ(::stat(place().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(entryFile(3).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(*cache->clear(), 51u);
  EXPECT_EQ(files(), 0u);
}

TEST_F(CacheTest, EveryByteOfAnEntryCounts) {
  auto cache = open();
  uint64_t n = 0;
  while (valueOf(n).size() < 50 || valueOf(n).size() > 600)
    ++n;
  ASSERT_TRUE(cache->store(keyOf(n), valueOf(n)));
  std::string good = FileTest::contentOf(entryFile(n));
  for (size_t at = 0; at < good.size(); ++at)
    for (int change : {1, 0x80, 0xff}) {
      std::string damaged = good;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      std::ofstream(entryFile(n), std::ios::binary) << damaged;
      ASSERT_FALSE(cache->find(keyOf(n))) << "byte " << at;
      ASSERT_FALSE(std::filesystem::exists(entryFile(n))); // it is gone
    }
  for (size_t size = 0; size < good.size(); ++size) {
    std::ofstream(entryFile(n), std::ios::binary) << good.substr(0, size);
    ASSERT_FALSE(cache->find(keyOf(n))) << size << " bytes";
  }
  std::ofstream(entryFile(n), std::ios::binary) << good << "x";
  EXPECT_FALSE(cache->find(keyOf(n)));
  // A good entry under another name is somebody else's.
  std::ofstream(entryFile(n + 1), std::ios::binary) << good;
  EXPECT_FALSE(cache->find(keyOf(n + 1)));
  std::ofstream(entryFile(n), std::ios::binary) << good;
  EXPECT_EQ(cache->find(keyOf(n)), valueOf(n));
  std::ofstream(entryFile(n + 2), std::ios::binary) << "short";
  EXPECT_EQ(cache->verify()->damaged, std::vector<std::string>{keyOf(n + 2).str()});
  EXPECT_EQ(cache->verify()->good, 1u);
}

/// What is no file is neither read nor waited for.
TEST_F(CacheTest, OddFilesDontMatter) {
  auto cache = open();
  ASSERT_EQ(::mkfifo(entryFile(1).c_str(), 0600), 0);
  ASSERT_TRUE(std::filesystem::create_directory(entryFile(2)));
  std::filesystem::create_symlink("/dev/zero", entryFile(3));
  for (uint64_t n = 1; n <= 3; ++n)
    EXPECT_FALSE(cache->find(keyOf(n)));
  writeFile("cache/README", "mine");
  EXPECT_TRUE(cache->list()->empty());
  EXPECT_TRUE(cache->clear());
  EXPECT_TRUE(std::filesystem::exists(path("cache/README")));
}

/// What is loaded lies in the folder that is the user's alone. A link may lead to where others
/// write, and a checksum is no signature: they could put code of theirs there. What it leads to is
/// not touched as used, either.
TEST_F(CacheTest, LinksAreNoEntries) {
  auto cache = open();
  ASSERT_TRUE(cache->store(keyOf(1), valueOf(1)));
  std::filesystem::path elsewhere = path("elsewhere.entry");
  std::filesystem::rename(entryFile(1), elsewhere);
  std::filesystem::create_symlink(elsewhere, entryFile(1));
  ASSERT_TRUE(std::filesystem::is_regular_file(entryFile(1))); // it leads to a right entry
  auto before = std::filesystem::file_time_type::clock::now() - std::chrono::hours(5);
  std::filesystem::last_write_time(elsewhere, before);
  before = std::filesystem::last_write_time(elsewhere);
  EXPECT_FALSE(cache->find(keyOf(1)));
  EXPECT_FALSE(open()->find(keyOf(1)));
  EXPECT_EQ(std::filesystem::last_write_time(elsewhere), before);
  EXPECT_EQ(cache->verify()->good, 0u);
  // Storing takes the link's place, and leaves what it leads to.
  auto content = [&] {
    std::ifstream stream(elsewhere, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  std::string kept = content();
  ASSERT_TRUE(cache->store(keyOf(1), valueOf(1)));
  EXPECT_FALSE(std::filesystem::is_symlink(entryFile(1)));
  EXPECT_EQ(cache->find(keyOf(1)), valueOf(1));
  EXPECT_EQ(content(), kept);
}

TEST_F(CacheTest, StaysWithinItsSize) {
  constexpr uint64_t limit = 100000;
  auto cache = open(limit);
  auto bytes = [&] {
    uint64_t sum = 0;
    auto entries = cache->list();
    for (const CacheEntry &entry : *entries)
      sum += entry.bytes;
    return sum;
  };
  for (uint64_t n = 0; n < 400; ++n) {
    ASSERT_TRUE(cache->store(keyOf(n), valueOf(n)));
    ASSERT_LE(bytes(), limit);
    EXPECT_EQ(cache->find(keyOf(n)), valueOf(n)); // the newest is there
    (void)cache->find(keyOf(0));                  // the most used one stays
  }
  EXPECT_TRUE(cache->find(keyOf(0)));
  EXPECT_FALSE(cache->find(keyOf(1)));
  EXPECT_GT(bytes(), limit / 2);
  // What is larger than all is not kept, and drives nothing out.
  size_t before = cache->list()->size();
  ASSERT_TRUE(cache->store(keyOf(1000), Bytes(limit + 1)));
  EXPECT_EQ(cache->list()->size(), before);
  // Old temporaries of killed processes go.
  std::string old = writeFile("cache/.tmp-1-1", "x"), fresh = writeFile("cache/.tmp-1-2", "x");
  timespec times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, old.c_str(), times, 0), 0);
  for (uint64_t n = 2000; n < 2100; ++n)
    ASSERT_TRUE(cache->store(keyOf(n), valueOf(n)));
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(fresh));
}

/// Stores and finds keys in an order of its own; 1 if it ever finds something else.
int work(const std::string &place, unsigned seed, uint64_t keys, uint64_t limit) {
  Result<std::shared_ptr<Cache>> cache = Cache::open(place, limit);
  if (!cache)
    return 2;
  std::mt19937 random(seed);
  std::vector<uint64_t> order(keys);
  std::iota(order.begin(), order.end(), uint64_t(0));
  std::shuffle(order.begin(), order.end(), random);
  for (uint64_t n : order) {
    if (auto found = (*cache)->find(keyOf(n)); found && *found != valueOf(n))
      return 1;
    if (!(*cache)->store(keyOf(n), valueOf(n)))
      return 3;
    uint64_t other = random() % keys;
    if (auto found = (*cache)->find(keyOf(other)); found && *found != valueOf(other))
      return 1;
  }
  return 0;
}

TEST_F(CacheTest, ManyProcessesAtOnce) {
  for (uint64_t limit : {Cache::defaultMaxBytes, uint64_t(150000)}) {
    std::vector<pid_t> children;
    for (unsigned child = 0; child < 32; ++child)
      children.push_back(start([&] { return work(place(), child, 200, limit); }));
    for (pid_t child : children)
      EXPECT_EQ(exitCodeOf(child), 0);
    auto cache = open(limit);
    EXPECT_TRUE(cache->verify()->damaged.empty());
    for (uint64_t n = 0; n < 200 && limit == Cache::defaultMaxBytes; ++n)
      EXPECT_EQ(cache->find(keyOf(n)), valueOf(n));
  }
}

TEST_F(CacheTest, SurvivesKills) {
  std::mt19937 random(17);
  unsigned killed = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<pid_t> children;
    for (unsigned child = 0; child < 4; ++child)
      children.push_back(start([&] {
        for (unsigned again = 0; again < 1000; ++again)
          if (int code = work(place(), random() + child + again, 100, Cache::defaultMaxBytes))
            return code;
        return 0;
      }));
    ::usleep(1000 + random() % 8000);
    for (pid_t child : children)
      ::kill(child, SIGKILL);
    for (pid_t child : children) {
      int code = exitCodeOf(child);
      EXPECT_TRUE(code == 0 || code == 128 + SIGKILL) << code;
      killed += code != 0;
    }
  }
  EXPECT_GT(killed, 100u);
  auto cache = open();
  // Nothing damaged was left under an entry's name, and the cache goes on.
  EXPECT_TRUE(cache->verify()->damaged.empty());
  for (uint64_t n = 0; n < 100; ++n) {
    auto found = cache->find(keyOf(n));
    EXPECT_TRUE(!found || *found == valueOf(n));
    EXPECT_TRUE(cache->store(keyOf(n), valueOf(n)));
  }
  EXPECT_TRUE(cache->clear());
  EXPECT_EQ(files(), 0u); // the temporaries, too
}

/// A write that fails in the middle, at every length.
TEST_F(CacheTest, AFullDiskIsNoWrongEntry) {
  auto cache = open();
  ASSERT_TRUE(cache->store(keyOf(1), valueOf(1)));
  pid_t child = start([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    for (rlim_t size = 0; size < valueOf(2).size() + 56; size += 97) {
      rlimit limit{size, RLIM_INFINITY};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 2;
      if (cache->store(keyOf(2), valueOf(2)) || cache->find(keyOf(2)))
        return 1; // it can't have been written
      if (cache->find(keyOf(1)) != valueOf(1))
        return 3;
    }
    return 0;
  });
  EXPECT_EQ(exitCodeOf(child), 0);
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(cache->store(keyOf(2), valueOf(2)));
}

TEST_F(CacheTest, AFullFileSystemIsNoWrongEntry) {
  ASSERT_TRUE(std::filesystem::create_directory(path("small")));
  if (::mount("tmpfs", path("small").c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting a small file system needs more rights";
  {
    Result<std::shared_ptr<Cache>> cache = Cache::open(path("small/cache"));
    ASSERT_TRUE(cache) << cache.error().str();
    unsigned refused = 0;
    for (uint64_t n = 0; n < 100; ++n)
      refused += !(*cache)->store(keyOf(n), valueOf(n));
    EXPECT_GT(refused, 10u);
    for (uint64_t n = 0; n < 100; ++n) {
      auto found = (*cache)->find(keyOf(n));
      EXPECT_TRUE(!found || *found == valueOf(n));
    }
    EXPECT_TRUE((*cache)->verify()->damaged.empty());
  }
  ::umount(path("small").c_str());
}

TEST_F(CacheTest, OnlyAFolderOfOnesOwn) {
  auto refusal = [&](const std::string &folder) {
    Result<std::shared_ptr<Cache>> cache = Cache::open(folder);
    return cache ? "" : cache.error().message;
  };
  for (mode_t mode : {0755, 0770, 0701}) {
    std::string folder = path("mode" + std::to_string(mode));
    ASSERT_TRUE(std::filesystem::create_directory(folder));
    ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
    EXPECT_NE(refusal(folder).find("is open to other users"), std::string::npos);
  }
  EXPECT_NE(refusal(writeFile("file", "")).find("can't be opened"), std::string::npos);
  EXPECT_EQ(refusal(path("a/b/c")), ""); // with those above it
  if (::geteuid() != 0)
    GTEST_SKIP() << "giving a folder away needs root";
  std::string other = path("other");
  ASSERT_EQ(::mkdir(other.c_str(), 0700), 0);
  ASSERT_EQ(::chown(other.c_str(), 12345, 12345), 0);
  EXPECT_NE(refusal(other).find("belongs to another user"), std::string::npos);
  // A file of somebody else in one's own folder is not believed.
  auto cache = open();
  ASSERT_TRUE(cache->store(keyOf(1), valueOf(1)));
  ASSERT_EQ(::chown(entryFile(1).c_str(), 12345, 12345), 0);
  EXPECT_FALSE(cache->find(keyOf(1)));
  // A folder that can't be written serves what it has.
  ASSERT_TRUE(cache->store(keyOf(2), valueOf(2)));
  ::chmod(folder.c_str(), 0755);
  ::chown(place().c_str(), 12345, 12345);
  ::chown(entryFile(2).c_str(), 12345, 12345);
  ::chmod(place().c_str(), 0500);
  pid_t child = start([&] {
    if (::setuid(12345) != 0)
      return 5;
    Result<std::shared_ptr<Cache>> mine = Cache::open(place());
    if (!mine)
      return 1;
    if ((*mine)->store(keyOf(3), valueOf(3)))
      return 2;
    return (*mine)->find(keyOf(2)) == valueOf(2) ? 0 : 3;
  });
  EXPECT_EQ(exitCodeOf(child), 0);
}

TEST(CacheSize, IsANumberWithAUnit) {
  EXPECT_EQ(*parseCacheSize(nullptr), Cache::defaultMaxBytes);
  EXPECT_EQ(*parseCacheSize("12345"), 12345u);
  EXPECT_EQ(*parseCacheSize("5K"), 5120u);
  EXPECT_EQ(*parseCacheSize("2G"), uint64_t(2) << 30);
  EXPECT_EQ(*parseCacheSize("1T"), uint64_t(1) << 40);
  for (const char *text : {"x", "5P", "-1", "5 G", "99999999999G", "5GG"})
    EXPECT_FALSE(parseCacheSize(text)) << text;
}

} // namespace
