//===- FusionReport.h - what `tilec fuse` has to say ----------------------===//
#ifndef TILE_FRONTEND_FUSIONREPORT_H
#define TILE_FRONTEND_FUSIONREPORT_H

#include "frontend/GraphView.h"
#include "frontend/Interface.h"
#include "frontend/Outcome.h"
#include "ir/fusion/Ledger.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

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

/// The kernels before and after, and what stays in memory between them, and why.
void printText(const FusionReport &report, llvm::raw_ostream &stream);
llvm::json::Object toJson(const FusionReport &report);
/// The graph as it is afterwards, for Graphviz: a box a kernel, with the calls in it.
void printDot(const FusionReport &report, llvm::raw_ostream &stream);

/// All that was tried between two calls. They are named by a value that they give (an input stands
/// for what reads it), by their kernel or by line:column.
Outcome<std::string> explainPair(const FusionReport &report, const std::string &first,
                                 const std::string &second);

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSIONREPORT_H
