//===- Prospects.h - what two calls may save, from what is known ----------===//
//
// A call that has grown meets the same neighbours as before, a hundred of them
// where one tensor each goes into it. To build a kernel with each of them after
// each step takes time that grows with their number squared. But what one saves
// hardly depends on what else was added: so a pair is expected to save what was
// found of the smaller calls that it is made of. That says in which order pairs
// are looked at, and that those come last that were no gain; what is done is
// decided by what is found then.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_PROSPECTS_H
#define TILE_IR_FUSION_PROSPECTS_H

#include "ir/fusion/GraphCosts.h"

namespace tile::ir {

class Prospects {
public:
  /// Two calls, by their numbers: producer and consumer, or two siblings.
  struct Pair {
    unsigned first, second;
    bool isMerge;
  };

  explicit Prospects(GraphCosts &costs) : costs(costs) {}

  /// A call took the place of two others, or of one of them.
  void grow(unsigned call, unsigned guest, unsigned host) { parts[call] = {guest, host}; }
  /// What was found: seconds that one kernel saves; none where there can't be one.
  void note(Pair pair, CallOp first, CallOp second, std::optional<double> gain) {
    known[keyOf(pair)] = {gain, bytesOfBoth(first, second)};
  }
  /// Seconds to expect of a pair that saves so many at most.
  double expect(Pair pair, CallOp first, CallOp second, double most);

private:
  struct Found {
    std::optional<double> gain;
    /// Bytes that one kernel need not move.
    double bytes;
  };
  using Key = std::pair<unsigned, unsigned>;
  static Key keyOf(Pair pair);
  double bytesOfBoth(CallOp first, CallOp second);

  GraphCosts &costs;
  llvm::DenseMap<unsigned, std::pair<unsigned, unsigned>> parts;
  llvm::DenseMap<Key, Found> known;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_PROSPECTS_H
