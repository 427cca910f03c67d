//===- TuneSpace.h - schedules to try -------------------------------------===//
#ifndef TILE_FRONTEND_TUNE_TUNESPACE_H
#define TILE_FRONTEND_TUNE_TUNESPACE_H

#include "frontend/execute/TunedSchedules.h"

namespace tile::frontend {

struct TuneSpace {
  /// "cpu" or "cuda": whose candidates the kernel's schedule has.
  std::string target;
  /// What runs without tuning: every binder is in it. It is the first that is tried.
  Schedule usual;
  /// What stays as it is.
  Schedule fixed;
  /// The greatest extent of an argument.
  int64_t largestExtent = 1;
  /// Whether the number of warps means something: not on a CPU, and not where the tensor cores'
  /// pipelines have warps of their own.
  bool hasWarps = false;
  /// Whether it is one of those pipelines, whose contraction blocks of threads may split.
  bool isPipeline = false;
};

/// At most `most` schedules, the usual one first, then by how far they are from it, in doublings
/// and halvings of sizes; the same ones at every call. What the kernel's schedule lists is tried in
/// all combinations, a single number there stays. Binders that it leaves open get up to four times
/// more and less than is usual, by powers of two, and all of them together three such steps.
std::vector<Schedule> schedulesToTry(ir::KernelOp kernel, const TuneSpace &space, size_t most);

} // namespace tile::frontend

#endif // TILE_FRONTEND_TUNE_TUNESPACE_H
