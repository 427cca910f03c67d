// What the tests of the interpreter share: kernels from text, tensors of random numbers, and runs
// under all kinds of tile sizes.
#pragma once

#include "ir/interpreter/Interpreter.h"
#include "ir/interpreter/Launch.h"
#include "ir/transforms/Specialize.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace tile::ir::test {

using Dims = std::map<std::string, int64_t>;
using Sizes = std::map<std::string, int64_t>;

/// A dense tensor of T. Outputs start poisoned, so that nothing passes by accident.
template <typename T>
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<T> data;

  explicit Tensor(std::vector<int64_t> extents) : shape(std::move(extents)) {
    int64_t size = 1;
    for (int64_t extent : shape)
      size *= extent;
    data.resize(size);
    poison();
  }

  void poison() {
    if (!data.empty())
      std::memset(data.data(), 0xDB, data.size() * sizeof(T));
  }

  template <typename... I>
  T &operator()(I... index) {
    return data[offset({int64_t(index)...})];
  }
  template <typename... I>
  const T &operator()(I... index) const {
    return data[offset({int64_t(index)...})];
  }
  InterpreterArgument argument() { return InterpreterArgument::tensor(data.data(), shape); }

private:
  int64_t offset(std::initializer_list<int64_t> index) const {
    int64_t result = 0;
    size_t d = 0;
    for (int64_t i : index)
      result = result * shape[d++] + i;
    return result;
  }
};

class IrTest : public ::testing::Test {
protected:
  IrTest() : seed(std::random_device()()), random(seed) {
    context.loadDialect<TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                        mlir::scf::SCFDialect>();
    handler.emplace(&context, [this](mlir::Diagnostic &diagnostic) {
      diagnostics += diagnostic.str() + "\n";
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        diagnostics += note.str() + "\n";
    });
  }

  void TearDown() override {
    if (HasFailure())
      std::cerr << "the inputs came from seed " << seed << "\n";
  }

  /// The kernel of the text; a fresh copy each time.
  KernelOp parse(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << diagnostics << text;
    if (!module)
      return {};
    return *module->getOps<KernelOp>().begin();
  }

  static llvm::StringMap<int64_t> toMap(const std::map<std::string, int64_t> &values) {
    llvm::StringMap<int64_t> result;
    for (const auto &[name, value] : values)
      result[name] = value;
    return result;
  }

  /// Specializes and runs. With `bindDims` the dimensions are constants of the kernel, else they
  /// are given to the run.
  InterpreterResult run(const std::string &text, const Dims &dims, const Sizes &sizes,
                        std::vector<InterpreterArgument> args, bool bindDims = true,
                        const InterpreterOptions &options = {}) {
    KernelOp kernel = parse(text);
    if (!kernel)
      return {"no kernel", std::nullopt};
    Bindings bindings;
    bindings.sizes = toMap(sizes);
    if (bindDims)
      bindings.dims = toMap(dims);
    if (failed(specialize(kernel, bindings)))
      return {"specialize: " + diagnostics, std::nullopt};
    llvm::SmallVector<int64_t> values;
    for (llvm::StringRef name : kernel.getDims().getAsValueRange<mlir::StringAttr>())
      values.push_back(dims.at(name.str()));
    return interpret(kernel, args, values, options);
  }

  /// Runs under each of the sizes, with dimensions bound and open, and programs in three orders.
  /// `check` looks at the outputs after each run; `poison` makes them unusable before.
  template <typename PoisonT, typename CheckT>
  void sweep(const std::string &text, const Dims &dims, const std::vector<Sizes> &allSizes,
             const std::vector<InterpreterArgument> &args, PoisonT poison, CheckT check) {
    using Order = InterpreterOptions::Order;
    for (const Sizes &sizes : allSizes)
      for (bool bindDims : {false, true})
        for (Order order : {Order::RowMajor, Order::Reversed, Order::Shuffled}) {
          std::string name = bindDims ? "bound dims" : "open dims";
          for (const auto &[binder, size] : sizes)
            name += ", " + binder + " = " + std::to_string(size);
          SCOPED_TRACE(name);
          poison();
          InterpreterOptions options;
          options.order = order;
          options.seed = random();
          InterpreterResult result = run(text, dims, sizes, args, bindDims, options);
          ASSERT_TRUE(result.ok()) << result.message;
          check();
          if (HasFailure())
            return;
        }
  }

  template <typename T>
  Tensor<T> uniform(std::vector<int64_t> shape, double low, double high) {
    Tensor<T> tensor(std::move(shape));
    std::uniform_real_distribution<double> distribution(low, high);
    for (T &element : tensor.data)
      element = static_cast<T>(std::is_integral_v<T> ? std::floor(distribution(random))
                                                     : distribution(random));
    return tensor;
  }

  /// |actual − expected| ≤ tolerance · max(1, |expected|), everywhere.
  template <typename T>
  static void expectClose(const Tensor<T> &actual, const Tensor<double> &expected,
                          double tolerance) {
    ASSERT_EQ(actual.shape, expected.shape);
    for (size_t n = 0; n < actual.data.size(); ++n) {
      double bound = tolerance * std::max(1.0, std::fabs(expected.data[n]));
      ASSERT_NEAR(actual.data[n], expected.data[n], bound) << "element " << n;
    }
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::optional<mlir::ScopedDiagnosticHandler> handler;
  std::string diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  uint64_t seed;
  std::mt19937_64 random;
};

} // namespace tile::ir::test
