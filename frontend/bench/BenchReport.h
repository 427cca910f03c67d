//===- BenchReport.h - what `tilec bench` has to say ----------------------===//
#ifndef TILE_FRONTEND_BENCH_BENCHREPORT_H
#define TILE_FRONTEND_BENCH_BENCHREPORT_H

#include "frontend/bench/Bench.h"

#include "llvm/Support/JSON.h"

namespace tile::frontend {

/// What a kernel runs against.
enum class Roof { Launch, Memory, Compute };
llvm::StringRef nameOf(Roof roof);

struct BenchResult {
  std::string name;
  /// "x: f32[8192x4096]", by input.
  std::vector<std::string> inputs;
  /// Of a graph its work is the sum of its launches.
  bool isGraph = false;
  /// Of a graph: how it was fused, and what the tensors between its launches take, if it ran.
  std::string fuse;
  std::optional<runtime::GraphMemory> memory;
  unsigned launches = 1;
  Work work;
  /// Empty in predictions.
  Timing timing;
  /// Seconds of a copy of as many bytes, in the same rounds; empty where nothing moves.
  Timing copy;
  std::optional<Resources> resources;
};

struct BenchReport {
  std::string device;
  std::optional<DeviceDescription> description;
  /// Nothing was measured: times are what the description allows at best.
  bool isPrediction = false;
  bool isWarm = false;
  std::vector<BenchResult> results;
  /// Of a copy that is larger than caches, in the same rounds.
  Timing largeCopy;
  double largeCopyBytes = 0;

  /// Bytes a second: of the fastest of all copies; in predictions, and where nothing was copied,
  /// the description's; 0 where that isn't known.
  double bandwidth() const;
  /// What the device needs at least for each part of it, in seconds; 0 where that isn't known.
  double launchSeconds() const { return description ? description->launchSeconds() : 0; }
  double memorySeconds(const BenchResult &result) const;
  double computeSeconds(const BenchResult &result) const;
  /// Whether a roof of memory is known, and with it what bounds a kernel.
  bool hasRoofs() const { return bandwidth() > 0; }
  Roof roofOf(const BenchResult &result) const;
  /// What was measured, or a launch and the longer of moving and computing.
  double seconds(const BenchResult &result) const;
};

void printText(const BenchReport &report, llvm::raw_ostream &stream);
llvm::json::Object toJson(const BenchReport &report);

/// The kernels under the device's roofs: operations a second over operations for each byte, both
/// logarithmic, as one SVG file without scripts or references, for light and dark pages. Kernels
/// without arithmetic are named below.
std::string rooflineSvg(const BenchReport &report);

} // namespace tile::frontend

#endif // TILE_FRONTEND_BENCH_BENCHREPORT_H
