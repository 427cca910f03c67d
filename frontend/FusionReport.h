//===- FusionReport.h - what `tilec fuse` has to say ----------------------===//
#ifndef TILE_FRONTEND_FUSIONREPORT_H
#define TILE_FRONTEND_FUSIONREPORT_H

#include "ir/fusion/Ledger.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tile::frontend {

struct FusionReport {
  std::string graph, device;
  /// Dims and the values that were taken for them: "M = 4096".
  std::vector<std::string> dims;
  ir::FusionLedger ledger;
};

/// The kernels before and after, and what stays in memory between them, and why.
void printText(const FusionReport &report, llvm::raw_ostream &stream);
llvm::json::Object toJson(const FusionReport &report);
/// The graph as it is afterwards, for Graphviz: a box a kernel, with the calls in it.
void printDot(const FusionReport &report, llvm::raw_ostream &stream);
/// All that was tried between two calls, by what they call or by line:column; none: there are no
/// such calls.
std::optional<std::string> explainPair(const FusionReport &report, llvm::StringRef first,
                                       llvm::StringRef second);

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSIONREPORT_H
