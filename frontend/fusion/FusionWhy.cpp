//===- FusionWhy.cpp - what was tried between two calls -------------------===//

#include "frontend/fusion/FusionPrint.h"
#include "frontend/fusion/FusionText.h"
#include "ir/proofs/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::frontend;
using ir::FusionEntry;
using ir::FusionLedger;
using Calls = std::vector<unsigned>;

namespace {
/// What a name may stand for.
struct Meaning {
  std::string what;
  Calls calls;
  /// It is an input, and the calls are those that read it.
  bool isInput = false;
};
} // namespace

static std::vector<Meaning> meaningsOf(const FusionReport &report, const std::string &name) {
  std::vector<Meaning> meanings;
  auto add = [&](std::string what, Calls calls, bool isInput = false) {
    auto isSame = [&](const Meaning &other) { return other.calls == calls; };
    if (llvm::none_of(meanings, isSame))
      meanings.push_back({std::move(what), std::move(calls), isInput});
  };
  const GraphView &graph = report.before;
  for (const GraphView::Tensor &tensor : graph.tensors) {
    if (tensor.name != name && !llvm::is_contained(tensor.outputs, name))
      continue;
    if (tensor.from)
      add("the value at " + graph.calls[*tensor.from].place, {*tensor.from});
    else
      add("an input", tensor.to, /*isInput=*/true);
  }
  Calls byKernel, byPlace;
  for (auto [n, call] : llvm::enumerate(graph.calls)) {
    if (call.callee == name || ir::nameOfCallee(call.op) == name)
      byKernel.push_back(n);
    auto isHere = [&](llvm::StringRef place) { return place.ends_with(":" + name); };
    if (isHere(call.place) || llvm::any_of(report.ledger.calls[n].callers, isHere))
      byPlace.push_back(n);
  }
  if (!byKernel.empty())
    add("the kernel called at " +
            llvm::join(llvm::map_range(byKernel, [&](unsigned n) { return graph.calls[n].place; }),
                       ", "),
        byKernel);
  if (!byPlace.empty())
    add("a place", byPlace);
  return meanings;
}

/// All that there is to be named.
static std::string namesIn(const FusionReport &report) {
  std::vector<std::string> values, kernels;
  for (const GraphView::Tensor &tensor : report.before.tensors) {
    values.push_back(tensor.name);
    for (const std::string &output : tensor.outputs)
      if (output != tensor.name)
        values.push_back(output);
  }
  for (const GraphView::Call &call : report.before.calls)
    kernels.push_back(ir::nameOfCallee(call.op) + " (" + call.place + ")");
  return "it has the values " + llvm::join(values, ", ") + ", and calls " +
         llvm::join(kernels, ", ");
}

static Outcome<Meaning> find(const FusionReport &report, const std::string &name) {
  std::vector<Meaning> meanings = meaningsOf(report, name);
  if (meanings.empty())
    return Failure::usage(
        {"`" + report.graph + "` has nothing that is called `" + name + "`", namesIn(report)});
  if (meanings.size() > 1)
    return Failure::usage(
        {"`" + name + "` may be " +
             llvm::join(llvm::map_range(meanings, [](const Meaning &one) { return one.what; }),
                        ", or "),
         "name a call by its line:column"});
  if (meanings.front().calls.empty())
    return Failure::usage({"no kernel reads `" + name + "`", namesIn(report)});
  return meanings.front();
}

static bool meets(llvm::ArrayRef<unsigned> a, llvm::ArrayRef<unsigned> b) {
  return llvm::any_of(a, [&](unsigned n) { return llvm::is_contained(b, n); });
}

/// "`p` is in kernel 1"
static std::string whereabouts(const FusionLedger &ledger, const std::string &name,
                               const Meaning &meaning) {
  std::vector<std::string> kernels;
  for (auto [n, kernel] : llvm::enumerate(ledger.kernels))
    if (meets(kernel.calls, meaning.calls))
      kernels.push_back(std::to_string(n + 1));
  std::string text = std::string(meaning.isInput ? "what reads " : "") + "`" + name + "` is in ";
  if (kernels.empty())
    return text + "no kernel";
  return text + "kernel" + (kernels.size() == 1 ? " " : "s ") + llvm::join(kernels, ", ");
}

static void printEntry(const FusionReport &report, unsigned number, llvm::raw_ostream &stream) {
  const FusionEntry &entry = report.ledger.entries[number];
  using Transform = FusionEntry::Transform;
  llvm::StringRef between = entry.transform == Transform::Merge    ? " with "
                            : entry.transform == Transform::Finish ? " by "
                                                                   : " into ";
  stream << nameOf(entry.transform) << " `" << entry.tensor << "` (" << bytesText(entry.tensorBytes)
         << ") of " << labelsOf(report, entry.first) << between << labelsOf(report, entry.second)
         << ": " << reasonOf(entry);
  if (entry.verdict == FusionEntry::Verdict::Fused)
    stream << ", " << comparedText(entry.together, entry.apart) << ", "
           << bytesText(entry.together.bytes()) << " instead of " << bytesText(entry.apart.bytes());
  stream << "\n";
  for (const FusionLedger::Boundary &boundary : report.ledger.boundaries)
    if (boundary.entry == number && boundary.witness)
      stream << "  " << witnessOf(boundary) << "\n";
  if (llvm::StringRef hint = hintOf(entry); !hint.empty())
    stream << "  hint: " << hint << "\n";
}

Outcome<std::string> tile::frontend::explainPair(const FusionReport &report,
                                                 const std::string &first,
                                                 const std::string &second) {
  auto one = find(report, first);
  if (!one)
    return one.takeFailure();
  auto other = find(report, second);
  if (!other)
    return other.takeFailure();
  const FusionLedger &ledger = report.ledger;
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << whereabouts(ledger, first, *one) << ", " << whereabouts(ledger, second, *other) << "\n";
  bool isTried = false;
  for (const Calls &calls : {one->calls, other->calls})
    for (unsigned n : calls)
      if (std::string why = ledger.whyGone(n); !why.empty()) {
        stream << "`" << ledger.calls[n].name << "` at " << ledger.placeOf(n) << ": " << why
               << "\n";
        isTried = true;
      }
  for (auto [n, entry] : llvm::enumerate(ledger.entries))
    if ((meets(entry.first, one->calls) && meets(entry.second, other->calls)) ||
        (meets(entry.first, other->calls) && meets(entry.second, one->calls))) {
      printEntry(report, n, stream);
      isTried = true;
    }
  if (!isTried)
    stream << (meets(one->calls, other->calls)
                   ? "both are of one call\n"
                   : "neither reads what the other gives, and they read nothing in common\n");
  return text;
}
