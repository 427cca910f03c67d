//===- FusionText.h - words of a report on fusion -------------------------===//
#ifndef TILE_FRONTEND_FUSIONTEXT_H
#define TILE_FRONTEND_FUSIONTEXT_H

#include "frontend/FusionReport.h"

namespace tile::frontend {

/// "33.55 MB", "146.84 us", and operations a byte: "40.58", or "-" where nothing moves.
std::string bytesText(double bytes);
std::string timeText(double seconds);
/// "33.1 us instead of 40.2 us"; with a difference that shows, however small it is.
std::string comparedText(const ir::KernelCost &together, const ir::KernelCost &apart);
std::string intensityText(const ir::KernelCost &cost);

llvm::StringRef nameOf(ir::FusionEntry::Transform transform);
llvm::StringRef nameOf(ir::FusionEntry::Verdict verdict);
/// Why two kernels stay apart; "fused" if they don't.
std::string reasonOf(const ir::FusionEntry &entry);
/// What to change so that they may become one; empty where nothing helps.
llvm::StringRef hintOf(const ir::FusionEntry &entry);

/// "`s[0]` is updated by the programs (i = 0..64) and (i = 64..128) of kernel 1"; empty without a
/// witness.
std::string witnessOf(const ir::FusionLedger::Boundary &boundary);

/// Runs after which the time to fuse and compile is earned back: 1 if that takes no longer than to
/// compile the graph as it stands; none if runs are not faster.
std::optional<double> runsToEarnBack(const FusionReport::Measured &measured);
/// "earned back after 1234 runs"
std::string earnedBackText(const FusionReport::Measured &measured);

/// "s = norm, y = scale"
std::string labelsOf(const FusionReport &report, llvm::ArrayRef<unsigned> calls);

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSIONTEXT_H
