#include "runtime/cpu/CpuFeatures.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tile::runtime {

namespace {

enum Register : uint8_t { EAX, EBX, ECX, EDX };
/// What the operating system has to save: bits of XCR0.
enum State : uint32_t { Sse = 0, Avx = 0x6, Avx512 = 0xe6, Amx = 0x60000, Apx = 0x80000 };

struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register where;
  uint8_t bit;
  State state;
};

// Intel's manual, volume 2, CPUID; AMD's, volume 3, appendix E.
constexpr Feature features[] = {
    {"sse3", 1, 0, ECX, 0, Sse},
    {"pclmul", 1, 0, ECX, 1, Sse},
    {"ssse3", 1, 0, ECX, 9, Sse},
    {"fma", 1, 0, ECX, 12, Avx},
    {"cx16", 1, 0, ECX, 13, Sse},
    {"sse4.1", 1, 0, ECX, 19, Sse},
    {"sse4.2", 1, 0, ECX, 20, Sse},
    {"movbe", 1, 0, ECX, 22, Sse},
    {"popcnt", 1, 0, ECX, 23, Sse},
    {"aes", 1, 0, ECX, 25, Sse},
    {"avx", 1, 0, ECX, 28, Avx},
    {"f16c", 1, 0, ECX, 29, Avx},
    {"bmi", 7, 0, EBX, 3, Sse},
    {"avx2", 7, 0, EBX, 5, Avx},
    {"bmi2", 7, 0, EBX, 8, Sse},
    {"avx512f", 7, 0, EBX, 16, Avx512},
    {"avx512dq", 7, 0, EBX, 17, Avx512},
    {"adx", 7, 0, EBX, 19, Sse},
    {"avx512ifma", 7, 0, EBX, 21, Avx512},
    {"avx512cd", 7, 0, EBX, 28, Avx512},
    {"avx512bw", 7, 0, EBX, 30, Avx512},
    {"avx512vl", 7, 0, EBX, 31, Avx512},
    {"avx512vbmi", 7, 0, ECX, 1, Avx512},
    {"avx512vbmi2", 7, 0, ECX, 6, Avx512},
    {"gfni", 7, 0, ECX, 8, Sse},
    {"vaes", 7, 0, ECX, 9, Avx},
    {"vpclmulqdq", 7, 0, ECX, 10, Avx},
    {"avx512vnni", 7, 0, ECX, 11, Avx512},
    {"avx512bitalg", 7, 0, ECX, 12, Avx512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Avx512},
    {"avx512vp2intersect", 7, 0, EDX, 8, Avx512},
    {"amx-bf16", 7, 0, EDX, 22, Amx},
    {"avx512fp16", 7, 0, EDX, 23, Avx512},
    {"amx-tile", 7, 0, EDX, 24, Amx},
    {"amx-int8", 7, 0, EDX, 25, Amx},
    {"avxvnni", 7, 1, EAX, 4, Avx},
    {"avx512bf16", 7, 1, EAX, 5, Avx512},
    {"amx-fp16", 7, 1, EAX, 21, Amx},
    {"avxifma", 7, 1, EAX, 23, Avx},
    {"avxvnniint8", 7, 1, EDX, 4, Avx},
    {"avxneconvert", 7, 1, EDX, 5, Avx},
    {"amx-complex", 7, 1, EDX, 8, Amx},
    {"avxvnniint16", 7, 1, EDX, 10, Avx},
    {"avx10.1", 7, 1, EDX, 19, Avx512},
    {"egpr", 7, 1, EDX, 21, Apx},
    {"ndd", 7, 1, EDX, 21, Apx},
    {"nf", 7, 1, EDX, 21, Apx},
    {"ccmp", 7, 1, EDX, 21, Apx},
    {"zu", 7, 1, EDX, 21, Apx},
    {"push2pop2", 7, 1, EDX, 21, Apx},
    {"ppx", 7, 1, EDX, 21, Apx},
    {"lzcnt", 0x80000001, 0, ECX, 5, Sse},
    {"sse4a", 0x80000001, 0, ECX, 6, Sse},
    {"xop", 0x80000001, 0, ECX, 11, Avx},
    {"fma4", 0x80000001, 0, ECX, 16, Avx},
    {"tbm", 0x80000001, 0, ECX, 21, Sse},
};

#if defined(__x86_64__)
/// Registers that the operating system saves.
uint64_t savedState() {
  std::array<uint32_t, 4> r = {};
  constexpr uint32_t osxsave = 1u << 27;
  if (!__get_cpuid(1, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) || !(r[ECX] & osxsave))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

bool has(const Feature &feature) {
  std::array<uint32_t, 4> r = {};
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]))
    return false;
  static const uint64_t saved = savedState();
  return (r[feature.where] >> feature.bit & 1) && (saved & feature.state) == feature.state;
}
#else
bool has(const Feature &) { return false; }
#endif

} // namespace

std::vector<std::string_view> knownCpuFeatures() {
  std::vector<std::string_view> names;
  for (const Feature &feature : features)
    names.emplace_back(feature.name);
  return names;
}

bool hasCpuFeature(std::string_view name) {
  // Virtual machines trap CPUID, which takes microseconds each time.
  static const std::vector<bool> known = [] {
    std::vector<bool> found;
    for (const Feature &feature : features)
      found.push_back(has(feature));
    return found;
  }();
  const Feature *feature =
      std::find_if(std::begin(features), std::end(features),
                   [&](const Feature &feature) { return feature.name == name; });
  return feature != std::end(features) && known[static_cast<size_t>(feature - features)];
}

std::vector<std::string> missingCpuFeatures(std::span<const std::string> wanted) {
  std::vector<std::string> missing;
  for (const std::string &name : wanted)
    if (!hasCpuFeature(name))
      missing.push_back(name);
  return missing;
}

static std::string readCpuName() {
  std::array<char, 49> text = {};
#if defined(__x86_64__)
  for (uint32_t part = 0; part < 3; ++part) {
    std::array<uint32_t, 4> r = {};
    if (!__get_cpuid(0x80000002 + part, &r[EAX], &r[EBX], &r[ECX], &r[EDX]))
      return "";
    std::memcpy(text.data() + part * sizeof r, r.data(), sizeof r);
  }
#endif
  // Some pad it on the left, some on the right.
  std::string name(text.data());
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  return name;
}

const std::string &cpuName() {
  static const std::string name = readCpuName(); // by CPUID, as above
  return name;
}

std::string cpuTitle(int threads) {
  const std::string &name = cpuName();
  return (name.empty() ? "a processor without a name" : name) + ", " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads");
}

int cpuVectorBits() { return hasCpuFeature("avx512f") ? 512 : hasCpuFeature("avx2") ? 256 : 128; }

std::string_view hostPlatform() {
#if defined(__x86_64__) && defined(__linux__)
  return "x86_64-linux";
#else
  return "unknown";
#endif
}

} // namespace tile::runtime
