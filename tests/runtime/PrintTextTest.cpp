#include "runtime/launch/PrintText.h"
#include "runtime/launch/KernelReports.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <thread>

using namespace tile::runtime;

namespace {

template <typename T>
std::string formatted(DType type, T value) {
  return formatNumber(type, &value);
}

TEST(PrintText, numbers) {
  EXPECT_EQ(formatted<uint8_t>(DType::Bool, 1), "true");
  EXPECT_EQ(formatted<int8_t>(DType::I8, -128), "-128");
  EXPECT_EQ(formatted<uint8_t>(DType::U8, 200), "200");
  EXPECT_EQ(formatted<uint64_t>(DType::U64, ~uint64_t(0)), "18446744073709551615");
  EXPECT_EQ(formatted(DType::F32, 0.1f), "0.1");
  EXPECT_EQ(formatted(DType::F64, 0.1), "0.1");
  EXPECT_EQ(formatted(DType::F64, double(0.1f)), "0.10000000149011612");
  EXPECT_EQ(formatted(DType::F32, -0.0f), "-0");
  EXPECT_EQ(formatted(DType::F32, 100000.0f), "100000");
  EXPECT_EQ(formatted(DType::F32, 1e20f), "1e+20");
  EXPECT_EQ(formatted(DType::F32, 1e-5f), "1e-05");
  EXPECT_EQ(formatted(DType::F64, -std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(formatted(DType::F32, -std::numeric_limits<float>::quiet_NaN()), "nan");
  EXPECT_EQ(formatted(DType::F16, doubleToHalf(0.1)), "0.1");
  EXPECT_EQ(formatted(DType::F16, doubleToHalf(65504)), "65500"); // the next ones are 32 away
  EXPECT_EQ(formatted(DType::BF16, doubleToBfloat16(1 / 3.0)), "0.334");
  EXPECT_EQ(formatted(DType::F8E4M3, doubleToF8e4m3(0.3)), "0.3");
}

/// What is shown means the number that was there, bit for bit.
TEST(PrintText, numbersComeBack) {
  std::mt19937_64 random(std::random_device{}());
  for (int n = 0; n < 20000; ++n) {
    uint64_t bits = random();
    for (DType type :
         {DType::F16, DType::BF16, DType::F32, DType::F64, DType::F8E4M3, DType::F8E5M2}) {
      double value = loadDouble(type, &bits);
      std::string text = formatNumber(type, &bits);
      uint64_t again = 0, once = 0;
      if (type == DType::F32) {
        float read = std::strtof(text.c_str(), nullptr);
        std::memcpy(&again, &read, sizeof read);
      } else {
        storeDouble(type, &again, std::strtod(text.c_str(), nullptr));
      }
      storeDouble(type, &once, value);
      if (!std::isnan(value)) {
        EXPECT_EQ(again, once) << text << " for " << value;
      }
    }
  }
}

TEST(PrintText, tiles) {
  int32_t data[3][16];
  uint8_t defined[3][16];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 16; ++c) {
      data[r][c] = 10 * r + c;
      defined[r][c] = c <= r;
    }
  PrintAxis axes[] = {{"i", 4, 7, 16}, {"j", 0, 9, 1}};
  PrintValue value{DType::I32, reinterpret_cast<std::byte *>(data), nullptr, axes};
  PrintText text;
  text.add("x ");
  text.add(value);
  text.add(" and ");
  axes[1].upper = 2;
  value.defined = reinterpret_cast<std::byte *>(defined);
  text.add(value);
  EXPECT_EQ(text.take(), "x [i = 4, …, 6, j = 0, …, 8]\n"
                         "  i = 4: 0, 1, 2, …, 6, 7, 8\n"
                         "  i = 5: 10, 11, 12, …, 16, 17, 18\n"
                         "  i = 6: 20, 21, 22, …, 26, 27, 28\n"
                         "and [i = 4, …, 6, j = 0, 1]\n"
                         "  i = 4: 0, _\n"
                         "  i = 5: 10, 11\n"
                         "  i = 6: 20, 21\n");
  value.axes = std::span(axes).subspan(1);
  value.defined = nullptr;
  text.add(value);
  axes[1].upper = 0;
  text.add(value);
  EXPECT_EQ(text.take(), "[j = 0, 1: 0, 1][j: empty]\n");
}

/// Chunks finish in any order and at the same time; what they say doesn't show it.
TEST(KernelReports, ordered) {
  for (int64_t failing : {-1, 0, 5, 23}) {
    std::string shown;
    LaunchReport report;
    report.print = [&](std::string_view lines) { shown += lines; };
    KernelReports reports(&report);
    constexpr int64_t chunks = 8, each = 3;
    std::vector<std::thread> threads;
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      threads.emplace_back([&, chunk] {
        KernelReports::Chunk own(reports, chunk);
        for (int64_t program = chunk * each; program < (chunk + 1) * each; ++program) {
          std::string line = encodeSite({"0", "", "program " + std::to_string(program)});
          own.print(&own, line.data(), nullptr);
          if (failing < 0 || program < failing)
            continue;
          std::string site = encodeSite({"7", "here:1:2", "no", "p", "i"});
          int64_t values[] = {program, 3};
          own.fail(&own, site.data(), program, values);
          break;
        }
        own.finish(chunk * each, (chunk + 1) * each);
      });
    for (std::thread &thread : threads)
      thread.join();
    std::string expected;
    for (int64_t program = 0; program < chunks * each && (failing < 0 || program <= failing);
         ++program)
      expected += "program " + std::to_string(program) + "\n";
    EXPECT_EQ(shown, expected);
    EXPECT_EQ(reports.failure().has_value(), failing >= 0);
    if (failing < 0)
      continue;
    EXPECT_EQ(reports.failure()->site, 7u);
    EXPECT_EQ(reports.failure()->place, "here:1:2");
    EXPECT_EQ(reports.failure()->message,
              "assertion failed: no, at [i = 3] (in the program at p = " + std::to_string(failing) +
                  ")");
  }
}

TEST(KernelReports, NothingAfterAFailureThatFinishedBeforeItsTurn) {
  std::string shown;
  LaunchReport report;
  report.print = [&](std::string_view lines) { shown += lines; };
  KernelReports reports(&report);
  KernelReports::Chunk first(reports, 0), second(reports, 1), third(reports, 2);
  auto print = [](KernelReports::Chunk &chunk, const std::string &text) {
    std::string line = encodeSite({"0", "", text});
    chunk.print(&chunk, line.data(), nullptr);
  };
  print(third, "third");
  third.finish(4, 6);
  print(second, "second");
  std::string site = encodeSite({"7", "here:1:2", "no", "p", "i"});
  int64_t values[] = {3, 0};
  second.fail(&second, site.data(), 3, values);
  second.finish(2, 4);
  print(first, "first");
  first.finish(0, 2);
  EXPECT_EQ(shown, "first\nsecond\n");
}

} // namespace
