// What a kernel on a GPU says to its launch, in device memory: assertions that fail, and what it
// prints. Plain data, no dependencies.
#pragma once

#include <cstdint>

namespace tile::runtime {

/// Kernels with `assert` or `print` take the address of one of these behind their dimensions. Its
/// records come behind it, to be read once the launch is done. All fields are 8 bytes.
struct GpuReport {
  /// Bytes of records that programs asked for. What is beyond `capacity` was not written.
  uint64_t used = 0;
  uint64_t capacity = 0;
  /// The lowest program that failed, where, and its coordinates by binder, then those of the
  /// element by axis. Written by who holds the lock.
  int64_t failedProgram = INT64_MAX;
  uint64_t lock = 0;
  uint64_t failedSite = 0;
  int64_t values[59] = {};
};
static_assert(sizeof(GpuReport) == 512);

/// The positions of the fields, for code generators.
enum class GpuReportField : unsigned { Used, Capacity, FailedProgram, Lock, FailedSite, Values };
inline constexpr unsigned mostReportedValues = 59;

/// A record is a multiple of 8 bytes. Of one program they come in the order in which it said them.
/// Behind a print's comes what CpuReport::print gets, but with offsets in the record in the place
/// of addresses (0: none).
///
/// Of code that was compiled to be watched there are two more kinds. A program that begins, with
/// its coordinates by binder. And an access of a tile: the number of indices, then for each element
/// in row-major order whether it is accessed, and its indices.
struct GpuRecord {
  int64_t program = 0;
  uint64_t site = 0;
  uint64_t bytes = 0;
};
static_assert(sizeof(GpuRecord) == 24);

/// Sites: of a program that begins; of an access, beside its number.
inline constexpr uint64_t gpuProgramRecord = uint64_t(1) << 33, gpuAccessRecord = uint64_t(1) << 32;

} // namespace tile::runtime
