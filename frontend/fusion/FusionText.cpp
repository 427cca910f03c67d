//===- FusionText.cpp - words of a report on fusion -----------------------===//

#include "frontend/fusion/FusionText.h"
#include "frontend/fusion/FusionCost.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace tile;
using namespace tile::frontend;
using ir::FusionEntry;
using ir::FusionLedger;
using Transform = FusionEntry::Transform;
using Verdict = FusionEntry::Verdict;

static std::string number(double value, const char *format) {
  char buffer[48];
  snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string tile::frontend::comparedText(const ir::KernelCost &together,
                                         const ir::KernelCost &apart) {
  std::string time = timeText(together.seconds), other = timeText(apart.seconds);
  if (time != other)
    return time + " instead of " + other;
  if (together.seconds == apart.seconds)
    return time + ", as apart";
  double percent = 100 * std::abs(together.seconds / apart.seconds - 1);
  return time + ", " + (percent < 0.001 ? "less than 0.001" : number(percent, "%.1g")) + " % " +
         (together.seconds < apart.seconds ? "less" : "more") + " than apart";
}

std::string tile::frontend::intensityText(const ir::KernelCost &cost) {
  return cost.bytes() > 0 && std::isfinite(cost.operations) ? number(cost.intensity(), "%.2f")
                                                            : "-";
}

double tile::frontend::gainOf(const FusionLedger &ledger, const FusionLedger::Boundary &boundary,
                              bool isRead) {
  const ir::KernelCost &one = ledger.kernels[boundary.from].cost,
                       &other = ledger.kernels[boundary.to].cost;
  double bytes = one.bytes() + other.bytes(), moving = one.memorySeconds + other.memorySeconds;
  double saved = bytes > 0 ? (isRead ? 1 : 2) * boundary.bytes / bytes : 0;
  double memory = moving * std::max(0.0, 1 - saved);
  double compute = one.computeSeconds + other.computeSeconds;
  double together =
      FusionCost::secondsOf(std::max(one.launchSeconds, other.launchSeconds), memory, compute);
  double gain = one.seconds + other.seconds - together;
  return std::isfinite(gain) ? std::max(0.0, gain) : 0;
}

void tile::frontend::sortByGain(FusionLedger &ledger) {
  auto sort = [&](std::vector<FusionLedger::Boundary> &list, bool isRead) {
    llvm::stable_sort(list, [&](const auto &a, const auto &b) {
      return gainOf(ledger, a, isRead) > gainOf(ledger, b, isRead);
    });
  };
  sort(ledger.boundaries, false);
  sort(ledger.sharedReads, true);
}

bool tile::frontend::isBestApart(const FusionLedger &ledger,
                                 const FusionLedger::Boundary &boundary) {
  if (!boundary.entry)
    return false;
  const FusionEntry &entry = ledger.entries[*boundary.entry];
  return entry.verdict == Verdict::Slower && hintOf(entry).empty();
}

std::string tile::frontend::assumedText(const FusionReport &report) {
  if (report.assumedDims.empty())
    return "";
  return "no --dim gives " + llvm::join(report.assumedDims, ", ") + ": planned for " +
         std::to_string(report.assumedExtent) + (report.assumedDims.size() > 1 ? " each" : "");
}

std::string tile::frontend::memoryWarning(const FusionReport &report) {
  double bytes = report.peakAfter;
  for (const GraphView::Tensor &tensor : report.after.tensors)
    if (!tensor.from || !tensor.outputs.empty())
      bytes += tensor.bytes;
  if (report.memory <= 0 || bytes <= report.memory)
    return "";
  return "with these dims the tensors take " + bytesText(bytes) + ", more than the " +
         bytesText(report.memory) + " that there are: --dim NAME=VALUE gives others";
}

llvm::StringRef tile::frontend::nameOf(Transform transform) {
  switch (transform) {
  case Transform::Inline:
    return "inline";
  case Transform::InlineAll:
    return "inline into all";
  case Transform::InlineAndKeep:
    return "inline and keep";
  case Transform::Finish:
    return "finish";
  case Transform::Merge:
    return "merge";
  }
  llvm_unreachable("covered switch");
}

llvm::StringRef tile::frontend::nameOf(Verdict verdict) {
  switch (verdict) {
  case Verdict::Fused:
    return "fused";
  case Verdict::Illegal:
    return "illegal";
  case Verdict::TooLarge:
    return "too large";
  case Verdict::Slower:
    return "slower";
  }
  llvm_unreachable("covered switch");
}

std::string tile::frontend::reasonOf(const FusionEntry &entry) {
  switch (entry.verdict) {
  case Verdict::Fused:
    return "fused";
  case Verdict::Illegal:
  case Verdict::TooLarge:
    return entry.reason;
  case Verdict::Slower:
    return "as one they would take " + comparedText(entry.together, entry.apart) + ": " +
           (!entry.together.fillsDevice && entry.together.programs < entry.apart.programs
                ? number(entry.together.programs,
                         entry.together.programs == 1 ? "its %.0f program" : "its %.0f programs") +
                      " can't use all of the device"
            : entry.together.bytes() >= entry.apart.bytes() ? "no bytes are saved"
            : entry.together.seconds < entry.apart.seconds
                ? "less is saved than what may not hide behind the memory"
            : entry.together.operations > entry.apart.operations
                ? "what is computed again costs more than the bytes that are saved"
                : "what smaller blocks read again costs more than the bytes that are saved") +
           (entry.reason.empty()
                ? ""
                : "; nor can it store `" + entry.tensor + "` for others: " + entry.reason);
  }
  llvm_unreachable("covered switch");
}

/// "the programs (i = 0..64) and (i = 64..128) of kernel 1"
static std::string programsText(llvm::ArrayRef<std::string> programs, unsigned kernel) {
  auto inParentheses = [](const std::string &program) { return "(" + program + ")"; };
  return (programs.size() == 1 ? "the program " : "the programs ") +
         llvm::join(llvm::map_range(programs, inParentheses), " and ") + " of kernel " +
         std::to_string(kernel + 1);
}

std::string tile::frontend::witnessOf(const ir::FusionLedger::Boundary &boundary) {
  if (!boundary.witness)
    return "";
  const ir::FusionWitness &witness = *boundary.witness;
  std::vector<std::string> parts;
  if (!witness.writers.empty())
    parts.push_back((witness.isUpdated ? "updated by " : "stored by ") +
                    programsText(witness.writers, boundary.from));
  if (!witness.readers.empty())
    parts.push_back("read by " + programsText(witness.readers, boundary.to));
  return "`" + witness.element + "` is " + llvm::join(parts, ", and ");
}

std::string tile::frontend::labelsOf(const FusionReport &report, llvm::ArrayRef<unsigned> calls) {
  return llvm::join(
      llvm::map_range(calls, [&](unsigned n) { return report.before.calls[n].label; }), ", ");
}

std::optional<double> tile::frontend::runsToEarnBack(const FusionReport::Measured &measured) {
  double spent = measured.fuse + measured.compileAfter - measured.compileBefore;
  double earned = measured.before - measured.after;
  if (earned <= 0)
    return {};
  return std::max(1.0, std::ceil(spent / earned));
}

std::string tile::frontend::earnedBackText(const FusionReport::Measured &measured) {
  std::optional<double> runs = runsToEarnBack(measured);
  if (!runs)
    return "not earned back: a run is no faster";
  return *runs == 1 ? "earned back from the first run"
                    : "earned back after " + number(*runs, "%.0f") + " runs";
}
