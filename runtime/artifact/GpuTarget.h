// What is known of the GPUs that code is made for: limits of a multiprocessor, a CTA and a thread,
// and which instructions there are. Whoever has to know asks this table; a new target is a new row
// of it. Plain data, no dependencies.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// Registers, of 32 bits, that a multiprocessor has and a CTA can have, and that a thread can
/// address: the same for all GPUs from compute capability 8.0 on.
inline constexpr int64_t registersOfMultiprocessor = 65536, maxRegistersOfThread = 255;

/// The target where none is named.
inline constexpr std::string_view usualGpuTarget = "sm_90a";

struct GpuTarget {
  /// As `--target` and PTX have it.
  std::string_view name;
  /// The compute capability; whether devices of later ones don't run its code (`sm_90a`).
  int major = 0, minor = 0;
  bool isExact = false;
  /// Of the device that is planned for: one that is known, or that of the table's row.
  int64_t multiprocessors = 0;
  /// In bytes and cycles a second; 0: as those of the usual target.
  double memoryBandwidth = 0, clock = 0;
  /// Bytes of shared memory that a CTA can have.
  int64_t sharedBytes = 0;
  /// What a multiprocessor has at a time.
  int64_t threadsOfMultiprocessor = 0, ctasOfMultiprocessor = 0;
  /// The most CTAs of a cluster; 1: there are no clusters.
  unsigned maxClusterSize = 1;
  /// Whether there are bulk copies (cp.async.bulk) and their prefetches.
  bool hasBulkCopies = false;
  /// Whether warpgroups multiply what is in shared memory (wgmma), and roles move registers
  /// (setmaxnreg).
  bool hasWarpgroupMma = false;
  /// Whether instructions convert 8-bit floats.
  bool hasF8Conversions = false;
  /// What LLVM has to be told for such conversions, and for CTAs of a cluster that send to each
  /// other: a version of PTX beyond the one that the name implies. Empty: nothing.
  std::string_view f8Feature = {}, clusterFeature = {};

  constexpr bool runsOn(int deviceMajor, int deviceMinor) const {
    int have = 10 * deviceMajor + deviceMinor, wanted = 10 * major + minor;
    return isExact ? have == wanted : have >= wanted;
  }

  /// The target of a name; null: there is none.
  static const GpuTarget *find(std::string_view name);
  /// The target of a name that is one; of an empty name, which processors have, the usual one.
  static const GpuTarget &of(std::string_view name);
  /// The target that is nearest to a device; null: it runs the code of none.
  static const GpuTarget *nearest(int deviceMajor, int deviceMinor);
  /// The names of all, for messages and options.
  static std::vector<std::string> names();
  /// The most shared memory that a CTA of any of them can have, in bytes.
  static int64_t maxSharedBytes();
};

// Each behind those whose code its devices run, too. Limits: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability". Multiprocessors: those of an A100, an A40, an L40S, an
// H100 or H200 SXM, a B200 and an RTX PRO 6000. Bandwidth and clock: an H200's, its data sheet.
inline constexpr GpuTarget gpuTargets[] = {
    {.name = "sm_80",
     .major = 8,
     .minor = 0,
     .multiprocessors = 108,
     .sharedBytes = 163 << 10,
     .threadsOfMultiprocessor = 2048,
     .ctasOfMultiprocessor = 32},
    {.name = "sm_86",
     .major = 8,
     .minor = 6,
     .multiprocessors = 84,
     .sharedBytes = 99 << 10,
     .threadsOfMultiprocessor = 1536,
     .ctasOfMultiprocessor = 16},
    {.name = "sm_89",
     .major = 8,
     .minor = 9,
     .multiprocessors = 142,
     .sharedBytes = 99 << 10,
     .threadsOfMultiprocessor = 1536,
     .ctasOfMultiprocessor = 24,
     .hasF8Conversions = true,
     .f8Feature = "+ptx81"},
    {.name = "sm_90",
     .major = 9,
     .minor = 0,
     .multiprocessors = 132,
     .memoryBandwidth = 4.8e12,
     .clock = 1.98e9,
     .sharedBytes = 227 << 10,
     .threadsOfMultiprocessor = 2048,
     .ctasOfMultiprocessor = 32,
     .maxClusterSize = 16,
     .hasBulkCopies = true,
     .hasF8Conversions = true,
     .clusterFeature = "+ptx81"},
    {.name = "sm_90a",
     .major = 9,
     .minor = 0,
     .isExact = true,
     .multiprocessors = 132,
     .memoryBandwidth = 4.8e12,
     .clock = 1.98e9,
     .sharedBytes = 227 << 10,
     .threadsOfMultiprocessor = 2048,
     .ctasOfMultiprocessor = 32,
     .maxClusterSize = 16,
     .hasBulkCopies = true,
     .hasWarpgroupMma = true,
     .hasF8Conversions = true,
     .clusterFeature = "+ptx81"},
    // Its tensor cores have other instructions (tcgen05).
    {.name = "sm_100a",
     .major = 10,
     .minor = 0,
     .isExact = true,
     .multiprocessors = 148,
     .sharedBytes = 227 << 10,
     .threadsOfMultiprocessor = 2048,
     .ctasOfMultiprocessor = 32,
     .maxClusterSize = 16,
     .hasBulkCopies = true,
     .hasF8Conversions = true},
    {.name = "sm_120",
     .major = 12,
     .minor = 0,
     .multiprocessors = 188,
     .sharedBytes = 99 << 10,
     .threadsOfMultiprocessor = 1536,
     .ctasOfMultiprocessor = 24,
     .maxClusterSize = 8,
     .hasBulkCopies = true,
     .hasF8Conversions = true},
};

inline const GpuTarget *GpuTarget::find(std::string_view name) {
  for (const GpuTarget &target : gpuTargets)
    if (target.name == name)
      return &target;
  return nullptr;
}

inline const GpuTarget &GpuTarget::of(std::string_view name) {
  const GpuTarget *target = find(name.empty() ? usualGpuTarget : name);
  assert(target && "names are checked where they come from");
  return *target;
}

inline const GpuTarget *GpuTarget::nearest(int deviceMajor, int deviceMinor) {
  const GpuTarget *best = nullptr;
  for (const GpuTarget &target : gpuTargets)
    if (target.runsOn(deviceMajor, deviceMinor))
      best = &target;
  return best;
}

inline std::vector<std::string> GpuTarget::names() {
  std::vector<std::string> result;
  for (const GpuTarget &target : gpuTargets)
    result.emplace_back(target.name);
  return result;
}

inline int64_t GpuTarget::maxSharedBytes() {
  return std::max_element(std::begin(gpuTargets), std::end(gpuTargets),
                          [](const GpuTarget &left, const GpuTarget &right) {
                            return left.sharedBytes < right.sharedBytes;
                          })
      ->sharedBytes;
}

} // namespace tile::runtime
