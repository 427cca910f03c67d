// The instruction sets of x86-64 that compiled code may use, and which of them this machine has.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// All that compiled code asks for, by LLVM's names: "avx2", "avx512f", "amx-tile".
std::vector<std::string_view> knownCpuFeatures();

/// Whether this processor has it and the operating system saves its registers. False for names
/// that are not known.
bool hasCpuFeature(std::string_view name);

/// Those of `wanted` that this machine lacks.
std::vector<std::string> missingCpuFeatures(std::span<const std::string> wanted);

/// What the processor calls itself: "Intel(R) Xeon(R) Platinum 8481C". "" if it doesn't.
const std::string &cpuName();

/// How a processor is named where speed matters: "Intel(R) Xeon(R) Platinum 8481C, 2 threads".
std::string cpuTitle(int threads);

/// The bits of its widest vectors: 512, 256 or 128.
int cpuVectorBits();

/// "x86_64-linux": what images are for.
std::string_view hostPlatform();

} // namespace tile::runtime
