//===- Polyhedron.cpp - facts as MLIR Presburger sets ---------------------===//

#include "ir/proofs/Polyhedron.h"

using namespace mlir;
using namespace mlir::presburger;
using namespace tile::ir;

IntegerPolyhedron tile::ir::polyhedronOf(const Facts &facts, ArrayRef<AtomId> columns) {
  llvm::DenseMap<AtomId, unsigned> position;
  for (auto [n, atom] : llvm::enumerate(columns))
    position[atom] = n;
  IntegerPolyhedron result(PresburgerSpace::getSetSpace(columns.size()));
  auto row = [&](const Linear &sum) {
    SmallVector<int64_t> coefficients(result.getNumCols());
    for (auto [atom, factor] : sum.terms)
      coefficients[position.at(atom)] = factor;
    coefficients.back() = sum.constant;
    return coefficients;
  };
  for (const Linear &sum : facts.notNegative)
    result.addInequality(row(sum));
  for (const Linear &sum : facts.zero)
    result.addEquality(row(sum));
  return result;
}

static std::optional<SmallVector<int64_t>> sample(const IntegerRelation &set) {
  auto point = set.findIntegerSample();
  if (!point)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (const llvm::DynamicAPInt &value : *point) {
    if (value > std::numeric_limits<int64_t>::max() || value < std::numeric_limits<int64_t>::min())
      return std::nullopt;
    values.push_back(static_cast<int64_t>(value));
  }
  return values;
}

std::optional<SmallVector<int64_t>> tile::ir::smallPoint(const IntegerRelation &set,
                                                         unsigned count) {
  std::optional<SmallVector<int64_t>> best;
  for (int64_t bound = 2; bound <= 4096 && !best; bound *= 8) {
    IntegerRelation box = set;
    for (unsigned n = 0; n < count; ++n) {
      box.addBound(BoundType::LB, n, -bound);
      box.addBound(BoundType::UB, n, bound);
    }
    best = sample(box);
  }
  if (!best)
    best = sample(set);
  if (!best)
    return std::nullopt;
  // Shrink one value after the other.
  IntegerRelation fixed = set;
  for (unsigned n = 0; n < count; ++n) {
    for (int64_t value = 0; value < 3 && value < std::abs((*best)[n]); ++value) {
      IntegerRelation tried = fixed;
      tried.addBound(BoundType::EQ, n, value);
      if (auto smaller = sample(tried)) {
        best = smaller;
        break;
      }
    }
    fixed.addBound(BoundType::EQ, n, (*best)[n]);
  }
  return best;
}

SmallVector<AtomId> tile::ir::atomsOf(const Facts &facts) {
  llvm::SmallSetVector<AtomId, 16> atoms;
  for (const auto *sums : {&facts.notNegative, &facts.zero})
    for (const Linear &sum : *sums)
      for (auto [atom, factor] : sum.terms)
        atoms.insert(atom);
  return SmallVector<AtomId>(atoms.begin(), atoms.end());
}
