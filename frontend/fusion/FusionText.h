//===- FusionText.h - words of a report on fusion -------------------------===//
#ifndef TILE_FRONTEND_FUSION_FUSIONTEXT_H
#define TILE_FRONTEND_FUSION_FUSIONTEXT_H

#include "frontend/base/Units.h"
#include "frontend/fusion/FusionReport.h"

namespace tile::frontend {

/// "33.10 µs instead of 40.20 µs"; with a difference that shows, however small it is.
std::string comparedText(const ir::KernelCost &together, const ir::KernelCost &apart);
/// Operations a byte: "40.58", or "-" where nothing moves.
std::string intensityText(const ir::KernelCost &cost);

llvm::StringRef nameOf(ir::FusionEntry::Transform transform);
llvm::StringRef nameOf(ir::FusionEntry::Verdict verdict);
/// The most seconds that two kernels as one could save: a launch, and what a tensor takes between
/// them, stored and read; or read once more than needed, where both read it.
double gainOf(const ir::FusionLedger &ledger, const ir::FusionLedger::Boundary &boundary,
              bool isRead);
/// Orders what stays between kernels, and what two read, by that.
void sortByGain(ir::FusionLedger &ledger);
/// Whether two kernels are best as they are: as one they would take longer, and no hint would help.
bool isBestApart(const ir::FusionLedger &ledger, const ir::FusionLedger::Boundary &boundary);

/// "no --dim gives K, N: planned for 4096 each"; empty where all dims were given.
std::string assumedText(const FusionReport &report);
/// That the device has no room for the tensors with these dims; empty where it has, or where that
/// is not known.
std::string memoryWarning(const FusionReport &report);

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

#endif // TILE_FRONTEND_FUSION_FUSIONTEXT_H
