//===- FusionJson.cpp - a report on fusion for programs -------------------===//

#include "frontend/fusion/FusionPlan.h"
#include "frontend/fusion/FusionPrint.h"
#include "frontend/fusion/FusionText.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace tile;
using namespace tile::frontend;
using ir::FusionEntry;
using ir::FusionLedger;
using ir::KernelCost;
using Verdict = FusionEntry::Verdict;
namespace json = llvm::json;

/// Infinite is what data decides; JSON has no such number.
static json::Value number(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

static json::Object toJson(const KernelCost &cost) {
  return json::Object{{"bytes_read", number(cost.bytesRead)},
                      {"bytes_written", number(cost.bytesWritten)},
                      {"operations", number(cost.operations)},
                      {"intensity", number(cost.intensity())},
                      {"bound", cost.bound()},
                      {"seconds", number(cost.seconds)},
                      {"launch_seconds", number(cost.launchSeconds)},
                      {"memory_seconds", number(cost.memorySeconds)},
                      {"compute_seconds", number(cost.computeSeconds)}};
}

/// With what it took, if that is known.
static json::Object toJson(const KernelCost &cost, llvm::ArrayRef<double> measured, size_t n) {
  json::Object object = toJson(cost);
  if (n < measured.size())
    object["measured_seconds"] = measured[n];
  return object;
}

static json::Object toJson(const FusionEntry &entry) {
  json::Object object{{"transform", nameOf(entry.transform)},
                      {"verdict", nameOf(entry.verdict)},
                      {"first", json::Array(entry.first)},
                      {"second", json::Array(entry.second)},
                      {"tensor", entry.tensor},
                      {"tensor_bytes", number(entry.tensorBytes)},
                      {"reason", reasonOf(entry)}};
  if (llvm::StringRef hint = hintOf(entry); !hint.empty())
    object["hint"] = hint;
  if (!entry.place.empty())
    object["place"] = entry.place;
  if (entry.verdict == Verdict::Fused || entry.verdict == Verdict::Slower) {
    object["apart"] = toJson(entry.apart);
    object["together"] = toJson(entry.together);
  }
  return object;
}

static json::Array toJson(llvm::ArrayRef<GraphView::Tensor> tensors) {
  json::Array array;
  for (const GraphView::Tensor &tensor : tensors)
    array.push_back(json::Object{{"name", tensor.name},
                                 {"type", tensor.type},
                                 {"extents", json::Array(tensor.extents)},
                                 {"bytes", number(tensor.bytes)},
                                 {"from", tensor.from ? json::Value(*tensor.from) : nullptr},
                                 {"to", json::Array(tensor.to)},
                                 {"outputs", json::Array(tensor.outputs)}});
  return array;
}

static json::Object toJson(const GraphView::Call &call, const FusionReport &report, unsigned n) {
  const FusionLedger &ledger = report.ledger;
  llvm::ArrayRef<double> measured;
  if (report.measured)
    measured = report.measured->calls;
  const FusionLedger::Call &planned = ledger.calls[n];
  json::Object object{{"callee", call.callee},
                      {"label", call.label},
                      {"place", call.place},
                      {"callers", json::Array(planned.callers)},
                      {"inputs", json::Array(call.inputs)},
                      {"outputs", json::Array(call.outputs)},
                      {"cost", toJson(planned.cost, measured, n)}};
  if (std::string why = ledger.whyGone(n); !why.empty())
    object["gone"] = why;
  if (planned.fate == FusionLedger::Call::Fate::Equal)
    object["same"] = planned.same;
  return object;
}

/// What a run has to give, but for what is optional.
static json::Array toJson(llvm::ArrayRef<Port> inputs) {
  json::Array array;
  for (const Port &port : inputs) {
    std::string type(runtime::nameOf(port.type));
    array.push_back(json::Object{{"name", port.name},
                                 {"type", port.isTensor ? type + "[" + port.shape + "]" : type},
                                 {"optional", port.defaultBits.has_value()}});
  }
  return array;
}

/// Tensors that stay in memory between two kernels, or that both read.
static json::Array toJson(const std::vector<FusionLedger::Boundary> &boundaries,
                          const FusionLedger &ledger, bool isRead) {
  llvm::StringRef from = isRead ? "first" : "from", to = isRead ? "second" : "to";
  json::Array array;
  for (const FusionLedger::Boundary &boundary : boundaries) {
    json::Object object{{"tensor", boundary.tensor},
                        {"bytes", number(boundary.bytes)},
                        {from, boundary.from},
                        {to, boundary.to},
                        {"gain_seconds", gainOf(ledger, boundary, isRead)},
                        {"best_apart", isBestApart(ledger, boundary)}};
    if (boundary.entry) {
      const FusionEntry &entry = ledger.entries[*boundary.entry];
      object["entry"] = *boundary.entry;
      object["reason"] = reasonOf(entry);
      if (llvm::StringRef hint = hintOf(entry); !hint.empty())
        object["hint"] = hint;
      if (!entry.place.empty())
        object["place"] = entry.place;
    }
    if (const auto &witness = boundary.witness)
      object["witness"] = json::Object{{"element", witness->element},
                                       {"writers", json::Array(witness->writers)},
                                       {"readers", json::Array(witness->readers)},
                                       {"text", witnessOf(boundary)}};
    array.push_back(std::move(object));
  }
  return array;
}

json::Object tile::frontend::toJson(const FusionReport &report) {
  const FusionLedger &ledger = report.ledger;
  json::Array calls, kernels, entries;
  for (auto [n, call] : llvm::enumerate(report.before.calls))
    calls.push_back(::toJson(call, report, n));
  auto measured = report.measured.value_or(FusionReport::Measured());
  for (auto [n, call, kernel] : llvm::enumerate(report.after.calls, ledger.kernels))
    kernels.push_back(json::Object{{"symbol", kernel.symbol},
                                   {"calls", json::Array(kernel.calls)},
                                   {"inputs", json::Array(call.inputs)},
                                   {"outputs", json::Array(call.outputs)},
                                   {"cost", ::toJson(kernel.cost, measured.kernels, n)}});
  for (const FusionEntry &entry : ledger.entries)
    entries.push_back(::toJson(entry));
  json::Object before = ::toJson(ledger.before()), after = ::toJson(ledger.after());
  before["peak_bytes_between"] = number(report.peakBefore);
  after["peak_bytes_between"] = number(report.peakAfter);
  if (report.measured) {
    before["measured_seconds"] = measured.before;
    after["measured_seconds"] = measured.after;
    before["compile_seconds"] = measured.compileBefore;
    after["compile_seconds"] = measured.compileAfter;
    after["fuse_seconds"] = measured.fuse;
  }
  json::Object object{{"graph", report.graph},
                      {"measured_on", report.measured ? json::Value(measured.device) : nullptr},
                      {"device", report.device},
                      {"fuse", report.mode},
                      {"dims", json::Array(report.dims)},
                      {"inputs", ::toJson(report.inputs)},
                      {"assumed_dims", json::Array(report.assumedDims)},
                      {"assumed_extent", report.assumedExtent},
                      {"assumed", assumedText(report)},
                      {"warning", memoryWarning(report)},
                      {"calls", std::move(calls)},
                      {"tensors", ::toJson(report.before.tensors)},
                      {"kernels", std::move(kernels)},
                      {"tensors_after", ::toJson(report.after.tensors)},
                      {"ledger", std::move(entries)},
                      {"vetoes", toJson(ledger.vetoes)},
                      {"boundaries", ::toJson(ledger.boundaries, ledger, /*isRead=*/false)},
                      {"shared_reads", ::toJson(ledger.sharedReads, ledger, /*isRead=*/true)},
                      {"before", std::move(before)},
                      {"after", std::move(after)}};
  if (report.measured)
    object["earned_back"] =
        json::Object{{"runs", runsToEarnBack(measured)}, {"text", earnedBackText(measured)}};
  return object;
}
