//===- BenchReport.cpp - what `tilec bench` has to say --------------------===//

#include "frontend/bench/BenchReport.h"

#include "frontend/base/Units.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace tile;
using namespace tile::frontend;

llvm::StringRef tile::frontend::nameOf(Roof roof) {
  switch (roof) {
  case Roof::Launch:
    return "launch";
  case Roof::Memory:
    return "memory";
  case Roof::Compute:
    return "compute";
  }
  llvm_unreachable("covered switch");
}

//===-- What follows from the figures -------------------------------------===//

double BenchReport::bandwidth() const {
  if (isPrediction)
    return description->bandwidth();
  double best = largeCopy.empty() ? 0 : largeCopyBytes / largeCopy.median();
  for (const BenchResult &result : results)
    if (!result.copy.empty())
      best = std::max(best, result.work.bytes() / result.copy.median());
  if (best == 0 && description)
    best = description->bandwidth();
  return best;
}

double BenchReport::memorySeconds(const BenchResult &result) const {
  double rate = bandwidth();
  return rate > 0 ? result.work.bytes() / rate : 0;
}

double BenchReport::computeSeconds(const BenchResult &result) const {
  return description ? result.work.computeSeconds(*description) : 0;
}

Roof BenchReport::roofOf(const BenchResult &result) const {
  double memory = memorySeconds(result), compute = computeSeconds(result);
  if (launchSeconds() > std::max(memory, compute))
    return Roof::Launch;
  return compute > memory ? Roof::Compute : Roof::Memory;
}

double BenchReport::seconds(const BenchResult &result) const {
  if (!isPrediction)
    return result.timing.median();
  return launchSeconds() + std::max(memorySeconds(result), computeSeconds(result));
}

//===-- Text --------------------------------------------------------------===//

static std::string number(double value, const char *format) {
  char buffer[48];
  snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// Four digits at most: "0.512", "51.2", "5120".
static std::string shortNumber(double value) {
  return number(value, value < 10 ? "%.3f" : value < 100 ? "%.1f" : "%.0f");
}

static std::string percent(double share) { return number(100 * share, "%.0f%%"); }

static std::vector<std::string> rowOf(const BenchReport &report, const BenchResult &result) {
  double seconds = report.seconds(result), operations = result.work.totalOperations();
  bool isKnown = std::isfinite(operations);
  double limit = std::max(
      {report.launchSeconds(), report.memorySeconds(result), report.computeSeconds(result)});
  std::vector<std::string> row = {
      result.name,
      timeText(seconds),
      report.isPrediction ? "" : "±" + number(100 * result.timing.spread(), "%.1f%%"),
      shortNumber(result.work.bytes() / seconds / 1e9),
      result.copy.empty() ? "" : percent(result.copy.median() / seconds),
      isKnown ? shortNumber(operations / seconds / 1e9) : "?",
      isKnown && result.work.bytes() > 0 ? shortNumber(result.work.intensity()) : "?",
      report.hasRoofs() ? (nameOf(report.roofOf(result)) + " " + percent(limit / seconds)).str()
                        : "?"};
  if (const auto &resources = result.resources) {
    row.push_back(std::to_string(resources->registers));
    row.push_back(std::to_string(resources->spillBytes));
    row.push_back(number(static_cast<double>(resources->sharedBytes) / 1024, "%.1f"));
    row.push_back(resources->occupancy > 0 ? percent(resources->occupancy) : "?");
  }
  return row;
}

/// "a pipeline of 4 stages: load 4 warps of 40 registers, multiply 8 warps of 232 registers"
static std::string describe(const codegen::GpuRoles &roles) {
  std::string text = "a pipeline of " + std::to_string(roles.stages) + " stages";
  for (const auto &role : roles.roles)
    text += (&role == &roles.roles.front() ? ": " : ", ") + role.name + " " +
            std::to_string(role.warps) + " warps of " + std::to_string(role.registers) +
            " registers";
  return text;
}

void tile::frontend::printText(const BenchReport &report, llvm::raw_ostream &stream) {
  stream << report.device << ": ";
  if (report.isPrediction)
    stream << "PREDICTED from its description, nothing was measured: no run can be faster\n";
  else
    stream << (report.largeCopy.empty()
                   ? ""
                   : "copies move up to " + shortNumber(report.bandwidth() / 1e9) + " GB/s; ")
           << "medians of " << report.results.front().timing.sorted.size() << " rounds, caches "
           << (report.isWarm ? "as the run before left them" : "flushed before each run") << "\n";
  std::vector<std::vector<std::string>> rows = {{"", "time", "", "GB/s",
                                                 report.largeCopy.empty() ? "" : "/copy", "GFLOP/s",
                                                 "FLOP/B", "bound by"}};
  if (llvm::any_of(report.results, [](auto &result) { return result.resources.has_value(); }))
    for (const char *title : {"regs", "spilled", "shared KiB", "occupancy"})
      rows.front().push_back(title);
  for (const BenchResult &result : report.results)
    rows.push_back(rowOf(report, result));
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const auto &row : rows)
    for (auto [n, cell] : llvm::enumerate(row))
      widths[n] = std::max(widths[n], widthOf(cell));
  for (const auto &row : rows) {
    std::string line;
    for (auto [n, cell] : llvm::enumerate(row)) {
      if (widths[n] > 0)
        line += n ? "  " + padLeft(cell, widths[n]) : padRight(cell, widths[n]);
    }
    stream << llvm::StringRef(line).rtrim() << "\n";
  }
  for (const BenchResult &result : report.results)
    if (result.isGraph)
      stream << result.name << ": a graph of " << result.launches
             << (result.launches == 1 ? " launch" : " launches") << ", run as a whole\n";
  for (const BenchResult &result : report.results)
    if (result.resources && !result.resources->roles.roles.empty())
      stream << result.name << ": " << describe(result.resources->roles) << "\n";
  for (const BenchResult &result : report.results)
    if (!result.work.isExact)
      stream << result.name
             << ": conditions or data decide how much it does; its work is estimated\n";
}

//===-- JSON --------------------------------------------------------------===//

/// JSON has no infinity: what isn't known is null.
static llvm::json::Value orNull(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
}

static llvm::json::Value toJson(const Timing &timing) {
  if (timing.empty())
    return nullptr;
  return llvm::json::Object{{"median", timing.median()},
                            {"quartiles", {timing.quantile(0.25), timing.quantile(0.75)}},
                            {"least", timing.sorted.front()},
                            {"greatest", timing.sorted.back()},
                            {"runs", timing.sorted.size()},
                            {"by_round", llvm::json::Array(timing.byRound)}};
}

static llvm::json::Value toJson(const std::optional<Resources> &resources) {
  if (!resources)
    return nullptr;
  llvm::json::Array roles;
  for (const auto &role : resources->roles.roles)
    roles.push_back(llvm::json::Object{
        {"name", role.name}, {"warps", role.warps}, {"registers", role.registers}});
  return llvm::json::Object{
      {"roles", std::move(roles)},
      {"stages", resources->roles.stages},
      {"registers", resources->registers},
      {"spill_bytes", resources->spillBytes},
      {"threads", resources->threads},
      {"shared_bytes", resources->sharedBytes},
      {"occupancy", resources->occupancy > 0 ? llvm::json::Value(resources->occupancy) : nullptr}};
}

static llvm::json::Value toJson(const std::optional<runtime::GraphMemory> &memory) {
  if (!memory)
    return nullptr;
  return llvm::json::Object{{"intermediate_tensors", memory->tensors},
                            {"in_place", memory->inPlace},
                            {"intermediate_bytes", memory->peakBytes},
                            {"bytes_without_sharing", memory->sumBytes}};
}

static llvm::json::Object toJson(const BenchReport &report, const BenchResult &result) {
  const Work &work = result.work;
  double seconds = report.seconds(result), operations = work.totalOperations();
  llvm::json::Array byUnit;
  for (const auto &[key, count] : work.operations)
    byUnit.push_back(llvm::json::Object{{"unit", key.first == Unit::Matrix ? "matrix" : "vector"},
                                        {"type", std::string(runtime::nameOf(key.second))},
                                        {"count", orNull(count)}});
  llvm::json::Object object{
      {"name", result.name},
      {"inputs", llvm::json::Array(result.inputs)},
      {"launches", result.launches},
      {"seconds", seconds},
      {"timing", toJson(result.timing)},
      {"copy", toJson(result.copy)},
      {"bytes_read", work.bytesRead},
      {"bytes_written", work.bytesWritten},
      {"bytes_accessed", orNull(work.bytesAccessed)},
      {"operations", orNull(operations)},
      {"operations_by_unit", std::move(byUnit)},
      {"is_exact", work.isExact},
      {"bytes_per_second", orNull(work.bytes() / seconds)},
      {"operations_per_second", orNull(operations / seconds)},
      {"intensity", work.bytes() > 0 ? orNull(work.intensity()) : llvm::json::Value(nullptr)},
      {"bound", report.hasRoofs() ? llvm::json::Value(nameOf(report.roofOf(result)))
                                  : llvm::json::Value(nullptr)},
      {"memory_seconds", report.memorySeconds(result)},
      {"compute_seconds", report.computeSeconds(result)},
      {"resources", toJson(result.resources)}};
  if (result.isGraph) {
    object["fuse"] = result.fuse;
    object["memory"] = toJson(result.memory);
  }
  object["share_of_copy"] =
      result.copy.empty() ? llvm::json::Value(nullptr) : orNull(result.copy.median() / seconds);
  return object;
}

llvm::json::Object tile::frontend::toJson(const BenchReport &report) {
  llvm::json::Array kernels;
  for (const BenchResult &result : report.results)
    kernels.push_back(::toJson(report, result));
  llvm::json::Object object{{"device", report.device},
                            {"prediction", report.isPrediction},
                            {"caches", report.isWarm ? "warm" : "flushed"},
                            {"bandwidth", orNull(report.bandwidth())},
                            {"large_copy", ::toJson(report.largeCopy)},
                            {"kernels", std::move(kernels)}};
  if (report.description) {
    llvm::json::Object figures;
    for (const auto &[key, figure] : report.description->figures)
      figures[key] = figure.value;
    object["description"] =
        llvm::json::Object{{"name", report.description->name}, {"figures", std::move(figures)}};
  } else {
    object["description"] = nullptr;
  }
  return object;
}
