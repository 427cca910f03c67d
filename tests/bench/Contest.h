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
#include <functional>
#include <string>
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

inline double secondsOf(const std::function<void()> &run, int repeats) {
  auto start = std::chrono::steady_clock::now();
  for (int n = 0; n < repeats; ++n)
    run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats;
}

/// At least `minRounds` rounds, and as many as fit into `budget` seconds. A round
/// repeats what is short until it takes a few milliseconds.
inline void compete(std::vector<Contestant> &all, double budget, int minRounds = 5) {
  std::vector<int> repeats;
  double round = 0;
  for (Contestant &one : all) {
    one.run(); // touches memory, fills caches
    double once = secondsOf(one.run, 1);
    repeats.push_back(std::max(1, static_cast<int>(4e-3 / std::max(once, 1e-9))));
    round += once * repeats.back();
  }
  int rounds = std::max(minRounds, static_cast<int>(budget / round));
  for (int n = 0; n < rounds; ++n)
    for (size_t c = 0; c < all.size(); ++c)
      all[c].seconds.push_back(secondsOf(all[c].run, repeats[c]));
}

} // namespace tile::bench

#endif // TILE_TESTS_BENCH_CONTEST_H
