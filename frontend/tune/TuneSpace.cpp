//===- TuneSpace.cpp - schedules to try -----------------------------------===//

#include "frontend/tune/TuneSpace.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

namespace {
/// One entry of a schedule, and what it may be; 0: the schedule doesn't have it.
struct Choice {
  std::string name;
  std::vector<int64_t> values;
  /// Whether the kernel's author listed them.
  bool isListed = false;
};

struct Candidate {
  Schedule schedule;
  /// From the usual one: over all entries, and over those that nobody listed.
  double distance = 0, openSteps = 0;
};

constexpr double mostOpenSteps = 3;

std::vector<Choice> choicesOf(ir::KernelOp kernel, const TuneSpace &space) {
  std::vector<Choice> choices;
  auto add = [&](StringRef name, std::vector<int64_t> open) {
    std::string key = name.str();
    if (auto fixed = space.fixed.find(key); fixed != space.fixed.end()) {
      choices.push_back({key, {fixed->second}});
      return;
    }
    SmallVector<int64_t> listed = ir::scheduledSizes(kernel, name, space.target);
    if (listed.size() > 1)
      choices.push_back({key, {listed.begin(), listed.end()}, true});
    else if (listed.empty() && !open.empty())
      choices.push_back({key, std::move(open)});
    else if (space.usual.contains(key))
      choices.push_back({key, {space.usual.at(key)}});
  };
  auto largest = static_cast<int64_t>(
      llvm::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, space.largestExtent))));
  for (StringAttr binder : ir::sizableBinders(kernel)) {
    int64_t usual = space.usual.at(binder.str());
    std::vector<int64_t> open;
    for (int64_t size : {usual / 4, usual / 2, usual, usual * 2, usual * 4})
      if (size >= 1 && size <= ir::maxTileSize && (size <= largest || size == usual) &&
          !llvm::is_contained(open, size))
        open.push_back(size);
    add(binder, std::move(open));
  }
  for (StringRef setting : ir::countSettings) {
    std::vector<int64_t> open;
    if (setting == "warps" && space.hasWarps)
      open = {0, 4, 8, 16};
    else if (setting == "split" && space.isPipeline)
      open = {1, 2, 4, 8};
    if (ir::isCountSetting(kernel, setting))
      add(setting, std::move(open));
  }
  return choices;
}

/// Doublings and halvings from the usual value to another one. What is usual of a setting that the
/// schedule leaves open nobody knows.
double stepsTo(const TuneSpace &space, const Choice &choice, int64_t value) {
  auto usual = space.usual.find(choice.name);
  if (usual == space.usual.end())
    return value == 0 ? 0 : 1;
  return std::abs(std::log2(static_cast<double>(value) /
                            static_cast<double>(std::max<int64_t>(1, usual->second))));
}
} // namespace

std::vector<Schedule> tile::frontend::schedulesToTry(ir::KernelOp kernel, const TuneSpace &space,
                                                     size_t most) {
  // Of long lists the nearest are taken on the way, too.
  constexpr size_t mostOnTheWay = 100000;
  auto isNearer = [](const Candidate &x, const Candidate &y) { return x.distance < y.distance; };
  std::vector<Candidate> candidates(1);
  for (const Choice &choice : choicesOf(kernel, space)) {
    std::vector<Candidate> longer;
    for (const Candidate &candidate : candidates)
      for (int64_t value : choice.values) {
        Candidate next = candidate;
        double steps = stepsTo(space, choice, value);
        next.distance += steps;
        next.openSteps += choice.isListed || choice.values.size() == 1 ? 0 : steps;
        if (value != 0)
          next.schedule[choice.name] = value;
        if (next.openSteps <= mostOpenSteps)
          longer.push_back(std::move(next));
      }
    std::stable_sort(longer.begin(), longer.end(), isNearer);
    if (longer.size() > mostOnTheWay)
      longer.resize(mostOnTheWay);
    candidates = std::move(longer);
  }
  std::vector<Schedule> schedules = {space.usual};
  for (Candidate &candidate : candidates)
    if (schedules.size() < most && candidate.schedule != space.usual)
      schedules.push_back(std::move(candidate.schedule));
  return schedules;
}
