#include "runtime/base/Text.h"

#include <gtest/gtest.h>

#include <vector>

namespace tile::runtime {
namespace {

TEST(TextTest, nearestForgivesSlipsOnly) {
  std::vector<std::string_view> words{"weight", "bias", "running_mean"};
  EXPECT_EQ(nearest("wieght", words), "weight");
  EXPECT_EQ(nearest("weights", words), "weight");
  EXPECT_EQ(nearest("runing_maen", words), "running_mean");
  EXPECT_EQ(nearest("bia", words), "bias");
  EXPECT_EQ(nearest("gamma", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest("x", words), "");
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(nearest(std::string(100'000, 'w'), words), "");
}

TEST(TextTest, quotesEscapeControlBytesAndCut) {
  EXPECT_EQ(quote("a b"), "'a b'");
  EXPECT_EQ(quote(std::string_view("\x1b[2J\n\0", 6)), "'\\x1b[2J\\x0a\\x00'");
  EXPECT_LT(quote(std::string(1000, 'a')).size(), 110u);
}

TEST(TextTest, whatSteersATerminalIsShown) {
  EXPECT_EQ(visible("two\nlines\tof text"), "two\nlines\tof text");
  EXPECT_EQ(visible("\x1b[31mred\x07\x7f"), "\\x1b[31mred\\x07\\x7f");
  EXPECT_EQ(visible("\xc2\x9b"), "\\xc2\\x9b"); // U+009B, which is ESC [
  EXPECT_EQ(visible("\xe2\x80\xae\xe2\x81\xa6"), "\\xe2\\x80\\xae\\xe2\\x81\\xa6"); // directions
  EXPECT_EQ(visible("Σ µ … é"), "Σ µ … é");
  EXPECT_EQ(visible("\xe2\x80"), "\xe2\x80"); // cut short
  EXPECT_EQ(quote("\xe2\x80\xae"), "'\\xe2\\x80\\xae'");
}

TEST(TextTest, joins) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join(std::vector<std::string_view>{"a"}, ", "), "a");
  EXPECT_EQ(join(std::vector<std::string_view>{"a", "", "c"}, ", "), "a, , c");
}

TEST(TextTest, bytesAndShapes) {
  EXPECT_EQ(formatBytes(0), "0 bytes");
  EXPECT_EQ(formatBytes(1), "1 byte");
  EXPECT_EQ(formatBytes(1023), "1023 bytes");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(formatShape({}), "scalar");
  EXPECT_EQ(formatShape(std::vector<int64_t>{3, 0, 5}), "3x0x5");
}

} // namespace
} // namespace tile::runtime
