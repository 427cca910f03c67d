//===- SummaryElements.cpp - the elements of an access, one by one --------===//
//
// For witnesses, and to hold summaries to what runs: the points of an access in
// one launch, tried in order.
//
//===----------------------------------------------------------------------===//

#include "ir/fusion/Summary.h"
#include "ir/proofs/ProofsDetail.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;

Point KernelSummary::launchPoint(ArrayRef<int64_t> dims, ArrayRef<uint64_t> scalars) const {
  const Coordinates &c = proofs->coordinates;
  Point point;
  for (AtomId id = 0; id < c.size(); ++id) {
    const Atom &atom = c[id];
    if (atom.kind == Atom::Kind::Dim) {
      for (auto [name, value] : llvm::zip(kernel().getDims().getAsValueRange<StringAttr>(), dims))
        if (name == atom.name)
          point[id] = value;
    } else if (auto argument = dyn_cast_or_null<BlockArgument>(atom.value);
               argument && atom.kind == Atom::Kind::Scalar) {
      auto type = dyn_cast<IntegerType>(argument.getType());
      if (!type || type.getWidth() == 0)
        continue;
      uint64_t bits = scalars[argument.getArgNumber()];
      // Narrow ones are atoms for each sign that they are read with; the range tells which.
      bool isUnsigned = atom.range && atom.range->first == 0;
      unsigned unused = 64 - type.getWidth();
      point[id] = isUnsigned ? static_cast<int64_t>(bits << unused >> unused)
                             : static_cast<int64_t>(bits << unused) >> unused;
    }
  }
  return point;
}

std::optional<int64_t> KernelSummary::programAt(const Point &point) const {
  int64_t program = 0;
  for (const SpaceDimension &dimension : dimensions) {
    if (!dimension.isOfPrograms())
      continue;
    auto at = proofs->solver.evaluate(dimension.coordinate, point);
    auto lower = proofs->solver.evaluate(dimension.lower, point);
    auto upper = proofs->solver.evaluate(dimension.upper, point);
    int64_t size = dimension.size.value_or(1);
    if (!at || !lower || !upper ||
        (dimension.kind == SpaceDimension::Kind::Tiles && !dimension.size))
      return std::nullopt;
    program = program * llvm::divideCeil(std::max<int64_t>(*upper - *lower, 0), size) +
              (*at - *lower) / size;
  }
  return program;
}

namespace {
class Walk {
public:
  Walk(const KernelSummary &summary, const AccessSummary &access, Point point,
       ArrayRef<int64_t> shape, int64_t budget, KernelSummary::Choice choose,
       llvm::function_ref<void(const Point &, ArrayRef<int64_t>)> visit)
      : summary(summary), solver(summary.context().solver), access(access), point(std::move(point)),
        shape(shape), budget(budget), choose(choose), visit(visit) {}

  bool run(size_t position = 0);

private:
  bool isInDomain();
  bool reach(size_t dimension, SmallVectorImpl<int64_t> &element);

  const KernelSummary &summary;
  Solver &solver;
  const AccessSummary &access;
  Point point;
  ArrayRef<int64_t> shape;
  int64_t budget;
  KernelSummary::Choice choose; // null: all coordinates
  llvm::function_ref<void(const Point &, ArrayRef<int64_t>)> visit;
};
} // namespace

/// What can't be told at this point may hold.
bool Walk::isInDomain() {
  for (const Linear &sum : access.domain.notNegative)
    if (solver.evaluate(sum, point).value_or(0) < 0)
      return false;
  for (const Linear &sum : access.domain.zero)
    if (solver.evaluate(sum, point).value_or(0) != 0)
      return false;
  return true;
}

bool Walk::run(size_t position) {
  if (position == access.over.size()) {
    SmallVector<int64_t> element;
    return !isInDomain() || reach(0, element);
  }
  const SpaceDimension &dimension = summary.space()[access.over[position]];
  std::optional<AtomId> atom = dimension.coordinate.asAtom();
  auto lower = solver.evaluate(dimension.lower, point),
       upper = solver.evaluate(dimension.upper, point),
       step = solver.evaluate(dimension.step, point);
  if (dimension.kind == SpaceDimension::Kind::While || !lower || !upper || !step || *step < 1)
    return run(position + 1);      // it has some value
  if (!atom || point.count(*atom)) // it is the lower end, the only one
    return *lower >= *upper || run(position + 1);
  auto isDoneAt = [&](int64_t at) {
    point[*atom] = at;
    return run(position + 1);
  };
  bool isDone = true;
  if (choose)
    isDone = llvm::all_of(choose(access.over[position], *lower, *upper, *step), isDoneAt);
  else
    for (int64_t at = *lower; isDone && at < *upper; at += *step)
      isDone = isDoneAt(at);
  if (isDone)
    point.erase(*atom);
  return isDone;
}

bool Walk::reach(size_t dimension, SmallVectorImpl<int64_t> &element) {
  if (dimension == access.element.size()) {
    if (budget-- <= 0)
      return false;
    visit(point, element);
    return true;
  }
  auto index = solver.evaluate(access.element[dimension], point);
  int64_t extent = shape[dimension];
  auto go = [&](int64_t at) {
    element.push_back(at);
    bool isDone = reach(dimension + 1, element);
    element.pop_back();
    return isDone;
  };
  if (!index) { // any element
    for (int64_t at = 0; at < extent; ++at)
      if (!go(at))
        return false;
    return true;
  }
  using Outside = AccessSummary::Outside;
  bool isInside = *index >= 0 && *index < extent;
  if (access.outside == Outside::Clamped)
    return extent == 0 || go(std::clamp<int64_t>(*index, 0, extent - 1));
  if (!isInside && (access.outside == Outside::Padded || access.outside == Outside::Dropped ||
                    access.precision != AccessSummary::Precision::Exact))
    return true;
  return go(*index);
}

bool KernelSummary::forEachElement(
    const AccessSummary &access, const Point &launch, ArrayRef<int64_t> shape, int64_t budget,
    llvm::function_ref<void(const Point &, ArrayRef<int64_t>)> visit) const {
  return Walk(*this, access, launch, shape, budget, nullptr, visit).run();
}

bool KernelSummary::forSomeElements(
    const AccessSummary &access, const Point &launch, ArrayRef<int64_t> shape, int64_t budget,
    Choice choose, llvm::function_ref<void(const Point &, ArrayRef<int64_t>)> visit) const {
  return Walk(*this, access, launch, shape, budget, choose, visit).run();
}
