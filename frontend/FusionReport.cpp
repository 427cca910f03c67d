//===- FusionReport.cpp - what `tilec fuse` has to say --------------------===//

#include "frontend/FusionText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tile;
using namespace tile::frontend;
using ir::FusionEntry;
using ir::FusionLedger;
using ir::KernelCost;

/// A column beside the time that is predicted; none if nothing has run.
static std::string measuredColumn(const FusionReport &report, const std::string &text) {
  return report.measured ? llvm::formatv(" {0,12}", text).str() : "";
}

static void printTotals(const FusionReport &report, llvm::StringRef title, size_t launches,
                        const KernelCost &cost, double measured, llvm::raw_ostream &stream) {
  stream << llvm::formatv("  {0,-8} {1,8} {2,12} {3,12} {4,12}{5} {6,10}  {7}\n", title, launches,
                          bytesText(cost.bytesRead), bytesText(cost.bytesWritten),
                          timeText(cost.seconds), measuredColumn(report, timeText(measured)),
                          intensityText(cost), cost.bound());
}

static void printKernels(const FusionReport &report, llvm::raw_ostream &stream) {
  stream << llvm::formatv("\n{0,-8} {1,12} {2,12}{3} {4,10}  {5}\n", "kernels:", "bytes", "time",
                          measuredColumn(report, "measured"), "FLOP/B", "bound");
  for (auto [n, kernel] : llvm::enumerate(report.ledger.kernels)) {
    bool isKnown = report.measured && n < report.measured->kernels.size();
    std::string measured = isKnown ? timeText(report.measured->kernels[n]) : "-";
    stream << llvm::formatv("  {0,6} {1,12} {2,12}{3} {4,10}  {5,-8} {6}\n", n + 1,
                            bytesText(kernel.cost.bytes()), timeText(kernel.cost.seconds),
                            measuredColumn(report, measured), intensityText(kernel.cost),
                            kernel.cost.bound(), labelsOf(report, kernel.calls));
  }
}

/// A tensor that stays in memory, or is read twice, and why.
static void printBoundary(const FusionReport &report, const FusionLedger::Boundary &boundary,
                          llvm::StringRef format, llvm::raw_ostream &stream) {
  stream << llvm::formatv(format.data(), bytesText(boundary.bytes), boundary.tensor,
                          boundary.from + 1, boundary.to + 1);
  if (boundary.entry) {
    const FusionEntry &entry = report.ledger.entries[*boundary.entry];
    stream << ": " << reasonOf(entry);
    if (std::string witness = witnessOf(boundary); !witness.empty())
      stream << "\n              " << witness;
    if (!entry.place.empty())
      stream << "\n              at " << entry.place;
    if (llvm::StringRef hint = hintOf(entry); !hint.empty())
      stream << "\n              hint: " << hint;
  }
  stream << "\n";
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
  stream << "\n\n";
  auto measured = report.measured.value_or(FusionReport::Measured());
  if (report.measured)
    stream << "measured on " << measured.device << ", random floats, medians\n\n";
  stream << llvm::formatv("  {0,-8} {1,8} {2,12} {3,12} {4,12}{5} {6,10}  {7}\n", "", "kernels",
                          "read", "written", "time", measuredColumn(report, "measured"), "FLOP/B",
                          "bound");
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
  if (!ledger.boundaries.empty())
    stream << "\nbetween kernels stay:\n";
  for (const FusionLedger::Boundary &boundary : ledger.boundaries)
    printBoundary(report, boundary, "  {0,10}  `{1}` from {2} to {3}", stream);
  if (!ledger.sharedReads.empty())
    stream << "\nread more than once:\n";
  for (const FusionLedger::Boundary &read : ledger.sharedReads)
    printBoundary(report, read, "  {0,10}  `{1}` by {2} and {3}", stream);
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
