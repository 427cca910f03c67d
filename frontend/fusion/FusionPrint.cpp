//===- FusionPrint.cpp - what `tilec fuse` has to say ---------------------===//

#include "frontend/fusion/FusionPrint.h"
#include "frontend/fusion/FusionText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace tile;
using namespace tile::frontend;
using ir::FusionEntry;
using ir::FusionLedger;
using ir::KernelCost;

/// A column beside the time that is predicted; none if nothing has run.
static std::string measuredColumn(const FusionReport &report, const std::string &text) {
  return report.measured ? " " + padLeft(text, 12) : "";
}

static void printTotals(const FusionReport &report, llvm::StringRef title, llvm::StringRef launches,
                        const std::array<std::string, 3> &columns, const std::string &measured,
                        llvm::StringRef intensity, llvm::StringRef bound,
                        llvm::raw_ostream &stream) {
  stream << "  " << padRight(title, 8) << " " << padLeft(launches, 8);
  for (const std::string &column : columns)
    stream << " " << padLeft(column, 12);
  stream << measuredColumn(report, measured) << " " << padLeft(intensity, 10) << "  " << bound
         << "\n";
}

static void printTotals(const FusionReport &report, llvm::StringRef title, size_t launches,
                        const KernelCost &cost, double measured, llvm::raw_ostream &stream) {
  printTotals(report, title, std::to_string(launches),
              {bytesText(cost.bytesRead), bytesText(cost.bytesWritten), timeText(cost.seconds)},
              timeText(measured), intensityText(cost), cost.bound(), stream);
}

static void printKernels(const FusionReport &report, llvm::raw_ostream &stream) {
  stream << "\nkernels:  " << padLeft("bytes", 11) << " " << padLeft("time", 12)
         << measuredColumn(report, "measured") << "     FLOP/B  bound\n";
  for (auto [n, kernel] : llvm::enumerate(report.ledger.kernels)) {
    bool isKnown = report.measured && n < report.measured->kernels.size();
    std::string measured = isKnown ? timeText(report.measured->kernels[n]) : "-";
    stream << "  " << padLeft(std::to_string(n + 1), 6) << " "
           << padLeft(bytesText(kernel.cost.bytes()), 12) << " "
           << padLeft(timeText(kernel.cost.seconds), 12) << measuredColumn(report, measured) << " "
           << padLeft(intensityText(kernel.cost), 10) << "  " << padRight(kernel.cost.bound(), 8)
           << " " << labelsOf(report, kernel.calls) << "\n";
  }
}

/// A tensor that stays in memory, or is read twice, and why.
static void printBoundary(const FusionReport &report, const FusionLedger::Boundary &boundary,
                          bool isRead, llvm::raw_ostream &stream) {
  constexpr llvm::StringLiteral margin = "\n                          ";
  stream << "  " << padLeft(timeText(gainOf(report.ledger, boundary, isRead)), 10) << " "
         << padLeft(bytesText(boundary.bytes), 11) << "  `" << boundary.tensor
         << (isRead ? "` by " : "` from ") << boundary.from + 1 << (isRead ? " and " : " to ")
         << boundary.to + 1;
  if (boundary.entry) {
    const FusionEntry &entry = report.ledger.entries[*boundary.entry];
    stream << ": " << reasonOf(entry);
    if (std::string witness = witnessOf(boundary); !witness.empty())
      stream << margin << witness;
    if (!entry.place.empty())
      stream << margin << "at " << entry.place;
    if (llvm::StringRef hint = hintOf(entry); !hint.empty())
      stream << margin << "hint: " << hint;
  }
  stream << "\n";
}

/// Those where something can be changed, those with most to gain first; the others are counted.
static void printBoundaries(const FusionReport &report,
                            const std::vector<FusionLedger::Boundary> &list, bool isRead,
                            llvm::StringRef title, llvm::raw_ostream &stream) {
  size_t count = 0;
  double bytes = 0;
  for (const FusionLedger::Boundary &boundary : list)
    if (isBestApart(report.ledger, boundary)) {
      ++count;
      bytes += boundary.bytes;
    }
  if (list.empty())
    return;
  stream << "\n"
         << title << (count < list.size() ? ", with what one kernel would save at most" : "")
         << ":\n";
  for (const FusionLedger::Boundary &boundary : list)
    if (!isBestApart(report.ledger, boundary))
      printBoundary(report, boundary, isRead, stream);
  if (count)
    stream << "  " << count << (count < list.size() ? " more" : "")
           << (count == 1 ? " tensor (" : " tensors (") << bytesText(bytes)
           << "), where nothing is to be changed: as one, their kernels would take longer\n";
}

/// "  `norm` at net.tile:12:9: nobody uses what it gives"
static void printGone(const FusionLedger &ledger, llvm::raw_ostream &stream) {
  llvm::StringRef title = "\ngone before:\n";
  for (unsigned n = 0; n < ledger.calls.size(); ++n)
    if (std::string why = ledger.whyGone(n); !why.empty())
      stream << std::exchange(title, "") << "  `" << ledger.calls[n].name << "` at "
             << ledger.placeOf(n) << ": " << why << "\n";
}

void tile::frontend::printText(const FusionReport &report, llvm::raw_ostream &stream) {
  const FusionLedger &ledger = report.ledger;
  stream << "graph `" << report.graph << "` on " << report.device << ", predicted";
  if (report.mode != "exact")
    stream << ", --fuse=" << report.mode;
  if (!report.dims.empty())
    stream << "; " << llvm::join(report.dims, ", ");
  stream << "\n";
  if (std::string assumed = assumedText(report); !assumed.empty())
    stream << assumed << "\n";
  if (std::string warning = memoryWarning(report); !warning.empty())
    stream << "warning: " << warning << "\n";
  stream << "\n";
  auto measured = report.measured.value_or(FusionReport::Measured());
  if (report.measured)
    stream << "measured on " << measured.device << ", random floats, medians\n\n";
  printTotals(report, "", "kernels", {"read", "written", "time"}, "measured", "FLOP/B", "bound",
              stream);
  printTotals(report, "before", ledger.calls.size(), ledger.before(), measured.before, stream);
  printTotals(report, "after", ledger.kernels.size(), ledger.after(), measured.after, stream);
  if (report.measured)
    stream << "\nto compile " << timeText(measured.compileBefore) << " before; to fuse "
           << timeText(measured.fuse) << " and to compile " << timeText(measured.compileAfter)
           << " after, nothing cached: " << earnedBackText(measured) << "\n";
  if (ledger.kernels.empty())
    return;
  if (report.peakBefore > 0)
    stream << "\npeak memory between kernels: " << bytesText(report.peakBefore) << " before, "
           << bytesText(report.peakAfter) << " after\n";
  printKernels(report, stream);
  printGone(ledger, stream);
  printBoundaries(report, ledger.boundaries, /*isRead=*/false, "between kernels stay", stream);
  printBoundaries(report, ledger.sharedReads, /*isRead=*/true, "read more than once", stream);
}

/// As a string of Graphviz.
static std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    (result += c == '"' || c == '\\' ? "\\" : "") += c;
  return result;
}

void tile::frontend::printDot(const FusionReport &report, llvm::raw_ostream &stream) {
  const FusionLedger &ledger = report.ledger;
  stream << "digraph \"" << report.graph << "\" {\n  node [shape=box];\n";
  for (auto [n, kernel] : llvm::enumerate(ledger.kernels)) {
    stream << "  k" << n << " [label=\"";
    for (unsigned call : kernel.calls)
      stream << escaped(report.before.calls[call].label) << "\\n";
    stream << bytesText(kernel.cost.bytes()) << ", " << timeText(kernel.cost.seconds) << "\"];\n";
  }
  for (const FusionLedger::Boundary &boundary : ledger.boundaries)
    stream << "  k" << boundary.from << " -> k" << boundary.to << " [label=\""
           << escaped(boundary.tensor) << "\\n"
           << bytesText(boundary.bytes) << "\"];\n";
  stream << "}\n";
}
