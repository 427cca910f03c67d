//===- FusionPage.h - a report on fusion to look at and click through -----===//
#ifndef TILE_FRONTEND_FUSION_FUSIONPAGE_H
#define TILE_FRONTEND_FUSION_FUSIONPAGE_H

#include "frontend/fusion/FusionReport.h"

namespace tile::frontend {

/// Lines of a source.
struct SourceExcerpt {
  std::string file;
  /// Of its first line.
  unsigned line = 1;
  std::string text;
};

/// What people wrote of a call of the graph: the call, and its kernel if it is one of theirs or of
/// the library.
struct CallSources {
  SourceExcerpt call;
  std::optional<SourceExcerpt> kernel;
};

/// One HTML file that needs no other: the graph before and after, side by side, with sources, IR
/// and reasons. `sources` has those of each call, by its number.
void printPage(const FusionReport &report, llvm::ArrayRef<CallSources> sources,
               llvm::raw_ostream &stream);

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSION_FUSIONPAGE_H
