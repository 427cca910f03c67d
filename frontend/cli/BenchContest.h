//===- BenchContest.h - what `tilec bench` measures, and how --------------===//
#ifndef TILE_FRONTEND_CLI_BENCHCONTEST_H
#define TILE_FRONTEND_CLI_BENCHCONTEST_H

#include "frontend/bench/BenchReport.h"
#include "frontend/cli/Inputs.h"
#include "frontend/cli/SharedOptions.h"
#include "frontend/execute/ExecutionImpl.h"
#include "frontend/fusion/FusionVeto.h"

namespace tile::frontend::cli {

/// What it was called with.
struct BenchCommandOptions {
  std::vector<std::string> files, inputs, dims, types;
  std::string entry, device = "cpu", plot, fuse = nameOf(defaultFuseMode).str();
  ScheduleOptions schedule;
  BenchOptions bench;
  bool json = false, hasNoCopies = false, isNoRun = false, noCache = false;
  SourceOptions source;
};

/// One kernel or graph on its way from the command line to the contest.
struct BenchEntry {
  BenchEntry(const SourceOptions &options, size_t number, FuseMode mode)
      : session(options), number(number), mode(mode) {}

  Session session;
  /// The place of its file on the command line, from 1.
  size_t number;
  /// Of a graph.
  FuseMode mode;
  dsl::DeclRef decl;
  std::string symbol;
  Inputs inputs;
  Interface interface;
  TileSizes sizes;
  llvm::StringMap<int64_t> dims;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<Executor::Prepared> prepared;
  std::unique_ptr<Contestant> contestant, copy;
  BenchResult result;

  ir::KernelOp kernel() {
    return llvm::dyn_cast<ir::KernelOp>(session.module().lookupSymbol(symbol));
  }
};

/// One call of the command.
class Bench {
public:
  explicit Bench(const BenchCommandOptions &options)
      : options(options), inputs(options.inputs, options.files.size() == 1),
        types(options.types, options.files.size() == 1),
        dims(options.dims, options.files.size() == 1) {}
  int run();

private:
  Outcome<std::monostate> execute();
  Outcome<std::monostate> chooseDevice();
  Outcome<std::monostate> chooseModes();
  Outcome<std::monostate> read(const std::string &file, size_t number);
  Outcome<std::monostate> elaborate(BenchEntry &entry, const BenchEntry *like);
  void fuse(BenchEntry &entry);
  Outcome<std::monostate> checkUnused();
  Outcome<std::monostate> checkSizes();
  Outcome<std::monostate> checkPlot();
  Outcome<Work> workOf(BenchEntry &entry, ir::KernelOp kernel, const runtime::KernelLaunch &launch);
  Outcome<std::monostate> count(BenchEntry &entry);
  Outcome<std::monostate> openExecutor(BenchEntry &entry);
  Outcome<std::monostate> prepare(BenchEntry &entry);
  Outcome<std::monostate> describeRoles(BenchEntry &entry);
  Outcome<std::monostate> prepareKernel(BenchEntry &entry, const Arguments &arguments);
  Outcome<std::monostate> prepareGraph(BenchEntry &entry, Arguments arguments);
  Outcome<std::monostate> compile(BenchEntry &entry);
  Outcome<std::monostate> measure();
  void nameResults();
  Outcome<std::monostate> writePlot() const;

  const BenchCommandOptions &options;
  SharedOptions inputs, types, dims;
  DeviceChoice choice;
  std::vector<FuseMode> modes;
  std::vector<std::unique_ptr<BenchEntry>> entries;
  /// The one that is worked on: what goes wrong is about it.
  BenchEntry *current = nullptr;
  std::unique_ptr<BenchDevice> device;
  BenchReport report;
};

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_BENCHCONTEST_H
