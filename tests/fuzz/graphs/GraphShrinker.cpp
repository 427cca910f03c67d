#include "tests/fuzz/graphs/GraphHarness.h"

#include <algorithm>

using namespace tile::fuzz;

GraphOutcome tile::fuzz::checkApart(const GraphProgram &program, const GraphOptions &options) {
  GraphOutcome outcome;
  static_cast<Outcome &>(outcome) = runApart([&] { return check(program, options); });
  return outcome;
}

namespace {
class GraphShrinker {
public:
  GraphShrinker(GraphProgram program, std::string category, const GraphOptions &options, int trials)
      : best(std::move(program)), category(std::move(category)), options(options), trials(trials) {}

  GraphProgram run() {
    for (bool improved = true; improved && trials > 0;) {
      improved = false;
      while (dropOutputs() || cutCalls() || shortenDims() || dropLines())
        improved = true;
    }
    return best;
  }

private:
  bool accept(GraphProgram candidate) {
    candidate.dropDead();
    if (trials-- <= 0 || (candidate.str() == best.str() && candidate.dims == best.dims))
      return false;
    GraphOutcome outcome = checkApart(candidate, options);
    if (outcome.kind != Outcome::Kind::Failed || outcome.category != category)
      return false;
    best = std::move(candidate);
    return true;
  }

  /// Half of the outputs, or one.
  bool dropOutputs() {
    for (size_t count = best.outputs.size() / 2; count > 0; count /= 2)
      for (size_t at = 0; at + count <= best.outputs.size(); at += count) {
        GraphProgram candidate = best;
        auto first = candidate.outputs.begin() + static_cast<int64_t>(at);
        candidate.outputs.erase(first, first + static_cast<int64_t>(count));
        if (!candidate.outputs.empty() && accept(candidate))
          return true;
      }
    return false;
  }

  /// Makes calls' results inputs: the first half of the graph first, then single calls.
  bool cutCalls() {
    for (size_t count = best.calls.size() / 2; count > 0; count /= 2)
      for (size_t at = 0; at + count <= best.calls.size(); at += count) {
        GraphProgram candidate = best;
        for (size_t n = at; n < at + count; ++n)
          for (const GraphTensor &result : best.calls[n].results) {
            candidate.inputs.push_back(result);
            std::erase(candidate.outputs, result.name);
          }
        auto first = candidate.calls.begin() + static_cast<int64_t>(at);
        candidate.calls.erase(first, first + static_cast<int64_t>(count));
        if (!candidate.outputs.empty() && accept(candidate))
          return true;
      }
    return false;
  }

  bool shortenDims() {
    for (const auto &[name, value] : std::map(best.dims))
      for (int64_t smaller : {int64_t(1), int64_t(2), int64_t(3), value / 2, value - 1})
        if (smaller >= 0 && smaller < value) {
          GraphProgram candidate = best;
          candidate.dims[name] = smaller;
          if (accept(candidate))
            return true;
        }
    return false;
  }

  /// Schedules, and lines of kernels.
  bool dropLines() {
    for (size_t n = 0; n < best.calls.size(); ++n) {
      const std::string &text = best.calls[n].declaration;
      if (size_t at = text.find(" schedule {"); at != std::string::npos) {
        GraphProgram candidate = best;
        candidate.calls[n].declaration = text.substr(0, at) + "\n";
        if (accept(candidate))
          return true;
      }
      for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
        GraphProgram candidate = best;
        candidate.calls[n].declaration.erase(at, end + 1 - at);
        if (accept(candidate))
          return true;
      }
    }
    return false;
  }

  GraphProgram best;
  std::string category;
  const GraphOptions &options;
  int trials;
};
} // namespace

GraphProgram tile::fuzz::shrink(const GraphProgram &program, const std::string &category,
                                const GraphOptions &options, int trials) {
  return GraphShrinker(program, category, options, trials).run();
}
