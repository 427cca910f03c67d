// Code for a CUDA device out of the cache on disk: found where it is right, made anew where
// anything that it depends on differs, and never wrong. On a fake driver.

#include "CudaProgram.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::test;
using namespace tile::runtime::cuda;

namespace {

const std::string twice = "kernel twice(x: f32[M]) -> (y: f32[M]) {\n"
                          "    parallel i in tiles(M) {\n"
                          "        y[i] = x[i] * 2.0\n"
                          "    }\n"
                          "} schedule { i = 128 }\n";
const std::string rows = "kernel rows(x: f32[M, N]) -> (y: f32[M]) {\n"
                         "    parallel i in tiles(M) {\n"
                         "        y[i] = sum(x[i, :], N)\n"
                         "    }\n"
                         "}\n";

class CudaCacheTest : public runtime::test::FileTest {
protected:
  void SetUp() override {
    FileTest::SetUp();
    fake.emplace();
    fake->play = [](const FakeLaunch &launch) {
      auto *x = parameter<const float *>(launch, 0);
      auto *y = parameter<float *>(launch, 1);
      for (int64_t n = 0; n < parameter<int64_t>(launch, 2); ++n)
        y[n] = 2 * x[n];
    };
  }
  void TearDown() override {
    EXPECT_EQ(fake->leaks(), "");
    fake.reset();
    FileTest::TearDown();
  }

  std::string folder() const { return path("cache"); }
  std::shared_ptr<runtime::Cache> cache() const {
    auto opened = runtime::Cache::open(folder());
    EXPECT_TRUE(opened) << opened.error().str();
    return *opened;
  }
  size_t numEntries() const { return cache()->list()->size(); }
  std::string entryFile() const { return folder() + "/" + cache()->list()->front().key + ".entry"; }

  /// Runs `twice` in a process' place of its own; whether code was generated.
  bool runTwice(const std::string &text = twice, int64_t extent = 3,
                const std::map<std::string, int64_t> &sizes = {}) {
    CudaProgram program(*fake, text, cache());
    for (auto [binder, size] : sizes)
      program.executor->sizes.everywhere[binder] = size;
    std::vector<float> values, expected;
    for (int64_t n = 0; n < extent; ++n) {
      values.push_back(static_cast<float>(n) - 1.5f);
      expected.push_back(2 * values.back());
    }
    auto outputs = program.run({tensorOf(values, {extent})});
    EXPECT_TRUE(bool(outputs)) << outputs.takeFailure().message;
    if (outputs) {
      EXPECT_EQ(valuesOf(*outputs->front()), expected);
    }
    problem = program.compiler.cacheProblem;
    return program.generated();
  }

  std::optional<FakeDriver> fake;
  std::optional<runtime::Error> problem;
};

} // namespace

TEST_F(CudaCacheTest, FindsWhatItStored) {
  EXPECT_TRUE(runTwice());
  EXPECT_EQ(numEntries(), 1u);
  std::string image = fake->lastImage;
  EXPECT_NE(image.find(".entry twice("), std::string::npos);
  long links = fake->count("linkCreate");
  EXPECT_FALSE(runTwice());
  EXPECT_EQ(fake->count("linkCreate"), links);
  EXPECT_EQ(fake->lastImage, image);
  EXPECT_EQ(fake->launches.size(), 2u);
  EXPECT_EQ(fake->launches[0].config.gridDimX, fake->launches[1].config.gridDimX);
  EXPECT_EQ(fake->launches[0].config.blockDimX, fake->launches[1].config.blockDimX);
  // The grid follows the shape, which the code doesn't depend on.
  EXPECT_TRUE(runTwice(twice, 128));
  EXPECT_FALSE(runTwice(twice, 1024));
  EXPECT_EQ(fake->launches.back().config.gridDimX, 8u);
  EXPECT_FALSE(runTwice(twice, 640));
  EXPECT_EQ(fake->launches.back().config.gridDimX, 5u);
}

TEST_F(CudaCacheTest, TellsApartWhatCodeDependsOn) {
  EXPECT_TRUE(runTwice());
  // What is known of the dimensions.
  EXPECT_FALSE(runTwice(twice, 5));
  EXPECT_TRUE(runTwice(twice, 6));
  EXPECT_TRUE(runTwice(twice, 16));
  EXPECT_FALSE(runTwice(twice, 48));
  // Tile sizes, the source, and where it stands.
  EXPECT_TRUE(runTwice(twice, 3, {{"i", 64}}));
  EXPECT_TRUE(runTwice("kernel twice(x: f32[M]) -> (y: f32[M]) {\n"
                       "    parallel i in tiles(M) {\n"
                       "        y[i] = x[i] + x[i]\n"
                       "    }\n"
                       "} schedule { i = 128 }\n"));
  EXPECT_TRUE(runTwice("// a line above\n" + twice));
  // The driver and the device.
  fake->version = 12080;
  EXPECT_TRUE(runTwice());
  fake->devices[0].setCapability(8, 6);
  EXPECT_TRUE(runTwice());
  fake->devices[0].setCapability(8, 0); // for the same target
  EXPECT_TRUE(runTwice());
  EXPECT_EQ(numEntries(), 9u);
  EXPECT_FALSE(runTwice());
}

TEST_F(CudaCacheTest, CompilesForWholeAxes) {
  fake->play = nullptr;
  for (int64_t n : {24, 40, 24}) {
    CudaProgram program(*fake, rows, cache());
    std::vector<float> values(static_cast<size_t>(4 * n));
    ASSERT_TRUE(bool(program.run({tensorOf(values, {4, n})})));
    EXPECT_EQ(program.generated(), fake->launches.size() < 3);
  }
  EXPECT_EQ(numEntries(), 2u);
}

TEST_F(CudaCacheTest, MakesDamagedEntriesAnew) {
  EXPECT_TRUE(runTwice());
  std::string file = entryFile();
  auto size = std::filesystem::file_size(file);
  for (uint64_t at : {uint64_t(3), uint64_t(60), size - 1}) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    char byte = static_cast<char>(~stream.get());
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(byte);
    stream.close();
    EXPECT_TRUE(runTwice()) << at;
    EXPECT_FALSE(runTwice());
  }
  std::filesystem::resize_file(file, size / 2);
  EXPECT_TRUE(runTwice());
  EXPECT_FALSE(runTwice());
  EXPECT_FALSE(problem);
}

TEST_F(CudaCacheTest, MakesWhatIsNoCodeAnew) {
  EXPECT_TRUE(runTwice());
  // A whole entry under the right key that holds something else.
  std::string digits = cache()->list()->front().key;
  runtime::Hash128 key;
  key.high = std::stoull(digits.substr(0, 16), nullptr, 16);
  key.low = std::stoull(digits.substr(16), nullptr, 16);
  ASSERT_EQ(key.str(), digits);
  auto good = *cache()->find(key);
  for (size_t length : {size_t(0), size_t(7), good.size() - 1}) {
    ASSERT_TRUE(cache()->store(key, std::span(good).first(length)));
    EXPECT_TRUE(runTwice()) << length;
    EXPECT_FALSE(runTwice());
  }
}

TEST_F(CudaCacheTest, MakesWhatTheDriverRefusesAnew) {
  EXPECT_TRUE(runTwice());
  fake->failures["moduleLoadDataEx"] = CUDA_ERROR_INVALID_IMAGE;
  CudaProgram program(*fake, twice, cache());
  auto outputs = program.run({tensorOf({1}, {1})});
  ASSERT_FALSE(bool(outputs));
  Failure failure = outputs.takeFailure();
  EXPECT_EQ(failure.kind, Failure::Kind::Environment);
  EXPECT_NE(failure.message.find("device kernel image is invalid"), std::string::npos)
      << failure.message;
  EXPECT_TRUE(program.generated());
  fake->failures.clear();
  EXPECT_FALSE(runTwice());
}

TEST_F(CudaCacheTest, RunsWithoutAPlaceToWrite) {
  auto gone = cache();
  std::filesystem::remove_all(folder());
  CudaProgram program(*fake, twice, gone);
  auto outputs = program.run({tensorOf({1, 2}, {2})});
  ASSERT_TRUE(bool(outputs));
  EXPECT_EQ(valuesOf(*outputs->front()), (std::vector<float>{2, 4}));
  ASSERT_TRUE(program.compiler.cacheProblem);
  EXPECT_NE(program.compiler.cacheProblem->message.find("can't be written"), std::string::npos);
}

TEST_F(CudaCacheTest, RunsWithoutACache) {
  CudaProgram program(*fake, twice);
  auto outputs = program.run({tensorOf({1, 2}, {2})});
  ASSERT_TRUE(bool(outputs));
  EXPECT_EQ(valuesOf(*outputs->front()), (std::vector<float>{2, 4}));
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(CudaCacheTest, SharedMemoryBeyondTheDeviceIsAnErrorOfTheProgram) {
  fake->devices[0].attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] = 100;
  fake->devices[0].attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = 100;
  fake->functionAttributes[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = 0;
  CudaProgram program(*fake,
                      "kernel turn(x: f32[M, N]) -> (y: f32[N, M]) {\n"
                      "    parallel i in tiles(M), j in tiles(N) {\n"
                      "        y[j, i] = x[i, j]\n"
                      "    }\n"
                      "} schedule { i = 32; j = 32 }\n",
                      cache());
  auto outputs = program.run({tensorOf(std::vector<float>(64), {8, 8})});
  ASSERT_FALSE(bool(outputs));
  Failure failure = outputs.takeFailure();
  EXPECT_EQ(failure.kind, Failure::Kind::Invalid) << failure.message;
  EXPECT_NE(failure.message.find("bytes of shared memory a block"), std::string::npos);
  EXPECT_NE(failure.hint.find("--set"), std::string::npos);
  EXPECT_EQ(numEntries(), 0u);
}
