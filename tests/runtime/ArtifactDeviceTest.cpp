// Artifacts with code for GPUs, on a fake driver: which code runs where, on what, and what is
// refused.

#include "CudaFake.h"

#include "runtime/artifact/GpuReport.h"
#include "runtime/cuda/PreparedRun.h"
#include "runtime/load/Artifact.h"
#include "tests/runtime/ArtifactSupport.h"
#include "tests/runtime/TestSupport.h"

#include <array>
#include <numeric>

using namespace tile::runtime;
using namespace tile::runtime::test;
using tile::runtime::cuda::DeviceTensor;
using tile::runtime::cuda::Gpu;
using tile::runtime::cuda::PreparedRun;
using tile::runtime::cuda::test::FakeLaunch;

namespace {

template <typename T>
T parameter(const FakeLaunch &launch, size_t n) {
  T value;
  std::memcpy(&value, launch.parameters[n], sizeof value);
  return value;
}

CudaVariant variant(const std::string &target, const std::string &name, int64_t most = 0) {
  CudaVariant result = cudaVariant(target, name);
  if (most) {
    result.guard = guardOf(0, most);
    result.condition = "N <= " + std::to_string(most);
  }
  return result;
}

void add(ArtifactData &artifact, const std::string &name, Signature signature,
         std::vector<CudaVariant> variants) {
  auto index = static_cast<uint32_t>(artifact.kernels.size());
  artifact.entries.push_back({name, false, index, {}});
  artifact.kernels.push_back({std::move(signature), {}, std::move(variants)});
}

/// axpy: y = x·k; bump: inout x += 1; total: a `reduce` output; sure: it asserts, and changes x;
/// twice, a graph: y = axpy(axpy(x, 2), k).
ArtifactData testArtifact() {
  ArtifactData artifact;
  using Mode = ParamMode;
  add(artifact, "axpy",
      signature("axpy", {vector("x", Mode::In), scalar("k"), vector("y", Mode::Out)}),
      {variant("sm_90a", "axpy_small", 8), variant("sm_90a", "axpy_90"),
       variant("sm_80", "axpy_80")});
  artifact.kernels[0].signature.params[1].defaultBits = 3;
  add(artifact, "bump", signature("bump", {vector("x", Mode::InOut)}), {variant("sm_80", "bump")});
  add(artifact, "total", signature("total", {vector("x", Mode::In), vector("s", Mode::Reduce)}),
      {variant("sm_80", "total")});
  CudaCode &total = artifact.kernels[2].cuda[0].code;
  total.start = {"total_start", 256, 0, 1};
  total.finish = {"total_finish", 1024, 64, 1};
  total.copies = {{1, 8}};
  total.image = bytesOf(".version 8.0\n.target sm_80\n.entry total(\n.entry total_start(\n"
                        ".entry total_finish(\n");
  add(artifact, "sure", signature("sure", {vector("x", Mode::InOut)}), {variant("sm_80", "sure")});
  artifact.kernels[3].cuda[0].code.sites = {encodeSite({"0", "a.tile:3:5", "positive", "i", "i"})};

  GraphPlan plan;
  plan.frames.resize(1);
  PlanFrame &frame = plan.frames[0];
  frame.signature =
      signature("twice", {vector("x", Mode::In), scalar("k"), vector("y", Mode::Out)});
  frame.program = {{Opcode::Scalar, Number::I64, {}, 1}, constant(2)};
  plan.calls.push_back({0, 0, {{true, 0}, {false, 1}}, {}, {1}, "a.tile:9:1"});
  plan.calls.push_back({0, 0, {{true, 1}, {false, 0}}, {}, {2}, "a.tile:9:9"});
  frame.results = {2};
  using Kind = PlanStep::Kind;
  plan.steps = {{Kind::Open, 0}, {Kind::Call, 0}, {Kind::Call, 1}, {Kind::Close, 0}};
  plan.numTensors = 3;
  artifact.graphs.push_back(plan);
  artifact.entries.push_back({"twice", true, 0, {}});
  // Its call asserts.
  frame.signature = signature("safe", {vector("x", Mode::In), vector("y", Mode::Out)});
  frame.program = {};
  plan.calls = {{3, 0, {{true, 0}}, {}, {1}, "a.tile:12:1"}};
  frame.results = {1};
  plan.steps = {{Kind::Open, 0}, {Kind::Call, 0}, {Kind::Close, 0}};
  plan.numTensors = 2;
  artifact.graphs.push_back(plan);
  artifact.entries.push_back({"safe", true, 1, {}});
  return artifact;
}

class ArtifactDevice : public cuda::test::CudaTest {
protected:
  void SetUp() override {
    fake.play = [this](const FakeLaunch &launch) { play(launch); };
    load(testArtifact());
  }
  void TearDown() override {
    artifact.reset(); // with the code that it has loaded
    CudaTest::TearDown();
  }

  void load(const ArtifactData &data) {
    Result<Artifact> loaded = Artifact::fromBytes(serialize(data));
    ASSERT_TRUE(loaded) << loaded.error().str();
    artifact.emplace(*std::move(loaded));
  }

  virtual void play(const FakeLaunch &launch) {
    auto *x = parameter<int64_t *>(launch, 0);
    if (launch.kernel.starts_with("axpy")) {
      auto *y = parameter<int64_t *>(launch, 2);
      for (int64_t n = 0; n < parameter<int64_t>(launch, 3); ++n)
        y[n] = x[n] * parameter<int64_t>(launch, 1);
    } else if (launch.kernel == "bump" || launch.kernel == "sure") {
      for (int64_t n = 0; n < parameter<int64_t>(launch, 1); ++n)
        x[n] += 1;
    }
    if (launch.kernel == "sure" && speak)
      speak(**static_cast<GpuReport **>(launch.parameters[2]));
  }

  Gpu gpu(int device = 0) { return Gpu(*cuda::Stream::create(fake.device(device))); }

  static Tensor numbers(int64_t count) {
    Result<Tensor> tensor = Tensor::create(DType::I64, {count});
    std::span data(reinterpret_cast<int64_t *>(tensor->data()), static_cast<size_t>(count));
    std::iota(data.begin(), data.end(), int64_t(1));
    return *std::move(tensor);
  }
  static std::vector<int64_t> values(const Gpu &gpu, const DeviceTensor &tensor) {
    Result<Tensor> host = gpu.download(tensor);
    EXPECT_TRUE(host);
    const auto *data = reinterpret_cast<const int64_t *>(host->data());
    return {data, data + host->numElements()};
  }
  ArtifactFunction function(const std::string &name) {
    Result<ArtifactFunction> found = artifact->function(name);
    EXPECT_TRUE(found) << found.error().str();
    return *found;
  }
  std::vector<std::string> launched() const {
    std::vector<std::string> names;
    for (const FakeLaunch &launch : fake.launches)
      names.push_back(launch.kernel);
    return names;
  }

  std::optional<Artifact> artifact;
  std::function<void(GpuReport &)> speak;
};

using Names = std::vector<std::string>;

//===-- Which code runs ---------------------------------------------------===//

TEST_F(ArtifactDevice, TheFirstVariantThatDeviceAndGuardAllowRuns) {
  Gpu here = gpu();
  for (int64_t count : {5, 8, 9, 5}) {
    DeviceTensor x = *here.upload(numbers(count));
    Result<NamedDeviceTensors> outputs = function("axpy").launch(here, {{"x", x}, {"k", 10}});
    ASSERT_TRUE(outputs) << outputs.error().str();
    std::vector<int64_t> expected(count);
    for (int64_t n = 0; n < count; ++n)
      expected[n] = 10 * (n + 1);
    EXPECT_EQ(values(here, outputs->at("y")), expected);
    EXPECT_EQ(fake.launches.back().config.gridDimX, (count + 3) / 4);
    EXPECT_EQ(fake.launches.back().config.blockDimX, 128u);
    EXPECT_EQ(fake.launches.back().config.hStream, here.stream()->handle());
  }
  EXPECT_EQ(launched(), Names({"axpy_small", "axpy_small", "axpy_90", "axpy_small"}));
  EXPECT_EQ(fake.count("moduleLoadDataEx"), 2); // each once
}

TEST_F(ArtifactDevice, DevicesGetTheNewestCodeTheyCanRun) {
  const std::pair<std::pair<int, int>, const char *> cases[] = {
      {{8, 0}, "axpy_80"}, {{8, 6}, "axpy_80"},  {{8, 9}, "axpy_80"},
      {{9, 0}, "axpy_90"}, {{10, 0}, "axpy_80"}, {{12, 1}, "axpy_80"}};
  for (auto [capability, name] : cases) {
    fake.devices[0].setCapability(capability.first, capability.second);
    load(testArtifact());
    Gpu here = gpu();
    ASSERT_TRUE(function("axpy").launch(here, {{"x", *here.upload(numbers(9))}}));
    EXPECT_EQ(fake.launches.back().kernel, name) << capability.first << "." << capability.second;
  }
}

TEST_F(ArtifactDevice, SaysForWhatThereIsNoCode) {
  ArtifactData data = testArtifact();
  data.kernels[0].cuda.pop_back();
  data.images.push_back({"x86_64-linux", "x86-64-v3", {}, 7, {}});
  data.kernels[0].variants.push_back({{}, {}, 0, "axpy"});
  load(data);
  fake.devices[0].name = "NVIDIA A10";
  fake.devices[0].setCapability(8, 6);
  {
    Gpu here = gpu();
    auto result = function("axpy").launch(here, {{"x", *here.upload(numbers(9))}});
    expectError(result, "the artifact has code of `axpy` for sm_90a and x86-64-v3; device 0, "
                        "NVIDIA A10, has compute capability 8.6");
    EXPECT_EQ(result.error().hint, "compile it with --target=sm_86, too");
  }
  data.kernels[0].cuda.pop_back(); // what runs where N <= 8 is left
  load(data);
  fake.devices[0].setCapability(9, 0);
  Gpu here = gpu();
  expectError(function("axpy").launch(here, {{"x", *here.upload(numbers(9))}}),
              "the artifact has no code of `axpy` for N = 9 on device 0, NVIDIA A10, only where "
              "`N <= 8`");
  // The other way round: nothing for this processor.
  expectError(function("bump").launch({{"x", numbers(3)}}),
              "the artifact has no code of `bump` for processors");
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(ArtifactDevice, MachineCodeComesBeforePtx) {
  ArtifactData data = testArtifact();
  CudaVariant &variant = data.kernels[1].cuda[0];
  variant = cudaVariant("sm_90a", "of_cubin"); // what the fake has in every cubin
  std::string elf(64, '\0');
  elf.replace(0, 5,
              "\x7f"
              "ELF\x02");
  elf[18] = char(190); // EM_CUDA
  variant.cubin = bytesOf(elf);
  load(data);
  Gpu here = gpu();
  DeviceTensor x = *here.upload(numbers(3));
  ASSERT_TRUE(function("bump").launch(here, {{"x", x}}));
  EXPECT_EQ(fake.lastImage, "");
  // What the driver refuses, or what is damaged, is compiled from PTX.
  variant.cubin.resize(20);
  load(data);
  ASSERT_TRUE(function("bump").launch(here, {{"x", x}}));
  EXPECT_NE(fake.lastImage.find(".target sm_90a"), std::string::npos);
}

/// bump, with a map of rows of 8 elements of x, whose last may be missing, persistent, and
/// started early.
static ArtifactData artifactWithMap() {
  ArtifactData data = testArtifact();
  CudaCode &code = data.kernels[1].cuda[0].code;
  Signature &rules = data.kernels[1].signature;
  rules.params[0].shape = {rules.params[0].shape[0], {"8", {constant(8)}, {}}};
  code.target = "sm_90a";
  code.maps = {{0, 8, {{constant(8)}, {dim(0)}}, {4, 2}, 32}};
  code.isPersistent = true;
  code.startsEarly = true;
  return data;
}

TEST_F(ArtifactDevice, TensorMapsAreThoseOfTheLaunch) {
  load(artifactWithMap());
  std::vector<cuda::CUtensorMap> maps;
  fake.play = [&](const FakeLaunch &launch) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(launch.parameters[2]) % 64, 0u);
    maps.push_back(parameter<cuda::CUtensorMap>(launch, 2));
  };
  Gpu here = gpu();
  Tensor rows = *Tensor::create(DType::I64, {9, 8});
  DeviceTensor x = *here.upload(rows);
  auto outputs = function("bump").launch(here, {{"x", x}});
  ASSERT_TRUE(outputs) << outputs.error().str();
  ASSERT_EQ(maps.size(), 1u);
  const uint64_t *parts = maps[0].opaque; // as the fake driver writes them
  EXPECT_EQ(parts[0], uint64_t(cuda::CU_TENSOR_MAP_DATA_TYPE_UINT64));
  EXPECT_EQ(parts[1], 2u);
  EXPECT_EQ(parts[2], outputs->at("x").address());
  EXPECT_EQ(parts[3], uint64_t(cuda::CU_TENSOR_MAP_SWIZZLE_32B));
  EXPECT_EQ(parts[6], uint64_t(8) << 32 | 4 << 8 | 1);
  EXPECT_EQ(parts[7], uint64_t(9) << 32 | 2 << 8 | 1);
  EXPECT_EQ(parts[12], 64u);
  EXPECT_EQ(fake.launches.back().config.gridDimX, 3u); // as many as there are programs
  const auto &attributes = fake.launches.back().attributes;
  ASSERT_EQ(attributes.size(), 1u);
  EXPECT_EQ(attributes[0].id, cuda::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
}

TEST_F(ArtifactDevice, PersistentKernelsHaveTheBlocksThatRunAtOnce) {
  load(artifactWithMap());
  fake.play = [](const FakeLaunch &) {};
  Gpu here = gpu();
  auto blocksFor = [&](int64_t count) {
    DeviceTensor x = *here.upload(*Tensor::create(DType::I64, {count, 8}));
    auto outputs = function("bump").launch(here, {{"x", x}});
    EXPECT_TRUE(outputs) << outputs.error().str();
    return fake.launches.back().config.gridDimX;
  };
  uint32_t most = fake.device(0)->properties().multiprocessors * 2048 / 128; // as the fake says
  EXPECT_EQ(blocksFor(4 * most - 4), most - 1);
  EXPECT_EQ(blocksFor(4 * most + 4), most);
  EXPECT_EQ(blocksFor(40 * most), most);
  // A tensor without elements has no map, and no programs.
  fake.launches.clear();
  DeviceTensor none = *here.upload(*Tensor::create(DType::I64, {0, 8}));
  int encoded = fake.numEncoded;
  EXPECT_TRUE(function("bump").launch(here, {{"x", none}}));
  EXPECT_TRUE(fake.launches.empty());
  EXPECT_EQ(fake.numEncoded, encoded);
}

TEST_F(ArtifactDevice, SaysWhichTensorBulkCopiesDontTake) {
  ArtifactData data = artifactWithMap();
  data.kernels[1].cuda[0].code.maps[0].box = {8, 2}; // 64 bytes in spans of 32
  load(data);
  Gpu here = gpu();
  DeviceTensor x = *here.upload(*Tensor::create(DType::I64, {9, 8}));
  expectError(function("bump").launch(here, {{"x", x}}),
              "`bump`, parameter 1: a tensor map can't have a box of 64 bytes along its innermost "
              "dimension with a swizzle of 32");
}

TEST_F(ArtifactDevice, TheDriversErrorsComeThrough) {
  Gpu here = gpu();
  DeviceTensor x = *here.upload(numbers(3));
  fake.jitResult = cuda::CUDA_ERROR_INVALID_PTX;
  fake.jitErrors = "line 5: syntax error";
  expectError(function("bump").launch(here, {{"x", x}}), "line 5: syntax error");
  fake.jitResult = cuda::CUDA_SUCCESS;
  EXPECT_TRUE(function("bump").launch(here, {{"x", x}})); // nothing of it was kept
  fake.failures["launchKernelEx"] = cuda::CUDA_ERROR_INVALID_VALUE;
  expectError(function("bump").launch(here, {{"x", x}}), "kernel 'bump' can't be launched");
}

//===-- What it runs on ---------------------------------------------------===//

TEST_F(ArtifactDevice, ArgumentsAreNotChanged) {
  Gpu here = gpu();
  DeviceTensor x = *here.upload(numbers(5));
  Result<NamedDeviceTensors> outputs = function("bump").launch(here, {{"x", x}});
  ASSERT_TRUE(outputs) << outputs.error().str();
  EXPECT_EQ(values(here, outputs->at("x")), (std::vector<int64_t>{2, 3, 4, 5, 6}));
  EXPECT_EQ(values(here, x), (std::vector<int64_t>{1, 2, 3, 4, 5}));
}

TEST_F(ArtifactDevice, OutputsMayBeGiven) {
  Gpu here = gpu();
  DeviceTensor x = *here.upload(numbers(3)), y = *here.create(DType::I64, {3});
  for (const char *name : {"axpy", "twice"}) {
    auto outputs = function(name).launch(here, {{"x", x}, {"k", 5}, {"y", y}});
    ASSERT_TRUE(outputs) << outputs.error().str();
    EXPECT_EQ(outputs->at("y").address(), y.address());
  }
  EXPECT_EQ(values(here, y), (std::vector<int64_t>{10, 20, 30}));
  for (const char *name : {"axpy", "twice"}) {
    EXPECT_FALSE(
        function(name).launch(here, {{"x", x}, {"k", 1}, {"y", *here.create(DType::I64, {4})}}));
    EXPECT_FALSE(
        function(name).launch(here, {{"x", x}, {"k", 1}, {"y", *here.create(DType::F64, {3})}}));
    EXPECT_FALSE(function(name).launch(here, {{"x", x}, {"k", 1}, {"y", 7}}));
    expectError(function(name).launch(here, {{"x", x}, {"k", 1}, {"y", x}}),
                "`y` of `" + std::string(name) + "`, which is written, overlaps `x`");
  }
}

TEST_F(ArtifactDevice, TensorsHaveToBeWhereItRuns) {
  fake.devices.emplace_back();
  Gpu here = gpu(), there = gpu(1);
  Tensor host = numbers(3);
  DeviceTensor x = *here.upload(host), other = *there.upload(host);
  expectError(function("axpy").launch(here, {{"x", host}}),
              "`x` is i64[3] in the host's memory, and the launch runs on device 0");
  expectError(function("axpy").launch(here, {{"x", other}}),
              "`x` is i64[3] on device 1, and the launch runs on device 0");
  expectError(function("axpy").launch(here, {{"x", x}, {"y", *there.create(DType::I64, {3})}}),
              "`y` is i64[3] on device 1, and the launch runs on device 0");
  expectError(function("axpy").launch({{"x", x}}),
              "`x` is i64[3] on device 0, and the launch runs on the processor");
  expectError(function("axpy").prepare(here, {{"x", host}}), "in the host's memory");
  expectError(function("axpy").prepare(here, {{"x", 3}}), "`x` of `axpy` is a tensor");
  EXPECT_FALSE(function("axpy").launch(here, {{"x", *here.create(DType::F64, {3})}}));
  EXPECT_FALSE(function("axpy").launch(here, {{"x", x}, {"w", x}}));
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(ArtifactDevice, GpusOfOneDeviceShareItsCode) {
  Gpu first = gpu(), second(*cuda::Stream::create(*cuda::Device::open(fake.driver(), 0)));
  DeviceTensor x = *first.upload(numbers(3));
  ASSERT_TRUE(function("bump").launch(first, {{"x", x}}));
  ASSERT_TRUE(function("bump").launch(second, {{"x", x}}));
  EXPECT_EQ(fake.count("moduleLoadDataEx"), 1);
  EXPECT_EQ(fake.launches[1].config.hStream, second.stream()->handle());
}

TEST_F(ArtifactDevice, ReduceOutputsHaveAllTheirStages) {
  Gpu here = gpu();
  auto outputs = function("total").launch(here, {{"x", *here.upload(numbers(9))}});
  ASSERT_TRUE(outputs) << outputs.error().str();
  ASSERT_EQ(launched(), Names({"total_start", "total", "total_finish"}));
  const FakeLaunch &main = fake.launches[1];
  EXPECT_EQ(main.config.gridDimX, 3u); // as many as copies
  EXPECT_EQ(fake.launches[2].config.sharedMemBytes, 64u);
  EXPECT_EQ(fake.launches[0].config.blockDimX, 256u);
}

// With few elements the last block folds the copies: a stage less, and a counter that starts at 0.
TEST_F(ArtifactDevice, FewSumsNeedNoLastKernel) {
  ArtifactData data = testArtifact();
  data.kernels[2].cuda[0].code.foldsItself = true;
  load(data);
  std::vector<std::optional<uint32_t>> counters;
  fake.play = [&](const FakeLaunch &launch) {
    auto *counter = launch.kernel == "total" ? parameter<uint32_t *>(launch, 6) : nullptr;
    if (launch.kernel == "total")
      counters.push_back(counter ? std::optional(*counter) : std::nullopt);
  };
  Gpu here = gpu();
  auto folded = function("total").launch(here, {{"x", *here.upload(numbers(4))}});
  ASSERT_TRUE(folded) << folded.error().str();
  ASSERT_TRUE(here.download(folded->at("s")));
  EXPECT_EQ(launched(), Names({"total_start", "total"}));
  fake.launches.clear();
  auto many = function("total").launch(here, {{"x", *here.upload(numbers(5))}});
  ASSERT_TRUE(many) << many.error().str();
  ASSERT_TRUE(here.download(many->at("s")));
  EXPECT_EQ(launched(), Names({"total_start", "total", "total_finish"}));
  EXPECT_EQ(counters, (std::vector<std::optional<uint32_t>>{0, std::nullopt}));
}

// Blocks with different places of a kept binder share a copy. With one copy they store what they
// have, and nothing follows.
TEST_F(ArtifactDevice, BlocksWithDifferentElementsShareCopies) {
  struct Case {
    uint32_t threads;
    int64_t elements;
    unsigned copies;
    bool finishes;
  };
  // A binder has a block for every four elements. Blocks of 128 threads are 512 at most, of more
  // threads 256.
  for (const Case &c : {Case{128, 9, 6, true}, Case{128, 400, 5, true}, Case{128, 1200, 1, false},
                        Case{256, 400, 2, true}, Case{1024, 400, 2, true}}) {
    SCOPED_TRACE(std::to_string(c.threads) + " threads, " + std::to_string(c.elements));
    ArtifactData data = testArtifact();
    CudaCode &code = data.kernels[2].cuda[0].code;
    Program blocks = code.programs[0];
    code.programs = {{constant(6)}, blocks};
    code.keptBinders = {1};
    code.storesAlone = true;
    code.function.threads = c.threads;
    load(data);
    // Parameters are there only while it is launched.
    std::vector<std::array<uint64_t, 2>> given;
    fake.play = [&](const FakeLaunch &launch) {
      if (launch.kernel == "total")
        given.push_back({parameter<uint64_t>(launch, 4), parameter<uint64_t>(launch, 5)});
    };
    Gpu here = gpu();
    fake.launches.clear();
    ASSERT_TRUE(function("total").launch(here, {{"x", *here.upload(numbers(c.elements))}}));
    ASSERT_GE(launched().size(), 2u);
    unsigned places = static_cast<unsigned>((c.elements + 3) / 4);
    EXPECT_EQ(fake.launches[1].config.gridDimX, places * c.copies);
    EXPECT_EQ(given, (std::vector<std::array<uint64_t, 2>>{{c.copies, 6u * places}}));
    EXPECT_EQ(launched().size() == 3, c.finishes);
  }
}

//===-- Prepared calls and graphs -----------------------------------------===//

TEST_F(ArtifactDevice, PreparedCallsRunOnWhatTheirTensorsHold) {
  Gpu here = gpu();
  DeviceTensor x = *here.upload(numbers(2));
  {
    Result<ArtifactCall> call = function("bump").prepare(here, {{"x", x}});
    ASSERT_TRUE(call) << call.error().str();
    EXPECT_TRUE(fake.launches.empty());
    for (int n = 0; n < 3; ++n)
      ASSERT_TRUE((*call)());
    EXPECT_EQ(values(here, call->output("x")), (std::vector<int64_t>{4, 5}));
    EXPECT_EQ(call->output("x").address(), x.address());
  }
  DeviceTensor y;
  {
    Result<ArtifactCall> call = function("twice").prepare(here, {{"x", x}, {"k", 5}});
    ASSERT_TRUE(call) << call.error().str();
    for (int n = 0; n < 5; ++n)
      ASSERT_TRUE((*call)());
    y = call->output("y");
  }
  EXPECT_EQ(values(here, y), (std::vector<int64_t>{40, 50})); // its memory is its own
}

TEST_F(ArtifactDevice, WhatHasTwoLaunchesBecomesAGraph) {
  Gpu here = gpu();
  DeviceTensor x = *here.upload(numbers(9));
  struct Case {
    const char *name;
    std::vector<NamedLaunchArgument> given;
    bool isGraph;
  };
  // A launch; two calls; a kernel, and what folds its copies.
  for (const Case &c : {Case{"bump", {{"x", x}}, false}, Case{"twice", {{"x", x}, {"k", 1}}, true},
                        Case{"total", {{"x", x}}, true}}) {
    SCOPED_TRACE(c.name);
    Result<ArtifactCall> call = function(c.name).prepare(here, c.given);
    ASSERT_TRUE(call) << call.error().str();
    int before = fake.count("graphLaunch");
    constexpr int graphs = 3;
    for (unsigned n = 0; n < PreparedRun::runsBeforeGraph + graphs; ++n)
      ASSERT_TRUE((*call)());
    EXPECT_EQ(fake.count("graphLaunch") - before, c.isGraph ? graphs : 0);
  }
}

TEST_F(ArtifactDevice, GraphsRunCallAfterCall) {
  Gpu here = gpu();
  DeviceTensor x = *here.upload(numbers(9));
  auto outputs = function("twice").launch(here, {{"x", x}, {"k", 3}});
  ASSERT_TRUE(outputs) << outputs.error().str();
  EXPECT_EQ(values(here, outputs->at("y")),
            (std::vector<int64_t>{6, 12, 18, 24, 30, 36, 42, 48, 54}));
  EXPECT_EQ(launched(), Names({"axpy_90", "axpy_90"}));
  EXPECT_EQ(values(here, x).front(), 1);
}

//===-- What kernels say --------------------------------------------------===//

TEST_F(ArtifactDevice, AssertionsAreErrors) {
  Gpu here = gpu();
  DeviceTensor x = *here.upload(numbers(3));
  auto result = function("sure").launch(here, {{"x", x}});
  ASSERT_TRUE(result) << result.error().str(); // it says nothing
  speak = [](GpuReport &report) {
    report.failedProgram = 1;
    report.values[0] = 4;
    report.values[1] = 6;
  };
  result = function("sure").launch(here, {{"x", x}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "a.tile:3:5: assertion failed: positive, at [i = 6] (in the "
                                    "program at i = 4)");
  result = function("safe").launch(here, {{"x", x}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().notes, (std::vector<std::string>{"a.tile:12:1: called here"}));
  expectError(function("sure").prepare(here, {{"x", x}}),
              "`sure` asserts or prints, and a prepared call says nothing");
}

TEST_F(ArtifactDevice, WhatRunsAgainBeginsAnew) {
  // More is said than there is room for, the first time: what was changed is put back.
  Gpu here = gpu();
  DeviceTensor x = *here.upload(numbers(3));
  for (const char *name : {"sure", "safe"}) {
    int runs = 0;
    speak = [&](GpuReport &report) { report.used = ++runs == 1 ? report.capacity + 8 : 0; };
    auto result = function(name).launch(here, {{"x", x}});
    ASSERT_TRUE(result) << result.error().str();
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(values(here, result->begin()->second), (std::vector<int64_t>{2, 3, 4}));
  }
  EXPECT_EQ(values(here, x), (std::vector<int64_t>{1, 2, 3}));
  uint64_t growing = 1 << 20;
  speak = [&](GpuReport &report) { report.used = growing *= 4; };
  expectError(function("sure").launch(here, {{"x", x}}), "prints more each time");
}

} // namespace
