// Kernels on a device, as far as no device is needed: what the fake driver says comes to the user.

#include "dsl/Elaborator.h"
#include "frontend/Execution.h"
#include "tests/runtime/CudaFake.h"

#include "mlir/IR/Diagnostics.h"

using namespace tile;
using namespace tile::frontend;
using runtime::cuda::test::FakeDriver;

namespace {

constexpr const char *halves = R"(
kernel halves(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        y[i, j] = x[i, j] / 2
    }
} schedule { i = 16; j = 64 }
)";

constexpr const char *turned = R"(
kernel turned(x: f32[M, N]) -> (y: f32[N, M]) {
    parallel i in tiles(M), j in tiles(N) {
        y[j, i] = x[i, j]
    }
} schedule { i = 256; j = 512 }
)";

struct Result {
  /// Empty if it ran.
  std::string error, hint;
  /// Errors and remarks with their lines.
  std::vector<std::string> said;
};

class CudaExecution : public runtime::cuda::test::CudaTest {
protected:
  /// Runs the last kernel of a text on a tensor of ones.
  Result run(const std::string &text, std::vector<int64_t> shape, int index = 0) {
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
  Result result = run(turned, {512, 512});
  EXPECT_EQ(result.error, "reported");
  ASSERT_EQ(result.said.size(), 2u);
  EXPECT_EQ(result.said[0].find("4: needs "), 0u) << result.said[0];
  EXPECT_NE(result.said[0].find("of shared memory a program; sm_90a has 232448"),
            std::string::npos);
  EXPECT_EQ(result.said[1], "hint: a smaller tile size needs less: `j` is 512 (--set j=256)");
  EXPECT_TRUE(fake.launches.empty());
}

} // namespace
