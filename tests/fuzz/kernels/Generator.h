// Makes random kernels that are mostly right: a table of productions over typed expressions with
// axes, and one of statements. To add an operator, add a row to `elementwiseRules` or
// `reductionRules` in Rules.cpp; what needs more than a row is a method here.
#pragma once

#include "tests/fuzz/kernels/Program.h"

#include <functional>

namespace tile::fuzz {

//===-- The tables --------------------------------------------------------===//

/// One way to make a value from others. Operands: T the result's type, U one more type, the same
/// for all U, of `others`; B bool.
struct ElementwiseRule {
  const char *text;    // $0, $1, … are the operands, $T is the result's type
  const char *results; // classes of types that it can give: see `typesOf`
  const char *operands;
  const char *others;
  int weight;
};
extern const std::vector<ElementwiseRule> elementwiseRules;

/// A reduction `NAME(x, axis, …)`.
struct ReductionRule {
  const char *name;
  const char *operands; // classes of types
  enum Result { Accumulator, Same, Bool, Index } result;
  bool takesBlocks; // may be partial
  const char *fold; // the assignment that folds partial results, or null
  int weight;
};
extern const std::vector<ReductionRule> reductionRules;

/// Types of a class: "float half int num any bool i32" and so on, several with spaces between.
std::vector<std::string> typesOf(const std::string &classes);
bool isFloatType(const std::string &type);
/// What sums of a type are computed in.
std::string accumulatorOf(const std::string &type);
/// A number of the type as text.
std::string literal(Random &random, const std::string &type);

//===-- The generator -----------------------------------------------------===//

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) { program.seed = seed; }
  Program run();

private:
  using Axes = std::set<std::string>;

  /// A span or whole axis that is in scope.
  struct Axis {
    std::string name;   // of the axis, as reductions name it
    std::string index;  // as indices name it: the name, or ":"
    std::string extent; // of the tensors' dimensions that it indexes by itself
    int64_t length = 0;
    bool isBlock = false; // parallel or loop: reductions over it are partial
    bool isParallel = false;
    bool isInside = true;      // a bare index over `extent` is inside
    bool isRestricted = false; // by a condition of its own
    Axes partners = {};        // axes that a condition ties to it
  };
  /// An ordinary integer, 0 … extent − 1.
  struct Counter {
    std::string name, extent;
  };
  struct Name {
    std::string name, type;
    Axes axes;
    bool isVariable = false;
  };
  struct Scope {
    size_t axes, counters, names;
  };

  Scope scope() const { return {axes.size(), counters.size(), names.size()}; }
  void leave(const Scope &scope);
  std::string fresh(const std::string &prefix);
  std::string anyType(const std::string &classes);
  Node expression(std::string text, std::string type, std::vector<Node> children = {});
  static Node statement(std::string text, std::vector<Node> children);
  static Node block(std::vector<Node> lines);
  const Axis &axis(const std::string &name) const;
  int64_t volume(const Axes &names) const;
  Axes someOf(const Axes &all, int percent);
  /// The axes that conditions tie to one.
  Axes tiedTo(const std::string &name) const;
  Axes axesWhere(bool (*wanted)(const Axis &));

  //===-- Expressions (Expressions.cpp, Leaves.cpp) -----------------------------------===//
  Node value(const std::string &type, const Axes &allowed, int depth);
  Node leaf(const std::string &type, const Axes &allowed);
  Node load(const std::string &type, const Axes &wanted);
  Node gather(const std::string &type, const Axes &wanted);
  Node strided(const std::string &type, const Axes &wanted);
  Node trusted(const std::string &type, const Axes &wanted);
  Node randomNumber(const std::string &type, const Axes &allowed);
  std::string gatherIndex(const Axis &axis, std::vector<Node> &children);
  std::string newInput(const std::string &type, std::vector<std::string> shape,
                       int64_t indexLimit = 0);
  Node elementwise(const std::string &type, const Axes &allowed, int depth);
  Node reduction(const std::string &type, const Axes &allowed, int depth);
  Node dot(const std::string &type, const Axes &allowed, const std::string &over, int depth);
  Node call(const std::string &type, const Axes &allowed, int depth);
  std::string elementwiseMap(const std::string &p, const std::string &q, const std::string &type);
  /// With at least these axes.
  Node withAxes(Node node, const Axes &wanted);
  /// With the axes that conditions tie to `over`, so that it can be reduced.
  Node reducible(const std::string &type, const Axes &allowed, const Axes &over, int depth);
  /// A partial result over blocks and the operator that folds it.
  std::pair<Node, std::string> partial(const std::string &type, const Axes &allowed,
                                       const Axes &over, int depth);
  std::string condition(const std::string &binder, const Axes &others, Axes &partners);

  //===-- Statements (Statements.cpp, Loops.cpp) -------------------------------------===//
  void declareDims();
  std::string tilesKernel(std::vector<Node> &lines);
  std::string parallelHead();
  void wholeAxis(std::vector<Node> &lines);
  void statements(std::vector<Node> &lines, int count, int depth);
  void let(std::vector<Node> &lines);
  Name variable(std::vector<Node> &lines, const std::string &type, const Axes &axes);
  void assignSome(std::vector<Node> &lines, const std::vector<Name> &variables, int depth);
  void foldLoop(std::vector<Node> &lines, int depth);
  void sequentialLoop(std::vector<Node> &lines, int depth);
  void reassociableLoop(std::vector<Node> &lines, int depth);
  void countedLoop(std::vector<Node> &lines, int depth);
  void branch(std::vector<Node> &lines, int depth);
  void whileLoop(std::vector<Node> &lines, int depth);
  /// Binds a span; the loop's head. A condition ties it to one of `others`; null: none.
  std::string bindLoop(std::string &name, const Axes *others);
  void store(std::vector<Node> &lines);
  void storeInto(std::vector<Node> &lines, const std::string &type,
                 std::vector<std::pair<std::string, std::string>> indices,
                 const std::function<Node(const std::string &)> &make);
  void inPlace(std::vector<Node> &lines);
  Node reducedFor(std::string &op, Parameter &output, const Axes &indexed, const Axes &over);
  /// In grid kernels what falls outside is not dropped: data doesn't choose among unknown extents.
  void update(std::vector<Node> &lines, bool inGrid = false);
  void updateLoop(std::vector<Node> &lines, int depth);

  //===-- Along axes (Along.cpp) ------------------------------------------===//
  bool isFree(const Axis &axis) const;
  std::vector<std::string> axesAlong(const Axes &allowed, bool keepsAxis);
  std::string combiner(std::vector<std::string> &types, const std::string &type);
  Node beginning(const std::string &type, const Axes &allowed, const std::string &over);
  Node along(const std::string &type, const Axes &allowed, int depth);
  std::string newAxis(std::vector<Node> &lines, const std::string &extent, int64_t length);
  std::string nameAll(const std::vector<Name> &values);
  bool letAlong(std::vector<Node> &lines);
  bool letScan(std::vector<Node> &lines, const Axes &allowed);
  bool letTop(std::vector<Node> &lines, const Axes &allowed);
  bool letOrder(std::vector<Node> &lines, const Axes &allowed);
  bool letJoin(std::vector<Node> &lines, const Axes &allowed);
  bool letReshape(std::vector<Node> &lines, const Axes &allowed);
  void scanLoop(std::vector<Node> &lines, int depth);

  //===-- Grid kernels and reports (Grid.cpp) -----------------------------===//
  /// The elements of one program: coordinate `index` of tensors of `extent`, for each of `axis`.
  struct GridBlock {
    std::string axis, extent, index;
  };
  std::string gridKernel(std::vector<Node> &lines);
  void atomic(std::vector<Node> &lines, const GridBlock &at);
  void gridStores(std::vector<Node> &lines, const GridBlock &at);
  void assertion(std::vector<Node> &lines);
  void print(std::vector<Node> &lines);

  Random random;
  Program program;
  std::vector<Axis> axes;
  std::vector<Counter> counters;
  std::vector<Name> names;
  /// What can be an extent, with its value.
  std::vector<std::pair<std::string, int64_t>> extents;
  int serial = 0;
};

} // namespace tile::fuzz
