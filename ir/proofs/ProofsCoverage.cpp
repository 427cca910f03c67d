//===- ProofsCoverage.cpp - every output element is stored exactly once ---===//
//
// A store's index maps the coordinates of its program, of the loops around it
// and of its axes to elements. The map has to be one-to-one and onto the whole
// output. Indices that share no coordinate are proved apart: bare binders and
// mixed radix (`128*g + c`) by rule; the rest by showing that no two points
// store one element, and that there are as many points as elements.
//
//===----------------------------------------------------------------------===//

#include "ir/proofs/ProofsDetail.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <random>

using namespace mlir;
using namespace tile::ir;

namespace {

/// A set of index dimensions and the coordinates in them.
struct Group {
  SmallVector<unsigned> dimensions;
  SmallVector<AtomId> coordinates;
  Facts facts;      // what holds of the coordinates
  Facts restricted; // the same, with conditions that may be switched off
};

/// An element that no program stores, in a launch with these dimensions.
struct Missing {
  SmallVector<std::pair<AtomId, int64_t>> dims;
  SmallVector<int64_t> element;
};

class StoreProof {
public:
  StoreProof(ProofContext &context, StoreOp store, bool fully)
      : context(context), c(context.coordinates), access(store), store(store), fully(fully) {}
  void run();

private:
  bool checkPlace();
  bool checkBinders();
  void collectBinders();
  std::vector<Group> split();
  void distribute(const Facts &facts, Facts Group::*into, MutableArrayRef<Group> groups);
  bool isMixedRadix(const Group &group);
  std::optional<std::pair<Linear, Linear>> rangeOf(AtomId coordinate, const Facts &facts,
                                                   Facts &matched);
  void prove(const Group &group);
  bool proveOneToOne(const Group &group);
  void proveOnto(const Group &group);
  void reportUnproved();
  bool isNeverNegative(const Linear &size);
  bool isEqual(const Linear &a, const Linear &b);
  bool hasFullSize(const Group &group);
  bool isAll(const Group &group, const Facts &matched) const;
  std::optional<Missing> findMissing(const Group &group);
  bool storesAll(const Group &group, Missing &missing, unsigned &budget);
  bool mark(const Group &group, Point &point, size_t coordinate, ArrayRef<int64_t> sizes,
            std::vector<bool> &stored, unsigned &budget);
  void reportMissing(const Group &group, const Missing &missing);
  std::string element(const Group &group, ArrayRef<int64_t> values) const;
  std::string name() const { return context.nameOf(access); }
  std::string shown() const { return context.spell(access); }

  struct Binder {
    AtomId atom;
    std::string text; // "block of `i`"
    bool isBlock, isLoop;
  };

  ProofContext &context;
  Coordinates &c;
  Access access;
  StoreOp store;
  bool fully;
  SmallVector<Binder> binders;
  SmallVector<Linear> indices, extents;
};

} // namespace

//===-- Where a store stands ----------------------------------------------===//

bool StoreProof::checkPlace() {
  for (Operation *around = store->getParentOp(); !isa<ParallelOp, KernelOp>(around);
       around = around->getParentOp()) {
    bool isIf = isa<scf::IfOp>(around);
    if (!isIf && !isa<scf::WhileOp>(around))
      continue;
    auto diagnostic = context.error(store)
                      << "`" << name() << "` is stored under " << (isIf ? "an `if`" : "a `while`")
                      << "; each of its elements has to be stored on every path";
    diagnostic.attachNote(around->getLoc()) << "the " << (isIf ? "`if`" : "`while`") << " is here";
    diagnostic.attachNote(store.getLoc())
        << (isIf ? "hint: store once after it: `where(condition, a, b)`, or a `var` that the `if` "
                   "sets"
                 : "hint: keep the value in a `var` and store it after the loop");
    return false;
  }
  return true;
}

void StoreProof::collectBinders() {
  for (Operation *around = store->getParentOp(); around && !isa<KernelOp>(around);
       around = around->getParentOp()) {
    if (auto parallel = dyn_cast<ParallelOp>(around)) {
      for (auto [n, argument] : llvm::enumerate(parallel.getBody().getArguments())) {
        bool isEach = parallel.getEach()[n];
        std::optional<AtomId> atom = c.trace(argument).asAtom();
        if (!atom || c[*atom].isUniform) // it has one point
          continue;
        binders.push_back({*atom,
                           (isEach ? "program of `" : "block of `") +
                               cast<StringAttr>(parallel.getNames()[n]).str() + "`",
                           !isEach, false});
      }
    } else if (auto loop = dyn_cast<ForOp>(around)) {
      binders.push_back({*c.trace(loop.getSpan()).asAtom(),
                         "block of `" + loop.getName().str() + "`", true, true});
    } else if (auto count = dyn_cast<scf::ForOp>(around)) {
      AtomId counter = *c.trace(count.getInductionVar()).asAtom();
      binders.push_back(
          {counter, "round of the loop over `" + context.words.of(counter) + "`", false, true});
    }
  }
}

/// Every binder around a store has to be in its index.
bool StoreProof::checkBinders() {
  llvm::SmallSetVector<AtomId, 8> used;
  for (const Linear &index : indices)
    context.baseAtoms(index, used);
  bool complete = true;
  for (const Binder &binder : binders) {
    if (used.contains(binder.atom))
      continue;
    complete = false;
    std::string binderName = context.words.of(binder.atom);
    auto diagnostic = context.error(store)
                      << "each " << binder.text << " stores the same elements of `" << name()
                      << "`: the index of `" << shown() << "` lacks `" << binderName << "`";
    if (binder.isLoop)
      diagnostic.attachNote(store.getLoc())
          << "hint: keep the value in a `var` and store it after the loop over `" << binderName
          << "`";
    else
      diagnostic.attachNote(store.getLoc())
          << "hint: index `" << name() << "` by `" << binderName << "` too, or declare `" << name()
          << "` as a `reduce +` output and add to it with `+=`"
          << (binder.isBlock ? " a `sum(…, " + binderName + ")`" : "");
  }
  return complete;
}

void StoreProof::run() {
  if (!checkPlace())
    return;
  indices = c.indices(access.map, access.dims, access.syms);
  extents = c.extents(access.parameter());
  for (auto [n, index] : llvm::enumerate(indices))
    if (c.hasData(index)) {
      auto diagnostic = context.error(store)
                        << "`" << shown() << "` stores through the index `"
                        << context.words.index(access.map, n, access.dims, access.syms)
                        << "`, which comes from data: two programs may store one element, and "
                           "some element none";
      diagnostic.attachNote(store.getLoc())
          << "hint: declare `" << name()
          << "` as a `reduce` output and update it, or gather: index the output by binders and "
             "read the inputs through data; a kernel that begins with `grid p in 0..n` stores "
             "where "
             "it likes";
      return;
    }
  collectBinders();
  if (!checkBinders())
    return;
  for (const Group &group : split())
    if (!isMixedRadix(group))
      prove(group);
}

//===-- Groups ------------------------------------------------------------===//

/// Gives each fact to the group whose coordinates it speaks of.
void StoreProof::distribute(const Facts &facts, Facts Group::*into, MutableArrayRef<Group> groups) {
  auto give = [&](const Linear &sum, bool isZero) {
    if (sum.isConstant(0) || (sum.isConstant() && sum.constant > 0 && !isZero))
      return;
    llvm::SmallSetVector<AtomId, 8> atoms;
    context.baseAtoms(sum, atoms);
    // A condition without coordinates switches the whole store.
    auto group = llvm::find_if(groups, [&](const Group &candidate) {
      return llvm::any_of(candidate.coordinates, [&](AtomId id) { return atoms.contains(id); });
    });
    Facts &taken = (group == groups.end() ? groups[0] : *group).*into;
    (isZero ? taken.zero : taken.notNegative).push_back(sum);
  };
  for (const Linear &sum : facts.notNegative)
    give(sum, false);
  for (const Linear &sum : facts.zero)
    give(sum, true);
}

std::vector<Group> StoreProof::split() {
  Facts facts = context.factsAt(access), restricted = context.factsAt(access, /*withUnless=*/true);
  llvm::EquivalenceClasses<AtomId> classes;
  auto coordinatesIn = [&](const Linear &sum) {
    llvm::SmallSetVector<AtomId, 8> atoms;
    context.baseAtoms(sum, atoms);
    SmallVector<AtomId> result;
    for (AtomId id : atoms)
      if (!c[id].isUniform)
        result.push_back(id);
    return result;
  };
  auto tie = [&](const Linear &sum) {
    SmallVector<AtomId> atoms = coordinatesIn(sum);
    for (AtomId id : atoms)
      classes.unionSets(atoms[0], id);
  };
  for (const Linear &index : indices)
    tie(index);
  for (const auto *sums : {&restricted.notNegative, &restricted.zero})
    for (const Linear &sum : *sums)
      tie(sum);
  std::vector<Group> groups;
  if (indices.empty()) // a tensor of rank 0 is one element
    return groups;
  llvm::MapVector<AtomId, unsigned> groupOf;
  for (auto [n, index] : llvm::enumerate(indices)) {
    SmallVector<AtomId> atoms = coordinatesIn(index);
    if (atoms.empty()) { // a constant index: a group of its own
      groups.emplace_back().dimensions.push_back(n);
      continue;
    }
    auto [position, isNew] = groupOf.insert({classes.getLeaderValue(atoms[0]), groups.size()});
    if (isNew)
      groups.emplace_back();
    Group &group = groups[position->second];
    group.dimensions.push_back(n);
    for (AtomId id : classes.members(classes.getLeaderValue(atoms[0])))
      if (!c[id].hasData && !llvm::is_contained(group.coordinates, id))
        group.coordinates.push_back(id);
  }
  for (Group &group : groups)
    llvm::sort(group.coordinates);
  distribute(facts, &Group::facts, groups);
  distribute(restricted, &Group::restricted, groups);
  return groups;
}

//===-- Rules -------------------------------------------------------------===//

/// The bounds of a coordinate that runs over [lower, upper); its two facts go
/// to `matched`.
std::optional<std::pair<Linear, Linear>> StoreProof::rangeOf(AtomId coordinate, const Facts &facts,
                                                             Facts &matched) {
  Linear self = Coordinates::atom(coordinate);
  const Linear *below = nullptr, *above = nullptr;
  for (const Linear &fact : facts.notNegative) {
    int64_t factor = fact.factorOf(coordinate);
    if ((factor == 1 || factor == -1) && c.isUniform(c.add(fact, self, -factor))) {
      const Linear *&side = factor == 1 ? below : above;
      side = side ? side : &fact; // the binder's own come first
    }
  }
  if (!below || !above)
    return std::nullopt;
  matched.notNegative.append({*below, *above});
  return std::pair(c.subtract(self, *below), c.plus(c.add(*above, self), 1));
}

/// One index that is a number in mixed radix with all its coordinates as
/// digits: the last runs over [0, u), the one before has the factor u, and so
/// on; the first covers what the extent needs, and a condition cuts the rest.
bool StoreProof::isMixedRadix(const Group &group) {
  if (group.dimensions.size() != 1 || group.coordinates.empty() || !group.restricted.zero.empty())
    return false;
  const Linear &index = indices[group.dimensions[0]], &extent = extents[group.dimensions[0]];
  Linear rest = index, weight = Coordinates::constant(1);
  Linear before, last; // weight without the first digit, and that digit's upper end
  Facts matched;
  SmallVector<AtomId> left = group.coordinates;
  while (!left.empty()) {
    // The digit whose factor is the weight: taking it away leaves none of it.
    auto digit = llvm::find_if(left, [&](AtomId id) {
      llvm::SmallSetVector<AtomId, 8> atoms;
      context.baseAtoms(c.subtract(rest, c.multiply(weight, Coordinates::atom(id))), atoms);
      return !atoms.contains(id);
    });
    if (digit == left.end())
      return false;
    auto range = rangeOf(*digit, group.restricted, matched);
    if (!range || !range->first.isConstant(0) || !isNeverNegative(range->second))
      return false;
    rest = c.subtract(rest, c.multiply(weight, Coordinates::atom(*digit)));
    before = weight;
    last = range->second;
    weight = c.multiply(weight, last);
    left.erase(digit);
  }
  if (!rest.isConstant(0))
    return false;
  if (fully && !isEqual(weight, extent)) {
    // 128*g + c < K with g < (K + 127) / 128
    matched.notNegative.push_back(c.plus(c.subtract(extent, index), -1));
    if (!before.isConstant() || before.constant < 1 ||
        !(last == c.divide(c.plus(extent, before.constant - 1), before)) ||
        !llvm::is_contained(group.restricted.notNegative, matched.notNegative.back()))
      return false;
  }
  // Nothing else may cut the domain; where elements may stay as they are, it may.
  return !fully || isAll(group, matched);
}

//===-- The general case ---------------------------------------------------===//

std::string StoreProof::element(const Group &group, ArrayRef<int64_t> values) const {
  if (indices.size() == 1)
    return "element " + std::to_string(values[0]);
  std::string text;
  for (unsigned n = 0; n < indices.size(); ++n) {
    auto position = llvm::find(group.dimensions, n);
    text += (n ? ", " : "element [") +
            (position == group.dimensions.end()
                 ? std::string("…")
                 : std::to_string(values[position - group.dimensions.begin()]));
  }
  return text + "]";
}

void StoreProof::reportUnproved() {
  auto diagnostic = context.error(store)
                    << "`" << shown() << "`: it can't be proved that each element of `" << name()
                    << "` is stored exactly once";
  diagnostic.attachNote(store.getLoc())
      << "hint: index outputs by bare binders or by `c*g + r` with r in `range(c)`; index "
         "arithmetic is free on the inputs";
}

void StoreProof::prove(const Group &group) {
  auto comesFromData = [&](const Linear &sum) { return c.hasData(sum); };
  if (fully && llvm::any_of(group.restricted.notNegative, comesFromData)) {
    auto diagnostic = context.error(store)
                      << "`" << name() << "` isn't fully stored by `" << shown()
                      << "`: a bound or condition of its binders comes from data";
    diagnostic.attachNote(store.getLoc())
        << "hint: run the binders of an output over its dimensions; read inputs that end earlier "
           "with `.pad(…)`";
    return;
  }
  if (proveOneToOne(group) && fully)
    proveOnto(group);
}

bool StoreProof::proveOneToOne(const Group &group) {
  Facts context2 = group.facts, same;
  for (const Linear &sum : group.facts.notNegative)
    context2.notNegative.push_back(c.twin(sum));
  for (const Linear &sum : group.facts.zero)
    context2.zero.push_back(c.twin(sum));
  for (unsigned n : group.dimensions)
    same.zero.push_back(c.subtract(indices[n], c.twin(indices[n])));
  for (AtomId id : group.coordinates) {
    Facts apart = same;
    Linear self = Coordinates::atom(id);
    apart.notNegative.push_back(c.plus(c.subtract(c.twin(self), self), -1));
    Point example;
    Solver::Answer answer = context.solver.solve(context2, apart, &example);
    if (answer == Solver::Answer::Impossible)
      continue;
    if (answer == Solver::Answer::Unknown) {
      reportUnproved();
      return false;
    }
    SmallVector<int64_t> values;
    for (unsigned n : group.dimensions)
      values.push_back(context.solver.evaluate(indices[n], example).value_or(0));
    std::string here, there;
    for (AtomId coordinate : group.coordinates) {
      if (!example.count(coordinate) || !example.count(c.twin(coordinate)))
        continue;
      for (auto [text, atom] :
           {std::pair(&here, coordinate), std::pair(&there, c.twin(coordinate))})
        *text += (text->empty() ? "" : ", ") + context.words.of(coordinate) + " = " +
                 std::to_string(example[atom]);
    }
    auto diagnostic = context.error(store)
                      << "`" << shown() << "` stores some element of `" << name() << "` twice";
    diagnostic.attachNote(store.getLoc())
        << "for example " << here << " and " << there << " both store " << element(group, values);
    diagnostic.attachNote(store.getLoc())
        << "hint: give each program elements of its own, or declare `" << name()
        << "` as a `reduce +` output and add to it with `+=`";
    return false;
  }
  return true;
}

/// A map that is one-to-one and stays inside is onto where both sides have the
/// same size. Otherwise small shapes are tried for an element that is left out.
void StoreProof::proveOnto(const Group &group) {
  if (hasFullSize(group))
    return;
  if (auto missing = findMissing(group))
    reportMissing(group, *missing);
  else
    reportUnproved();
}

/// A product of sizes counts points only if none is negative.
bool StoreProof::isNeverNegative(const Linear &size) {
  Facts nothing, negative;
  negative.notNegative.push_back(c.plus(c.scale(size, -1), -1));
  return context.solver.isObvious(nothing, size) ||
         context.solver.solve(nothing, negative) == Solver::Answer::Impossible;
}

/// Equal in every launch: `128 * (N / 128)` and N are where N % 128 == 0 is required.
bool StoreProof::isEqual(const Linear &a, const Linear &b) {
  Linear difference = c.subtract(a, b);
  if (difference.isConstant())
    return difference.constant == 0;
  const auto &zero = context.solver.launch().zero;
  if (llvm::is_contained(zero, difference) || llvm::is_contained(zero, c.scale(difference, -1)))
    return true;
  Facts nothing, above, below;
  above.notNegative.push_back(c.plus(difference, -1));
  below.notNegative.push_back(c.plus(c.scale(difference, -1), -1));
  return context.solver.solve(nothing, above) == Solver::Answer::Impossible &&
         context.solver.solve(nothing, below) == Solver::Answer::Impossible;
}

bool StoreProof::hasFullSize(const Group &group) {
  Linear points = Coordinates::constant(1), elements = points;
  Facts matched;
  for (AtomId id : group.coordinates) {
    auto range = rangeOf(id, group.restricted, matched);
    if (!range)
      return false;
    Linear size = c.subtract(range->second, range->first);
    if (!isNeverNegative(size))
      return false;
    points = c.multiply(points, size);
  }
  for (unsigned n : group.dimensions)
    elements = c.multiply(elements, extents[n]);
  return isEqual(points, elements) && isAll(group, matched);
}

/// True if nothing but these facts bounds the group's coordinates.
bool StoreProof::isAll(const Group &group, const Facts &matched) const {
  return group.restricted.zero.empty() &&
         llvm::all_of(group.restricted.notNegative, [&](const Linear &fact) {
           return llvm::is_contained(matched.notNegative, fact);
         });
}

/// Tries small dimensions until some element of the output is not stored.
std::optional<Missing> StoreProof::findMissing(const Group &group) {
  llvm::SmallSetVector<AtomId, 8> atoms;
  for (unsigned n : group.dimensions) {
    context.baseAtoms(indices[n], atoms);
    context.baseAtoms(extents[n], atoms);
  }
  for (const auto *sums : {&group.restricted.notNegative, &group.restricted.zero})
    for (const Linear &sum : *sums)
      context.baseAtoms(sum, atoms);
  SmallVector<AtomId> dims;
  for (AtomId id : atoms)
    if (c[id].isUniform)
      dims.push_back(id);
  // All small dimensions where there are few, growing; at random where there are many.
  unsigned budget = 20000;
  std::mt19937 random(1);
  for (unsigned tried = 0; tried < 2000 && budget > 0; ++tried) {
    Missing missing;
    unsigned rest = tried, base = dims.size() <= 2 ? 40 : 1 + tried / 200;
    for (AtomId id : dims) {
      missing.dims.push_back({id, dims.size() == 1   ? tried
                                  : dims.size() == 2 ? rest % base
                                                     : random() % (base + 1)});
      rest /= base;
    }
    if (storesAll(group, missing, budget))
      continue;
    return missing;
  }
  return std::nullopt;
}

/// Marks the elements that a shape's points store; false with an element left out.
bool StoreProof::storesAll(const Group &group, Missing &missing, unsigned &budget) {
  Point point;
  for (auto [id, value] : missing.dims)
    point[id] = value;
  for (const Linear &fact : context.solver.launch().notNegative)
    if (auto value = context.solver.evaluate(fact, point); value && *value < 0)
      return true; // no such launch
  for (const Linear &fact : context.solver.launch().zero) {
    bool speaksOfIt = llvm::any_of(fact.terms, [&](auto &term) { return point.count(term.first); });
    if (auto value = context.solver.evaluate(fact, point); value ? *value != 0 : speaksOfIt)
      return true;
  }
  SmallVector<int64_t> sizes;
  int64_t elements = 1;
  for (unsigned n : group.dimensions) {
    auto extent = context.solver.evaluate(extents[n], point);
    if (!extent || *extent < 0 || *extent > 512)
      return true; // too large to try
    elements *= *extent;
    if (elements > 512)
      return true;
    sizes.push_back(*extent);
  }
  std::vector<bool> stored(elements);
  if (!mark(group, point, 0, sizes, stored, budget))
    return true;
  auto hole = llvm::find(stored, false);
  if (hole == stored.end())
    return true;
  missing.element.resize(sizes.size());
  int64_t position = hole - stored.begin();
  for (size_t n = sizes.size(); n-- > 0; position /= sizes[n])
    missing.element[n] = position % sizes[n];
  return false;
}

/// Runs the coordinates from the given one on; false if that is too much.
bool StoreProof::mark(const Group &group, Point &point, size_t coordinate, ArrayRef<int64_t> sizes,
                      std::vector<bool> &stored, unsigned &budget) {
  if (coordinate < group.coordinates.size()) {
    AtomId id = group.coordinates[coordinate];
    Facts matched;
    auto range = rangeOf(id, group.restricted, matched);
    auto lower = range ? context.solver.evaluate(range->first, point) : std::optional<int64_t>(0);
    auto upper = range ? context.solver.evaluate(range->second, point) : std::optional<int64_t>(16);
    if (!lower || !upper || *upper - *lower > 512)
      return false;
    bool fits = true;
    for (int64_t value = *lower; value < *upper && fits; ++value) {
      point[id] = value;
      fits = mark(group, point, coordinate + 1, sizes, stored, budget);
    }
    point.erase(id);
    return fits;
  }
  if (budget == 0)
    return false;
  --budget;
  for (const Linear &fact : group.restricted.notNegative)
    if (auto value = context.solver.evaluate(fact, point); !value || *value < 0)
      return value.has_value();
  for (const Linear &fact : group.restricted.zero)
    if (auto value = context.solver.evaluate(fact, point); !value || *value != 0)
      return value.has_value();
  int64_t position = 0;
  for (size_t n = 0; n < sizes.size(); ++n) {
    auto at = context.solver.evaluate(indices[group.dimensions[n]], point);
    if (!at)
      return false;
    if (*at < 0 || *at >= sizes[n])
      return true; // reported with the bounds
    position = position * sizes[n] + *at;
  }
  stored[position] = true;
  return true;
}

void StoreProof::reportMissing(const Group &group, const Missing &missing) {
  auto diagnostic = context.error(store)
                    << "`" << name() << "` isn't fully stored by `" << shown() << "`";
  Location loc = store.getLoc();
  std::string dims;
  for (auto [id, value] : missing.dims)
    dims += (dims.empty() ? " with " : ", ") + context.words.of(id) + " = " + std::to_string(value);
  diagnostic.attachNote(loc) << "for example" << dims << (dims.empty() ? " " : ", ")
                             << element(group, missing.element) << " is never stored";
  // A range that was rounded down is the usual reason.
  for (AtomId id : group.coordinates) {
    Facts matched;
    auto range = rangeOf(id, group.restricted, matched);
    auto quotient = range ? range->second.asAtom() : std::nullopt;
    if (!quotient || c[*quotient].kind != Atom::Kind::Floor)
      continue;
    Linear dividend = c[*quotient].a, divisor = c[*quotient].b;
    if (dividend.constant >= divisor.constant - 1) // it rounds up
      continue;
    Linear up = c.divide(c.plus(dividend, divisor.constant - 1), divisor);
    diagnostic.attachNote(loc) << "hint: `" << context.words.of(range->second)
                               << "` rounds down and leaves the last, shorter block out; use `"
                               << context.words.of(up) << "`";
    return;
  }
  Linear extent = extents[group.dimensions[0]];
  if (group.coordinates.size() == 1)
    diagnostic.attachNote(loc) << "hint: dimension " << group.dimensions[0] << " of `" << name()
                               << "` has `" << context.words.of(extent) << "` elements; let `"
                               << context.words.of(group.coordinates[0])
                               << "` run over all of them";
  else
    diagnostic.attachNote(loc) << "hint: a binder or a condition leaves elements out; outputs are "
                                  "stored completely";
}

void tile::ir::proveStore(ProofContext &context, StoreOp store, bool fully) {
  StoreProof(context, store, fully).run();
}
