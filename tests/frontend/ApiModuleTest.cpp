// Modules that are loaded, and calls.

#include "tests/frontend/ApiTestSupport.h"

#include <filesystem>
#include <fstream>

using namespace tile;
using namespace tile::test;

namespace {

const char *const scaleText = R"(
map twice<T: float>(x: T) -> T = 2 * x

kernel scale<T: f16 | f32, const G: int = 1>(x: T[N], s: f32 = 3) -> (y: T[N]) requires N % G == 0 {
    parallel i in tiles(N) {
        y[i] = T(f32(x[i]) * s)
    }
}

graph both(x: f32[N]) -> (y: f32[N]) {
    y = twice(scale(x))
}
)";

TEST(ApiModule, callsWithDefaultsAndDeducedTypes) {
  Module module = Module::parse(scaleText);
  ASSERT_TRUE(module.ok()) << module.errorText();
  Tensor x = random(f32, {17}, -4, 4, 1), half = random(f16, {5}, -4, 4, 2);
  for (Device device : devices) {
    auto y = run(module, "scale", {{"x", x}}, "y", device);
    auto z = run(module, "scale", {{"s", 0.5}, {"x", half}, {"G", 5}}, "y", device);
    auto w = run(module, "both", {{"x", x}}, "y", device);
    ASSERT_TRUE(y && z && w);
    EXPECT_EQ(z->dtype(), f16);
    for (int64_t n = 0; n < 17; ++n) {
      EXPECT_EQ(y->getDouble(n), static_cast<float>(3 * x.getDouble(n)));
      EXPECT_EQ(w->getDouble(n), 2 * y->getDouble(n));
    }
    for (int64_t n = 0; n < 5; ++n)
      EXPECT_EQ(z->getDouble(n),
                runtime::halfToDouble(runtime::doubleToHalf(half.getDouble(n) * 0.5)));
  }
}

TEST(ApiModule, refusedCalls) {
  Module module = Module::parse(scaleText);
  Result<Function> scale = module.compile("scale");
  ASSERT_TRUE(scale) << scale.error().str();
  Tensor x = random(f32, {6}, 0, 1, 1), wide = random(f64, {6}, 0, 1, 1),
         matrix = random(f32, {2, 3}, 0, 1, 1);
  auto refused = [&](const std::vector<NamedArgument> &arguments, const std::string &part) {
    Result<Outputs> outputs = (*scale)(arguments);
    ASSERT_FALSE(outputs) << part;
    EXPECT_NE(outputs.error().str().find(part), std::string::npos) << outputs.error().str();
  };
  refused({}, "needs an argument for `x`");
  refused({{"x", x}, {"x", x}}, "given twice");
  refused({{"x", x}, {"z", x}}, "no input `z`");
  refused({{"x", 1.5}}, "`x` is a tensor");
  refused({{"x", x}, {"s", x}}, "`s`");
  refused({{"x", x}, {"s", true}}, "`s`");
  refused({{"x", wide}}, "f64");
  refused({{"x", matrix}}, "`x`");
  refused({{"x", x}, {"G", 4}}, "N % G == 0");
  refused({{"x", x}, {"G", 0.5}}, "integer");
  Result<Outputs> outputs = (*scale)({{"x", x}});
  EXPECT_TRUE(outputs) << outputs.error().str();
}

TEST(ApiModule, refusedOptions) {
  Module module = Module::parse(scaleText);
  module.kernel("built", [](Kernel &k) {
    auto N = k.dim("N");
    auto x = k.input("x", f32, {N});
    auto y = k.output("y", f32, {N});
    k.parallel(tiles("i", N), [&](Span i) { y[i] = x[i]; });
  });
  ASSERT_TRUE(module.ok()) << module.errorText();
  for (const char *name : {"scale", "both", "built"}) {
    for (int64_t size : {int64_t(0), int64_t(-1), int64_t(1) << 40}) {
      Result<Function> refused = module.compile(name, {.sizes = {{"i", size}}});
      ASSERT_FALSE(refused) << name << " " << size;
      EXPECT_NE(refused.error().str().find("from 1 to 16777216"), std::string::npos);
    }
    Result<Function> typed = module.compile(name, {.types = {{"Q", f32}}});
    ASSERT_FALSE(typed) << name;
    EXPECT_NE(typed.error().str().find("no type `Q`"), std::string::npos) << typed.error().str();
  }
  Tensor x = random(f32, {6}, 0, 1, 1);
  for (Device device : devices) {
    Result<Function> scale = module.compile("scale", {.device = device, .sizes = {{"warps", 99}}});
    ASSERT_TRUE(scale);
    Result<Outputs> outputs = (*scale)({{"x", x}});
    ASSERT_FALSE(outputs);
    EXPECT_NE(outputs.error().str().find("32 warps, not 99"), std::string::npos);
  }
}

TEST(ApiModule, tensorsThatAreNone) {
  Module module = Module::parse(scaleText);
  Result<Function> scale = module.compile("scale");
  ASSERT_TRUE(scale);
  Result<Outputs> null = (*scale)({{"x", std::shared_ptr<const Tensor>()}});
  ASSERT_FALSE(null);
  EXPECT_NE(null.error().message.find("given for `x` is null"), std::string::npos);
  Tensor x = random(f32, {6}, 0, 1, 1), other = std::move(x);
  Result<Outputs> moved = (*scale)({{"x", x}}); // NOLINT(bugprone-use-after-move)
  ASSERT_FALSE(moved);
  EXPECT_NE(moved.error().message.find("given for `x` was moved from"), std::string::npos);
}

TEST(ApiModule, whatWasMovedFromSaysSo) {
  Module module = Module::parse(scaleText);
  Result<Function> scale = module.compile("scale");
  ASSERT_TRUE(scale);
  Module other = std::move(module);
  EXPECT_DEATH((void)module.ok(), "a Module is used that was moved from");             // NOLINT
  EXPECT_DEATH((void)module.compile("scale"), "a Module is used that was moved from"); // NOLINT
  Function function = *std::move(scale), next = std::move(function);
  EXPECT_DEATH((void)function({}), "a Function is used that was moved from"); // NOLINT
  Result<Function> missing = other.compile("nothing");
  EXPECT_DEATH((void)(*missing)({}), "no kernel or graph `nothing`");
}

TEST(ApiModule, refusedNames) {
  Module module = Module::parse(scaleText);
  Result<Function> missing = module.compile("scales");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().str().find("`scale`"), std::string::npos) << missing.error().str();
  EXPECT_FALSE(module.compile("twice"));
  EXPECT_FALSE(module.compile("both", {.types = {{"T", f32}}}));
  EXPECT_FALSE(Module().compile("f"));
  EXPECT_FALSE(module.kernel("scale", [](Kernel &) {}));
  // Now the module has errors, and compiles nothing.
  EXPECT_FALSE(module.compile("scale"));
}

TEST(ApiModule, errorsOfTexts) {
  Module module =
      Module::parse("kernel f(x: f32[N]) -> (y: f32[N]) {\n    parallel i in tiles(N) {\n"
                    "        y[i] = z[i]\n    }\n}\n",
                    "mine.tile");
  ASSERT_FALSE(module.ok());
  const Error &error = module.errors().front();
  EXPECT_EQ(error.file, "mine.tile");
  EXPECT_EQ(error.line, 3u);
  EXPECT_NE(error.message.find("`z`"), std::string::npos) << error.str();
  EXPECT_FALSE(module.compile("f"));

  Module unreadable = Module::load("/no/such/file.tile");
  ASSERT_FALSE(unreadable.ok());
  EXPECT_NE(unreadable.errorText().find("/no/such/file.tile"), std::string::npos);
}

TEST(ApiModule, loadsFilesAndImports) {
  auto folder = std::filesystem::path(testing::TempDir()) / "tile_api_module";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "lib.tile") << "map half(x: f32) -> f32 = x / 2\n";
  std::ofstream(folder / "main.tile")
      << "import \"lib.tile\"\ngraph f(x: f32[N]) -> (y: f32[N]) {\n    y = half(x)\n}\n";
  Module module = Module::load((folder / "main.tile").string());
  ASSERT_TRUE(module.ok()) << module.errorText();
  Tensor x = random(f32, {9}, -1, 1, 3);
  auto y = run(module, "f", {{"x", x}}, "y", Device::Interp);
  ASSERT_TRUE(y);
  for (int64_t n = 0; n < 9; ++n)
    EXPECT_EQ(y->getDouble(n), x.getDouble(n) / 2);
  std::filesystem::remove_all(folder);
}

TEST(ApiModule, functionsKeepTheirModule) {
  std::optional<Function> function;
  {
    Module module = Module::parse(scaleText);
    Result<Function> compiled = module.compile("scale");
    ASSERT_TRUE(compiled);
    function = *compiled;
  }
  Tensor x = random(f32, {3}, -1, 1, 4);
  Result<Outputs> outputs = (*function)({{"x", x}});
  ASSERT_TRUE(outputs) << outputs.error().str();
  EXPECT_EQ(outputs->at("y")->getDouble(2), static_cast<float>(3 * x.getDouble(2)));
}

TEST(ApiModule, emptyTensors) {
  Module module = Module::parse(scaleText);
  Tensor x = random(f32, {0}, -1, 1, 5);
  for (Device device : devices) {
    auto y = run(module, "scale", {{"x", x}}, "y", device);
    ASSERT_TRUE(y);
    EXPECT_EQ(y->shape(), (Shape{0}));
  }
}

const char *const diagonalText = R"(
kernel outer(a: f32[N], b: f32[N]) -> (c: f32[N, N]) {
    parallel i in tiles(N), j in tiles(N) { c[i, j] = a[i] * b[j] }
}

kernel diagonal(c: f32[N, N]) -> (d: f32[N]) requires N % 2 == 0 {
    parallel i in tiles(N) { d[i] = c[i, i] + 1 }
}

graph products(a: f32[N], b: f32[N]) -> (d: f32[N]) {
    d = diagonal(outer(a, b))
}
)";

Result<Outputs> products(const Module &module, int64_t n, FuseMode fuse, Device device) {
  Tensor a = random(f32, {n}, -1, 1, 7), b = random(f32, {n}, -1, 1, 8);
  return (*module.compile("products", {.device = device, .fuse = fuse}))({{"a", a}, {"b", b}});
}

// As one, the kernels need no memory for a tensor that is larger than any machine's.
TEST(ApiModule, fusesGraphs) {
  Module module = Module::parse(diagonalText);
  ASSERT_TRUE(module.ok()) << module.errorText();
  constexpr int64_t large = 1 << 21;
  Result<Outputs> apart = products(module, large, FuseMode::Off, Device::Cpu);
  ASSERT_FALSE(apart);
  EXPECT_NE(apart.error().str().find("memory"), std::string::npos) << apart.error().str();
  Result<Outputs> together = products(module, large, FuseMode::Exact, Device::Cpu);
  ASSERT_TRUE(together) << together.error().str();

  // The plan that is there is right for other shapes, too.
  for (Device device : devices)
    for (int64_t n : {2, 66}) {
      Result<Outputs> fused = products(module, n, FuseMode::Exact, device);
      Result<Outputs> written = products(module, n, FuseMode::Off, Device::Interp);
      ASSERT_TRUE(fused && written);
      for (int64_t i = 0; i < n; ++i)
        EXPECT_EQ(fused->at("d")->getDouble(i), written->at("d")->getDouble(i));
    }
}

// One module serves both: what was fused exactly is not taken for what is fast.
TEST(ApiModule, fastFormsMultiplyAddsAcrossKernels) {
  Module module = Module::parse(diagonalText);
  constexpr int64_t n = 66;
  Tensor a = random(f32, {n}, -1, 1, 7), b = random(f32, {n}, -1, 1, 8);
  int64_t differing = 0;
  for (Device device : devices) {
    Result<Outputs> exact = products(module, n, FuseMode::Exact, device);
    Result<Outputs> fast = products(module, n, FuseMode::Fast, device);
    ASSERT_TRUE(exact && fast);
    for (int64_t i = 0; i < n; ++i) {
      auto x = static_cast<float>(a.getDouble(i)), y = static_cast<float>(b.getDouble(i));
      volatile float product = x * y;
      EXPECT_EQ(exact->at("d")->getDouble(i), product + 1.0f);
      EXPECT_EQ(fast->at("d")->getDouble(i), std::fma(x, y, 1.0f));
      differing += std::fma(x, y, 1.0f) != product + 1.0f;
    }
  }
  EXPECT_GT(differing, 0);
}

TEST(ApiModule, fusedGraphsRefuseAsTheyAreWritten) {
  Module module = Module::parse(diagonalText, "mine.tile");
  std::string errors[2];
  for (FuseMode fuse : {FuseMode::Off, FuseMode::Exact}) {
    Result<Outputs> odd = products(module, 3, fuse, Device::Cpu);
    ASSERT_FALSE(odd);
    errors[fuse == FuseMode::Exact] = odd.error().str();
  }
  EXPECT_EQ(errors[0], errors[1]);
  EXPECT_NE(errors[0].find("N % 2 == 0"), std::string::npos) << errors[0];
}

} // namespace
