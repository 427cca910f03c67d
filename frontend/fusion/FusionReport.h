//===- FusionReport.h - what `tilec fuse` has found -----------------------===//
#ifndef TILE_FRONTEND_FUSION_FUSIONREPORT_H
#define TILE_FRONTEND_FUSION_FUSIONREPORT_H

#include "frontend/base/Interface.h"
#include "frontend/fusion/GraphView.h"
#include "ir/fusion/Ledger.h"

namespace tile::frontend {

struct FusionReport {
  std::string graph, device;
  /// All that the graph takes, numbers too.
  std::vector<Port> inputs;
  /// "exact", as --fuse has it.
  std::string mode = "exact";
  /// Dims that have a value: "M = 512"; and those that nobody gave one, which is taken to be that.
  std::vector<std::string> dims, assumedDims;
  int64_t assumedExtent = 0;
  ir::FusionLedger ledger;
  /// Their calls are the ledger's calls and kernels, number by number.
  GraphView before, after;
  /// Bytes of the tensors between kernels at a time.
  double peakBefore = 0, peakAfter = 0;
  /// Bytes that the device has; 0 where that is not known.
  double memory = 0;
  /// Medians of seconds, if both have run.
  struct Measured {
    std::string device;
    double before = 0, after = 0;
    /// Seconds to fuse the graph, and to compile its kernels before and after without a cache.
    double fuse = 0, compileBefore = 0, compileAfter = 0;
    /// Of each call and kernel alone; empty where that is not known.
    std::vector<double> calls, kernels;
  };
  std::optional<Measured> measured;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSION_FUSIONREPORT_H
