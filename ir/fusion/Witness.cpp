//===- Witness.cpp - elements that keep kernels apart ---------------------===//

#include "ir/fusion/Witness.h"
#include "ir/fusion/GraphCosts.h"
#include "ir/fusion/GraphNames.h"
#include "ir/fusion/Summary.h"
#include "ir/proofs/ProofsDetail.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile::ir;
using Kind = AccessSummary::Kind;
using Element = std::vector<int64_t>;
/// The first coordinate of each of its blocks.
using Program = std::vector<int64_t>;

namespace {
/// What one of two kernels does with a tensor that is between them.
class Side {
public:
  Side(KernelOp kernel, SmallVector<int64_t> dims, CostModel &model,
       llvm::SmallSetVector<unsigned, 2> parameters, ArrayRef<int64_t> shape)
      : summary(kernel), solver(summary.context().solver), sizes(model.tileSizes(kernel, dims)),
        parameters(std::move(parameters)), shape(shape) {
    // Scalars are the caller's: what depends on one is not known.
    std::vector<uint64_t> scalars(kernel.getNumArguments());
    launch = summary.launchPoint(dims, scalars);
    const Coordinates &atoms = summary.context().coordinates;
    for (AtomId id = 0; id < atoms.size(); ++id)
      if (atoms[id].kind != Atom::Kind::Dim)
        launch.erase(id);
  }

  bool has(Kind kind) const;
  /// The first element that two programs access, and those.
  std::optional<std::pair<Element, std::vector<std::string>>> shared(Kind kind) const;
  /// A program that accesses the element.
  std::vector<std::string> programOf(Kind kind, const Element &element) const;

private:
  SmallVector<int64_t> chooseAround(unsigned dimension, int64_t lower, int64_t upper,
                                    int64_t step) const;
  bool isKnown(const AccessSummary &access, const Point &point) const;
  std::optional<Program> programAt(const Point &point) const;
  std::string spell(const Program &program) const;
  bool isWanted(const AccessSummary &access, Kind kind) const {
    return access.kind == kind && parameters.contains(access.parameter) &&
           access.precision == AccessSummary::Precision::Exact;
  }

  /// Points that are tried at most.
  static constexpr int64_t budget = 10000;
  KernelSummary summary;
  Solver &solver;
  llvm::StringMap<int64_t> sizes;
  llvm::SmallSetVector<unsigned, 2> parameters;
  SmallVector<int64_t> shape;
  Point launch;
};
} // namespace

bool Side::has(Kind kind) const {
  return llvm::any_of(summary.accesses(),
                      [&](const AccessSummary &access) { return isWanted(access, kind); });
}

/// The first and last ones, and those where a block ends.
SmallVector<int64_t> Side::chooseAround(unsigned dimension, int64_t lower, int64_t upper,
                                        int64_t step) const {
  const SpaceDimension &of = summary.space()[dimension];
  int64_t size = of.isOfPrograms() ? sizes.lookup(of.name) : 0;
  llvm::SmallSetVector<int64_t, 8> chosen;
  for (int64_t at : {lower, lower + step, lower + 2 * step, lower + size - 1, lower + size,
                     lower + size + 1, upper - 1})
    if (at >= lower && at < upper && (at - lower) % step == 0)
      chosen.insert(at);
  return chosen.takeVector();
}

bool Side::isKnown(const AccessSummary &access, const Point &point) const {
  auto hasValue = [&](const Linear &sum) { return solver.evaluate(sum, point).has_value(); };
  return llvm::all_of(access.element, hasValue) &&
         llvm::all_of(access.domain.notNegative, hasValue) &&
         llvm::all_of(access.domain.zero, hasValue);
}

std::optional<Program> Side::programAt(const Point &point) const {
  Program program;
  for (const SpaceDimension &dimension : summary.space()) {
    if (!dimension.isOfPrograms())
      continue;
    auto at = solver.evaluate(dimension.coordinate, point);
    auto lower = solver.evaluate(dimension.lower, point);
    bool isBlock = dimension.kind == SpaceDimension::Kind::Tiles;
    int64_t size = isBlock ? dimension.size.value_or(sizes.lookup(dimension.name)) : 1;
    if (!at || !lower || size < 1)
      return std::nullopt;
    program.push_back(*lower + (*at - *lower) / size * size);
  }
  return program;
}

/// "b = 3, i = 64..128"
std::string Side::spell(const Program &program) const {
  std::vector<std::string> binders;
  for (const SpaceDimension &dimension : summary.space()) {
    if (!dimension.isOfPrograms())
      continue;
    int64_t at = program[binders.size()];
    std::string text = dimension.name + " = " + std::to_string(at);
    if (dimension.kind == SpaceDimension::Kind::Tiles) {
      int64_t size = dimension.size.value_or(sizes.lookup(dimension.name));
      int64_t upper = solver.evaluate(dimension.upper, launch).value_or(at + size);
      text += ".." + std::to_string(std::min(at + size, upper));
    }
    binders.push_back(std::move(text));
  }
  return llvm::join(binders, ", ");
}

std::optional<std::pair<Element, std::vector<std::string>>> Side::shared(Kind kind) const {
  std::map<Element, std::set<Program>> programs;
  for (const AccessSummary &access : summary.accesses())
    if (isWanted(access, kind))
      (void)summary.forSomeElements(
          access, launch, shape, budget,
          [&](unsigned dimension, int64_t lower, int64_t upper, int64_t step) {
            return chooseAround(dimension, lower, upper, step);
          },
          [&](const Point &point, ArrayRef<int64_t> element) {
            if (auto program = programAt(point); program && isKnown(access, point))
              programs[Element(element)].insert(*program);
          });
  for (const auto &[element, all] : programs)
    if (all.size() > 1)
      return std::pair(element, std::vector{spell(*all.begin()), spell(*std::next(all.begin()))});
  return std::nullopt;
}

std::vector<std::string> Side::programOf(Kind kind, const Element &element) const {
  std::optional<Program> found;
  for (const AccessSummary &access : summary.accesses()) {
    if (!isWanted(access, kind))
      continue;
    auto choose = [&](unsigned dimension, int64_t lower, int64_t upper, int64_t step) {
      std::optional<AtomId> atom = summary.space()[dimension].coordinate.asAtom();
      for (auto [at, index] : llvm::zip(element, access.element))
        if (atom && index.asAtom() == atom)
          return at >= lower && at < upper && (at - lower) % step == 0 ? SmallVector<int64_t>{at}
                                                                       : SmallVector<int64_t>{};
      return chooseAround(dimension, lower, upper, step);
    };
    (void)summary.forSomeElements(
        access, launch, shape, budget, choose, [&](const Point &point, ArrayRef<int64_t> at) {
          if (!found && at == ArrayRef<int64_t>(element) && isKnown(access, point))
            found = programAt(point);
        });
  }
  return found ? std::vector{spell(*found)} : std::vector<std::string>();
}

static std::optional<FusionWitness> witnessBetween(const Side &producer, const Side &consumer,
                                                   StringRef tensor) {
  FusionWitness witness;
  witness.isUpdated = producer.has(Kind::Update);
  auto shared = witness.isUpdated ? producer.shared(Kind::Update) : consumer.shared(Kind::Read);
  if (!shared)
    return std::nullopt;
  auto &[element, programs] = *shared;
  auto numbers = llvm::map_range(element, [](int64_t at) { return std::to_string(at); });
  witness.element = indexed(tensor, "[" + llvm::join(numbers, ", ") + "]");
  if (witness.isUpdated) {
    witness.writers = programs;
    witness.readers = consumer.programOf(Kind::Read, element);
  } else {
    witness.writers = producer.programOf(Kind::Write, element);
    witness.readers = programs;
  }
  return witness;
}

void tile::ir::addWitnesses(FusionLedger &ledger, GraphOp graph, CostModel &model,
                            const FuseOptions &options) {
  GraphShapes shapes(graph);
  GraphCosts costs(graph, model, options, shapes);
  SmallVector<CallOp> calls(graph.getBody().getOps<CallOp>());
  for (FusionLedger::Boundary &boundary : ledger.boundaries) {
    if (!boundary.entry || !ledger.entries[*boundary.entry].isShared)
      continue;
    CallOp from = calls[boundary.from], to = calls[boundary.to];
    KernelOp producer = shapes.kernelOf(from), consumer = shapes.kernelOf(to);
    if (!producer || !consumer)
      continue;
    Value tensor = from.getResult(boundary.result);
    SmallVector<int64_t> shape = costs.valuesOf(shapes.shapeOf(tensor));
    llvm::SmallSetVector<unsigned, 2> written, read;
    written.insert(outputPosition(producer, boundary.result));
    for (auto [operand, n] : llvm::zip(to.getInputs(), inputPositions(consumer)))
      if (operand == tensor)
        read.insert(n);
    auto sideOf = [&](CallOp call, llvm::SmallSetVector<unsigned, 2> parameters) {
      return Side(shapes.kernelOf(call), costs.valuesOf(shapes.dimsOf(call)), model,
                  std::move(parameters), shape);
    };
    boundary.witness = witnessBetween(sideOf(from, written), sideOf(to, read), boundary.tensor);
  }
}
