//===- FusionGraphs.h - large graphs for the fuser ------------------------===//
//
// Sources of graphs as models have them: thousands of calls of a handful of
// kernels. A seed gives the same graph on every machine.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_BENCH_FUSIONGRAPHS_H
#define TILE_TESTS_BENCH_FUSIONGRAPHS_H

#include <cstdint>
#include <string>
#include <vector>

namespace tile::bench {

enum class GraphFamily {
  /// Pointwise calls, each on the result of the one before.
  Chain,
  /// Layers of a transformer: norms, products, softmax, residuals.
  Tower,
  /// Layers that all read one input, each a few times.
  Wide,
  /// Pieces of those, in random order, with skips between them.
  Mix,
  /// Each call is any kernel on any of the last few tensors: hardly two places are alike.
  Random,
  /// Each step reads the one before and the graph's input.
  Skips,
  /// Each step reads the one before and one a few steps back: the paths through the graph are more
  /// than anybody could count.
  Ladder,
  /// The same with the one 500 steps back: as many tensors are needed at a time.
  Far,
  /// Calls of one kernel, each on an input of its own, and one call that adds up what they give.
  Star,
  /// Calls of as many kernels on one input, and one call that adds up what they give.
  Kinds,
  /// Each call reads the results of all before it.
  Dense,
  /// Calls of as many kernels on one input, of which none needs another: all are outputs.
  Siblings,
};

inline constexpr GraphFamily allFamilies[] = {
    GraphFamily::Chain,  GraphFamily::Tower, GraphFamily::Wide,   GraphFamily::Mix,
    GraphFamily::Random, GraphFamily::Skips, GraphFamily::Ladder, GraphFamily::Far,
    GraphFamily::Star,   GraphFamily::Kinds, GraphFamily::Dense,  GraphFamily::Siblings};
const char *nameOf(GraphFamily family);

/// No more calls than that are of use.
unsigned mostCalls(GraphFamily family);

/// A graph `large` of about as many calls: the last piece of a family is written whole.
std::string graphSource(GraphFamily family, unsigned calls, uint64_t seed);

} // namespace tile::bench

#endif // TILE_TESTS_BENCH_FUSIONGRAPHS_H
