// Descriptions of devices: those that are built in hold together, and what is wrong with one is
// said.

#include "frontend/model/DeviceDescription.h"
#include "frontend/execute/Execution.h"
#include "frontend/fusion/Fusion.h"
#include "runtime/cuda/Device.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace tile::frontend;
using tile::runtime::DType;

namespace {

TEST(DeviceDescription, allFilesAreBuiltIn) {
  size_t files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(TILE_ROOT "/frontend/devices")) {
    ++files;
    auto read = DeviceDescription::read(entry.path());
    ASSERT_TRUE(read) << read.takeFailure().message;
    EXPECT_EQ(read->name, entry.path().stem());
    auto found = DeviceDescription::find(read->name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->figures.size(), read->figures.size());
    for (const std::string &name : read->knownAs)
      EXPECT_EQ(DeviceDescription::of(name)->name, read->name);
  }
  EXPECT_EQ(DeviceDescription::builtIn().size(), files);
  EXPECT_EQ(DeviceDescription::of("NVIDIA H900"), nullptr);
}

// The figures come from different pages; multiprocessors, clock and lanes have to give the rate of
// f32.
TEST(DeviceDescription, graphsArePlannedForTheGpuThatIsThere) {
  EXPECT_EQ(descriptionOfGpu("NVIDIA A100-SXM4-80GB").name, "a100-sxm-80");
  EXPECT_EQ(descriptionOfGpu("NVIDIA H900").name, "h200");
  EXPECT_EQ(descriptionOf({Device::Cpu, 0}).name, "eight-cores");
  // A device that nobody has: whoever wants to run there is told so elsewhere.
  EXPECT_EQ(descriptionOf({Device::Cuda, 1 << 20}).name, "h200");
}

// Plans are made for the device itself, unless code is to be for another one's target.
TEST(DeviceDescription, plansKnowTheDevicesOwnFigures) {
  auto card = DeviceDescription::find("h100-pcie");
  ASSERT_TRUE(card);
  tile::runtime::GpuTarget target = card->gpuTarget();
  EXPECT_EQ(target.name, "sm_90a");
  EXPECT_EQ(target.multiprocessors, 114);
  EXPECT_DOUBLE_EQ(target.memoryBandwidth, 2.039e12);
  EXPECT_DOUBLE_EQ(target.clock, 1.755e9);
  card->compileFor("sm_90a");
  EXPECT_EQ(card->gpuTarget().multiprocessors, 114);
  card->compileFor("sm_80");
  EXPECT_EQ(card->gpuTarget().name, "sm_80");
  EXPECT_EQ(card->gpuTarget().multiprocessors, 108);
  card->compileFor("sm_90"); // which it is, too
  EXPECT_EQ(card->gpuTarget().multiprocessors, 114);
}

TEST(DeviceDescription, aDeviceThatIsThereHasItsOwnFigures) {
  tile::runtime::cuda::DeviceProperties device;
  device.name = "NVIDIA H100 PCIe";
  device.multiprocessors = 114;
  tile::runtime::GpuTarget target = gpuTargetOf("sm_90a", device);
  EXPECT_EQ(target.multiprocessors, 114);
  EXPECT_DOUBLE_EQ(target.memoryBandwidth, 2.039e12);
  EXPECT_DOUBLE_EQ(target.clock, 1.755e9);
  device.multiprocessors = 57; // half of it
  target = gpuTargetOf("sm_90a", device);
  EXPECT_EQ(target.multiprocessors, 57);
  EXPECT_DOUBLE_EQ(target.memoryBandwidth, 2.039e12 / 2);
  // Of one that nobody has described the driver's figures are all that is known.
  device.name = "NVIDIA H900";
  device.clockKHz = 1500000;
  target = gpuTargetOf("sm_90a", device);
  EXPECT_EQ(target.multiprocessors, 57);
  EXPECT_DOUBLE_EQ(target.clock, 1.5e9);
  // What the driver doesn't say is the usual device's.
  EXPECT_DOUBLE_EQ(target.memoryBandwidth, tile::runtime::GpuTarget::of("sm_90a").memoryBandwidth);
}

// The usual target is the usual device's.
TEST(DeviceDescription, theUsualTargetHasTheUsualDevicesFigures) {
  tile::runtime::GpuTarget row = tile::runtime::GpuTarget::of(tile::runtime::usualGpuTarget);
  tile::runtime::GpuTarget target = usualDescription(/*isGpu=*/true).gpuTarget();
  EXPECT_EQ(target.name, row.name);
  EXPECT_EQ(target.multiprocessors, row.multiprocessors);
  EXPECT_DOUBLE_EQ(target.memoryBandwidth, row.memoryBandwidth);
  EXPECT_DOUBLE_EQ(target.clock, row.clock);
}

TEST(DeviceDescription, figuresAgree) {
  for (const DeviceDescription &device : DeviceDescription::builtIn()) {
    double lanes = !device.isGpu ? 32 : device.target == "sm_80" ? 64 : 128;
    double rate = device.figure("multiprocessors") * device.figure("clock") * 2 * lanes;
    EXPECT_NEAR(device.figure("vector_f32"), rate, 0.015 * rate) << device.name;
    for (const auto &[key, figure] : device.figures)
      EXPECT_FALSE(device.sources.at(figure.source).empty()) << device.name << " " << key;
    if (!device.isGpu)
      continue;
    EXPECT_GE(device.figure("shared_per_multiprocessor"), device.figure("shared_per_block"));
    EXPECT_GE(device.operations(Unit::Matrix, DType::F16),
              device.operations(Unit::Vector, DType::F16));
    EXPECT_GE(device.operations(Unit::Matrix, DType::I8),
              device.operations(Unit::Matrix, DType::BF16));
  }
}

TEST(DeviceDescription, ratesByUnitAndType) {
  auto h200 = DeviceDescription::find("h200");
  ASSERT_TRUE(h200);
  EXPECT_EQ(h200->bandwidth(), 4.8e12);
  EXPECT_EQ(h200->operations(Unit::Vector, DType::F32), 66.9e12);
  EXPECT_EQ(h200->operations(Unit::Matrix, DType::BF16), 989.4e12);
  EXPECT_EQ(h200->operations(Unit::Matrix, DType::F8E4M3), 1978.9e12);
  // f32 stays f32: not tf32.
  EXPECT_EQ(h200->operations(Unit::Matrix, DType::F32), 0);
  auto a100 = DeviceDescription::find("a100-sxm-80");
  ASSERT_TRUE(a100);
  // It has no unit for f8: f16's.
  EXPECT_EQ(a100->operations(Unit::Matrix, DType::F8E5M2), 312e12);
}

constexpr const char *sound = R"({
  "name": "mine", "title": "Mine", "kind": "cpu", "sources": {"me": "measured"},
  "figures": {
    "memory_bandwidth": {"value": 5e10, "unit": "B/s", "source": "me"},
    "launch": {"value": 1e-6, "unit": "s", "source": "me"},
    "vector_f32": {"value": 1e11, "unit": "FLOP/s", "source": "me"}
  }
})";

std::string problem(const std::string &from, const std::string &to) {
  std::string text = sound;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  auto parsed = DeviceDescription::parse(text, "mine.json");
  return parsed ? "none" : parsed.takeFailure().message;
}

TEST(DeviceDescription, problemsAreTold) {
  EXPECT_EQ(problem("Mine", "Mine, too"), "none");
  EXPECT_EQ(problem("\"cpu\"", "\"cpu\", \"cores\": 3"), "mine.json: a description has no 'cores'");
  EXPECT_EQ(problem("\"cpu\"", "\"tpu\""), "mine.json: \"kind\" is \"gpu\" or \"cpu\", not 'tpu'");
  EXPECT_EQ(problem("\"cpu\"", "\"gpu\""), "mine.json: a description needs \"target\", a text");
  EXPECT_EQ(problem("\"cpu\"", "\"gpu\", \"target\": \"sm_90a\""), "none");
  EXPECT_EQ(problem("\"cpu\"", "\"gpu\", \"target\": \"sm_75\""),
            "mine.json: \"target\" is 'sm_75', which no code is made for");
  EXPECT_EQ(problem("\"cpu\"", "\"cpu\", \"target\": \"sm_80\""),
            "mine.json: \"target\" is for GPUs");
  for (const char *title :
       {R"(a\u001b[31m)", R"(two\nlines)", R"(\u0000)", R"(\u007f)", R"(\u009b1m)", R"(\u2028)"})
    EXPECT_EQ(problem("Mine", title), "mine.json: the text of 'title' has a control character")
        << title;
  EXPECT_EQ(problem("Mine", "µ-Karte, 中 <&>"), "none");
  EXPECT_EQ(problem("\"launch\"", "\"lunch\""), "mine.json: there is no figure 'lunch'");
  std::string range = "mine.json: \"launch\": its value has to be from 1e-12 to 1e21";
  for (const char *value : {"-1e-6", "0", "1e-999", "1e-320", "0.9e-12", "1.1e21", "1e30"})
    EXPECT_EQ(problem("1e-6", value), range) << value;
  for (const char *value : {"1e-12", "1e21", "3"})
    EXPECT_EQ(problem("1e-6", value), "none") << value;
  std::string bandwidth = R"("memory_bandwidth")";
  auto added = [&](const std::string &figure) {
    return problem(bandwidth, figure + "," + bandwidth);
  };
  EXPECT_EQ(added(R"("clock": {"value": 3.5e9, "unit": "Hz", "source": "me"})"), "none");
  EXPECT_EQ(added(R"("multiprocessors": {"value": 1.5, "unit": "1", "source": "me"})"),
            "mine.json: \"multiprocessors\": its value has to be a whole number");
  EXPECT_EQ(added(R"("multiprocessors": {"value": 2e9, "unit": "1", "source": "me"})"),
            "mine.json: \"multiprocessors\": its value has to be from 1 to 1e9");
  EXPECT_EQ(added(R"("l2": {"value": 0.5, "unit": "B", "source": "me"})"),
            "mine.json: \"l2\": its value has to be from 1 to 1e21");
  EXPECT_EQ(problem("1e-6", "1e999"), "mine.json: a number is out of range");
  EXPECT_EQ(problem("1e-6", "\"1e-6\""), "mine.json: \"launch\": its value is no number");
  EXPECT_EQ(problem("\"B/s\"", "\"GB/s\""),
            "mine.json: \"memory_bandwidth\": its unit is B/s, not 'GB/s'");
  EXPECT_EQ(problem("\"source\": \"me\"", "\"source\": \"you\""),
            "mine.json: \"memory_bandwidth\": there is no source 'you'");
  EXPECT_EQ(problem("\"title\"", "\"name\": \"yours\", \"title\""),
            "mine.json: the key 'name' is there twice");
  EXPECT_EQ(problem("\"kind\": \"cpu\",", "\"kind\": \"cpu\""), "mine.json:2:58: malformed JSON");
  EXPECT_EQ(problem("\"vector_f32\": {\"value\": 1e11, \"unit\": \"FLOP/s\", \"source\": \"me\"}",
                    "\"memory\": {\"value\": 1e11, \"unit\": \"B\", \"source\": \"me\"}"),
            "mine.json: there is no figure \"vector_f32\", which predictions need");
  for (const char *text : {"", "[]", "{}", "3", "{\"name\": 3}", "\xff", "{\"figures\": []}"})
    EXPECT_FALSE(DeviceDescription::parse(text, "mine.json")) << text;
}

} // namespace
