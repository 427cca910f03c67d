#include "runtime/cpu/CpuFeatures.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tile::runtime {
namespace {

/// The value of the first line of /proc/cpuinfo with that key, without blanks around it.
std::string cpuInfo(const std::string &key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) {
      std::string value = line.substr(line.find(':') + 1);
      value.erase(0, value.find_first_not_of(" \t"));
      value.erase(value.find_last_not_of(" \t") + 1);
      return value;
    }
  return "";
}

TEST(CpuFeatures, TheNameIsAsTheKernelSays) {
  std::string name = cpuInfo("model name");
  if (name.empty())
    GTEST_SKIP() << "/proc/cpuinfo has no name of the processor";
  EXPECT_EQ(cpuName(), name);
}

TEST(CpuFeatures, VectorsAreAsTheKernelSays) {
  std::string flags = " " + cpuInfo("flags") + " ";
  if (flags.find(" sse2 ") == std::string::npos)
    GTEST_SKIP() << "/proc/cpuinfo has no flags of x86-64";
  auto has = [&](const char *flag) {
    return flags.find(" " + std::string(flag) + " ") != std::string::npos;
  };
  EXPECT_EQ(cpuVectorBits(), has("avx512f") ? 512 : has("avx2") ? 256 : 128);
  for (const char *name : {"avx2", "fma", "avx512f", "popcnt"})
    EXPECT_EQ(hasCpuFeature(name), has(name)) << name;
}

} // namespace
} // namespace tile::runtime
