//===- FusionReport.cpp - what `tilec fuse` has to say --------------------===//

#include "frontend/FusionText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tile;
using namespace tile::frontend;
using ir::FusionEntry;
using ir::FusionLedger;
using ir::KernelCost;

static void printTotals(llvm::StringRef title, size_t launches, const KernelCost &cost,
                        llvm::raw_ostream &stream) {
  stream << llvm::formatv("  {0,-8} {1,8} {2,12} {3,12} {4,12} {5,10}  {6}\n", title, launches,
                          bytesText(cost.bytesRead), bytesText(cost.bytesWritten),
                          timeText(cost.seconds), intensityText(cost), cost.bound());
}

/// A tensor that stays in memory, and why.
static void printBoundary(const FusionReport &report, const FusionLedger::Boundary &boundary,
                          llvm::raw_ostream &stream) {
  stream << llvm::formatv("  {0,10}  `{1}` from {2} to {3}", bytesText(boundary.bytes),
                          boundary.tensor, boundary.from + 1, boundary.to + 1);
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
  if (!report.dims.empty())
    stream << "; " << llvm::join(report.dims, ", ");
  stream << "\n\n";
  stream << llvm::formatv("  {0,-8} {1,8} {2,12} {3,12} {4,12} {5,10}  {6}\n", "", "kernels",
                          "read", "written", "time", "FLOP/B", "bound");
  printTotals("before", ledger.calls.size(), ledger.before(), stream);
  printTotals("after", ledger.kernels.size(), ledger.after(), stream);
  if (ledger.kernels.empty())
    return;
  stream << llvm::formatv("\n{0,-8} {1,12} {2,12} {3,10}  {4}\n", "kernels:", "bytes", "time",
                          "FLOP/B", "bound");
  for (auto [n, kernel] : llvm::enumerate(ledger.kernels))
    stream << llvm::formatv("  {0,6} {1,12} {2,12} {3,10}  {4,-8} {5}\n", n + 1,
                            bytesText(kernel.cost.bytes()), timeText(kernel.cost.seconds),
                            intensityText(kernel.cost), kernel.cost.bound(),
                            labelsOf(report, kernel.calls));
  printGone(ledger, stream);
  if (ledger.boundaries.empty())
    return;
  stream << "\nbetween kernels stay:\n";
  for (const FusionLedger::Boundary &boundary : ledger.boundaries)
    printBoundary(report, boundary, stream);
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
