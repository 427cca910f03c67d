// What tests on this machine's device share: the device, or a test that is skipped and says why.
#pragma once

#include "TestSupport.h"

#include "runtime/cuda/DeviceBuffer.h"
#include "runtime/cuda/Module.h"
#include "runtime/cuda/Stream.h"

#include <cstdlib>
#include <regex>
#include <span>

namespace tile::runtime::cuda::test {

/// Device and stream; without a device the test is skipped, and a fixture that is derived from this
/// one does nothing more (`if (IsSkipped()) return;` behind its call of this SetUp).
class CudaRealTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto driver = Driver::open();
    if (!driver)
      GTEST_SKIP() << "NOT RUN ON A DEVICE: " << driver.error().str();
    auto opened = Device::open(*driver);
    if (!opened)
      GTEST_SKIP() << "NOT RUN ON A DEVICE: " << opened.error().str();
    device = *opened;
    auto made = Stream::create(device);
    ASSERT_TRUE(made) << made.error().str();
    stream = *made;
  }

  static void expectRight(const Status &status) { EXPECT_TRUE(status) << status.error().str(); }

  bool isHopper() const {
    return device->properties().major == 9 && device->properties().minor == 0;
  }

  template <typename T>
  DeviceBuffer upload(const std::vector<T> &data) {
    auto buffer = DeviceBuffer::allocate(stream, data.size() * sizeof(T));
    EXPECT_TRUE(buffer) << buffer.error().str();
    expectRight(buffer->upload(std::as_bytes(std::span(data))));
    return *std::move(buffer);
  }

  std::shared_ptr<Device> device;
  std::shared_ptr<Stream> stream;
};

/// A kernel that is written on the tile_gpu level: PTX that the build has made of
/// tests/codegen/text/NAME.mlir, with what a launch needs in its first lines.
struct BuiltPtx {
  std::string text, function;
  uint32_t threads = 0, sharedBytes = 0;

  /// Fails the test where there is none.
  static BuiltPtx read(const std::string &name) {
    BuiltPtx ptx;
    const char *folder = std::getenv("TILE_TEST_PTX");
    EXPECT_TRUE(folder) << "TILE_TEST_PTX has to name the folder of the tests' PTX";
    std::ifstream file(std::string(folder ? folder : "") + "/" + name + ".ptx");
    EXPECT_TRUE(file) << "there is no " << name << ".ptx in " << folder;
    ptx.text.assign(std::istreambuf_iterator<char>(file), {});
    std::smatch found;
    std::regex line("// (\\w+): (\\d+) threads, (\\d+) bytes");
    bool isThere = std::regex_search(ptx.text, found, line);
    EXPECT_TRUE(isThere) << "it doesn't begin with what a launch needs";
    if (isThere) {
      ptx.function = found[1];
      ptx.threads = static_cast<uint32_t>(std::stoul(found[2]));
      ptx.sharedBytes = static_cast<uint32_t>(std::stoul(found[3]));
    }
    return ptx;
  }

  /// The function, with as much shared memory as it wants; null where the driver refuses it.
  std::shared_ptr<Function> load(const std::shared_ptr<Device> &device) const {
    auto module = Module::fromPtx(device, text);
    EXPECT_TRUE(module) << module.error().str();
    if (!module)
      return nullptr;
    auto loaded = (*module)->function(function);
    EXPECT_TRUE(loaded) << loaded.error().str();
    if (!loaded)
      return nullptr;
    EXPECT_TRUE((*loaded)->allowShared(sharedBytes));
    EXPECT_EQ((*loaded)->attributes().localBytes, 0) << "it spills";
    return *loaded;
  }
};

} // namespace tile::runtime::cuda::test
