//===- FusionReport.cpp - what `tilec fuse` has to say --------------------===//

#include "frontend/FusionReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace tile;
using namespace tile::frontend;
using ir::FusionEntry;
using ir::FusionLedger;
using ir::KernelCost;
using Transform = FusionEntry::Transform;
using Verdict = FusionEntry::Verdict;

static std::string number(double value, const char *format) {
  char buffer[48];
  snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

static std::string bytesText(double bytes) {
  return bytes >= 1e9   ? number(bytes / 1e9, "%.2f GB")
         : bytes >= 1e6 ? number(bytes / 1e6, "%.2f MB")
         : bytes >= 1e3 ? number(bytes / 1e3, "%.2f KB")
                        : number(bytes, "%.0f B");
}

static std::string timeText(double seconds) {
  return seconds >= 1e-3 ? number(seconds * 1e3, "%.3f ms") : number(seconds * 1e6, "%.2f us");
}

static llvm::StringRef nameOf(Transform transform) {
  switch (transform) {
  case Transform::Inline:
    return "inline";
  case Transform::InlineAll:
    return "inline into all";
  case Transform::InlineAndKeep:
    return "inline and keep";
  case Transform::Merge:
    return "merge";
  }
  llvm_unreachable("covered switch");
}

static llvm::StringRef nameOf(Verdict verdict) {
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

/// "norm, scale"
static std::string calleesOf(const FusionLedger &ledger, llvm::ArrayRef<unsigned> calls) {
  return llvm::join(llvm::map_range(calls, [&](unsigned n) { return ledger.calls[n].callee; }),
                    ", ");
}

//===-- Text --------------------------------------------------------------===//

static std::string reasonOf(const FusionEntry &entry) {
  switch (entry.verdict) {
  case Verdict::Fused:
    return "fused";
  case Verdict::Illegal:
  case Verdict::TooLarge:
    return entry.reason;
  case Verdict::Slower:
    return "as one they would take " + timeText(entry.together.seconds) + " instead of " +
           timeText(entry.apart.seconds) + ": " +
           (entry.together.bytes() >= entry.apart.bytes() ? "no bytes are saved"
                                                          : "what is computed again costs more "
                                                            "than the bytes that are saved");
  }
  llvm_unreachable("covered switch");
}

static void printTotals(llvm::StringRef title, size_t launches, const KernelCost &cost,
                        llvm::raw_ostream &stream) {
  stream << llvm::formatv("  {0,-8} {1,8} {2,12} {3,12} {4,12} {5,10}\n", title, launches,
                          bytesText(cost.bytesRead), bytesText(cost.bytesWritten),
                          timeText(cost.seconds),
                          cost.bytes() > 0 ? number(cost.operations / cost.bytes(), "%.2f") : "-");
}

void tile::frontend::printText(const FusionReport &report, llvm::raw_ostream &stream) {
  const FusionLedger &ledger = report.ledger;
  stream << "graph `" << report.graph << "` on " << report.device << ", predicted";
  if (!report.dims.empty())
    stream << "; " << llvm::join(report.dims, ", ");
  stream << "\n\n";
  stream << llvm::formatv("  {0,-8} {1,8} {2,12} {3,12} {4,12} {5,10}\n", "", "kernels", "read",
                          "written", "time", "FLOP/B");
  printTotals("before", ledger.calls.size(), ledger.before(), stream);
  printTotals("after", ledger.kernels.size(), ledger.after(), stream);
  stream << "\nkernels:\n";
  for (auto [n, kernel] : llvm::enumerate(ledger.kernels))
    stream << llvm::formatv("  {0,3}  {1,10} {2,10}  {3}\n", n + 1, bytesText(kernel.cost.bytes()),
                            timeText(kernel.cost.seconds), calleesOf(ledger, kernel.calls));
  if (ledger.boundaries.empty())
    return;
  stream << "\nbetween kernels stay:\n";
  for (const FusionLedger::Boundary &boundary : ledger.boundaries) {
    stream << llvm::formatv("  {0,10}  `{1}` from {2} to {3}", bytesText(boundary.bytes),
                            boundary.tensor, boundary.from + 1, boundary.to + 1);
    if (boundary.entry) {
      const FusionEntry &entry = ledger.entries[*boundary.entry];
      stream << ": " << reasonOf(entry);
      if (!entry.place.empty())
        stream << "\n              at " << entry.place;
    }
    stream << "\n";
  }
}

static void printEntry(const FusionLedger &ledger, const FusionEntry &entry,
                       llvm::raw_ostream &stream) {
  stream << nameOf(entry.transform) << " `" << entry.tensor << "` (" << bytesText(entry.tensorBytes)
         << ") of " << calleesOf(ledger, entry.first)
         << (entry.transform == Transform::Merge ? " with " : " into ")
         << calleesOf(ledger, entry.second) << ": " << reasonOf(entry);
  if (entry.verdict == Verdict::Fused)
    stream << ", " << timeText(entry.together.seconds) << " instead of "
           << timeText(entry.apart.seconds) << ", " << bytesText(entry.together.bytes())
           << " instead of " << bytesText(entry.apart.bytes());
  stream << "\n";
}

std::optional<std::string> tile::frontend::explainPair(const FusionReport &report,
                                                       llvm::StringRef first,
                                                       llvm::StringRef second) {
  const FusionLedger &ledger = report.ledger;
  auto find = [&](llvm::StringRef name) {
    std::vector<unsigned> calls;
    for (auto [n, call] : llvm::enumerate(ledger.calls))
      if (call.callee == name || llvm::StringRef(call.place).ends_with(":" + name.str()))
        calls.push_back(n);
    return calls;
  };
  std::vector<unsigned> one = find(first), other = find(second);
  if (one.empty() || other.empty())
    return {};
  auto meets = [](llvm::ArrayRef<unsigned> a, llvm::ArrayRef<unsigned> b) {
    return llvm::any_of(a, [&](unsigned n) { return llvm::is_contained(b, n); });
  };
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const FusionEntry &entry : ledger.entries)
    if ((meets(entry.first, one) && meets(entry.second, other)) ||
        (meets(entry.first, other) && meets(entry.second, one)))
      printEntry(ledger, entry, stream);
  if (text.empty())
    stream << "neither reads what the other gives, and they read nothing in common\n";
  return text;
}

//===-- JSON and Graphviz -------------------------------------------------===//

static llvm::json::Object toJson(const KernelCost &cost) {
  return llvm::json::Object{{"bytes_read", cost.bytesRead},
                            {"bytes_written", cost.bytesWritten},
                            {"operations", cost.operations},
                            {"seconds", cost.seconds}};
}

static llvm::json::Object toJson(const FusionEntry &entry) {
  llvm::json::Object object{{"transform", nameOf(entry.transform)},
                            {"verdict", nameOf(entry.verdict)},
                            {"first", llvm::json::Array(entry.first)},
                            {"second", llvm::json::Array(entry.second)},
                            {"tensor", entry.tensor},
                            {"tensor_bytes", entry.tensorBytes},
                            {"reason", reasonOf(entry)}};
  if (!entry.place.empty())
    object["place"] = entry.place;
  if (entry.verdict == Verdict::Fused || entry.verdict == Verdict::Slower) {
    object["apart"] = toJson(entry.apart);
    object["together"] = toJson(entry.together);
  }
  return object;
}

llvm::json::Object tile::frontend::toJson(const FusionReport &report) {
  const FusionLedger &ledger = report.ledger;
  llvm::json::Array calls, kernels, entries, boundaries;
  for (const FusionLedger::Call &call : ledger.calls)
    calls.push_back(llvm::json::Object{
        {"callee", call.callee}, {"place", call.place}, {"cost", ::toJson(call.cost)}});
  for (const FusionLedger::Kernel &kernel : ledger.kernels)
    kernels.push_back(llvm::json::Object{{"symbol", kernel.symbol},
                                         {"calls", llvm::json::Array(kernel.calls)},
                                         {"cost", ::toJson(kernel.cost)}});
  for (const FusionEntry &entry : ledger.entries)
    entries.push_back(::toJson(entry));
  for (const FusionLedger::Boundary &boundary : ledger.boundaries) {
    llvm::json::Object object{{"tensor", boundary.tensor},
                              {"bytes", boundary.bytes},
                              {"from", boundary.from},
                              {"to", boundary.to}};
    if (boundary.entry) {
      object["entry"] = *boundary.entry;
      object["reason"] = reasonOf(ledger.entries[*boundary.entry]);
    }
    boundaries.push_back(std::move(object));
  }
  return llvm::json::Object{{"graph", report.graph},
                            {"device", report.device},
                            {"dims", llvm::json::Array(report.dims)},
                            {"calls", std::move(calls)},
                            {"kernels", std::move(kernels)},
                            {"ledger", std::move(entries)},
                            {"boundaries", std::move(boundaries)},
                            {"before", ::toJson(ledger.before())},
                            {"after", ::toJson(ledger.after())}};
}

void tile::frontend::printDot(const FusionReport &report, llvm::raw_ostream &stream) {
  const FusionLedger &ledger = report.ledger;
  stream << "digraph \"" << report.graph << "\" {\n  node [shape=box];\n";
  for (auto [n, kernel] : llvm::enumerate(ledger.kernels)) {
    stream << "  k" << n << " [label=\"";
    for (unsigned call : kernel.calls)
      stream << ledger.calls[call].callee << "\\n";
    stream << bytesText(kernel.cost.bytes()) << ", " << timeText(kernel.cost.seconds) << "\"];\n";
  }
  for (const FusionLedger::Boundary &boundary : ledger.boundaries)
    stream << "  k" << boundary.from << " -> k" << boundary.to << " [label=\"" << boundary.tensor
           << "\\n"
           << bytesText(boundary.bytes) << "\"];\n";
  stream << "}\n";
}
