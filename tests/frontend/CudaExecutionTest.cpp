// Kernels on a device, as far as no device is needed: what the fake driver says comes to the user.

#include "dsl/Elaborator.h"
#include "frontend/execute/Execution.h"
#include "runtime/artifact/GpuReport.h"
#include "tests/runtime/CudaFake.h"

#include "mlir/IR/Diagnostics.h"

using namespace tile;
using namespace tile::frontend;
using runtime::cuda::test::FakeLaunch;

namespace {

constexpr const char *halves = R"(
kernel halves(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        y[i, j] = x[i, j] / 2
    }
} schedule { i = 16; j = 64 }
)";

/// With this schedule.
std::string turned(const std::string &schedule) {
  return "\nkernel turned(x: f32[M, N]) -> (y: f32[N, M]) {\n"
         "    parallel i in tiles(M), j in tiles(N) {\n"
         "        y[j, i] = x[i, j]\n"
         "    }\n"
         "} " +
         schedule + "\n";
}

struct Result {
  /// Empty if it ran.
  std::string error, hint;
  /// Errors and remarks with their lines.
  std::vector<std::string> said;
  std::string printed;
};

class CudaExecution : public runtime::cuda::test::CudaTest {
protected:
  /// Runs the last kernel of a text on a tensor of ones.
  Result run(const std::string &text, std::vector<int64_t> shape, int index = 0,
             bool sanitizes = false) {
    Result result;
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.printOpOnDiagnostic(false);
    dsl::DiagnosticEngine diags;
    dsl::Program program(diags, {});
    dsl::Elaborator elaborator(context, program, diags);
    dsl::LoadedFile *file = program.load("test.tile", text);
    auto symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
    EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false);
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      auto place = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
      std::string line = place ? std::to_string(place.getLine()) + ": " : "";
      result.said.push_back(line + diagnostic.str());
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        result.said.push_back(note.str());
    });
    Compiler compiler;
    Executor executor(compiler, elaborator.module(), Device::Cuda);
    executor.driver = fake.driver();
    executor.deviceIndex = index;
    executor.sanitizes = sanitizes;
    executor.print = [&](llvm::StringRef lines) { result.printed += lines; };
    auto tensor = std::make_shared<runtime::Tensor>(
        *runtime::Tensor::create(runtime::DType::F32, std::move(shape)));
    auto outputs = executor.run(symbol, {{tensor}}, {});
    if (!outputs) {
      Failure failure = outputs.takeFailure();
      result.error = failure.kind == Failure::Kind::Reported ? "reported" : failure.message;
      result.hint = failure.hint;
    }
    return result;
  }
};

using Lines = std::vector<std::string>;

TEST_F(CudaExecution, runs) {
  Result result = run(halves, {40, 100});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.said, Lines());
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].config.gridDimX, 6u);
}

TEST_F(CudaExecution, spilledRegistersAreARemarkAtTheKernel) {
  fake.functionAttributes[runtime::cuda::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = 48;
  Result result = run(halves, {40, 100});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.said,
            Lines({"2: kernel `halves` spills registers: a thread keeps 48 bytes in local memory",
                   "hint: smaller tile sizes (--set BINDER=SIZE), or more `warps` in the schedule, "
                   "leave a thread less to hold"}));
}

TEST_F(CudaExecution, noSuchDevice) {
  EXPECT_EQ(run(halves, {1, 1}, 1).error, "there is no CUDA device 1: this machine shows one, 0");
  fake.devices.emplace_back();
  EXPECT_EQ(run(halves, {1, 1}, 1).error, "");
  EXPECT_EQ(run(halves, {1, 1}, 2).error,
            "there is no CUDA device 2: this machine shows 2, 0 to 1");
}

TEST_F(CudaExecution, outOfDeviceMemory) {
  fake.devices[0].memory = fake.usedElsewhere + (1 << 20);
  Result result = run(halves, {512, 512});
  EXPECT_EQ(result.error,
            "device 0, Fake 9000, has no 1.0 MiB left; 1.0 MiB of 1.0 GiB are free: out of memory "
            "(CUDA_ERROR_OUT_OF_MEMORY)");
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(CudaExecution, moreSharedMemoryThanATargetHas) {
  Result result = run(turned("schedule cuda { i = 256; j = 512 }"), {512, 512});
  EXPECT_EQ(result.error, "reported");
  ASSERT_EQ(result.said.size(), 2u);
  EXPECT_EQ(result.said[0].find("6: with `j = 512` the kernel needs "), 0u) << result.said[0];
  EXPECT_NE(result.said[0].find("of shared memory a program; sm_90a has 232448"),
            std::string::npos);
  EXPECT_EQ(result.said[1], "hint: smaller tile sizes need less: `j` is 512, `i` is 256 (--set "
                            "i=128 --set j=256)");
  EXPECT_TRUE(fake.launches.empty());
  // What the hint says fits.
  EXPECT_EQ(run(turned("schedule cuda { i = 128; j = 256 }"), {512, 512}).error, "");
}

/// Sizes that nobody asked for on a GPU are not insisted on, and launches are of those that are
/// compiled.
TEST_F(CudaExecution, tilesThatAreTooLargeBecomeSmaller) {
  Result result = run(turned("schedule { i = 256; j = 512 }"), {512, 512});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.said,
            Lines({"2: kernel `turned` gets tiles of i = 128, j = 256: with i = 256, j = 512 it "
                   "needs 525312 bytes of shared memory a program; sm_90a has 232448",
                   "hint: sizes in `schedule cuda`, or given by --set BINDER=SIZE, stay"}));
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].config.gridDimX, 8u);
}

/// Of several sizes in `schedule cuda` the next smaller one.
TEST_F(CudaExecution, candidatesAreNotLeft) {
  Result result = run(turned("schedule cuda { i = [300, 8]; j = [512, 4] }"), {512, 512});
  EXPECT_EQ(result.error, "");
  ASSERT_EQ(result.said.size(), 2u);
  EXPECT_EQ(result.said[0].find("2: kernel `turned` gets tiles of j = 4: with j = 512 it needs"),
            0u)
      << result.said[0];
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].config.gridDimX, 2 * 128u);
}

//===-- What kernels say --------------------------------------------------===//

constexpr const char *speaking = R"(
kernel speaking(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        print("block", M, x[i, j])
        assert(x[i, j] < 7, "too much")
        y[i, j] = x[i, j]
    }
} schedule { i = 2; j = 4 }
)";

using runtime::GpuReport;

/// The report of a launch of the kernel above, which has four parameters before it.
GpuReport &reportOf(const FakeLaunch &launch) {
  return **static_cast<GpuReport **>(launch.parameters[4]);
}

/// What the kernel's code writes: a print of a block of ones, times `number`, in a 2 × 4 tile.
void print(GpuReport &report, int64_t program, int64_t rows, float number) {
  struct Record {
    runtime::GpuRecord head;
    int64_t m, data, defined, i[3], j[3];
    float elements[8];
  } record{{program, 1, sizeof(Record)},
           5,
           offsetof(Record, elements),
           0,
           {2 * program, 2 * program + rows, 4},
           {0, 3, 1},
           {}};
  for (float &element : record.elements)
    element = number;
  if (report.used + sizeof record <= report.capacity)
    std::memcpy(reinterpret_cast<std::byte *>(&report + 1) + report.used, &record, sizeof record);
  report.used += sizeof record;
}

TEST_F(CudaExecution, printsComeInTheOrderOfPrograms) {
  fake.play = [](const FakeLaunch &launch) {
    print(reportOf(launch), 2, 1, 3);
    print(reportOf(launch), 0, 2, 1);
    print(reportOf(launch), 1, 2, 2);
  };
  Result result = run(speaking, {5, 3});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.printed, "block 5 "
                            "[i = 0, 1, j = 0, …, 2]\n  i = 0: 1, 1, 1\n  i = 1: 1, 1, 1\n"
                            "block 5 "
                            "[i = 2, 3, j = 0, …, 2]\n  i = 2: 2, 2, 2\n  i = 3: 2, 2, 2\n"
                            "block 5 "
                            "[i = 4, j = 0, …, 2]\n  i = 4: 3, 3, 3\n");
  EXPECT_EQ(fake.launches.size(), 1u);
}

TEST_F(CudaExecution, theLowestFailureCounts) {
  fake.play = [](const FakeLaunch &launch) {
    GpuReport &report = reportOf(launch);
    print(report, 2, 1, 3);
    print(report, 0, 2, 1);
    print(report, 1, 2, 2);
    report.failedProgram = 1;
    report.failedSite = 2;
    int64_t values[] = {2, 0, 3, 1};
    std::copy(std::begin(values), std::end(values), report.values);
  };
  Result result = run(speaking, {5, 3});
  EXPECT_EQ(result.error, "reported");
  EXPECT_EQ(result.said, Lines({"5: assertion failed: too much, at [i = 3, j = 1] (in the program "
                                "at i = 2, j = 0)"}));
  EXPECT_NE(result.printed.find("[i = 2, 3,"), std::string::npos) << result.printed;
  EXPECT_EQ(result.printed.find("[i = 4"), std::string::npos) << result.printed;
}

TEST_F(CudaExecution, morePrintsThanThereIsRoomForRunOnceMore) {
  int64_t count = 0;
  fake.play = [&](const FakeLaunch &launch) {
    GpuReport &report = reportOf(launch);
    while (report.used < 2 << 20)
      print(report, 0, 2, 1);
    count = static_cast<int64_t>(report.used);
  };
  Result result = run(speaking, {5, 3});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(fake.launches.size(), 2u);
  EXPECT_EQ(std::count(result.printed.begin(), result.printed.end(), 'k'), count / 128);
  // Each time more than before: that ends.
  uint64_t growing = 1 << 20;
  fake.play = [&](const FakeLaunch &launch) { reportOf(launch).used = growing *= 4; };
  EXPECT_EQ(run(speaking, {5, 3}).error, "`speaking` prints more each time that it is launched");
}

TEST_F(CudaExecution, whatMakesNoSenseIsNotSaid) {
  auto damage = [&](auto change) {
    fake.play = [=](const FakeLaunch &launch) {
      GpuReport &report = reportOf(launch);
      print(report, 0, 2, 1);
      change(report, reinterpret_cast<int64_t *>(&report + 1));
    };
    Result result = run(speaking, {5, 3});
    EXPECT_EQ(result.error, "what a kernel said on the device can't be read: its code and this "
                            "program don't belong together");
    EXPECT_EQ(result.printed, "");
  };
  damage([](GpuReport &, int64_t *record) { record[1] = 99; });
  damage([](GpuReport &, int64_t *record) { record[1] = 0; });
  damage([](GpuReport &, int64_t *record) { record[2] = 0; });
  damage([](GpuReport &, int64_t *record) { record[2] = -1; });
  damage([](GpuReport &, int64_t *record) { record[4] = 1 << 30; });
  damage([](GpuReport &, int64_t *record) { record[2] = 32; });
  damage([](GpuReport &report, int64_t *) { report.used += 8; });
  damage([](GpuReport &report, int64_t *) { report.failedProgram = 0, report.failedSite = 99; });
}

//===-- What is watched ---------------------------------------------------===//

constexpr const char *copied = R"(
kernel copied(x: f32[M]) -> (y: f32[M]) {
    parallel i in tiles(M) {
        y[i] = x[i]
    }
} schedule { i = 4 }
)";

/// What watched code writes of four elements that a program accesses at an op.
void note(GpuReport &report, int64_t program, uint64_t site, std::vector<int64_t> indices) {
  struct {
    runtime::GpuRecord head;
    int64_t rank, elements[8];
  } record{{program, runtime::gpuAccessRecord | site, sizeof record}, 1, {}};
  for (size_t n = 0; n < indices.size(); ++n) {
    record.elements[2 * n] = 1;
    record.elements[2 * n + 1] = indices[n];
  }
  std::memcpy(reinterpret_cast<std::byte *>(&report + 1) + report.used, &record, sizeof record);
  report.used += sizeof record;
}

void begin(GpuReport &report, int64_t program) {
  int64_t record[] = {program, int64_t(runtime::gpuProgramRecord), 32, 4 * program};
  std::memcpy(reinterpret_cast<std::byte *>(&report + 1) + report.used, record, sizeof record);
  report.used += sizeof record;
}

TEST_F(CudaExecution, watchedAccessesAreToldAsOnTheCpu) {
  auto play = [&](std::vector<int64_t> read, std::vector<int64_t> written) {
    fake.play = [=](const FakeLaunch &launch) {
      GpuReport &report = **static_cast<GpuReport **>(launch.parameters[3]);
      for (int64_t program : {1, 0}) {
        begin(report, program);
        note(report, program, 0, program ? std::vector<int64_t>{4, 5, 6, 7} : read);
        note(report, program, 1, program ? std::vector<int64_t>{4, 5, 6, 7} : written);
      }
    };
    return run(copied, {8}, 0, /*sanitizes=*/true);
  };
  Result right = play({0, 1, 2, 3}, {0, 1, 2, 3});
  EXPECT_EQ(right.error, "");
  EXPECT_EQ(right.said, Lines());
  // What is outside, what nobody stores, and what two programs store.
  Result outside = play({0, 1, 2, 9}, {0, 1, 2, 3});
  EXPECT_EQ(outside.error, "reported");
  ASSERT_FALSE(outside.said.empty());
  EXPECT_EQ(outside.said[0], "4: `x[9]` is outside [0, 8) (in the program at i = 0)");
  EXPECT_EQ(play({0, 1, 2, 3}, {0, 1, 2}).said, Lines({"2: `y[3]` is never stored"}));
  EXPECT_EQ(play({0, 1, 2, 3}, {0, 1, 2, 4}).said,
            Lines({"4: the program at i = 4 stores `y[4]`, which the one at i = 0 stores",
                   "2: `y[3]` is never stored"}));
}

} // namespace
