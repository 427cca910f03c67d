// The format of artifacts: what is written is read, and nothing else is taken.

#include "runtime/cpu/CpuFeatures.h"
#include "runtime/cpu/CpuImage.h"
#include "runtime/launch/Evaluate.h"
#include "runtime/load/Artifact.h"
#include "runtime/load/Validation.h"
#include "tests/runtime/ArtifactSupport.h"
#include "tests/runtime/TestSupport.h"

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

std::span<const std::byte> payloadOf(const std::vector<std::byte> &bytes) {
  return std::span(bytes).subspan(artifactHeaderSize);
}

TEST(ArtifactFormat, ComesBackAsItWas) {
  ArtifactData artifact = sampleArtifact();
  ASSERT_TRUE(validate(artifact)) << validate(artifact).error().str();
  std::vector<std::byte> bytes = serialize(artifact);
  EXPECT_TRUE(isArtifact(bytes));
  Result<ArtifactData> back = parseArtifact(bytes);
  ASSERT_TRUE(back) << back.error().str();
  // All that there is takes part: equal bytes are equal data.
  EXPECT_EQ(serialize(*back), bytes);
  EXPECT_EQ(contentHash(bytes), hash128(payloadOf(bytes)));
  EXPECT_EQ(back->kernels[0].signature.params[3].shape[0].text, "(N + 3) / 4 * 4");
  EXPECT_EQ(back->kernels[0].signature.requirements[0].program,
            artifact.kernels[0].signature.requirements[0].program);
  EXPECT_EQ(back->images[0].bytes, artifact.images[0].bytes);
  EXPECT_EQ(back->graphs[0].frames[1].place, "net.tile:3:9");
  EXPECT_EQ(back->kernels[1].signature.params[1].combine, CpuCombine::Max);
  EXPECT_EQ(back->kernels[0].cuda[0].guard, artifact.kernels[0].cuda[0].guard);
  EXPECT_EQ(back->kernels[0].cuda[0].cubin, artifact.kernels[0].cuda[0].cubin);
  EXPECT_EQ(back->kernels[1].cuda[0].code.finish.sharedBytes, 8448u);
  const CudaCode &code = back->kernels[0].cuda[0].code;
  EXPECT_TRUE(code.isPersistent);
  ASSERT_EQ(code.maps.size(), 1u);
  EXPECT_EQ(code.maps[0].extents, artifact.kernels[0].cuda[0].code.maps[0].extents);
  EXPECT_EQ(code.maps[0].box, std::vector<uint32_t>{16});
}

static ArtifactData withoutMaps(ArtifactData artifact) {
  for (KernelData &kernel : artifact.kernels)
    for (CudaVariant &variant : kernel.cuda) {
      variant.code.maps.clear();
      variant.code.isPersistent = false;
    }
  return artifact;
}

/// A file that was written when there was no code for GPUs yet.
TEST(ArtifactFormat, ReadsVersion1) {
  std::ifstream file(TILE_TEST_DATA "/version-1.tileart", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_EQ(text.size(), 1467u);
  Result<ArtifactData> artifact = parseArtifact(bytesOf(text));
  ASSERT_TRUE(artifact) << artifact.error().str();
  ArtifactData expected = sampleArtifact();
  for (KernelData &kernel : expected.kernels)
    kernel.cuda.clear();
  EXPECT_EQ(serialize(*artifact), serialize(expected));
  std::vector<std::byte> bytes = bytesOf(text);
  for (size_t n = 0; n < bytes.size(); ++n) {
    std::vector<std::byte> damaged = bytes;
    damaged[n] ^= static_cast<std::byte>(1u << n % 8);
    ASSERT_FALSE(parseArtifact(damaged)) << "byte " << n;
  }
}

/// A file of the same that was written when a last kernel folded all `reduce` outputs.
TEST(ArtifactFormat, ReadsVersion2) {
  std::ifstream file(TILE_TEST_DATA "/version-2.tileart", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<ArtifactData> artifact = parseArtifact(bytesOf(text));
  ASSERT_TRUE(artifact) << artifact.error().str();
  ArtifactData expected = withoutMaps(sampleArtifact());
  for (KernelData &kernel : expected.kernels)
    for (CudaVariant &variant : kernel.cuda)
      variant.code.foldsItself = false;
  EXPECT_EQ(serialize(*artifact), serialize(expected));
}

/// A file of the same that was written when no kernel took tensor maps.
TEST(ArtifactFormat, ReadsVersion3) {
  std::ifstream file(TILE_TEST_DATA "/version-3.tileart", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<ArtifactData> artifact = parseArtifact(bytesOf(text));
  ASSERT_TRUE(artifact) << artifact.error().str();
  EXPECT_EQ(serialize(*artifact), serialize(withoutMaps(sampleArtifact())));
}

/// A file of the same that was written when no tensor map rounded what it moves.
TEST(ArtifactFormat, ReadsVersion4) {
  std::ifstream file(TILE_TEST_DATA "/version-4.tileart", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<ArtifactData> artifact = parseArtifact(bytesOf(text));
  ASSERT_TRUE(artifact) << artifact.error().str();
  EXPECT_EQ(serialize(*artifact), serialize(sampleArtifact()));
}

/// A file of the same that was written when no kernel started before those in front of it ended.
TEST(ArtifactFormat, ReadsVersion5) {
  std::ifstream file(TILE_TEST_DATA "/version-5.tileart", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<ArtifactData> artifact = parseArtifact(bytesOf(text));
  ASSERT_TRUE(artifact) << artifact.error().str();
  EXPECT_EQ(serialize(*artifact), serialize(sampleArtifact()));
}

TEST(ArtifactFormat, KeepsWhichStartEarly) {
  CudaVariant variant = sampleArtifact().kernels[0].cuda[0];
  for (bool early : {true, false}) {
    variant.code.startsEarly = early;
    std::optional<CudaVariant> back = parseCudaVariant(serialize(variant));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->code.startsEarly, early);
  }
}

TEST(ArtifactFormat, KeepsWhichMapsRound) {
  CudaVariant variant = sampleArtifact().kernels[0].cuda[0];
  for (bool rounds : {true, false}) {
    variant.code.maps[0].roundsToTf32 = rounds;
    std::optional<CudaVariant> back = parseCudaVariant(serialize(variant));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->code.maps[0].roundsToTf32, rounds);
  }
}

TEST(ArtifactFormat, EveryByteCounts) {
  std::vector<std::byte> bytes = serialize(sampleArtifact());
  for (size_t n = 0; n < bytes.size(); ++n)
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> damaged = bytes;
      damaged[n] ^= static_cast<std::byte>(1u << bit);
      ASSERT_FALSE(parseArtifact(damaged)) << "byte " << n << ", bit " << bit;
    }
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(parseArtifact(std::span(bytes).first(size))) << size << " bytes";
  bytes.push_back(std::byte(0));
  EXPECT_FALSE(parseArtifact(bytes));
}

TEST(ArtifactFormat, SaysWhatIsWrong) {
  std::vector<std::byte> bytes = serialize(sampleArtifact());
  auto message = [](std::vector<std::byte> damaged) {
    return parseArtifact(damaged).error().message;
  };
  EXPECT_EQ(message({}), "this is no artifact");
  std::vector<std::byte> other = bytes;
  for (int version : {0, 8}) {
    other[8] = std::byte(version);
    EXPECT_EQ(message(other), "the artifact has version " + std::to_string(version) +
                                  " of the format; this program reads versions 1 to 7");
  }
  other = bytes;
  other.pop_back();
  EXPECT_NE(message(other).find("bytes of content instead of"), std::string::npos);
  other = bytes;
  other.back() ^= std::byte(1);
  EXPECT_EQ(message(other), "the artifact is damaged: its content has the wrong hash");
}

/// What the hash doesn't catch: any content is read without harm, and what is taken is valid.
TEST(ArtifactFormat, AnyContentIsReadWithoutHarm) {
  std::vector<std::byte> bytes = serialize(sampleArtifact());
  std::span<const std::byte> payload = payloadOf(bytes);
  std::mt19937 random(20261121);
  size_t taken = 0;
  for (int round = 0; round < 60000; ++round) {
    std::vector<std::byte> content(payload.begin(), payload.end());
    for (unsigned n = random() % 3 + 1; n > 0; --n) {
      size_t at = random() % content.size();
      switch (random() % 5) {
      case 0:
        content[at] = static_cast<std::byte>(random());
        break;
      case 1:
        content[at] = static_cast<std::byte>(random() % 2 ? 0xff : 0x00);
        break;
      case 2:
        content[at] = static_cast<std::byte>(unsigned(content[at]) + (random() % 2 ? 1 : 255));
        break;
      case 3:
        content.erase(content.begin() + at,
                      content.begin() + std::min(content.size(), at + random() % 9));
        break;
      case 4:
        content.insert(content.begin() + at, random() % 9, static_cast<std::byte>(random()));
        break;
      }
      if (content.empty())
        content.push_back(std::byte(0));
    }
    Result<ArtifactData> artifact = parsePayload(content);
    if (!artifact)
      continue;
    ++taken;
    ASSERT_TRUE(validate(*artifact));
    for (const KernelData &kernel : artifact->kernels) {
      std::vector<int64_t> dims(kernel.signature.dims.size(), 17);
      std::vector<uint64_t> scalars(kernel.signature.params.size(), 3);
      (void)checkRequires(kernel.signature, dims, scalars);
      for (const CudaVariant &variant : kernel.cuda) {
        for (const Program &program : variant.code.programs)
          (void)evaluateInteger(program, dims, scalars);
        for (const std::string &site : variant.code.sites) {
          if (!site.empty()) {
            ASSERT_GE(decodeSite(site.data()).size(), 3u);
          }
        }
      }
    }
  }
  EXPECT_GT(taken, 1000u); // a mutated text or number is none of validity's business
}

TEST(ArtifactFormat, LengthsTakeNoMemory) {
  // A list of 2^32 − 1 strings, and images of 2^60 bytes.
  std::vector<std::byte> huge(4, std::byte(0xff));
  EXPECT_FALSE(parsePayload(huge));
  std::vector<std::byte> bytes = serialize(sampleArtifact());
  std::span<const std::byte> payload = payloadOf(bytes);
  for (size_t at = 0; at + 8 <= payload.size(); ++at) {
    std::vector<std::byte> content(payload.begin(), payload.end());
    for (size_t n = 0; n < 8; ++n)
      content[at + n] = std::byte(n == 7 ? 0x0f : 0xff);
    (void)parsePayload(content);
  }
}

TEST(ArtifactFormat, PartsThatDontFitAreRefused) {
  auto refused = [](auto change) {
    ArtifactData artifact = sampleArtifact();
    change(artifact);
    return !parseArtifact(serialize(artifact));
  };
  EXPECT_FALSE(refused([](ArtifactData &) {}));
  EXPECT_TRUE(refused([](ArtifactData &a) { a.entries[0].index = 2; }));
  EXPECT_TRUE(refused([](ArtifactData &a) { a.entries[1].index = 1; }));
  EXPECT_TRUE(refused([](ArtifactData &a) { a.kernels[0].variants[0].image = 1; }));
  EXPECT_TRUE(refused([](ArtifactData &a) { a.kernels[0].signature.params[0].type = "f12"; }));
  EXPECT_TRUE(refused([](ArtifactData &a) { a.kernels[0].signature.constants[0].dim = 2; }));
  EXPECT_TRUE(refused([](ArtifactData &a) { a.kernels[0].signature.bound[0].first = 9; }));
  auto program = [](ArtifactData &a) -> Program & {
    return a.kernels[0].signature.requirements[0].program;
  };
  EXPECT_TRUE(refused([&](ArtifactData &a) { program(a)[0].immediate = 2; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { program(a)[1].immediate = 0; })); // a tensor
  EXPECT_TRUE(refused([&](ArtifactData &a) { program(a)[2].operands[1] = 2; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { program(a)[2].immediate = numCompareInt; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { program(a)[2].type = Number::I64; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { program(a).clear(); }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { program(a)[0].type = Number::F64; }));
  auto variant = [](ArtifactData &a) -> CudaVariant & { return a.kernels[0].cuda[0]; };
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).guard.pop_back(); }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).guard[0].immediate = 2; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.target = "sm_"; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.target = "sm_90ab"; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.target = "avx2"; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.function.name = ""; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.function.name[1] = '\0'; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.function.threads = 0; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.function.threads = 1025; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.function.blocks = 0; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.function.blocks = 17; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.function.sharedBytes = 1 << 30; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.image.clear(); }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.programs[0].clear(); }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.programs[0][0].immediate = 2; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.sites[0].pop_back(); }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.sites[0] += "x"; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.sites[0][0] = 4; }));
  EXPECT_FALSE(refused([&](ArtifactData &a) { variant(a).code.sites.push_back(""); }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.sites = {"x"}; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.copies = {{3, 8}}; })); // no `reduce`
  auto copy = [](ArtifactData &a) -> CudaReduceCopies & {
    return a.kernels[1].cuda[0].code.copies[0];
  };
  EXPECT_TRUE(refused([&](ArtifactData &a) { copy(a).param = 2; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { copy(a).bytes = 0; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { copy(a).bytes = 9; }));
  auto folding = [](ArtifactData &a) -> CudaCode & { return a.kernels[1].cuda[0].code; };
  EXPECT_FALSE(refused([&](ArtifactData &a) { folding(a).keptBinders = {0}; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { folding(a).keptBinders = {1}; })); // there is none
  EXPECT_TRUE(refused([&](ArtifactData &a) { folding(a).keptBinders = {0, 0}; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { folding(a).storesAlone = true; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { variant(a).code.keptBinders = {0}; })); // no copies
  auto map = [](ArtifactData &a) -> CudaTensorMap & { return a.kernels[0].cuda[0].code.maps[0]; };
  EXPECT_TRUE(refused([&](ArtifactData &a) { map(a).param = 4; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { map(a).param = 1; })); // a scalar
  EXPECT_TRUE(refused([&](ArtifactData &a) { map(a).bytes = 4; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { map(a).roundsToTf32 = true; })); // of f64
  EXPECT_TRUE(refused([&](ArtifactData &a) { map(a).box = {16, 1}; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { map(a).box = {257}; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { map(a).box = {0}; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { map(a).swizzle = 16; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { map(a).extents.clear(), map(a).box.clear(); }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { map(a).extents[0][0].immediate = 2; }));
  EXPECT_TRUE(
      refused([&](ArtifactData &a) { a.kernels[0].cuda[1].code.maps = {map(a)}; })); // sm_80
  EXPECT_TRUE(refused([&](ArtifactData &a) { a.kernels[1].cuda[0].code.isPersistent = true; }));
  EXPECT_TRUE(
      refused([&](ArtifactData &a) { a.kernels[0].cuda[1].code.startsEarly = true; })); // sm_80
  auto plan = [](ArtifactData &a) -> GraphPlan & { return a.graphs[0]; };
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).numTensors = 5; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).numTensors = 4000000000u; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).calls[0].inputs[0].index = 3; })); // not yet
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).calls[0].inputs[1].index = 2; })); // an i1
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).calls[0].inputs.pop_back(); }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).calls[1].kernel = 2; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).calls[1].outputs = {2}; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).calls[1].frame = 2; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).steps.pop_back(); }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { std::swap(plan(a).steps[1], plan(a).steps[3]); }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).steps[2].index = 0; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).frames[0].results = {}; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).frames[1].caller = 1; }));
  EXPECT_TRUE(refused([&](ArtifactData &a) { plan(a).frames.clear(); }));
}

//===-- Programs ----------------------------------------------------------===//

TEST(Programs, HaveTheLanguagesArithmetic) {
  auto compute = [](Opcode opcode, int64_t x, int64_t y) {
    return evaluateInteger(Program{constant(x), constant(y), binary(opcode, 0, 1)}, {});
  };
  EXPECT_EQ(compute(Opcode::DivFloor, -7, 2), -4);
  EXPECT_EQ(compute(Opcode::DivTrunc, -7, 2), -3);
  EXPECT_EQ(compute(Opcode::DivCeil, -7, 2), -3);
  EXPECT_EQ(compute(Opcode::RemFloor, -7, 2), 1);
  EXPECT_EQ(compute(Opcode::RemTrunc, -7, 2), -1);
  EXPECT_EQ(compute(Opcode::DivFloor, 7, 0), 0);
  EXPECT_EQ(compute(Opcode::RemFloor, 7, 0), 7);
  EXPECT_EQ(compute(Opcode::DivTrunc, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(compute(Opcode::ShiftLeft, 1, 64), 0);
  EXPECT_EQ(compute(Opcode::Power, -2, 3), -8);
  EXPECT_EQ(compute(Opcode::Add, INT64_MAX, 1), std::nullopt);
  EXPECT_EQ(compute(Opcode::Mul, INT64_MAX, 2), std::nullopt);
  EXPECT_EQ(compute(Opcode::Sub, INT64_MIN, 1), std::nullopt);
  // Narrow integers wrap.
  Program narrow{constant(127, Number::I8), constant(1, Number::I8),
                 binary(Opcode::Add, 0, 1, Number::I8)};
  EXPECT_EQ(evaluateInteger(narrow, {}), -128);
}

TEST(Programs, ConvertIntegersToFloatsWithOneRounding) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 10000; ++round) {
    uint64_t value = random() >> (random() % 64);
    auto convert = [&](Opcode opcode) {
      Program program{constant(static_cast<int64_t>(value)), {opcode, Number::F32, {0, 0, 0}, 0}};
      auto bits = static_cast<uint32_t>(evaluate(program, {}, {})->back());
      float result;
      std::memcpy(&result, &bits, sizeof result);
      return result;
    };
    ASSERT_EQ(convert(Opcode::UnsignedToFloat), static_cast<float>(value)) << value;
    ASSERT_EQ(convert(Opcode::SignedToFloat), static_cast<float>(static_cast<int64_t>(value)))
        << value;
  }
}

//===-- Processors --------------------------------------------------------===//

TEST(CpuFeatures, AreThoseOfTheSystem) {
  std::ifstream info("/proc/cpuinfo");
  std::string line, flags;
  while (std::getline(info, line))
    if (line.starts_with("flags"))
      flags = line.substr(line.find(':') + 1) + " ";
  if (flags.empty())
    GTEST_SKIP() << "no /proc/cpuinfo";
  // The names that Linux has for them.
  const std::map<std::string, std::string> names = {
      {"sse4.1", "sse4_1"}, {"sse4.2", "sse4_2"},     {"avx2", "avx2"},
      {"fma", "fma"},       {"f16c", "f16c"},         {"bmi", "bmi1"},
      {"bmi2", "bmi2"},     {"avx512f", "avx512f"},   {"popcnt", "popcnt"},
      {"lzcnt", "abm"},     {"avx512bw", "avx512bw"}, {"avx512vl", "avx512vl"},
      {"xop", "xop"},       {"sse4a", "sse4a"},       {"amx-tile", "amx_tile"},
      {"gfni", "gfni"}};
  for (const auto &[ours, theirs] : names)
    EXPECT_EQ(hasCpuFeature(ours), flags.find(" " + theirs + " ") != std::string::npos) << ours;
  EXPECT_FALSE(hasCpuFeature("avx1024"));
}

TEST(CpuImage, IsRefusedWhereItCantRun) {
  ImageData image{std::string(hostPlatform()), "a processor to come", {"sse3", "avx1024"}, 1, {}};
  Result<std::shared_ptr<const CpuImage>> loaded = CpuImage::load(image);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "the code can't run here: it is for a processor to come, and "
                                    "this processor has no avx1024");
  image = {"riscv64-linux", "any", {}, 1, {}};
  EXPECT_NE(CpuImage::load(image).error().message.find("it is for 'riscv64-linux'"),
            std::string::npos);
  // What is no shared object is refused by the dynamic loader.
  image = {std::string(hostPlatform()), "any", {}, 1, std::vector<std::byte>(100)};
  EXPECT_FALSE(CpuImage::load(image));
}

class ArtifactFile : public FileTest {};

TEST_F(ArtifactFile, SaysWhatItHas) {
  std::vector<std::byte> bytes = serialize(sampleArtifact());
  std::string file =
      writeFile("a.tileart", {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  Result<Artifact> artifact = Artifact::load(file);
  ASSERT_TRUE(artifact) << artifact.error().str();
  EXPECT_EQ(artifact->names(), (std::vector<std::string>{"scale", "net"}));
  EXPECT_EQ(artifact->function("scal").error().hint, "did you mean `scale`? it has scale, net");
  EXPECT_FALSE(Artifact::load(path("none")));
  EXPECT_FALSE(Artifact::load(writeFile("text", "kernel softmax")));
  Result<ArtifactFunction> scale = artifact->function("scale");
  ASSERT_TRUE(scale);
  Result<Tensor> x = Tensor::create(DType::F32, {9});
  EXPECT_NE(scale->launch({{"x", *x}, {"z", *x}}).error().message.find("holds i64"),
            std::string::npos);
  EXPECT_EQ(scale->launch({{"x", *x}}).error().message, "`scale.i64` needs an argument for `z`");
  EXPECT_EQ(scale->launch({{"w", *x}}).error().message, "`scale.i64` has no input `w`");
}

} // namespace
