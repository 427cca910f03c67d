//===- FusionPrint.h - what `tilec fuse` has to say -----------------------===//
#ifndef TILE_FRONTEND_FUSION_FUSIONPRINT_H
#define TILE_FRONTEND_FUSION_FUSIONPRINT_H

#include "frontend/base/Outcome.h"
#include "frontend/fusion/FusionReport.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tile::frontend {

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

#endif // TILE_FRONTEND_FUSION_FUSIONPRINT_H
