//===- RunReport.h - what `tilec run` has to say --------------------------===//
#ifndef TILE_FRONTEND_CLI_RUNREPORT_H
#define TILE_FRONTEND_CLI_RUNREPORT_H

#include "dsl/Source.h"
#include "frontend/cli/Session.h"
#include "frontend/execute/Comparison.h"
#include "frontend/execute/Execution.h"

namespace tile::frontend::cli {

/// One comparison of all outputs with those of another run.
struct Agreement {
  struct Entry {
    std::string output;
    Comparison comparison;
    /// "3 of 100 elements differ …"; empty if none do.
    std::string text;
  };
  std::vector<Entry> entries;
  /// What a call asks for; none: each element has its own.
  std::optional<Tolerance> tolerance;

  bool ok() const;
};

/// A choice of tile sizes and how its results compare.
struct SweepResult {
  std::string sizes;
  Agreement agreement;
};

struct RunReport {
  std::string entry;
  Device device = Device::Cpu;
  std::vector<std::pair<std::string, std::string>> types;
  std::vector<std::string> names;
  Outputs outputs;
  double compileSeconds = 0;
  /// Of each repetition.
  std::vector<double> seconds;
  /// Of a graph.
  std::optional<runtime::GraphMemory> memory;
  std::optional<Agreement> check;
  /// What the check and the sweep compared with.
  std::string checkedWith, sweptWith;
  std::optional<std::vector<SweepResult>> sweep;

  bool ok() const;
};

void printText(const RunReport &report, llvm::raw_ostream &stream);
/// The report as one object; `diagnostics` are the warnings.
void printJson(const RunReport &report, const dsl::DiagnosticEngine &diagnostics);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_RUNREPORT_H
