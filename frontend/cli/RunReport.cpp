//===- RunReport.cpp - what `tilec run` has to say ------------------------===//

#include "frontend/cli/RunReport.h"

#include "frontend/base/Units.h"
#include "frontend/cli/DiagnosticJson.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

bool Agreement::ok() const {
  return llvm::all_of(entries, [](const Entry &entry) { return entry.comparison.ok(); });
}

bool RunReport::ok() const {
  return (!check || check->ok()) && (!sweep || llvm::all_of(*sweep, [](const SweepResult &result) {
           return result.agreement.ok();
         }));
}

/// The signed digits of an error or what is allowed: short, and the same everywhere.
static std::string number(double value, const char *format = "%.3g") {
  char buffer[48];
  snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

static std::string checksumOf(const runtime::Tensor &tensor) {
  char buffer[20];
  snprintf(buffer, sizeof(buffer), "%016llx", static_cast<unsigned long long>(tensor.checksum()));
  return buffer;
}

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

//===-- Text --------------------------------------------------------------===//

static std::string indent(const std::string &text, const std::string &by) {
  std::string result = by;
  for (char c : text)
    result += c == '\n' ? "\n" + by : std::string(1, c);
  return result;
}

static void printAgreement(const Agreement &agreement, const std::string &prefix,
                           llvm::raw_ostream &stream) {
  for (const Agreement::Entry &entry : agreement.entries)
    if (!entry.comparison.ok())
      stream << prefix << entry.output << ": " << entry.text << "\n";
  if (agreement.tolerance && !agreement.ok())
    stream << prefix << "tolerance: rtol " << number(agreement.tolerance->rtol) << ", atol "
           << number(agreement.tolerance->atol) << "\n";
}

/// Of an output that agrees: what is allowed, and how near it came to that.
static void printMargin(const Agreement::Entry &entry, const runtime::Shape &shape,
                        llvm::raw_ostream &stream) {
  const Comparison &comparison = entry.comparison;
  stream << "  " << entry.output << ": ";
  if (const auto &worst = comparison.worst)
    stream << "at " << coordinatesOf(worst->offset, shape) << " off by " << number(worst->error)
           << ", " << number(worst->allowed) << " allowed ("
           << number(worst->error / worst->allowed, "%.2f") << ")\n";
  else if (comparison.mostUlps > 0)
    stream << "equal, up to " << number(comparison.mostUlps, "%.2g") << " ulp allowed\n";
  else
    stream << "equal, as it has to be\n";
  if (comparison.open > 0)
    stream << "  " << entry.output << ": " << comparison.open << " of " << comparison.total
           << " elements hang on rounding: anything is allowed there\n";
}

static void printCheck(const RunReport &report, llvm::raw_ostream &stream) {
  if (report.check->ok()) {
    double worst = 0;
    for (const Agreement::Entry &entry : report.check->entries)
      worst = std::max(worst, entry.comparison.maxError);
    stream << "check: agrees with " << report.checkedWith << ", greatest error " << number(worst)
           << "\n";
    for (auto [entry, tensor] : llvm::zip_equal(report.check->entries, report.outputs))
      printMargin(entry, tensor->shape(), stream);
    return;
  }
  stream << "check: differs from " << report.checkedWith << "\n";
  printAgreement(*report.check, "  ", stream);
}

static void printSweep(const RunReport &report, llvm::raw_ostream &stream) {
  const std::vector<SweepResult> &sweep = *report.sweep;
  if (sweep.empty()) {
    stream << "sweep: what runs has no tile sizes to choose\n";
    return;
  }
  size_t failed =
      llvm::count_if(sweep, [](const SweepResult &result) { return !result.agreement.ok(); });
  stream << "sweep: " << sweep.size() << " choices of tile sizes, ";
  if (failed == 0)
    stream << "all agree\n";
  else
    stream << failed << " differ" << (failed == 1 ? "s" : "") << " from " << report.sweptWith
           << "\n";
  for (const SweepResult &result : sweep)
    if (!result.agreement.ok()) {
      stream << "  with " << result.sizes << "\n";
      printAgreement(result.agreement, "    ", stream);
    }
}

void tile::frontend::cli::printText(const RunReport &report, llvm::raw_ostream &stream) {
  for (auto [name, tensor] : llvm::zip_equal(report.names, report.outputs))
    stream << name << ": " << tensor->describe() << ", checksum " << checksumOf(*tensor) << "\n"
           << indent(tensor->preview(), "  ") << "\n";
  stream << "time: " << timeText(median(report.seconds)) << " on " << nameOf(report.device);
  if (report.seconds.size() > 1)
    stream << " (median of " << report.seconds.size() << ", best "
           << timeText(*llvm::min_element(report.seconds)) << ")";
  stream << ", compiled in " << timeText(report.compileSeconds) << "\n";
  if (report.check)
    printCheck(report, stream);
  if (report.sweep)
    printSweep(report, stream);
}

//===-- JSON --------------------------------------------------------------===//

/// JSON has no NaN and no infinity: they are null.
static llvm::json::Value orNull(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
}

static llvm::json::Array compared(const Agreement &agreement, const Outputs &outputs) {
  llvm::json::Array entries;
  for (auto [entry, tensor] : llvm::zip_equal(agreement.entries, outputs)) {
    llvm::json::Array first;
    for (const Comparison::Difference &difference : entry.comparison.first)
      first.push_back(coordinatesOf(difference.offset, tensor->shape()));
    llvm::json::Object object{{"output", entry.output},
                              {"ok", entry.comparison.ok()},
                              {"differing", entry.comparison.differing},
                              {"total", entry.comparison.total},
                              {"open", entry.comparison.open},
                              {"max_error", orNull(entry.comparison.maxError)},
                              {"most_ulps_allowed", orNull(entry.comparison.mostUlps)},
                              {"first", std::move(first)},
                              {"text", entry.text}};
    if (const auto &worst = entry.comparison.worst) {
      double ulp = ulpOf(tensor->dtype(),
                         runtime::isFloat(tensor->dtype()) ? tensor->getDouble(worst->offset) : 1);
      object["worst"] = llvm::json::Object{{"at", coordinatesOf(worst->offset, tensor->shape())},
                                           {"error", orNull(worst->error)},
                                           {"allowed", worst->allowed},
                                           {"ulps", orNull(worst->error / ulp)}};
    }
    if (agreement.tolerance) {
      object["rtol"] = agreement.tolerance->rtol;
      object["atol"] = agreement.tolerance->atol;
    }
    entries.push_back(std::move(object));
  }
  return entries;
}

void tile::frontend::cli::printJson(const RunReport &report,
                                    const dsl::DiagnosticEngine &diagnostics) {
  llvm::json::Object types;
  for (const auto &[name, type] : report.types)
    types[name] = type;
  llvm::json::Array outputs, seconds;
  for (auto [name, tensor] : llvm::zip_equal(report.names, report.outputs))
    outputs.push_back(llvm::json::Object{{"name", name},
                                         {"type", std::string(runtime::nameOf(tensor->dtype()))},
                                         {"shape", llvm::json::Array(tensor->shape())},
                                         {"checksum", checksumOf(*tensor)}});
  for (double value : report.seconds)
    seconds.push_back(value);
  llvm::json::Object object{
      {"entry", report.entry},         {"device", nameOf(report.device)},
      {"types", std::move(types)},     {"ok", report.ok()},
      {"outputs", std::move(outputs)}, {"compile_seconds", report.compileSeconds},
      {"seconds", std::move(seconds)}, {"diagnostics", toJson(diagnostics)}};
  if (report.memory)
    object["memory"] = llvm::json::Object{{"intermediate_tensors", report.memory->tensors},
                                          {"in_place", report.memory->inPlace},
                                          {"intermediate_bytes", report.memory->peakBytes},
                                          {"bytes_without_sharing", report.memory->sumBytes}};
  if (report.check)
    object["check"] = compared(*report.check, report.outputs);
  if (report.sweep) {
    llvm::json::Array choices;
    for (const SweepResult &result : *report.sweep)
      choices.push_back(
          llvm::json::Object{{"sizes", result.sizes},
                             {"ok", result.agreement.ok()},
                             {"outputs", compared(result.agreement, report.outputs)}});
    object["sweep"] = std::move(choices);
  }
  printJson(std::move(object));
}
