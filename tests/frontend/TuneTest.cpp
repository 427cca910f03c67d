// Finding schedules by measuring: what is tried, what is kept, and that it is found again. The
// device is one of the test's, whose times follow from the schedule.

#include "dsl/Elaborator.h"
#include "frontend/execute/ExecutionImpl.h"
#include "frontend/tune/TuneSpace.h"
#include "frontend/tune/Tuner.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/cpu/CpuFeatures.h"
#include "tests/runtime/TestSupport.h"

#include <cmath>
#include <fstream>

using namespace tile;
using namespace tile::frontend;

namespace {
constexpr const char *openSource = R"(
kernel twice(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x[i, j] * 2 }
})";
constexpr const char *listedSource = R"(
kernel twice(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x[i, j] * 2 }
} schedule { i = [1, 64, 1024]; j = 8; stages = [3, 4] })";

/// A text with one kernel.
struct ParsedKernel {
  explicit ParsedKernel(const std::string &text, const std::string &name = "test.tile") {
    dsl::LoadedFile *file = program.load(name, text);
    auto symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
    EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false);
    kernel = cast<ir::KernelOp>(elaborator.module().lookupSymbol(symbol));
  }
  mlir::ModuleOp module() { return elaborator.module(); }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  dsl::DiagnosticEngine diags;
  dsl::Program program{diags, {}};
  dsl::Elaborator elaborator{context, program, diags};
  dsl::DiagnosticBridge bridge{context, program, diags};
  ir::KernelOp kernel;
};

TuneSpace spaceOf(Schedule usual) {
  TuneSpace space;
  space.target = "cpu";
  space.usual = std::move(usual);
  space.largestExtent = 100;
  return space;
}

/// Doublings and halvings between two schedules of the same binders.
double stepsBetween(const Schedule &x, const Schedule &y) {
  double steps = 0;
  for (const auto &[name, size] : x)
    steps += std::abs(std::log2(double(size) / double(y.at(name))));
  return steps;
}

TEST(TuneSpace, OpenBindersGoAroundTheUsualSizes) {
  ParsedKernel parsed(openSource);
  Schedule usual = {{"i", 16}, {"j", 32}};
  auto schedules = schedulesToTry(parsed.kernel, spaceOf(usual), 1000);
  ASSERT_FALSE(schedules.empty());
  EXPECT_EQ(schedules[0], usual);
  double last = 0;
  for (const Schedule &schedule : schedules) {
    EXPECT_LE(last, stepsBetween(schedule, usual)) << "the nearest come first";
    last = stepsBetween(schedule, usual);
    EXPECT_LE(last, 3);
    EXPECT_LE(schedule.at("i"), 64);
    EXPECT_LE(schedule.at("j"), 128) << "four times as many, and no more than cover the data";
  }
  // All within three steps, once: 5 × 5 choices but those with 2 steps each way.
  EXPECT_EQ(schedules.size(), 21u);
  EXPECT_EQ(std::set(schedules.begin(), schedules.end()).size(), schedules.size());
  EXPECT_EQ(schedulesToTry(parsed.kernel, spaceOf(usual), 7).size(), 7u);
}

TEST(TuneSpace, ListsAreTriedAndSingleNumbersStay) {
  ParsedKernel parsed(listedSource);
  Schedule usual = {{"i", 64}, {"j", 8}};
  auto schedules = schedulesToTry(parsed.kernel, spaceOf(usual), 1000);
  std::set<Schedule> all(schedules.begin(), schedules.end());
  EXPECT_EQ(all.size(), 1u + 3 * 2) << "the usual one, and sizes by stages";
  for (int64_t i : {1, 64, 1024})
    for (int64_t stages : {3, 4})
      EXPECT_TRUE(all.contains(Schedule{{"i", i}, {"j", 8}, {"stages", stages}}));
  TuneSpace fixed = spaceOf(usual);
  fixed.fixed = {{"i", 5}};
  for (const Schedule &schedule : schedulesToTry(parsed.kernel, fixed, 1000)) {
    EXPECT_TRUE(schedule == usual || schedule.at("i") == 5);
  }
}

TEST(TuneSpace, WarpsAreTriedWhereTheyMeanSomething) {
  ParsedKernel parsed(openSource);
  TuneSpace space = spaceOf({{"i", 1}, {"j", 1}});
  auto countWith = [&](int64_t warps) {
    return llvm::count_if(schedulesToTry(parsed.kernel, space, 1000),
                          [&](const Schedule &schedule) {
                            auto found = schedule.find("warps");
                            return found != schedule.end() && found->second == warps;
                          });
  };
  EXPECT_EQ(countWith(8), 0);
  space.hasWarps = true;
  EXPECT_GT(countWith(8), 0);
}

TEST(TuneSpace, PipelinesAreTriedWithSplits) {
  ParsedKernel parsed(openSource);
  TuneSpace space = spaceOf({{"i", 1}, {"j", 1}, {"split", 1}});
  auto splits = [&] {
    std::set<int64_t> values;
    for (const Schedule &schedule : schedulesToTry(parsed.kernel, space, 1000))
      values.insert(schedule.at("split"));
    return values;
  };
  EXPECT_EQ(splits(), (std::set<int64_t>{1}));
  space.isPipeline = true;
  EXPECT_EQ(splits(), (std::set<int64_t>{1, 2, 4, 8}));
}

//===-- Measuring ---------------------------------------------------------===//

/// A run takes what `secondsOf` says of its schedule; nothing runs.
class FakeDevice : public BenchDevice {
public:
  std::function<double(const Schedule &)> secondsOf;
  int runs = 0;

  std::string name() const override { return "a fake"; }
  std::optional<DeviceDescription> description() override { return std::nullopt; }
  Outcome<Done> flush() override { return Done{}; }
  Outcome<std::unique_ptr<Contestant>> kernel(Executor &, Executor::Prepared &launch) override {
    struct Fake : Contestant {
      FakeDevice &device;
      double seconds;
      Fake(FakeDevice &device, double seconds) : device(device), seconds(seconds) {}
      Outcome<double> run() override {
        ++device.runs;
        return seconds;
      }
    };
    Schedule schedule;
    for (const auto &[name, size] : launch.code->bindings.sizes)
      schedule[name.str()] = size;
    return std::unique_ptr<Contestant>(new Fake(*this, secondsOf(schedule)));
  }
  Outcome<std::unique_ptr<Contestant>> graph(Executor &, const std::string &, Arguments,
                                             const llvm::StringMap<int64_t> &) override {
    return Failure::internal("no graphs here");
  }
  Outcome<std::unique_ptr<Contestant>> copy(double) override {
    return Failure::internal("no copies here");
  }
  double largeCopyBytes() const override { return 0; }
  Outcome<std::optional<Resources>> resources(Executor::Prepared &) override {
    return std::optional<Resources>();
  }
};

class Tuning : public runtime::test::FileTest {
protected:
  void SetUp() override {
    FileTest::SetUp();
    file.path = path("k.tuned.json");
    entry.kernel = "twice.f32";
    entry.device = "a fake";
    entry.dims = {{"M", 12}, {"N", 34}};
    for (auto &worker : workers) {
      worker.executor.emplace(worker.compiler, worker.parsed.module(), Device::Cpu);
      tuned.push_back({&*worker.executor, worker.parsed.kernel});
    }
    arguments.push_back({std::make_shared<runtime::Tensor>(
        *runtime::Tensor::create(runtime::DType::F32, {12, 34}))});
    // The best one is i = 8, j = 64.
    device.secondsOf = [](const Schedule &schedule) {
      return 1e-3 * (1 + stepsBetween(schedule, {{"i", 8}, {"j", 64}}));
    };
  }

  Outcome<TuneResult> tune(llvm::ArrayRef<Schedule> schedules, TuneOptions options = {}) {
    options.isWarm = true;
    return Tuner(tuned, arguments, {}, device, file, std::move(options)).run(entry, schedules);
  }

  struct Worker {
    ParsedKernel parsed{openSource};
    Compiler compiler;
    std::optional<Executor> executor;
  };
  std::array<Worker, 2> workers;
  std::vector<TuneWorker> tuned;
  Arguments arguments;
  FakeDevice device;
  TunedFile file;
  TunedSchedule entry;
};

const std::vector<Schedule> threeByThree = {
    {{"i", 4}, {"j", 32}}, {{"i", 2}, {"j", 32}}, {{"i", 8}, {"j", 32}}, {{"i", 4}, {"j", 16}},
    {{"i", 8}, {"j", 16}}, {{"i", 4}, {"j", 64}}, {{"i", 8}, {"j", 64}}, {{"i", 2}, {"j", 64}},
};

TEST_F(Tuning, FindsTheFastestAndKeepsIt) {
  std::vector<size_t> numbers;
  TuneOptions options;
  options.progress = [&](const TuneProgress &progress) {
    numbers.push_back(progress.number);
    EXPECT_EQ(progress.count, threeByThree.size());
    EXPECT_TRUE(progress.reason.empty());
  };
  auto result = tune(threeByThree, options);
  ASSERT_TRUE(bool(result)) << result.takeFailure().message;
  EXPECT_EQ(numbers, (std::vector<size_t>{2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(result->entry.best.schedule, threeByThree[6]);
  EXPECT_DOUBLE_EQ(result->entry.best.seconds, 1e-3);
  EXPECT_DOUBLE_EQ(result->entry.usual.seconds, 3e-3);
  EXPECT_TRUE(result->entry.isFinished());
  auto read = TunedFile::read(file.path);
  ASSERT_TRUE(bool(read));
  TunedSchedule *kept = read->find("twice.f32", "a fake", {{"M", 12}, {"N", 34}});
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->best.schedule, threeByThree[6]);
  EXPECT_EQ(kept->usual.schedule, threeByThree[0]);
  EXPECT_TRUE(kept->isFinished() && kept->tried.empty());
  EXPECT_EQ(read->find("twice.f32", "a fake", {{"M", 12}, {"N", 35}}), nullptr);
  EXPECT_EQ(read->find("twice.f32", "another", {{"M", 12}, {"N", 34}}), nullptr);
}

TEST_F(Tuning, TheUsualScheduleStaysWhereNothingIsGained) {
  device.secondsOf = [](const Schedule &schedule) {
    return schedule == threeByThree[0] ? 1e-3 : schedule == threeByThree[2] ? 0.995e-3 : 2e-3;
  };
  auto result = tune(threeByThree);
  ASSERT_TRUE(bool(result));
  EXPECT_EQ(result->entry.best.schedule, threeByThree[0]) << "half a percent is nothing";
}

TEST_F(Tuning, WhatCannotRunIsToldAndPassedOver) {
  std::vector<Schedule> schedules = threeByThree;
  schedules.insert(schedules.begin() + 1, Schedule{{"i", 4}, {"q", 2}, {"j", 32}});
  std::string reason;
  TuneOptions options;
  options.progress = [&](const TuneProgress &progress) { reason += progress.reason; };
  auto result = tune(schedules, options);
  ASSERT_TRUE(bool(result));
  EXPECT_NE(reason.find("no binder `q`"), std::string::npos) << reason;
  EXPECT_EQ(result->refused, 1u);
  EXPECT_EQ(result->entry.best.schedule, threeByThree[6]);
}

TEST_F(Tuning, GoesOnWhereItWasStopped) {
  std::atomic<bool> stop = false;
  TuneOptions options;
  options.stop = &stop;
  options.progress = [&](const TuneProgress &progress) { stop = progress.number == 4; };
  auto stopped = tune(threeByThree, options);
  ASSERT_TRUE(bool(stopped));
  EXPECT_FALSE(stopped->entry.isFinished());
  EXPECT_EQ(stopped->entry.tried.size(), 3u);
  // As another process finds it, which takes the best so far until then.
  auto read = TunedFile::read(file.path);
  ASSERT_TRUE(bool(read));
  file = *std::move(read);
  TunedSchedule *kept = file.find(entry.kernel, entry.device, entry.dims);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->best.schedule, threeByThree[2]);
  std::vector<size_t> numbers;
  TuneOptions rest;
  rest.progress = [&](const TuneProgress &progress) { numbers.push_back(progress.number); };
  auto result = tune(threeByThree, rest);
  ASSERT_TRUE(bool(result));
  EXPECT_EQ(numbers, (std::vector<size_t>{5, 6, 7, 8})) << "nothing is measured twice";
  EXPECT_EQ(result->entry.best.schedule, threeByThree[6]);
  // Of another compiler, or from another beginning, nothing is taken.
  for (bool isOfOther : {false, true}) {
    stop = false;
    ASSERT_TRUE(bool(tune(threeByThree, options)));
    numbers.clear();
    std::vector<Schedule> schedules = threeByThree;
    if (isOfOther)
      file.entries.front().compiler = "another";
    else
      std::swap(schedules[0], schedules[1]);
    ASSERT_TRUE(bool(tune(schedules, rest)));
    EXPECT_EQ(numbers.size(), threeByThree.size() - 1);
  }
}

TEST_F(Tuning, WhatIsStoppedAtOnceIsInTheFile) {
  std::atomic<bool> stop = true;
  TuneOptions options;
  options.stop = &stop;
  ASSERT_TRUE(bool(tune(threeByThree, options)));
  auto read = TunedFile::read(file.path);
  ASSERT_TRUE(bool(read));
  TunedSchedule *kept = read->find(entry.kernel, entry.device, entry.dims);
  ASSERT_NE(kept, nullptr);
  EXPECT_FALSE(kept->isFinished());
  EXPECT_EQ(kept->best.schedule, threeByThree[0]);
  EXPECT_EQ(kept->candidates, threeByThree.size());
}

TEST_F(Tuning, ASlowCandidateIsRunTwiceAndNoMore) {
  device.secondsOf = [](const Schedule &schedule) {
    return schedule == threeByThree[0] ? 1e-3 : 1;
  };
  ASSERT_TRUE(bool(tune({threeByThree[0], threeByThree[1]})));
  int withOne = device.runs;
  device.runs = 0;
  file.entries.clear();
  ASSERT_TRUE(bool(tune({threeByThree[0], threeByThree[1], threeByThree[2]})));
  EXPECT_EQ(device.runs - withOne, 2);
}

TEST_F(Tuning, WhatWasFoundIsTaken) {
  // Executors ask for a file beside the source.
  std::string source = path("k.tile");
  std::ofstream(source) << openSource;
  ParsedKernel parsed(openSource, source);
  Compiler compiler;
  Executor executor(compiler, parsed.module(), Device::Cpu);
  int64_t dims[] = {12, 34};
  auto none = executor.tunedFor(parsed.kernel, dims);
  ASSERT_TRUE(bool(none));
  EXPECT_EQ(*none, nullptr);
  entry.device = runtime::cpuTitle((*runtime::ThreadPool::global())->numThreads());
  entry.kernel = parsed.kernel.getSymName();
  entry.best.schedule = {{"i", 3}, {"j", 5}};
  file.entries = {entry};
  ASSERT_TRUE(bool(file.write()));
  auto sizesOf = [&](bool isGiven) {
    Compiler fresh;
    Executor executor(fresh, parsed.module(), Device::Cpu);
    if (isGiven)
      executor.sizes.everywhere = {{"i", 7}};
    auto prepared = executor.prepare(parsed.kernel, arguments, {});
    EXPECT_TRUE(bool(prepared));
    const auto &sizes = (*prepared)->code->bindings.sizes;
    return std::pair(sizes.lookup("i"), sizes.lookup("j"));
  };
  EXPECT_EQ(sizesOf(false), std::pair(3L, 5L));
  EXPECT_EQ(sizesOf(true).first, 7) << "what is given comes first";
  EXPECT_NE(sizesOf(true).second, 5);
  // A name that the kernel hasn't any more.
  file.entries.front().best.schedule = {{"ii", 3}};
  ASSERT_TRUE(bool(file.write()));
  EXPECT_NE(sizesOf(false).first, 3);
}
} // namespace
