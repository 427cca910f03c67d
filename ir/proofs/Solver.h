//===- Solver.h - proofs about coordinates, by facts ----------------------===//
//
//
// A proof shows that no point satisfies some facts. Cheap rules come first,
// MLIR's Presburger library after. Products and symbolic quotients are opaque
// to it; what is known of them (e = d·q + r with 0 ≤ r < d, and inequalities
// multiplied by what is not negative) is handed to it as linear facts.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_PROOFS_SOLVER_H
#define TILE_IR_PROOFS_SOLVER_H

#include "ir/proofs/Facts.h"

namespace tile::ir {

/// Values of atoms.
using Point = std::map<AtomId, int64_t>;

class Solver {
public:
  /// `launch` holds everywhere: requirements, extents that are not negative.
  Solver(Coordinates &coordinates) : coordinates(coordinates) {}
  Facts &launch() { return launchFacts; }

  enum class Answer { Impossible, Possible, Unknown };
  /// Whether some point satisfies the goal within the context. Where one does,
  /// `example` gets the values of the atoms that matter, as small as they come.
  Answer solve(const Facts &context, const Facts &goal, Point *example = nullptr);

  /// True if the sum is not negative wherever the context holds, by cheap rules
  /// alone.
  bool isObvious(const Facts &context, const Linear &sum);

  /// The atoms that matter to some facts, with the facts that tie them, but not
  /// those of symbolic quotients; what `solve` hands on.
  llvm::SmallVector<AtomId> close(const Facts &context, Facts &facts);

  /// The value of a sum at a point; none if an atom below it has no value.
  std::optional<int64_t> evaluate(const Linear &sum, const Point &point);

private:
  Answer solveWithin(const Facts &context, const Facts &goal, const Facts &always, Point *example);
  Answer split(const Facts &facts, llvm::ArrayRef<AtomId> atoms, Point *example);
  Answer splitQuotient(const Facts &facts, llvm::ArrayRef<AtomId> atoms, Point *example);
  Answer leaf(Facts facts, Point *example);
  void multiplyProducts(Facts &facts);
  bool isRationallyEmpty(const Facts &facts);
  std::optional<int64_t> leastOf(const Linear &sum, const Facts &context, unsigned depth = 0);
  /// The values of terms that were met before; none where there is no value.
  using Terms = std::map<AtomId, std::optional<int64_t>>;
  std::optional<int64_t> evaluate(const Linear &sum, const Point &point, Terms &terms);
  std::optional<int64_t> evaluate(AtomId atom, const Point &point, Terms &terms);
  std::optional<int64_t> evaluateTerm(AtomId atom, const Point &point, Terms &terms);
  bool search(const Facts &facts, llvm::ArrayRef<AtomId> atoms, Point &example);

  Coordinates &coordinates;
  Facts launchFacts;
};

} // namespace tile::ir

#endif // TILE_IR_PROOFS_SOLVER_H
