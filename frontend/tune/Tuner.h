//===- Tuner.h - finds the fastest schedule by measuring ------------------===//
//
// Candidates are compiled several at a time and measured one at a time, each by
// turns with the usual schedule, so that what else happens on the machine hits
// both. At the end the best few and the usual schedule
// run by turns once more, which decides. Everything that was measured is in the
// file at once, so that a search may be stopped at any time and goes on where it
// was.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TUNE_TUNER_H
#define TILE_FRONTEND_TUNE_TUNER_H

#include "frontend/bench/Bench.h"
#include "frontend/execute/TunedSchedules.h"

#include <atomic>

namespace tile::frontend {

/// Who compiles candidates: each has a compiler and a module of its own, on the same device.
struct TuneWorker {
  Executor *executor = nullptr;
  ir::KernelOp kernel;
};

struct TuneProgress {
  /// Of so many: this one.
  size_t number = 0, count = 0;
  const TunedSchedule::Measured &measured;
  /// Why it can't run, on one line; empty if it ran.
  std::string reason;
  /// The fastest so far.
  const TunedSchedule::Measured &best;
};

struct TuneOptions {
  /// Leaves caches as the run before left them.
  bool isWarm = false;
  /// Ends the search after the candidate at hand, once set.
  const std::atomic<bool> *stop = nullptr;
  std::function<void(const TuneProgress &)> progress;
};

struct TuneResult {
  TunedSchedule entry;
  /// Of the last rounds; empty where the search was stopped.
  Timing best, usual;
  size_t refused = 0;
};

class Tuner {
public:
  /// A launch of the kernel with these arguments; all outlive the tuner, and so does the file,
  /// which gets the results.
  Tuner(std::vector<TuneWorker> workers, const Arguments &arguments,
        const llvm::StringMap<int64_t> &dims, BenchDevice &device, TunedFile &file,
        TuneOptions options)
      : workers(std::move(workers)), arguments(arguments), dims(dims), device(device), file(file),
        options(std::move(options)) {}

  /// Measures schedules, the usual one first. `entry` has what is not measured: kernel, device and
  /// dims; what the file has of an unfinished search for them isn't measured again. Fails where the
  /// usual schedule can't run.
  Outcome<TuneResult> run(TunedSchedule entry, llvm::ArrayRef<Schedule> schedules);

private:
  /// One that is ready to run, or why not.
  struct Runner {
    TunedSchedule::Measured measured;
    std::unique_ptr<Executor::Prepared> prepared;
    std::unique_ptr<Contestant> contestant;
    std::string reason;
  };

  Outcome<std::unique_ptr<Executor::Prepared>> prepare(const TuneWorker &worker,
                                                       const Schedule &schedule);
  Outcome<Runner> runnerOf(const TuneWorker &worker, const Schedule &schedule);
  std::vector<Runner> compile(llvm::ArrayRef<Schedule> schedules);
  Outcome<std::monostate> takeTurns(llvm::ArrayRef<Runner *> runners, unsigned rounds);
  Outcome<std::monostate> measure(Runner &runner, double best);
  Outcome<std::monostate> save(const TunedSchedule &entry);
  Outcome<std::monostate> begin(TunedSchedule &entry, const Schedule &usual);
  Outcome<std::monostate> search(TunedSchedule &entry, llvm::ArrayRef<Schedule> schedules);
  Outcome<std::monostate> decide(TuneResult &result);
  bool isStopped() const { return options.stop && options.stop->load(); }

  std::vector<TuneWorker> workers;
  const Arguments &arguments;
  const llvm::StringMap<int64_t> &dims;
  BenchDevice &device;
  TunedFile &file;
  TuneOptions options;
  /// The usual schedule, ready to run.
  Runner usual;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_TUNE_TUNER_H
