//===- Solver.cpp - proofs about coordinates, by facts --------------------===//

#include "ir/proofs/Solver.h"
#include "ir/proofs/Polyhedron.h"

#include "mlir/Analysis/Presburger/Simplex.h"

#include <random>
#include <set>

using namespace mlir;
using namespace mlir::presburger;
using namespace tile::ir;

// Larger systems are not decided: a proof must not take long.
static constexpr size_t maxAtoms = 28;
static constexpr size_t maxRows = 120;
static constexpr size_t maxSplits = 5;

/// A constant below which the sum can't fall, from facts about single atoms.
std::optional<int64_t> Solver::leastOf(const Linear &sum, const Facts &context, unsigned depth) {
  __int128 least = sum.constant;
  for (auto [id, factor] : sum.terms) {
    std::optional<int64_t> bound; // of the atom: least, or greatest if the factor is negative
    bool below = factor > 0;
    auto take = [&](int64_t value) {
      bound = !bound ? value : below ? std::max(*bound, value) : std::min(*bound, value);
    };
    for (const Facts *facts : {&context, static_cast<const Facts *>(&launchFacts)})
      for (const Linear &fact : facts->notNegative)
        if (fact.terms.size() == 1 &&
            fact.terms[0] == std::pair<AtomId, int64_t>(id, below ? 1 : -1))
          take(below ? -fact.constant : fact.constant);
    const Atom &atom = coordinates[id];
    if (atom.range)
      take(below ? atom.range->first : atom.range->second);
    if (atom.kind == Atom::Kind::Floor && depth < 4 && below)
      if (auto inner = leastOf(Linear(atom.a), context, depth + 1); inner && *inner >= 0)
        take(*inner / atom.b.constant);
    if (!bound)
      return std::nullopt;
    least += static_cast<__int128>(*bound) * factor;
  }
  if (least > std::numeric_limits<int64_t>::max() || least < std::numeric_limits<int64_t>::min())
    return std::nullopt;
  return static_cast<int64_t>(least);
}

bool Solver::isObvious(const Facts &context, const Linear &sum) {
  auto isLeast = [&](const Linear &rest) {
    auto least = leastOf(rest, context);
    return least && *least >= 0;
  };
  if (isLeast(sum))
    return true;
  for (const Facts *facts : {&context, static_cast<const Facts *>(&launchFacts)})
    for (const Linear &fact : facts->notNegative) {
      // Only facts that cancel something are worth the subtraction.
      bool cancels = llvm::any_of(
          fact.terms, [&](auto &term) { return sum.factorOf(term.first) == term.second; });
      if (cancels && isLeast(coordinates.subtract(sum, fact)))
        return true;
    }
  return false;
}

//===-- The facts that matter ---------------------------------------------===//

SmallVector<AtomId> Solver::close(const Facts &context, Facts &facts) {
  llvm::SmallSetVector<AtomId, 16> seen;
  SmallVector<std::pair<const Linear *, bool>> pending; // and whether it is zero
  for (const Facts *source : {&context, static_cast<const Facts *>(&launchFacts)}) {
    for (const Linear &sum : source->notNegative)
      pending.push_back({&sum, false});
    for (const Linear &sum : source->zero)
      pending.push_back({&sum, true});
  }
  auto see = [&](const Linear &sum) {
    for (auto [atom, factor] : sum.terms)
      seen.insert(atom);
  };
  for (const auto *sums : {&facts.notNegative, &facts.zero})
    for (const Linear &sum : *sums)
      see(sum);
  size_t opened = 0;
  bool changed = true;
  while (changed && seen.size() <= 2 * maxAtoms) {
    changed = false;
    for (; opened < seen.size() && seen.size() <= 2 * maxAtoms; ++opened) {
      changed = true;
      AtomId id = seen[opened];
      Atom atom = coordinates[id]; // a copy: arithmetic makes atoms
      Linear self = Coordinates::atom(id);
      auto require = [&](const Linear &sum) { facts.notNegative.push_back(sum); };
      if (atom.range) {
        require(coordinates.plus(self, -atom.range->first));
        require(coordinates.plus(coordinates.scale(self, -1), atom.range->second));
      }
      if (atom.kind == Atom::Kind::Floor) { // 0 ≤ a − b·q < b
        Linear rest = coordinates.subtract(atom.a, coordinates.scale(self, atom.b.constant));
        require(rest);
        require(coordinates.plus(coordinates.scale(rest, -1), atom.b.constant - 1));
      }
      for (const Linear &operand : {atom.a, atom.b}) {
        if (atom.kind == Atom::Kind::Min)
          require(coordinates.subtract(operand, self));
        if (atom.kind == Atom::Kind::Max)
          require(coordinates.subtract(self, operand));
        see(operand);
      }
      for (AtomId factor : atom.factors)
        seen.insert(factor);
    }
    llvm::erase_if(pending, [&](auto &entry) {
      auto [sum, isZero] = entry;
      bool isFalse = sum->isConstant() && (isZero ? sum->constant != 0 : sum->constant < 0);
      if (!isFalse && !coordinates.mentions(*sum, [&](AtomId id) { return seen.contains(id); }))
        return false;
      (isZero ? facts.zero : facts.notNegative).push_back(*sum);
      see(*sum);
      changed = true;
      return true;
    });
  }
  return SmallVector<AtomId>(seen.begin(), seen.end());
}

//===-- Solving -----------------------------------------------------------===//

Solver::Answer Solver::solve(const Facts &context, const Facts &goal, Point *example) {
  // A goal about nothing holds or fails at any point that the context has: then that is asked.
  auto isConstant = [](const Linear &sum) { return sum.isConstant(); };
  if (llvm::all_of(goal.notNegative, isConstant) && llvm::all_of(goal.zero, isConstant))
    return solveWithin(context, goal, context, example);
  Answer answer = solveWithin(context, goal, Facts(), example);
  // What the goal has nothing to do with counts where it leaves no point at all.
  if (answer == Answer::Possible &&
      solveWithin(context, Facts(), context, nullptr) == Answer::Impossible)
    return Answer::Impossible;
  return answer;
}

/// Of the context, what has to do with the goal and with `always`, and that itself.
Solver::Answer Solver::solveWithin(const Facts &context, const Facts &goal, const Facts &always,
                                   Point *example) {
  Facts facts = goal;
  facts.append(always);
  SmallVector<AtomId> atoms = close(context, facts);
  SmallVector<AtomId> toSplit;
  for (AtomId id : atoms) {
    Atom::Kind kind = coordinates[id].kind;
    if (kind == Atom::Kind::Quotient || kind == Atom::Kind::Min || kind == Atom::Kind::Max ||
        kind == Atom::Kind::Choice)
      toSplit.push_back(id);
  }
  if (atoms.size() > 2 * maxAtoms)
    return Answer::Unknown;
  Answer answer = toSplit.size() > maxSplits ? Answer::Unknown : split(facts, toSplit, example);
  if (answer == Answer::Unknown && example && search(facts, atoms, *example))
    return Answer::Possible;
  return answer;
}

bool Solver::isRationallyEmpty(const Facts &facts) {
  return Simplex(polyhedronOf(facts, atomsOf(facts))).isEmpty();
}

static Solver::Answer worse(Solver::Answer a, Solver::Answer b) {
  if (a == Solver::Answer::Possible || b == Solver::Answer::Possible)
    return Solver::Answer::Possible;
  return a == Solver::Answer::Impossible ? b : a;
}

/// Case by case over the terms that are no sums.
Solver::Answer Solver::split(const Facts &facts, ArrayRef<AtomId> atoms, Point *example) {
  if (isRationallyEmpty(facts))
    return Answer::Impossible;
  if (atoms.empty())
    return leaf(facts, example);
  Atom atom = coordinates[atoms[0]];
  if (atom.kind == Atom::Kind::Quotient)
    return splitQuotient(facts, atoms, example);
  // Min, Max and Choice are one of their operands.
  Answer answer = Answer::Impossible;
  for (const Linear &operand : {atom.a, atom.b}) {
    Facts chosen = facts;
    chosen.zero.push_back(coordinates.subtract(Coordinates::atom(atoms[0]), operand));
    answer = worse(answer, split(chosen, atoms.drop_front(), example));
    if (answer == Answer::Possible)
      break;
  }
  return answer;
}

Solver::Answer Solver::splitQuotient(const Facts &facts, ArrayRef<AtomId> atoms, Point *example) {
  AtomId id = atoms[0];
  const Linear dividend = coordinates[id].a, divisor = coordinates[id].b;
  Linear quotient = Coordinates::atom(id);
  Linear whole = coordinates.multiply(divisor, quotient);
  Linear rest = coordinates.subtract(dividend, whole);
  Answer answer = Answer::Impossible;
  auto consider = [&](Facts added) {
    if (answer == Answer::Possible)
      return;
    added.append(facts);
    answer = worse(answer, split(added, atoms.drop_front(), example));
  };

  // divisor = 0: the quotient is 0, and so are products with the divisor.
  Facts zero;
  zero.zero = {divisor, quotient, whole};
  if (auto factor = divisor.asAtom())
    for (AtomId other : atomsOf(facts))
      if (llvm::is_contained(coordinates[other].factors, *factor))
        zero.zero.push_back(Coordinates::atom(other));
  consider(zero);

  // divisor > 0: 0 ≤ rest < divisor, and what holds for the quotient holds
  // multiplied by the divisor.
  Facts positive;
  positive.notNegative = {coordinates.plus(divisor, -1), rest,
                          coordinates.plus(coordinates.subtract(divisor, rest), -1)};
  for (const Linear &fact : facts.notNegative)
    if (fact.factorOf(id) != 0 && llvm::none_of(fact.terms, [&](auto &term) {
          return !coordinates[term.first].factors.empty();
        }))
      positive.notNegative.push_back(coordinates.multiply(fact, divisor));
  Facts negativeDividend = positive;
  positive.notNegative.append({dividend, quotient, coordinates.subtract(dividend, quotient)});
  consider(positive);
  negativeDividend.notNegative.append({coordinates.plus(coordinates.scale(dividend, -1), -1),
                                       coordinates.plus(coordinates.scale(quotient, -1), -1),
                                       coordinates.subtract(quotient, dividend)});
  consider(negativeDividend);

  // divisor < 0: divisor < rest ≤ 0.
  Facts negative;
  negative.notNegative = {coordinates.plus(coordinates.scale(divisor, -1), -1),
                          coordinates.scale(rest, -1),
                          coordinates.plus(coordinates.subtract(rest, divisor), -1)};
  consider(negative);
  return answer;
}

/// For each product x · y, y one or more factors that are not negative:
/// inequalities about x, multiplied by y.
void Solver::multiplyProducts(Facts &facts) {
  Facts linear;
  for (const Linear &fact : facts.notNegative)
    if (fact.terms.size() <= 4 && llvm::all_of(fact.terms, [&](auto &term) {
          return coordinates[term.first].factors.empty();
        }))
      linear.notNegative.push_back(fact);
  auto isNotNegative = [&](AtomId id) {
    Facts below = facts;
    below.notNegative.push_back(coordinates.plus(coordinates.scale(Coordinates::atom(id), -1), -1));
    return isRationallyEmpty(below);
  };
  std::set<std::pair<AtomId, Linear>> done;
  SmallVector<Linear> added;
  for (AtomId product : atomsOf(facts)) {
    SmallVector<AtomId, 2> factors = coordinates[product].factors;
    for (size_t n = 0; n < factors.size(); ++n) {
      Linear others = Coordinates::constant(1);
      for (size_t m = 0; m < factors.size(); ++m)
        if (m != n)
          others = coordinates.multiply(others, Coordinates::atom(factors[m]));
      bool areNotNegative = true;
      for (size_t m = 0; m < factors.size() && areNotNegative; ++m)
        areNotNegative = m == n || isNotNegative(factors[m]);
      if (!areNotNegative || !done.insert({factors[n], others}).second)
        continue;
      for (const Linear &fact : linear.notNegative)
        if (fact.factorOf(factors[n]) != 0 && facts.notNegative.size() + added.size() < maxRows)
          added.push_back(coordinates.multiply(fact, others));
    }
  }
  facts.notNegative.append(added);
}

Solver::Answer Solver::leaf(Facts facts, Point *example) {
  bool isLinear = llvm::all_of(atomsOf(facts), [&](AtomId id) {
    Atom::Kind kind = coordinates[id].kind;
    return kind != Atom::Kind::Product && kind != Atom::Kind::Quotient &&
           kind != Atom::Kind::Choice;
  });
  if (!isLinear) {
    multiplyProducts(facts);
    if (isRationallyEmpty(facts))
      return Answer::Impossible;
  }
  SmallVector<AtomId> columns = atomsOf(facts);
  if (columns.size() > maxAtoms || facts.notNegative.size() > maxRows)
    return Answer::Unknown;
  // Dimensions come first: their values are to be the smallest.
  llvm::stable_sort(columns, [&](AtomId a, AtomId b) {
    auto rank = [&](AtomId id) {
      return coordinates[id].isTerm() ? 2 : coordinates[id].isUniform ? 0 : 1;
    };
    return rank(a) < rank(b);
  });
  IntegerPolyhedron set = polyhedronOf(facts, columns);
  if (!example || !isLinear)
    return set.isIntegerEmpty() ? Answer::Impossible
           : isLinear           ? Answer::Possible
                                : Answer::Unknown;
  if (set.isIntegerEmpty())
    return Answer::Impossible;
  unsigned shown = llvm::count_if(columns, [&](AtomId id) { return !coordinates[id].isTerm(); });
  if (auto point = smallPoint(set, shown))
    for (auto [atom, value] : llvm::zip(columns, *point))
      (*example)[atom] = value;
  return Answer::Possible;
}

//===-- Search ------------------------------------------------------------===//

std::optional<int64_t> Solver::evaluate(AtomId id, const Point &point, Terms &terms) {
  if (auto found = point.find(id); found != point.end())
    return found->second;
  if (!coordinates[id].isTerm())
    return std::nullopt;
  if (auto found = terms.find(id); found != terms.end())
    return found->second;
  return terms[id] = evaluateTerm(id, point, terms);
}

std::optional<int64_t> Solver::evaluateTerm(AtomId id, const Point &point, Terms &terms) {
  const Atom &atom = coordinates[id];
  auto left = evaluate(atom.a, point, terms), right = evaluate(atom.b, point, terms);
  if (!left || !right)
    return std::nullopt;
  switch (atom.kind) {
  case Atom::Kind::Floor:
  case Atom::Kind::Quotient: {
    if (*right == 0)
      return 0;
    int64_t quotient = *left / *right;
    bool inexact = quotient * *right != *left;
    return inexact && (*left < 0) != (*right < 0) ? quotient - 1 : quotient;
  }
  case Atom::Kind::Product: {
    __int128 product = 1;
    for (AtomId factor : atom.factors) {
      auto value = evaluate(factor, point, terms);
      if (!value)
        return std::nullopt;
      product *= *value;
      if (product > std::numeric_limits<int32_t>::max() ||
          product < std::numeric_limits<int32_t>::min())
        return std::nullopt;
    }
    return static_cast<int64_t>(product);
  }
  case Atom::Kind::Min:
    return std::min(*left, *right);
  case Atom::Kind::Max:
    return std::max(*left, *right);
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> Solver::evaluate(const Linear &sum, const Point &point) {
  Terms terms;
  return evaluate(sum, point, terms);
}

std::optional<int64_t> Solver::evaluate(const Linear &sum, const Point &point, Terms &terms) {
  __int128 total = sum.constant;
  for (auto [id, factor] : sum.terms) {
    auto value = evaluate(id, point, terms);
    if (!value)
      return std::nullopt;
    total += static_cast<__int128>(*value) * factor;
  }
  if (total > std::numeric_limits<int64_t>::max() || total < std::numeric_limits<int64_t>::min())
    return std::nullopt;
  return static_cast<int64_t>(total);
}

/// Looks for an example among small values, where nothing better is known.
bool Solver::search(const Facts &facts, ArrayRef<AtomId> atoms, Point &example) {
  SmallVector<AtomId> base;
  for (AtomId id : atoms)
    if (!coordinates[id].isTerm())
      base.push_back(id);
  if (base.empty() || base.size() > 12)
    return false;
  auto satisfies = [&](Point &point) {
    for (const Linear &sum : facts.notNegative)
      if (auto value = evaluate(sum, point); !value || *value < 0)
        return false;
    for (const Linear &sum : facts.zero)
      if (evaluate(sum, point) != 0)
        return false;
    return true;
  };
  std::mt19937 random(1); // the same example every time
  for (unsigned tries = 0; tries < 20000; ++tries) {
    int64_t size = 1 + tries / 2500;
    Point point;
    for (AtomId id : base)
      point[id] = static_cast<int64_t>(random() % (size + 1));
    if (satisfies(point)) {
      example = point;
      return true;
    }
  }
  return false;
}
