//===- Contest.h - contestants timed side by side -------------------------===//
//
// Runs contestants in turn, round by round, so that whatever else the machine
// does meets all of them, and compares medians.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_BENCH_CONTEST_H
#define TILE_TESTS_BENCH_CONTEST_H

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace tile::bench {

struct Contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds = {};

  double median() const {
    std::vector<double> sorted = seconds;
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
    return sorted[sorted.size() / 2];
  }
};

/// What passes on the wall, or for this thread alone: the same if it does all the work,
/// whatever else the machine is busy with.
inline double now(bool ofThread) {
  timespec time;
  clock_gettime(ofThread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline double secondsOf(const std::function<void()> &run, int repeats, bool ofThread) {
  double start = now(ofThread);
  for (int n = 0; n < repeats; ++n)
    run();
  return (now(ofThread) - start) / repeats;
}

/// At least `minRounds` rounds, and as many as fit into `budget` seconds. A round
/// repeats what is short until it takes a few milliseconds.
inline void compete(std::vector<Contestant> &all, double budget, bool ofThread, int minRounds = 5) {
  // OpenBLAS' threads spin for longer than 50 ms after their turn, and take the others' cores.
  constexpr std::chrono::milliseconds pause(200);
  constexpr double wakeUp = 0.02;
  std::vector<int> repeats;
  double round = 0;
  for (Contestant &one : all) {
    one.run(); // touches memory, fills caches
    double once = secondsOf(one.run, 1, ofThread);
    repeats.push_back(std::max(1, static_cast<int>(4e-3 / std::max(once, 1e-9))));
    round += once * repeats.back() + (ofThread ? 0 : wakeUp + 1e-3 * double(pause.count()));
  }
  int rounds = std::max(minRounds, static_cast<int>(budget / round));
  for (int n = 0; n < rounds; ++n)
    for (size_t c = 0; c < all.size(); ++c) {
      if (!ofThread) {
        // The threads of the one before may still be spinning, and those of this one be asleep.
        std::this_thread::sleep_for(pause);
        for (double start = now(false); now(false) - start < wakeUp;)
          all[c].run();
      }
      all[c].seconds.push_back(secondsOf(all[c].run, repeats[c], ofThread));
    }
}

} // namespace tile::bench

#endif // TILE_TESTS_BENCH_CONTEST_H
