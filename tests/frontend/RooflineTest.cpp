// Pictures of reports that are made up: what no device of ours says.

#include "frontend/bench/BenchReport.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace tile::frontend;
using tile::runtime::DType;

namespace {

BenchResult kernel(const std::string &name, double bytes, double operations, double seconds,
                   Unit unit = Unit::Vector, DType type = DType::F32) {
  BenchResult result;
  result.name = name;
  result.work.bytesRead = bytes / 2;
  result.work.bytesWritten = bytes / 2;
  result.work.operations[{unit, type}] = operations;
  if (seconds >= 0)
    result.timing.sorted = {seconds};
  return result;
}

/// On an H200 that copies at 4.15 TB/s.
BenchReport measured(std::vector<BenchResult> results) {
  BenchReport report;
  report.device = "NVIDIA H200";
  report.description = *DeviceDescription::find("h200");
  report.results = std::move(results);
  report.largeCopyBytes = 4.15e9;
  report.largeCopy.sorted = {1e-3};
  return report;
}

size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

/// What no XML may hold, and no number that isn't one.
void expectSound(const std::string &svg) {
  for (char c : svg)
    EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
  for (const char *wrong : {"nan\"", "inf\"", "\"nan", "\"inf", "\"-inf"})
    EXPECT_EQ(count(svg, wrong), 0u) << wrong;
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
  EXPECT_LT(svg.size(), 200000u);
  // To look at them: TILE_PLOTS=/tmp/plots frontend_bench_test.
  if (const char *folder = std::getenv("TILE_PLOTS"))
    std::ofstream(std::string(folder) + "/" +
                  testing::UnitTest::GetInstance()->current_test_info()->name() + ".svg")
        << svg;
}

TEST(Roofline, measuredBelowThePeak) {
  std::string svg = rooflineSvg(
      measured({kernel("softmax", 268e6, 167e6, 70e-6), kernel("softmax 2", 268e6, 335e6, 113e-6),
                kernel("chain", 200e6, 134e6, 51e-6),
                kernel("matmul", 402e6, 1.1e12, 1.7e-3, Unit::Matrix, DType::BF16),
                kernel("half", 200e6, 3e12, 50e-3, Unit::Vector, DType::F16),
                kernel("tiny", 1e3, 1e3, 4e-6), kernel("transpose", 268e6, 0, 70e-6)}));
  expectSound(svg);
  EXPECT_EQ(count(svg, "<circle"), 6u);
  EXPECT_EQ(count(svg, "roof memory dashed"), 1u);
  EXPECT_EQ(count(svg, "data-rate"), 3u); // f32, f16, bf16 on matrix units
  EXPECT_EQ(count(svg, ">memory: "), 4u);
  EXPECT_EQ(count(svg, ">compute: "), 2u);
  EXPECT_EQ(count(svg, ">launch: "), 1u);
  // A row for each has the mark of its roof.
  EXPECT_EQ(count(svg, "class=\"roof launch\""), 1u);
}

TEST(Roofline, extremes) {
  double infinity = std::numeric_limits<double>::infinity();
  BenchReport report = measured({kernel("no time", 1e6, 1e6, 0), kernel("nothing", 0, 0, 1e-6),
                                 kernel("unknown", 1e6, infinity, 1e-6),
                                 kernel("a\x1b[31m<b>&\"c\"\xff", 1e-3, 1e15, 1e3),
                                 kernel(std::string(500, 'x'), 1e18, 1, 1e-9)});
  report.device = std::string("a\nb\x01 <device>") + std::string(300, 'y');
  expectSound(rooflineSvg(report));
  report.description->figures["memory_bandwidth"].value = 1e-12;
  report.description->figures["vector_f32"].value = 1e21;
  report.isPrediction = true;
  for (BenchResult &result : report.results)
    result.timing.sorted.clear();
  expectSound(rooflineSvg(report));
  report.description->figures["memory_bandwidth"].value = 1e21;
  report.description->figures["vector_f32"].value = 1e-12;
  expectSound(rooflineSvg(report));
  report.description.reset();
  report.isPrediction = false;
  report.largeCopy.sorted.clear();
  report.results = {kernel("alone", 1e6, 1e6, 1e-3)};
  expectSound(rooflineSvg(report));
}

TEST(Roofline, manyKernels) {
  std::vector<BenchResult> results;
  for (int n = 0; n < 60; ++n)
    results.push_back(
        kernel("kernel " + std::to_string(n + 1), 1e8, 6e7 * (1 + n % 7), 40e-6 * (1 + n % 5)));
  std::string svg = rooflineSvg(measured(std::move(results)));
  expectSound(svg);
  for (int n = 1; n <= 60; ++n)
    EXPECT_EQ(count(svg, ">kernel " + std::to_string(n) + "<"), 1u);
}

} // namespace
