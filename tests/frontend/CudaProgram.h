// Runs `.tile` text on the fake CUDA driver: the code is compiled as for a device, and what its
// kernels do is done by functions of the test.
#pragma once

#include "dsl/Elaborator.h"
#include "frontend/execute/Execution.h"
#include "tests/runtime/CudaFake.h"
#include "tests/runtime/TestSupport.h"

namespace tile::frontend::test {

using runtime::cuda::test::FakeDriver;
using runtime::cuda::test::FakeLaunch;

/// A text with its kernels and graphs, a compiler, and an executor.
struct CudaProgram {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  dsl::DiagnosticEngine diags;
  dsl::Program program{diags, {}};
  dsl::Elaborator elaborator{context, program, diags};
  dsl::DiagnosticBridge bridge{context, program, diags};
  Compiler compiler;
  std::unique_ptr<Executor> executor;
  std::string symbol;

  CudaProgram(FakeDriver &fake, const std::string &text,
              std::shared_ptr<runtime::Cache> cache = nullptr) {
    dsl::LoadedFile *file = program.load("test.tile", text);
    if (diags.errorCount() == 0)
      symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
    EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false);
    compiler.cache = std::move(cache);
    executor = std::make_unique<Executor>(compiler, elaborator.module(), Device::Cuda);
    executor->driver = fake.driver();
  }

  Outcome<Outputs> run(Arguments arguments) {
    return executor->run(symbol, std::move(arguments), {});
  }
  bool generated() { return compiler.times.contains("gpu-ptx"); }
};

/// A parameter of a launch.
template <typename T>
T parameter(const FakeLaunch &launch, size_t n) {
  T value;
  std::memcpy(&value, launch.parameters[n], sizeof value);
  return value;
}

inline Argument tensorOf(const std::vector<float> &values, runtime::Shape shape) {
  auto tensor = runtime::Tensor::create(runtime::DType::F32, std::move(shape));
  EXPECT_TRUE(tensor && static_cast<size_t>(tensor->numElements()) == values.size());
  std::copy_n(values.begin(), values.size(), reinterpret_cast<float *>(tensor->data()));
  return {std::make_shared<const runtime::Tensor>(*std::move(tensor)), 0};
}

inline std::vector<float> valuesOf(const runtime::Tensor &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.numElements()));
  std::copy_n(reinterpret_cast<const float *>(tensor.data()), values.size(), values.begin());
  return values;
}

} // namespace tile::frontend::test
