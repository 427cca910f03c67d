//===- ProofsTest.cpp - the proofs against trying all small shapes --------===//
//
// Random indices over random ranges. What the prover accepts must hold for
// every small shape, tried element by element; what it refuses with an example
// must fail for some shape.
//
//===----------------------------------------------------------------------===//

#include "ir/proofs/Proofs.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>

using namespace mlir;
using namespace tile::ir;

namespace {

/// An expression over the names N (the dimension), i, r as text of an affine
/// map and as a function.
struct Random {
  std::string text;
  std::function<int64_t(int64_t n, int64_t i, int64_t r)> value;
};

int64_t floorDivide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  }

  /// A sum of the given variables, maybe divided.
  Random make(ArrayRef<std::string> names, unsigned depth = 0) {
    Random result = sum(names);
    if (depth < 2 && pick(0, 2) == 0) {
      int64_t divisor = pick(2, 4);
      bool isRemainder = pick(0, 1);
      Random inner = result;
      result.text =
          llvm::formatv("(({0}) {1} {2})", inner.text, isRemainder ? "mod" : "floordiv", divisor);
      result.value = [=](int64_t n, int64_t i, int64_t r) {
        int64_t x = inner.value(n, i, r), q = floorDivide(x, divisor);
        return isRemainder ? x - q * divisor : q;
      };
      if (pick(0, 1)) {
        Random more = make(names, depth + 1), before = result;
        result.text = "(" + before.text + " + " + more.text + ")";
        result.value = [=](int64_t n, int64_t i, int64_t r) {
          return before.value(n, i, r) + more.value(n, i, r);
        };
      }
    }
    return result;
  }

private:
  Random sum(ArrayRef<std::string> names) {
    SmallVector<int64_t> factors;
    int64_t constant = pick(-2, 3);
    std::string text = std::to_string(constant);
    int64_t ofN = 0, ofI = 0, ofR = 0;
    for (const std::string &name : names) {
      int64_t factor = pick(0, 3) ? 1 : pick(0, 1) ? pick(2, 3) : pick(-2, -1);
      text += " + " + std::to_string(factor) + " * " + name;
      (name == "i" ? ofI : name == "r" ? ofR : ofN) += factor;
    }
    return {"(" + text + ")", [=](int64_t n, int64_t i, int64_t r) {
              return constant + ofN * n + ofI * i + ofR * r;
            }};
  }

  std::mt19937 random;
};

struct Verdict {
  bool accepted = false;
  bool hasExample = false;
  std::string messages;
};

class ProofsTest : public ::testing::Test {
protected:
  ProofsTest() { context.loadDialect<TileDialect>(); }

  Verdict prove(const std::string &text) {
    Verdict verdict;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      verdict.messages += diagnostic.str() + "\n";
      for (Diagnostic &note : diagnostic.getNotes()) {
        verdict.hasExample |= StringRef(note.str()).starts_with("for example");
        verdict.messages += "  " + note.str() + "\n";
      }
      return success();
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text << verdict.messages;
    if (!module)
      return verdict;
    verdict.accepted = true;
    for (KernelOp kernel : module->getOps<KernelOp>())
      verdict.accepted &= succeeded(tile::ir::prove(kernel));
    EXPECT_EQ(verdict.accepted, verdict.messages.empty()) << text;
    return verdict;
  }

  /// Some of the hostile texts are no affine maps to begin with.
  bool parses(const std::string &text) {
    ScopedDiagnosticHandler handler(&context, [](Diagnostic &) { return success(); });
    return static_cast<bool>(parseSourceString<ModuleOp>(text, &context));
  }

  MLIRContext context;
};

/// i in [0, upper(N)), r in [0, width), with a memory of `extent(N)` elements
/// accessed at `index`.
std::string kernelText(StringRef mode, StringRef extent, StringRef upper, int64_t width,
                       StringRef index, bool restricts) {
  std::string access = mode == "in" ? "%t = tile.load %x at affine_map<(i, r)[N] -> ({0})>(%i, "
                                      "%r)[%N] <exact> : memref<?xf32>, "
                                      "(!tile.span<\"i\">, !tile.span<\"r\">) -> {1}"
                                    : "tile.store %zero, %x at affine_map<(i, r)[N] -> ({0})>(%i, "
                                      "%r)[%N] : f32, memref<?xf32>, "
                                      "(!tile.span<\"i\">, !tile.span<\"r\">)";
  bool usesI = index.contains("i"), usesR = index.contains("r");
  std::string axes = usesI && usesR
                         ? (index.find('i') < index.find('r') ? "\"i\", \"r\"" : "\"r\", \"i\"")
                     : usesI ? "\"i\""
                             : "\"r\"";
  std::string type =
      "tensor<" + std::string(usesI && usesR ? "?x?x" : "?x") + "f32, #tile.axes<" + axes + ">>";
  std::string text = R"(
tile.kernel @k(%x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "MODE", tile.shape = affine_map<()[N] -> (EXTENT)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %width = arith.constant WIDTH : i64
  %zero = arith.constant 0.0 : f32
  %N = tile.dim "N"
  %upper = UPPER
  %r = tile.axis %c0 to %width : !tile.span<"r">
  tile.parallel (%i = tiles "i" %c0 to %upper) {
    RESTRICT
    ACCESS
  }
  tile.return
}
)";
  auto replace = [&](StringRef from, const std::string &to) {
    size_t at = text.find(from);
    text.replace(at, from.size(), to);
  };
  replace("MODE", mode.str());
  replace("EXTENT", extent.str());
  replace("WIDTH", std::to_string(width));
  replace("UPPER", upper.str());
  replace("RESTRICT",
          restricts
              ? "tile.restrict affine_set<(i, r)[N] : (EXTENT - 1 - INDEX >= 0)>(%i, %r)[%N] : "
                "!tile.span<\"i\">, !tile.span<\"r\">"
              : "");
  if (restricts) {
    replace("EXTENT", extent.str());
    replace("INDEX", index.str());
  }
  replace("ACCESS", llvm::formatv(access.c_str(), index, type).str());
  return text;
}

struct Upper {
  std::string text;
  std::function<int64_t(int64_t)> value;
};

Upper makeUpper(Generator &generator) {
  int64_t divisor = generator.pick(2, 4);
  switch (generator.pick(0, 3)) {
  case 0:
    return {"arith.addi %N, %c1 : i64", [](int64_t n) { return n + 1; }};
  case 1:
    return {"arith.subi %N, %c1 : i64", [](int64_t n) { return n - 1; }};
  case 2: {
    std::string text = "arith.addi %N, %c0 : i64\n  %d = arith.constant " +
                       std::to_string(divisor) + " : i64\n  %blocks = tile.div %upper, %d : i64";
    return {text, [=](int64_t n) { return floorDivide(n, divisor); }};
  }
  default:
    return {"arith.addi %N, %c0 : i64", [](int64_t n) { return n; }};
  }
}

std::string withUpper(std::string text, const Upper &upper) {
  if (upper.text.find("%blocks") == std::string::npos)
    return text;
  size_t at = text.find("to %upper");
  return text.replace(at, 9, "to %blocks");
}

/// An index that is the same everywhere is outside at any point of the domain, if it has one.
TEST_F(ProofsTest, constantIndices) {
  for (const char *index : {"((1 + -2 * i + -2 * r) floordiv 2 + (-2 + 1 * i + 1 * r))",
                            "((3 + 4 * i + 4 * r) floordiv 4 + (-7 + -1 * i + -1 * r))"}) {
    SCOPED_TRACE(index);
    Verdict some = prove(kernelText("in", "N", "arith.addi %N, %c0 : i64", 2, index, false));
    EXPECT_FALSE(some.accepted);
    EXPECT_TRUE(some.hasExample) << some.messages;
    Verdict none = prove(kernelText("in", "N", "arith.subi %c0, %c1 : i64", 2, index, false));
    EXPECT_TRUE(none.accepted) << none.messages;
  }
}

/// No N has both an extent and a block, which the index says nothing of: i cancels.
TEST_F(ProofsTest, domainThatAnExtentEmpties) {
  const char *index = "((2 * i + r) floordiv 2 + (3 + -1 * i + -2 * r))";
  Upper half = {"arith.addi %N, %c0 : i64\n  %d = arith.constant 2 : i64\n"
                "  %blocks = tile.div %upper, %d : i64",
                {}};
  Verdict none = prove(withUpper(kernelText("in", "1 - N", half.text, 4, index, false), half));
  EXPECT_TRUE(none.accepted) << none.messages;
  Verdict some = prove(withUpper(kernelText("in", "9 - N", half.text, 4, index, false), half));
  EXPECT_FALSE(some.accepted);
  EXPECT_TRUE(some.hasExample) << some.messages;
}

TEST_F(ProofsTest, boundsAgainstAllSmallShapes) {
  Generator generator(std::random_device{}());
  unsigned accepted = 0, refused = 0;
  for (int round = 0; round < 400; ++round) {
    Random index = generator.make({"i", "r"}), extent = generator.make({"N"});
    Upper upper = makeUpper(generator);
    int64_t width = generator.pick(1, 4);
    bool restricts = generator.pick(0, 1);
    std::string text =
        withUpper(kernelText("in", extent.text, upper.text, width, index.text, restricts), upper);
    SCOPED_TRACE(text);
    if (!parses(text)) // MLIR simplified an axis away
      continue;
    Verdict verdict = prove(text);
    SCOPED_TRACE(verdict.messages);
    bool fails = false;
    // Where divisions cancel, a range may have to be long before its end leaves the tensor.
    int64_t most = verdict.accepted ? 40 : 600;
    for (int64_t n = -3; n < most && !fails; ++n) {
      int64_t size = extent.value(n, 0, 0);
      if (size < 0) // such a launch is refused
        continue;
      for (int64_t i = 0; i < upper.value(n); ++i)
        for (int64_t r = 0; r < width; ++r) {
          int64_t at = index.value(n, i, r);
          if (!(restricts && at >= size))
            fails |= at < 0 || at >= size;
        }
    }
    ASSERT_EQ(verdict.accepted, !fails);
    ASSERT_EQ(verdict.hasExample, fails); // these systems are linear: always decided
    ++(fails ? refused : accepted);
  }
  EXPECT_GT(accepted, 20u); // both ends of the test are reached
  EXPECT_GT(refused, 20u);
}

TEST_F(ProofsTest, coverageAgainstAllSmallShapes) {
  Generator generator(std::random_device{}());
  unsigned accepted = 0, refused = 0;
  for (int round = 0; round < 1500; ++round) {
    // Mostly near the valid ones: c·i + r, reversed, divided, shifted.
    int64_t factor = generator.pick(1, 4),
            width = generator.pick(0, 2) ? factor : generator.pick(1, 4);
    Random index = {llvm::formatv("({0} * i + r)", factor),
                    [=](int64_t, int64_t i, int64_t r) { return factor * i + r; }};
    if (generator.pick(0, 2) == 0)
      index = {llvm::formatv("({0} * N - 1 - {0} * i - r)", factor),
               [=](int64_t n, int64_t i, int64_t r) { return factor * n - 1 - factor * i - r; }};
    if (generator.pick(0, 3) == 0)
      index = generator.make({"i", "r"});
    int64_t scale = generator.pick(0, 2) ? factor : 1;
    Random extent = {llvm::formatv("({0} * N)", scale),
                     [=](int64_t n, int64_t, int64_t) { return scale * n; }};
    Upper upper = makeUpper(generator);
    bool restricts = generator.pick(0, 1);
    std::string text =
        withUpper(kernelText("out", extent.text, upper.text, width, index.text, restricts), upper);
    SCOPED_TRACE(text);
    Verdict verdict = prove(text);
    SCOPED_TRACE(verdict.messages);
    bool fails = false;
    for (int64_t n = 0; n < 30 && !fails; ++n) {
      int64_t size = extent.value(n, 0, 0);
      std::vector<int> stores(size);
      for (int64_t i = 0; i < upper.value(n); ++i)
        for (int64_t r = 0; r < width; ++r) {
          int64_t at = index.value(n, i, r);
          if (restricts && at >= size)
            continue;
          if (at < 0 || at >= size)
            fails = true;
          else
            ++stores[at];
        }
      for (int count : stores)
        fails |= count != 1;
    }
    if (verdict.accepted || verdict.hasExample) {
      ASSERT_EQ(verdict.accepted, !fails);
    }
    ++(verdict.accepted ? accepted : refused);
  }
  EXPECT_GT(accepted, 20u);
  EXPECT_GT(refused, 20u);
}

/// Many kernels are checked in a moment, as a large source needs it.
TEST_F(ProofsTest, thousandsOfKernels) {
  std::string one = kernelText("out", "N", "arith.addi %N, %c0 : i64", 128, "(128 * i + r)", true),
              all;
  size_t at = one.find("%upper = ");
  one.replace(at, one.find('\n', at) - at,
              "%c127 = arith.constant 127 : i64\n  %u = arith.addi %N, %c127 : i64\n  %upper = "
              "tile.div %u, "
              "%width : i64");
  for (int n = 0; n < 2000; ++n) {
    std::string kernel = one;
    kernel.replace(kernel.find("@k"), 2, "@k" + std::to_string(n));
    all += kernel;
  }
  auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(prove(all).accepted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

/// What is far too large to decide is refused quickly and without a crash.
TEST_F(ProofsTest, hostileIndices) {
  for (StringRef index :
       {"i * 4611686018427387904 + r", "(i mod 2147483647) * 2147483647 + r",
        "(i * 9223372036854775807 + r) floordiv 3",
        "((((i + r) mod (N + 4)) mod (N + 3)) mod (N + 2)) mod (N + 1)",
        "(((((i floordiv N) * N + r) floordiv N) * N + r) floordiv (N * N)) mod N + r",
        "(i * N + r) floordiv (N * N * N) + r", "i floordiv 0 + r", "i mod (0 - 3) + r"}) {
    auto start = std::chrono::steady_clock::now();
    for (StringRef mode : {"in", "out"})
      if (parses(kernelText(mode, "N", "arith.addi %N, %c0 : i64", 3, index, false))) {
        EXPECT_FALSE(
            prove(kernelText(mode, "N", "arith.addi %N, %c0 : i64", 3, index, false)).accepted)
            << index.str();
      }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << index.str();
  }
}

} // namespace
