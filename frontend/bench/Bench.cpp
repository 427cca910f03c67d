//===- Bench.cpp - how fast kernels are -----------------------------------===//

#include "frontend/bench/Bench.h"

#include <chrono>
#include <cmath>

using namespace tile;
using namespace tile::frontend;

double Timing::quantile(double share) const {
  double at = share * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(at);
  size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Outcome<std::monostate> tile::frontend::takeTurns(BenchDevice &device,
                                                  llvm::ArrayRef<Contestant *> contestants,
                                                  const BenchOptions &options) {
  using Clock = std::chrono::steady_clock;
  bool isTimed = options.seconds > 0;
  const unsigned usual = isTimed ? 1000 : 30, least = isTimed ? 15 : 5;
  constexpr double isShort = 2e-3; // what is left of the run before makes a difference
  for (Contestant *contestant : contestants)
    for (unsigned n = 0; n < options.warmups; ++n)
      if (auto seconds = contestant->run(); !seconds)
        return seconds.takeFailure();
  auto start = Clock::now();
  auto budget = std::chrono::duration<double>(
      isTimed ? options.seconds : 10.0 * static_cast<double>(contestants.size()));
  unsigned rounds = options.rounds ? options.rounds : usual;
  for (unsigned round = 0; round < rounds; ++round) {
    if (!options.rounds && round >= least && Clock::now() - start > budget)
      break;
    for (Contestant *contestant : contestants) {
      const std::vector<double> &before = contestant->timing.byRound;
      bool followsOther = contestants.size() > 1 && !before.empty() && before.back() < isShort;
      if (!options.isWarm) {
        if (auto done = device.flush(); !done)
          return done;
      } else if (followsOther) {
        if (auto seconds = contestant->run(); !seconds)
          return seconds.takeFailure();
      }
      auto seconds = contestant->run();
      if (!seconds)
        return seconds.takeFailure();
      contestant->timing.byRound.push_back(*seconds);
    }
  }
  for (Contestant *contestant : contestants) {
    Timing &timing = contestant->timing;
    timing.sorted = timing.byRound;
    llvm::sort(timing.sorted);
  }
  return Done{};
}
