#include "runtime/base/FileIO.h"
#include "tests/runtime/TestSupport.h"

#include <csignal>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tile::runtime {
namespace {

using test::expectError;

class FileIOTest : public test::FileTest {
protected:
  static Status replace(const std::string &path, const std::string &content) {
    // In three pieces, the middle one empty.
    auto bytes = std::as_bytes(std::span(content));
    std::span<const std::byte> pieces[] = {
        bytes.first(content.size() / 3), {}, bytes.subspan(content.size() / 3)};
    return replaceFile(path, pieces);
  }
};

TEST_F(FileIOTest, readsAtPositions) {
  Result<InputFile> file = InputFile::open(writeFile("a", "0123456789"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->size(), 10u);
  std::string text(4, ' ');
  ASSERT_TRUE(file->readAt(3, std::as_writable_bytes(std::span(text))));
  EXPECT_EQ(text, "3456");
  expectError(file->readAt(8, std::as_writable_bytes(std::span(text))), "ends at byte 10");
}

TEST_F(FileIOTest, refusesWhatIsNoFile) {
  expectError(InputFile::open(path("missing")), "no such file");
  expectError(InputFile::open(folder.string()), "is a directory");
  EXPECT_FALSE(InputFile::open(""));
  EXPECT_FALSE(InputFile::open(std::string("a\0b", 3)));
  // Nobody writes to the pipe: opening must not wait.
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expectError(InputFile::open(path("pipe")), "pipe or a device");
  expectError(InputFile::open("/dev/zero"), "pipe or a device");
}

TEST_F(FileIOTest, replacesAndKeepsPermissions) {
  ASSERT_TRUE(replace(path("a"), "first"));
  EXPECT_EQ(contentOf(path("a")), "first");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  ASSERT_TRUE(replace(path("a"), "second, longer"));
  EXPECT_EQ(contentOf(path("a")), "second, longer");
  struct stat status;
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(numFiles(), 1);
}

TEST_F(FileIOTest, newFilesFollowTheUmask) {
  mode_t before = ::umask(027);
  Status written = replace(path("a"), "x");
  ::umask(before);
  ASSERT_TRUE(written);
  struct stat status;
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(FileIOTest, followsLinks) {
  writeFile("real", "old");
  std::filesystem::create_symlink("real", path("link"));
  ASSERT_TRUE(replace(path("link"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(contentOf(path("real")), "new");
}

TEST_F(FileIOTest, followsLinksToWhatIsNotThereYet) {
  std::filesystem::create_directory(path("folder"));
  std::filesystem::create_symlink("folder/real", path("link"));
  std::filesystem::create_symlink(path("link"), path("far"));
  ASSERT_TRUE(checkReplaceable(path("far")));
  ASSERT_TRUE(replace(path("far"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(path("far")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(contentOf(path("folder/real")), "new");
  std::filesystem::create_symlink("loop", path("loop"));
  expectError(Result<int>(replace(path("loop"), "x").takeError()), "cannot write");
  std::filesystem::create_symlink("missing/real", path("nowhere"));
  expectError(Result<int>(replace(path("nowhere"), "x").takeError()), "directory doesn't exist");
}

TEST_F(FileIOTest, writesNamesOfAnyLength) {
  // 255 bytes is the most that a name can have: a suffix for the temporary would not fit.
  std::string name(255, 'n');
  ASSERT_TRUE(replace(path(name), "x"));
  EXPECT_EQ(contentOf(path(name)), "x");
  expectError(Result<int>(replace(path("d/a"), "x").takeError()), "directory doesn't exist");
  EXPECT_FALSE(replace(path(name + "n"), "x"));
  EXPECT_EQ(numFiles(), 1);
}

TEST_F(FileIOTest, refusesUnwritableTargets) {
  std::filesystem::create_directory(path("folder"));
  expectError(replace(path("folder"), "x"), "is a directory");
  expectError(replace("/dev/null", "x"), "pipe or a device");
  EXPECT_FALSE(replace("", "x"));
  writeFile("plain", "x");
  expectError(Result<int>(replace(path("missing/a"), "x").takeError()), "cannot write");
  EXPECT_FALSE(replace(path("plain/a"), "x"));
  EXPECT_EQ(numFiles(), 2);
}

TEST_F(FileIOTest, respectsReadOnlyFiles) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "permissions don't bind the superuser";
  writeFile("a", "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0444), 0);
  expectError(replace(path("a"), "new"), "permission denied");
  EXPECT_EQ(contentOf(path("a")), "old");
}

TEST_F(FileIOTest, failureHalfwayLeavesTheOldFile) {
  writeFile("a", "old");
  // A limit on file sizes stands in for a full disk.
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Status written = replace(path("a"), std::string(100'000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("cannot write '" + path("a") + "': "), std::string::npos);
  EXPECT_EQ(contentOf(path("a")), "old");
  EXPECT_EQ(numFiles(), 1);
}

} // namespace
} // namespace tile::runtime
