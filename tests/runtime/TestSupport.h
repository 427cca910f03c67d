// What the tests of the runtime share: throw-away folders, raw file contents, random tensors.
#pragma once

#include "runtime/tensor/Tensor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>

namespace tile::runtime::test {

/// A folder of its own for each test, removed afterwards.
class FileTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tile-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const { return (folder / name).string(); }

  std::string writeFile(const std::string &name, const std::string &content) const {
    // A new file each time: some file systems flush one that is truncated and written again.
    std::filesystem::remove(path(name));
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  static std::string contentOf(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// How many files there are: a failed write must leave no temporary behind.
  int numFiles() const {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  std::filesystem::path folder;
};

/// Sets a variable of the environment for the time of a test.
class Variable {
public:
  Variable(const char *name, const char *value) : name(name) {
    if (const char *old = std::getenv(name))
      before = old;
    ::setenv(name, value, 1);
  }
  ~Variable() { before ? ::setenv(name, before->c_str(), 1) : ::unsetenv(name); }

private:
  const char *name;
  std::optional<std::string> before;
};

/// Ways to damage a byte: each bit alone, some together, all.
inline constexpr unsigned flips[] = {1, 2, 4, 8, 16, 32, 64, 128, 3, 5, 15, 90, 255};

/// The seed of a run: fresh each time, printed on failure through SCOPED_TRACE.
inline uint64_t freshSeed() { return std::random_device()(); }

/// Random bytes, so NaNs, infinities and subnormals are among the floats; bools are 0 or 1.
inline Tensor randomTensor(DType type, Shape shape, std::mt19937_64 &engine) {
  Result<Tensor> tensor = Tensor::create(type, std::move(shape));
  EXPECT_TRUE(tensor);
  for (std::byte &byte : tensor->bytes())
    byte = std::byte(engine());
  tensor->normalizeBools();
  return *std::move(tensor);
}

inline void expectSame(const Tensor &actual, const Tensor &expected) {
  EXPECT_EQ(actual.dtype(), expected.dtype());
  EXPECT_EQ(actual.shape(), expected.shape());
  ASSERT_EQ(actual.byteSize(), expected.byteSize());
  EXPECT_EQ(std::memcmp(actual.data(), expected.data(), expected.byteSize()), 0);
}

/// The result is an error whose message holds `part`, starts in lower case, and has a hint.
template <typename T>
void expectError(const Result<T> &result, const std::string &part) {
  ASSERT_FALSE(result) << "expected an error with: " << part;
  const Error &error = result.error();
  EXPECT_NE(error.message.find(part), std::string::npos) << error.message << "\nlacks: " << part;
  EXPECT_FALSE(error.message.empty() || (error.message[0] >= 'A' && error.message[0] <= 'Z'))
      << error.message;
  EXPECT_FALSE(error.hint.empty()) << error.message;
}

} // namespace tile::runtime::test
