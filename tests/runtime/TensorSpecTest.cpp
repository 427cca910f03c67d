#include "runtime/tensor/TensorSpec.h"
#include "runtime/base/Text.h"
#include "runtime/tensor/Npy.h"
#include "runtime/tensor/Random.h"
#include "runtime/tensor/Safetensors.h"
#include "tests/runtime/TestSupport.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace tile::runtime {
namespace {

using test::expectError;
using test::freshSeed;

class TensorSpecTest : public test::FileTest {
protected:
  static Result<Tensor> make(const std::string &text, std::optional<DType> type = std::nullopt,
                             const std::string &name = "x") {
    Result<TensorSpec> spec = parseTensorSpec(text);
    if (!spec)
      return spec.takeError();
    return makeTensor(*spec, name, type);
  }

  static Tensor get(const std::string &text, std::optional<DType> type = std::nullopt,
                    const std::string &name = "x") {
    Result<Tensor> tensor = make(text, type, name);
    EXPECT_TRUE(tensor) << tensor.error().message;
    return *std::move(tensor);
  }
};

const std::vector<DType> floats{DType::F16, DType::BF16,   DType::F32,
                                DType::F64, DType::F8E4M3, DType::F8E5M2};

//===----------------------------------------------------------------------===//
// Shapes and scalars
//===----------------------------------------------------------------------===//

TEST_F(TensorSpecTest, parsesShapes) {
  EXPECT_EQ(*parseShape("1823x781"), (Shape{1823, 781}));
  EXPECT_EQ(*parseShape("7"), Shape{7});
  EXPECT_EQ(*parseShape("0x5"), (Shape{0, 5}));
  EXPECT_EQ(*parseShape("scalar"), Shape{});
  EXPECT_EQ(*parseShape("9223372036854775807"), Shape{std::numeric_limits<int64_t>::max()});
  expectError(parseShape("-3x2"), "extent -3 is negative");
  expectError(parseShape("9223372036854775808"), "extent '9223372036854775808' is too large");
  for (const char *bad : {"", "x", "3x", "x3", "3xx4", "3,4", "3 x 4", "+3", "3.0", "0b1", "axb"})
    expectError(parseShape(bad), std::string("shape '") + bad + "' is malformed");
}

TEST_F(TensorSpecTest, scalarsTakeTheTypeOfTheirParameter) {
  EXPECT_EQ(get("1e-5", DType::F32).getDouble(0), static_cast<double>(1e-5f));
  EXPECT_EQ(get("1e-5", DType::F64).getDouble(0), 1e-5);
  EXPECT_EQ(get(".5", DType::F16).getDouble(0), 0.5);
  EXPECT_EQ(get("-2.", DType::F16).getDouble(0), -2);
  EXPECT_EQ(get("42", DType::BF16).getDouble(0), 42);
  EXPECT_EQ(get("42", DType::I8).getInt(0), 42);
  EXPECT_EQ(get("-0x80", DType::I8).getInt(0), -128);
  EXPECT_EQ(get("+7", DType::U8).getInt(0), 7);
  EXPECT_EQ(get("18446744073709551615", DType::U64).getInt(0), -1);
  EXPECT_EQ(get("-9223372036854775808", DType::I64).getInt(0), INT64_MIN);
  EXPECT_EQ(get("true", DType::Bool).getInt(0), 1);
  EXPECT_EQ(get("false", DType::Bool).getInt(0), 0);
  EXPECT_EQ(get("-inf", DType::F16).getDouble(0), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(get("nan", DType::F8E4M3).getDouble(0)));
  EXPECT_TRUE(std::signbit(get("-0", DType::F32).getDouble(0)));
  EXPECT_EQ(get("-0", DType::I32).getInt(0), 0);
  EXPECT_EQ(get("1e-30", DType::F16).getDouble(0), 0);
  EXPECT_EQ(get("100000000000000000000000000000000000000000", DType::F64).getDouble(0), 1e41);
  // One rounding: through double this integer would tie, and go to 2^60.
  EXPECT_EQ(get("1152921573326323713", DType::F32).getDouble(0), std::ldexp(1 + 0x1p-23, 60));
  EXPECT_EQ(get("3", DType::F32).rank(), 0);
}

TEST_F(TensorSpecTest, refusesScalarsThatDontFit) {
  expectError(make("300", DType::I8), "'300' doesn't fit i8");
  expectError(make("-1", DType::U64), "'-1' doesn't fit u64");
  expectError(make("18446744073709551616", DType::U64), "doesn't fit u64");
  expectError(make("9223372036854775808", DType::I64), "doesn't fit i64");
  expectError(make("1.5", DType::I32), "'1.5' is no integer");
  expectError(make("1e3", DType::I32), "'1e3' is no integer");
  expectError(make("inf", DType::I32), "'inf' is no integer");
  expectError(make("true", DType::I32), "'true' is no integer");
  expectError(make("true", DType::F32), "'true' is no number");
  expectError(make("1", DType::Bool), "'1' is no truth value");
  expectError(make("65520", DType::F16), "'65520' doesn't fit f16");
  expectError(make("1e39", DType::F32), "'1e39' doesn't fit f32");
  expectError(make("465", DType::F8E4M3), "'465' doesn't fit f8e4m3");
  expectError(make("inf", DType::F8E4M3), "f8e4m3 has no infinity");
  expectError(make("1e400"), "outside the range of f64");
  expectError(make("1e-5"), "'x' is a tensor, and '1e-5' is a number");
  EXPECT_EQ(get("65519", DType::F16).getDouble(0), 65504);
  EXPECT_EQ(get("464", DType::F8E4M3).getDouble(0), 448);
  EXPECT_EQ(get("464", DType::F8E5M2).getDouble(0), 448);
}

TEST_F(TensorSpecTest, refusesWhatIsNoNumber) {
  for (const char *bad : {"1e", "1.2.3", "0x", "0xg", "1_000", "--1", "1e5f", "12a"})
    expectError(make(bad, DType::F32), quote(bad));
  for (const char *bad : {"infinity", "NaN", "e5", "-", "+", ".", "True", " 1", "nan(1)"})
    EXPECT_FALSE(make(bad, DType::F32)) << bad;
}

//===----------------------------------------------------------------------===//
// Malformed specs
//===----------------------------------------------------------------------===//

TEST_F(TensorSpecTest, refusesMalformedSpecs) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "empty tensor spec"},
      {"rand:3:f32", "unknown tensor spec"},
      {"file.csv", "unknown kind of file"},
      {"dir/file", "unknown kind of file"},
      {"dir/1", "unknown kind of file"},
      {"w.safetensors", "names no tensor"},
      {"w.safetensors:", "names no tensor"},
      {"randn", "randn with 0 parts"},
      {"randn:3", "randn with 1 part"},
      {"randn:3:f32:1:2", "randn with 4 parts"},
      {"randn:3:i32", "randn gives fractions"},
      {"randn:3:f32:x", "seed 'x'"},
      {"randn:3:f32:-1", "seed '-1'"},
      {"randn:3:f32:18446744073709551616", "seed '18446744073709551616'"},
      {"randn:3:float32", "unknown type 'float32'"},
      {"randn:3x:f32", "shape '3x' is malformed"},
      {"randn:-3:f32", "negative"},
      {"zeros:4294967296x4294967296:f32", "overflows"},
      {"uniform:3:f32:1:0", "uniform with 4 parts"},
      {"uniform:3:f32:1:0:1:2", "uniform with 6 parts"},
      {"uniform:3:f32:1:a:b", "'a' is no number"},
      {"uniform:3:f32:1:1:1", "no value of f32 is at least 1 and less than 1"},
      {"uniform:3:f32:1:2:1", "no value of f32"},
      {"uniform:3:f32:1:nan:1", "not finite"},
      {"uniform:3:f32:1:0:inf", "not finite"},
      {"uniform:3:f16:1:0:70000", "doesn't fit f16"},
      {"uniform:3:f16:1:0:65505", "not finite in f16"},
      {"uniform:3:f64:1:-1e308:1e308", "too wide"},
      {"uniform:3:f8e4m3:1:17:17.5", "no value of f8e4m3"},
      {"uniform:3:i8:1:5:5", "no value of i8"},
      {"uniform:3:i8:1:0:129", "bound '129' is outside of i8"},
      {"uniform:3:u8:1:-1:3", "bound '-1' is outside of u8"},
      {"uniform:3:i8:1:0.5:3", "bound '0.5' is no integer"},
      {"uniform:3:bool:1:0:1", "takes no range"},
      {"arange:129:i8", "arange up to 128 doesn't fit i8"},
      {"arange:3:bool", "arange up to 2 doesn't fit bool"},
      {"arange:300x300:f16", "arange up to 89999 doesn't fit f16"},
      {"full:3:f32", "full with 2 parts"},
      {"full:1:2:f32:1", "full with 4 parts"},
      {"full:x:2:f32", "'x' is no number"},
      {"full:1.5:2:i32", "'1.5' is no integer"},
      {"full:300:2:u8", "'300' doesn't fit u8"},
  };
  for (const auto &[text, message] : cases) {
    SCOPED_TRACE(text);
    expectError(parseTensorSpec(text), message);
  }
  EXPECT_EQ(parseTensorSpec("radn:3:f32").error().hint, "did you mean randn:SHAPE:TYPE[:SEED]?");
  EXPECT_FALSE(make("zeros:1125899906842624:f32")); // 4 PiB
}

TEST_F(TensorSpecTest, survivesRandomText) {
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  const std::vector<std::string> tokens{
      ":",      "x",    "3",   "-",   ".",   "f32",  "i8", "u64", "bool",  "randn", "uniform",
      "arange", "full", "1e9", "inf", "nan", "true", "0",  "0x",  "zeros", "f8e4m3"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text = engine() % 2 ? "uniform:2:" : "";
    for (uint64_t n = engine() % 10; n > 0; --n)
      text += tokens[engine() % tokens.size()];
    Result<TensorSpec> spec = parseTensorSpec(text);
    ASSERT_TRUE(spec || !spec.error().message.empty());
  }
}

//===----------------------------------------------------------------------===//
// Generators
//===----------------------------------------------------------------------===//

TEST_F(TensorSpecTest, constantsAndCounts) {
  for (DType type : allDTypes()) {
    std::string name(nameOf(type));
    Tensor zeros = get("zeros:3x5:" + name), ones = get("ones:3x5:" + name);
    EXPECT_EQ(zeros.shape(), (Shape{3, 5}));
    EXPECT_EQ(zeros.dtype(), type);
    for (int64_t i = 0; i < 15; ++i) {
      EXPECT_EQ(zeros.getDouble(i), 0);
      EXPECT_EQ(ones.getDouble(i), 1);
    }
    Tensor counted = get("arange:1x2:" + name);
    EXPECT_EQ(counted.getDouble(0), 0);
    EXPECT_EQ(counted.getDouble(1), 1);
    EXPECT_EQ(get("zeros:0x5:" + name).numElements(), 0);
    EXPECT_EQ(get("ones:scalar:" + name).getDouble(0), 1);
  }
  Tensor counted = get("arange:300x400:i32");
  for (int64_t i = 0; i < 120'000; ++i)
    ASSERT_EQ(counted.getInt(i), i);
  EXPECT_EQ(get("arange:128:i8").getInt(127), 127);
  EXPECT_EQ(get("arange:0:bool").numElements(), 0);
  EXPECT_EQ(get("full:-2.5:7:bf16").getDouble(6), -2.5);
  EXPECT_EQ(get("full:true:2:bool").getInt(1), 1);
  EXPECT_EQ(get("full:-inf:2:f32").getDouble(1), -HUGE_VAL);
}

TEST_F(TensorSpecTest, randomElementsDependOnSeedAndPositionAlone) {
  // Long enough for several threads.
  Tensor large = get("randn:500x401:f64:42");
  for (int64_t i = 0; i < large.numElements(); ++i)
    ASSERT_EQ(large.getDouble(i), randomNormal(42, static_cast<uint64_t>(i)));
  Tensor halves = get("randn:401x500:f16:42");
  for (int64_t i = 0; i < halves.numElements(); ++i)
    ASSERT_EQ(halves.getDouble(i), halfToDouble(doubleToHalf(large.getDouble(i))));
  Tensor uniform = get("uniform:7:f64:9");
  for (int64_t i = 0; i < 7; ++i)
    EXPECT_EQ(uniform.getDouble(i), randomUniform(9, static_cast<uint64_t>(i)));
}

TEST_F(TensorSpecTest, seedsDefaultToTheName) {
  uint64_t a = get("randn:50:f32", {}, "a").checksum();
  EXPECT_EQ(get("randn:50:f32", {}, "a").checksum(), a);
  EXPECT_NE(get("randn:50:f32", {}, "b").checksum(), a);
  EXPECT_NE(get("randn:50:f32:1", {}, "a").checksum(), a);
  EXPECT_EQ(get("randn:50:f32:1", {}, "a").checksum(), get("randn:50:f32:1", {}, "b").checksum());
}

TEST_F(TensorSpecTest, uniformFloatsStayInTheirRange) {
  for (DType type : floats) {
    Tensor tensor = get("uniform:20000:" + std::string(nameOf(type)) + ":3");
    double sum = 0;
    for (int64_t i = 0; i < tensor.numElements(); ++i) {
      double v = tensor.getDouble(i);
      ASSERT_TRUE(v >= 0 && v < 1) << nameOf(type) << " " << v;
      sum += v;
    }
    // Rounding down takes half of the step that is usual there.
    EXPECT_NEAR(sum / 20000, 0.5, type == DType::F8E4M3 || type == DType::F8E5M2 ? 0.08 : 0.02);
  }
}

TEST_F(TensorSpecTest, uniformFloatsHonourAnyBounds) {
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  int accepted = 0;
  for (int round = 0; round < 600; ++round) {
    DType type = floats[engine() % floats.size()];
    // Bounds that the type mostly can't hold exactly, close together and far apart.
    double lo = std::ldexp(static_cast<double>(engine()) * 0x1p-63 - 1, int(engine() % 16) - 8);
    double hi = lo + std::ldexp(static_cast<double>(engine()) * 0x1p-64, int(engine() % 20) - 14);
    auto text = [](double v) {
      char buffer[40];
      std::snprintf(buffer, sizeof buffer, "%.17g", v);
      return std::string(buffer);
    };
    Result<Tensor> tensor = make("uniform:300:" + std::string(nameOf(type)) + ":" +
                                 std::to_string(engine()) + ":" + text(lo) + ":" + text(hi));
    if (!tensor) {
      ASSERT_NE(tensor.error().message.find("no value of"), std::string::npos)
          << tensor.error().message;
      continue;
    }
    ++accepted;
    for (int64_t i = 0; i < 300; ++i) {
      double v = tensor->getDouble(i);
      ASSERT_TRUE(v >= lo && v < hi) << nameOf(type) << " " << lo << " " << v << " " << hi;
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST_F(TensorSpecTest, uniformFloatsReachTheEndsOfANarrowRange) {
  // Only 1 and its successor lie in the range; rounding to nearest would often reach its end.
  for (const std::string range : {"f64:1:1:1.0000000000000004", "f32:1:1:1.000000238418579"}) {
    Tensor tensor = get("uniform:1000:" + range);
    std::set<double> seen;
    for (int64_t i = 0; i < 1000; ++i)
      seen.insert(tensor.getDouble(i));
    double step = tensor.dtype() == DType::F64 ? 0x1p-52 : 0x1p-23;
    EXPECT_EQ(seen, (std::set<double>{1, 1 + step})) << range;
  }
}

TEST_F(TensorSpecTest, uniformIntegersReachAllOfTheirRange) {
  for (DType type : allDTypes()) {
    if (!isInteger(type))
      continue;
    std::string name(nameOf(type));
    std::map<int64_t, int> seen;
    Tensor tensor = get("uniform:20000:" + name + ":5");
    for (int64_t i = 0; i < 20000; ++i)
      ++seen[tensor.getInt(i)];
    EXPECT_EQ(seen.size(), 100u) << name;
    EXPECT_EQ(seen.begin()->first, 0);
    EXPECT_EQ(seen.rbegin()->first, 99);
    double chiSquare = 0;
    for (const auto &[value, count] : seen)
      chiSquare += (count - 200.0) * (count - 200.0) / 200;
    EXPECT_LT(chiSquare, 99 + 6 * std::sqrt(2 * 99.0)) << name;
  }
  Tensor bytes = get("uniform:20000:i8:5:-128:128");
  std::set<int64_t> all;
  for (int64_t i = 0; i < 20000; ++i)
    all.insert(bytes.getInt(i));
  EXPECT_EQ(all.size(), 256u);
  Tensor single = get("uniform:100:i64:5:-7:-6");
  for (int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(single.getInt(i), -7);
}

TEST_F(TensorSpecTest, uniformCoversWholeWideTypes) {
  for (const std::string spec : {"uniform:1000:u64:1:0:18446744073709551616",
                                 "uniform:1000:i64:1:-9223372036854775808:9223372036854775808"}) {
    Tensor tensor = get(spec);
    std::set<uint64_t> tops;
    for (int64_t i = 0; i < 1000; ++i)
      tops.insert(static_cast<uint64_t>(tensor.getInt(i)) >> 60);
    EXPECT_EQ(tops.size(), 16u) << spec;
  }
}

TEST_F(TensorSpecTest, uniformBoolsTakeBothValues) {
  Tensor tensor = get("uniform:1000:bool");
  int64_t sum = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    ASSERT_LE(std::to_integer<int>(tensor.data()[i]), 1);
    sum += tensor.getInt(i);
  }
  EXPECT_NEAR(static_cast<double>(sum), 500, 5 * std::sqrt(250));
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST_F(TensorSpecTest, readsAndWritesByExtension) {
  Tensor a = get("randn:3x5:f32:1"), b = get("uniform:7:bf16:2"), c = get("arange:4:i64");
  auto target = [&](const std::string &text, const std::string &name) {
    Result<FileSpec> spec = parseOutputSpec(path(text), name);
    EXPECT_TRUE(spec) << spec.error().message;
    return *spec;
  };
  Output outputs[] = {{target("a.npy", "a"), &a},
                      {target("all.safetensors:b", "x"), &b},
                      {target("all.safetensors", "c"), &c},
                      {target("all.safetensors:odd:key.npy", "d"), &a}};
  Status written = writeOutputs(outputs);
  ASSERT_TRUE(written) << written.error().message;
  test::expectSame(get(path("a.npy")), a);
  test::expectSame(get(path("all.safetensors:b")), b);
  test::expectSame(get(path("all.safetensors:c")), c);
  test::expectSame(get(path("all.safetensors:odd:key.npy")), a);
  EXPECT_EQ(numFiles(), 2);
}

TEST_F(TensorSpecTest, joinsAFileThatHasTwoPaths) {
  Tensor a = get("ones:3:f32"), b = get("arange:4:i32");
  std::filesystem::path folder = std::filesystem::path(path("all.safetensors")).parent_path();
  std::string detour = (folder / ".." / folder.filename() / "all.safetensors").string();
  Output outputs[] = {{*parseOutputSpec(path("all.safetensors"), "a"), &a},
                      {*parseOutputSpec(detour, "b"), &b}};
  Status written = writeOutputs(outputs);
  ASSERT_TRUE(written) << written.error().message;
  test::expectSame(get(path("all.safetensors:a")), a);
  test::expectSame(get(path("all.safetensors:b")), b);
}

TEST_F(TensorSpecTest, refusesOutputsInOnePlace) {
  Tensor a = get("ones:3:f32");
  Output outputs[] = {{*parseOutputSpec(path("a.npy"), "a"), &a},
                      {*parseOutputSpec(path("a.npy"), "b"), &a}};
  expectError(writeOutputs(outputs), "two outputs go to '" + path("a.npy") + "'");
  EXPECT_EQ(numFiles(), 0);
  // By whatever path.
  std::filesystem::path folder = std::filesystem::path(path("a.npy")).parent_path();
  std::string detour = (folder / ".." / folder.filename() / "a.npy").string();
  outputs[1].target.path = detour;
  expectError(writeOutputs(outputs), "two outputs go to '" + detour + "'");
  EXPECT_EQ(numFiles(), 0);
  expectError(parseOutputSpec("a.csv", "a"), "unknown kind of file 'a.csv'");
  expectError(parseOutputSpec("randn:3:f32", "a"), "unknown kind of file");
}

TEST_F(TensorSpecTest, namesFilesThatCannotBeRead) {
  expectError(make(path("none.npy")), "cannot read '" + path("none.npy") + "': no such file");
  expectError(make(path("none.safetensors:a")),
              "cannot read '" + path("none.safetensors") + "': no such file");
}

} // namespace
} // namespace tile::runtime
