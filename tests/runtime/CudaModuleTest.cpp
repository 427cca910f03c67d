#include "CudaFake.h"
#include "TestSupport.h"

#include "runtime/cuda/Assemble.h"
#include "runtime/cuda/Cubin.h"
#include "runtime/cuda/Module.h"
#include "runtime/cuda/PtxTarget.h"

#include <elf.h>

namespace tile::runtime::cuda::test {
namespace {

using runtime::test::expectError;
using CudaModule = CudaTest;

const std::string ptx = "// Two kernels.\n.version 8.7\n.target sm_90a\n.address_size 64\n"
                        ".visible .entry one(.param .u64 p) { ret; }\n"
                        ".visible .entry two() { ret; }\n";

std::string withTarget(const std::string &target) {
  std::string text = ptx;
  return text.replace(text.find("sm_90a"), 6, target);
}

//===-- PTX ---------------------------------------------------------------===//

TEST_F(CudaModule, KernelsOfPtx) {
  fake.functionAttributes[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = 48;
  fake.jitInfo = "ptxas info    : Used 40 registers\n\n";
  auto device = fake.device();
  // Not ended by a NUL: the driver's copy is.
  std::string longer = ptx + "junk";
  auto module = Module::fromPtx(device, std::string_view(longer).substr(0, ptx.size()));
  ASSERT_TRUE(module) << module.error().str();
  EXPECT_EQ(fake.lastImage, ptx);
  EXPECT_EQ(fake.lastJitOptions, 6u);
  EXPECT_EQ((*module)->infoLog(), "ptxas info    : Used 40 registers");
  auto function = (*module)->function("two");
  ASSERT_TRUE(function) << function.error().str();
  EXPECT_STREQ((*function)->name(), "two");
  EXPECT_EQ((*function)->attributes().registers, 40);
  EXPECT_EQ((*function)->attributes().localBytes, 48);
  EXPECT_EQ((*function)->attributes().staticSharedBytes, 1024);
  EXPECT_EQ((*function)->attributes().maxThreads, 1024);
  EXPECT_EQ(*(*function)->blocksPerMultiprocessor(512, 0), 4);
  expectError((*module)->function("three"), "the module has no kernel 'three'");
  // A function keeps its module loaded.
  *module = nullptr;
  EXPECT_EQ(fake.count("moduleUnload"), 0);
}

TEST_F(CudaModule, WhatTheCompilerSays) {
  fake.jitResult = CUDA_ERROR_INVALID_PTX;
  fake.jitErrors =
      "ptxas application ptx input, line 5; fatal   : Parsing error near 'x'\x1b: syntax error\n";
  fake.jitInfo = "info text\n";
  auto module = Module::fromPtx(fake.device(), ptx);
  expectError(module,
              "code in PTX 8.7 for sm_90a on device 0, Fake 9000, can't be loaded: a PTX JIT "
              "compilation failed (CUDA_ERROR_INVALID_PTX)\n"
              "ptxas application ptx input, line 5; fatal   : Parsing error near 'x': "
              "syntax error\ninfo text");
  EXPECT_EQ(fake.count("moduleUnload"), 0);
}

TEST_F(CudaModule, PtxThatIsTooNewForTheDriver) {
  fake.version = 12020;
  fake.jitResult = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  auto module = Module::fromPtx(fake.device(), ptx);
  expectError(module, "code in PTX 8.7 for sm_90a on");
  EXPECT_EQ(module.error().hint,
            "update the NVIDIA driver, which is for CUDA 12.2, or compile to a cubin");
  fake.jitResult = CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
  EXPECT_NE(Module::fromPtx(fake.device(), ptx).error().hint.find("libnvidia-ptxjitcompiler.so.1"),
            std::string::npos);
}

TEST_F(CudaModule, PtxForAnotherDevice) {
  auto module = Module::fromPtx(fake.device(), withTarget("sm_100a"));
  expectError(module, "code for 'sm_100a' runs on devices of compute capability 10.0 alone; device "
                      "0, Fake 9000, has 9.0");
  EXPECT_EQ(module.error().hint, "compile for this device: --target=sm_90a");
  EXPECT_EQ(fake.count("moduleLoadDataEx"), 0);
  EXPECT_TRUE(Module::fromPtx(fake.device(), withTarget("sm_80")));
}

TEST(CudaPtx, TargetsAndDevices) {
  struct Case {
    const char *target;
    int major, minor;
    bool fits;
  };
  const Case cases[] = {
      {"sm_80", 8, 0, true},    {"sm_80", 8, 6, true},     {"sm_80", 12, 0, true},
      {"sm_89", 8, 6, false},   {"sm_89", 9, 0, true},     {"sm_90a", 9, 0, true},
      {"sm_90a", 10, 0, false}, {"sm_90a", 8, 9, false},   {"sm_100", 9, 0, false},
      {"sm_100f", 10, 3, true}, {"sm_103f", 10, 0, false}, {"sm_100f", 12, 0, false},
      {"sm_120a", 12, 1, false}};
  for (const Case &test : cases) {
    auto target = parsePtxTarget(withTarget(test.target));
    ASSERT_TRUE(target) << test.target;
    EXPECT_EQ(target->name, test.target);
    EXPECT_EQ(target->version, "8.7");
    DeviceProperties device;
    device.major = test.major;
    device.minor = test.minor;
    EXPECT_EQ(bool(checkPtxTarget(*target, device)), test.fits)
        << test.target << " on " << device.capability();
  }
}

TEST(CudaPtx, Heads) {
  EXPECT_EQ(parsePtxTarget(".target sm_90a, debug").value().name, "sm_90a");
  EXPECT_EQ(parsePtxTarget("/* .target sm_10 */ // .target sm_20\n\t.target\tsm_80").value().major,
            8);
  EXPECT_EQ(parsePtxTarget(".target sm_100a")->suffix, 'a');
  for (const char *text :
       {"", "x", ".target", ".target ", ".target compute_90", ".target sm_", ".target sm_9x0",
        ".target sm_99999999999999", "/* .target sm_90", "//", "/*", "/", ",", ";;;"})
    EXPECT_FALSE(parsePtxTarget(text)) << text;
}

TEST_F(CudaModule, CubinsOfPtx) {
  fake.jitInfo = "ptxas info    : Used 40 registers\n";
  auto device = fake.device();
  auto code = assemble(*device, ptx);
  ASSERT_TRUE(code) << code.error().str();
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(code->cubin.data()), code->cubin.size()),
            "cubin of " + ptx);
  EXPECT_EQ(code->infoLog, "ptxas info    : Used 40 registers");
  EXPECT_EQ(fake.leaks(), "1 contexts");
}

TEST_F(CudaModule, PtxThatMakesNoCubin) {
  expectError(assemble(*fake.device(), withTarget("sm_100a")), "code for 'sm_100a' runs on");
  EXPECT_EQ(fake.count("linkCreate"), 0);
  fake.jitResult = CUDA_ERROR_INVALID_PTX;
  fake.jitErrors = "line 5; syntax error\n";
  expectError(assemble(*fake.device(), ptx),
              "code in PTX 8.7 for sm_90a can't be compiled on device 0, Fake 9000: a PTX JIT "
              "compilation failed (CUDA_ERROR_INVALID_PTX)\nline 5; syntax error");
  fake.jitResult = CUDA_SUCCESS;
  for (const char *name : {"linkCreate", "linkComplete"}) {
    fake.failures = {{name, CUDA_ERROR_OUT_OF_MEMORY}};
    expectError(assemble(*fake.device(), ptx), "out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
    EXPECT_EQ(fake.leaks(), "");
  }
}

//===-- Cubins ------------------------------------------------------------===//

struct Elf {
  Elf64_Ehdr header = {};
  Elf64_Shdr sections[2] = {};
  Elf64_Phdr segment = {};
  char content[100] = {};
};

/// The least that is a cubin, as far as anybody looks.
Elf makeElf() {
  Elf elf;
  std::memcpy(elf.header.e_ident, ELFMAG, SELFMAG);
  elf.header.e_ident[EI_CLASS] = ELFCLASS64;
  elf.header.e_machine = EM_CUDA;
  elf.header.e_shoff = offsetof(Elf, sections);
  elf.header.e_shnum = 2;
  elf.header.e_shentsize = sizeof(Elf64_Shdr);
  elf.header.e_phoff = offsetof(Elf, segment);
  elf.header.e_phnum = 1;
  elf.header.e_phentsize = sizeof(Elf64_Phdr);
  elf.sections[0].sh_type = SHT_PROGBITS;
  elf.sections[0].sh_offset = offsetof(Elf, content);
  elf.sections[0].sh_size = sizeof elf.content;
  elf.sections[1].sh_type = SHT_NOBITS; // takes no bytes, whatever its size
  elf.sections[1].sh_size = 1u << 30;
  elf.segment.p_offset = offsetof(Elf, content);
  elf.segment.p_filesz = sizeof elf.content;
  return elf;
}

std::span<const std::byte> bytesOf(const Elf &elf) { return std::as_bytes(std::span(&elf, 1)); }

TEST(CudaCubin, ReachesNoFartherThanItsBytes) {
  const Elf whole = makeElf();
  // Padding ends the structure: the parts end before them.
  size_t size = offsetof(Elf, content) + 100;
  for (size_t length = 0; length <= size; ++length)
    EXPECT_EQ(bool(checkCubin(bytesOf(whole).first(length))), length == size) << length;
  expectError(checkCubin(bytesOf(whole).first(63)),
              "63 bytes are no cubin: they don't begin as one");
  expectError(checkCubin(bytesOf(whole).first(size - 1)), "is damaged: a part of it lies beyond");
  Elf other = whole;
  other.header.e_machine = EM_X86_64;
  expectError(checkCubin(bytesOf(other)), "the code is for another processor");
  for (uint64_t huge : {uint64_t(sizeof(Elf)), UINT64_MAX, UINT64_MAX - 63, uint64_t(1) << 63}) {
    for (auto change : std::initializer_list<void (*)(Elf &, uint64_t)>{
             [](Elf &elf, uint64_t value) { elf.header.e_shoff = value; },
             [](Elf &elf, uint64_t value) { elf.header.e_phoff = value; },
             [](Elf &elf, uint64_t value) { elf.sections[0].sh_offset = value; },
             [](Elf &elf, uint64_t value) { elf.sections[0].sh_size = value; },
             [](Elf &elf, uint64_t value) { elf.segment.p_offset = value; },
             [](Elf &elf, uint64_t value) { elf.segment.p_filesz = value; }}) {
      other = whole;
      change(other, huge);
      EXPECT_FALSE(checkCubin(bytesOf(other)));
    }
  }
  other = whole;
  other.header.e_shentsize = 1;
  EXPECT_FALSE(checkCubin(bytesOf(other)));
}

TEST_F(CudaModule, KernelsOfACubin) {
  Elf elf = makeElf();
  auto module = Module::fromCubin(fake.device(), bytesOf(elf));
  ASSERT_TRUE(module) << module.error().str();
  EXPECT_EQ(fake.lastJitOptions, 4u); // machine code is not compiled
  EXPECT_TRUE((*module)->function("of_cubin"));
}

TEST_F(CudaModule, ACubinThatIsRefused) {
  Elf elf = makeElf();
  expectError(Module::fromCubin(fake.device(), bytesOf(elf).first(200)), "is damaged");
  EXPECT_EQ(fake.count("moduleLoadDataEx"), 0);
  fake.jitResult = CUDA_ERROR_INVALID_IMAGE;
  auto module = Module::fromCubin(fake.device(), bytesOf(elf));
  expectError(module, "the cubin on device 0, Fake 9000, can't be loaded: device kernel image is "
                      "invalid (CUDA_ERROR_INVALID_IMAGE)");
  EXPECT_EQ(module.error().hint, "compile it anew for this device: --target=sm_90a");
}

} // namespace
} // namespace tile::runtime::cuda::test
