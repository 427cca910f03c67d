//===- Tuner.cpp - finds the fastest schedule by measuring ----------------===//

#include "frontend/tune/Tuner.h"

#include "codegen/CompilerId.h"
#include "frontend/execute/ExecutionImpl.h"

#include <thread>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using Measured = TunedSchedule::Measured;

/// A candidate that takes so much longer than the fastest is not measured on.
static constexpr double hopeless = 1.5;
/// What has to be gained before something else than the usual schedule is worth having; where times
/// differ more from run to run, half of their spread.
static constexpr double leastGain = 0.01;
/// Rounds for a candidate, and for the few that are left.
static constexpr unsigned rounds = 9, lastRounds = 31;
static constexpr size_t finalists = 4;

//===-- Compiling ---------------------------------------------------------===//

Outcome<std::unique_ptr<Executor::Prepared>> Tuner::prepare(const TuneWorker &worker,
                                                            const Schedule &schedule) {
  worker.executor->sizes.byKernel[ir::KernelOp(worker.kernel).getSymName().str()] = schedule;
  return worker.executor->prepare(worker.kernel, arguments, dims);
}

Outcome<Tuner::Runner> Tuner::runnerOf(const TuneWorker &worker, const Schedule &schedule) {
  Runner runner;
  runner.measured.schedule = schedule;
  auto prepared = prepare(worker, schedule);
  if (!prepared)
    return prepared.takeFailure();
  runner.prepared = *std::move(prepared);
  auto contestant = device.kernel(*worker.executor, *runner.prepared);
  if (!contestant)
    return contestant.takeFailure();
  runner.contestant = *std::move(contestant);
  return runner;
}

/// Each by a worker of its own.
std::vector<Tuner::Runner> Tuner::compile(ArrayRef<Schedule> schedules) {
  std::vector<Runner> runners(schedules.size());
  auto compileOne = [&](size_t n) {
    Runner &runner = runners[n];
    runner.measured.schedule = schedules[n];
    std::string error;
    ScopedDiagnosticHandler handler(workers[n].kernel->getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && error.empty())
        error = diagnostic.str();
      return success();
    });
    auto prepared = prepare(workers[n], schedules[n]);
    if (prepared) {
      runner.prepared = *std::move(prepared);
      return;
    }
    Failure failure = prepared.takeFailure();
    runner.reason = !failure.message.empty() ? failure.message : error;
    if (runner.reason.empty())
      runner.reason = "it can't be compiled";
  };
  std::vector<std::thread> threads;
  for (size_t n = 1; n < schedules.size(); ++n)
    threads.emplace_back(compileOne, n);
  compileOne(0);
  for (std::thread &thread : threads)
    thread.join();
  return runners;
}

//===-- Measuring ---------------------------------------------------------===//

Outcome<std::monostate> Tuner::takeTurns(ArrayRef<Runner *> runners, unsigned rounds) {
  SmallVector<Contestant *> contestants;
  for (Runner *runner : runners) {
    runner->contestant->timing = {};
    contestants.push_back(runner->contestant.get());
  }
  BenchOptions bench{.rounds = rounds, .warmups = 1, .isWarm = options.isWarm};
  if (auto done = frontend::takeTurns(device, contestants, bench); !done)
    return done;
  for (Runner *runner : runners)
    runner->measured.seconds = runner->contestant->timing.median();
  return Done{};
}

/// The seconds of a candidate, as if the usual schedule had taken what it took at first. `best` are
/// those of the fastest so far.
Outcome<std::monostate> Tuner::measure(Runner &runner, double best) {
  // The first run may have to load code.
  for (int n = 0; n < 2; ++n) {
    auto seconds = runner.contestant->run();
    if (!seconds)
      return seconds.takeFailure();
    runner.measured.seconds = *seconds;
  }
  if (runner.measured.seconds > hopeless * best)
    return Done{};
  double usualSeconds = usual.measured.seconds;
  if (auto done = takeTurns({&usual, &runner}, rounds); !done)
    return done;
  runner.measured.seconds *= usualSeconds / usual.measured.seconds;
  usual.measured.seconds = usualSeconds;
  return Done{};
}

Outcome<std::monostate> Tuner::save(const TunedSchedule &entry) {
  if (TunedSchedule *known = file.find(entry.kernel, entry.device, entry.dims))
    *known = entry;
  else
    file.entries.push_back(entry);
  return file.write();
}

//===-- The search --------------------------------------------------------===//

/// Takes up a search that was stopped, if it was one of the same compiler that began at the same
/// place, or begins one.
Outcome<std::monostate> Tuner::begin(TunedSchedule &entry, const Schedule &schedule) {
  auto runner = runnerOf(workers[0], schedule);
  if (!runner)
    return runner.takeFailure();
  usual = *std::move(runner);
  if (auto done = takeTurns({&usual}, lastRounds); !done)
    return done;
  entry.compiler = codegen::compilerId();
  entry.usual = entry.best = usual.measured;
  const TunedSchedule *known = file.find(entry.kernel, entry.device, entry.dims);
  if (!known || known->compiler != entry.compiler || known->usual.schedule != schedule)
    return save(entry);
  entry.tried = known->tried;
  for (Measured &measured : entry.tried) {
    measured.seconds *= usual.measured.seconds / known->usual.seconds;
    if (measured.seconds > 0 && measured.seconds < entry.best.seconds)
      entry.best = measured;
  }
  return save(entry);
}

Outcome<std::monostate> Tuner::search(TunedSchedule &entry, ArrayRef<Schedule> schedules) {
  std::vector<Schedule> left;
  for (const Schedule &schedule : schedules.drop_front())
    if (llvm::none_of(entry.tried,
                      [&](const Measured &tried) { return tried.schedule == schedule; }))
      left.push_back(schedule);
  size_t number = schedules.size() - left.size();
  for (ArrayRef<Schedule> rest = left; !rest.empty() && !isStopped();) {
    ArrayRef<Schedule> batch = rest.take_front(workers.size());
    rest = rest.drop_front(batch.size());
    std::vector<Runner> runners = compile(batch);
    for (auto [worker, runner] : llvm::zip(workers, runners)) {
      if (isStopped())
        break;
      if (runner.prepared) {
        auto contestant = device.kernel(*worker.executor, *runner.prepared);
        if (!contestant)
          return contestant.takeFailure();
        runner.contestant = *std::move(contestant);
        if (auto done = measure(runner, entry.best.seconds); !done)
          return done;
        if (runner.measured.seconds < entry.best.seconds)
          entry.best = runner.measured;
      }
      entry.tried.push_back(runner.measured);
      if (auto done = save(entry); !done)
        return done;
      std::string reason = std::move(runner.reason);
      runner = {}; // with its memory
      if (options.progress)
        options.progress(
            {++number, schedules.size(), entry.tried.back(), std::move(reason), entry.best});
    }
  }
  return Done{};
}

/// The best few and the usual one by turns. The usual one wins where nothing is gained.
Outcome<std::monostate> Tuner::decide(TuneResult &result) {
  TunedSchedule &entry = result.entry;
  std::vector<Measured> order;
  for (const Measured &measured : entry.tried)
    if (measured.seconds > 0 && measured.seconds <= hopeless * entry.best.seconds)
      order.push_back(measured);
  llvm::stable_sort(order,
                    [](const Measured &x, const Measured &y) { return x.seconds < y.seconds; });
  order.resize(std::min(order.size(), finalists));
  std::vector<Runner> runners;
  for (const Measured &measured : order) {
    auto runner = runnerOf(workers[0], measured.schedule);
    if (!runner)
      return runner.takeFailure();
    runners.push_back(*std::move(runner));
  }
  SmallVector<Runner *> all = {&usual};
  for (Runner &runner : runners)
    all.push_back(&runner);
  if (auto done = takeTurns(all, lastRounds); !done)
    return done;
  Runner *best = *llvm::min_element(all, [](const Runner *x, const Runner *y) {
    return x->measured.seconds < y->measured.seconds;
  });
  const Timing &timing = usual.contestant->timing;
  double gain = std::max({leastGain, timing.spread() / 2, best->contestant->timing.spread() / 2});
  if (best->measured.seconds > usual.measured.seconds * (1 - gain))
    best = &usual;
  entry.best = best->measured;
  entry.usual = usual.measured;
  result.best = best->contestant->timing;
  result.usual = timing;
  return Done{};
}

Outcome<TuneResult> Tuner::run(TunedSchedule entry, ArrayRef<Schedule> schedules) {
  assert(!schedules.empty() && !workers.empty() && "the usual schedule, and someone to compile it");
  TuneResult result;
  result.entry = std::move(entry);
  TunedSchedule &found = result.entry;
  found.candidates = schedules.size();
  if (auto done = begin(found, schedules.front()); !done)
    return done.takeFailure();
  if (auto done = search(found, schedules); !done)
    return done.takeFailure();
  result.refused =
      llvm::count_if(found.tried, [](const Measured &tried) { return tried.seconds == 0; });
  if (isStopped())
    return result;
  if (auto done = decide(result); !done)
    return done.takeFailure();
  found.compiler.clear();
  found.tried.clear();
  if (auto done = save(found); !done)
    return done.takeFailure();
  return result;
}
