//===- Prospects.cpp - what two calls may save, from what is known --------===//

#include "ir/fusion/Prospects.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile::ir;

/// More than nothing, so that it is looked at, and less than what anything saves.
static constexpr double atLast = std::numeric_limits<double>::min();

/// Which of two siblings comes first makes no difference.
Prospects::Key Prospects::keyOf(Pair pair) {
  auto [first, second, isMerge] = pair;
  if (isMerge && first > second)
    std::swap(first, second);
  return {2 * first + isMerge, second};
}

/// What both read is read once; what one gives the other isn't read, nor written if nobody else
/// needs it.
double Prospects::bytesOfBoth(CallOp first, CallOp second) {
  llvm::SmallSetVector<Value, 8> inputs(second.getInputs().begin(), second.getInputs().end());
  llvm::SmallPtrSet<Value, 8> others(first.getInputs().begin(), first.getInputs().end());
  double bytes = 0;
  for (Value input : inputs) {
    if (!isa<TensorType>(input.getType()))
      continue;
    if (input.getDefiningOp() == first)
      bytes +=
          (llvm::all_of(input.getUsers(), [&](Operation *op) { return op == second; }) ? 2 : 1) *
          costs.bytesOf(input);
    else if (others.contains(input))
      bytes += costs.bytesOf(input);
  }
  return bytes;
}

double Prospects::expect(Pair pair, CallOp first, CallOp second, double most) {
  std::optional<double> expected;
  double bytes = 0;
  auto lookAt = [&](Pair part) {
    auto found = known.find(keyOf(part));
    if (found == known.end())
      return;
    bytes = bytes > 0 ? bytes : bytesOfBoth(first, second);
    double more = std::max(0.0, bytes - found->second.bytes) / costs.bandwidth();
    // Where there was no kernel, there may be one now that more of what is between the two is gone.
    double gain = found->second.gain ? *found->second.gain + more : more > 0 ? most : 0;
    expected = std::max(expected.value_or(atLast), gain);
  };
  for (auto [grown, other, isFirst] :
       {std::tuple(pair.first, pair.second, true), std::tuple(pair.second, pair.first, false)})
    if (auto made = parts.find(grown); made != parts.end())
      for (unsigned part : {made->second.first, made->second.second})
        lookAt(isFirst ? Pair{part, other, pair.isMerge} : Pair{other, part, pair.isMerge});
  if (!expected || *expected >= most)
    return most;
  known[keyOf(pair)] = {*expected, bytes};
  return *expected;
}
