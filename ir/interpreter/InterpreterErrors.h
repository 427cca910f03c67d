//===- InterpreterErrors.h - how far right executions may be apart --------===//
//
// Two executions of a kernel that are both right round differently: they add in
// other orders, and their functions have other last digits. So the interpreter
// can carry beside each value a bound of what another execution may have there.
// Only sums that are inexact and approximated functions bring errors in. What
// has none keeps its bits through every op, since all else is rounded as it
// stands; what has some is followed through each op by evaluating it at the
// ends of the intervals, roundings included: an element rounded to bf16 differs
// only where the interval around it crosses a tie.
//
// Errors that come from one place are shared: along an axis they were broadcast
// along they all point the same way, and add up. So do those of elements of 16
// bits that tip over. All others are independent, and their sums grow as the root
// of their squares.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_INTERPRETER_INTERPRETERERRORS_H
#define TILE_IR_INTERPRETER_INTERPRETERERRORS_H

#include "ir/interpreter/InterpreterNumbers.h"

#include <array>
#include <limits>

namespace tile::ir::interpreter {

/// How far an element may be from that of another right execution. Infinite where both branches
/// of a decision can't be told: anything is right there.
struct Bound {
  float own = 0, shared = 0;
  /// Of what it is off by itself, where that is made of so many errors that it is far less than
  /// `own` as a rule; 0 where nothing is known of it.
  float deviation = 0;

  double total() const { return double(own) + double(shared); }
  bool isExact() const { return own == 0 && shared == 0; }
};

/// Where nothing is known of errors but their bounds, these are some two deviations or more; sums
/// of many are off by six deviations at most, so many times the root of the bounds' squares.
constexpr double growthOfErrors = 2.5;

constexpr Bound undecided = {std::numeric_limits<float>::infinity(), 0};

/// As a float, rounded up.
float roundUp(double error);
inline Bound ownBound(double error) { return {roundUp(error), 0}; }
/// The deviation of what a value is off by itself.
double deviationOf(Bound bound);

/// |x − y|; 0 for equal infinities and of two NaN, infinite where only one of both is finite.
double distance(double x, double y);

/// The distance of a finite value to the next one of its type.
double ulpOf(Number number, double value);

/// The bound of `value`, of which each execution has one within `before` of it, once it is rounded
/// to the type. With `isFree` also what stood before it was rounded in other places.
Bound roundBound(Number number, double value, Bound before, bool isFree);

/// What a step from number to number is off by, whose order is open: each rounds where others
/// don't. Nothing where both are whole multiples of what the type doesn't round at their size, as
/// small integers are.
double errorOfStep(Number number, double before, double after);

/// Of independent errors, and of one that all share.
Bound addIndependent(Bound x, Bound y);
/// Of errors that may be one.
Bound addDependent(Bound x, Bound y);

/// How far functions of the backends are from the interpreter's, in whole ulp of f32 or f64; 0 for
/// those that are rounded correctly, or are the same.
struct FunctionErrors {
  bool isGpu = false;
  /// The processor has no fused multiply-add.
  bool isWithoutFma = false;
};
double functionUlps(mlir::Operation *op, Number number, const FunctionErrors &errors);

/// The terms of a sum whose order is open. It runs up in a cascade, chains of few terms whose sums
/// are added as in a tree, or, of a contraction, in one accumulator.
class TermSum {
public:
  void add(double term, Bound bound);
  /// The last term is a sum of others, of which blocks of other sizes add up fewer at a time.
  void cutLast(double term, const TermSum &of, double factor = 1);
  /// The terms of another sum times a factor, without what these are off by themselves.
  void append(const TermSum &of, double factor = 1);
  /// The term is a part of what there is to add, which others cut into other parts: these are
  /// rounded, too.
  void roundPart(Number number, double term);
  /// A product, which may be rounded before it is added.
  void addProduct(double x, Bound ofX, double y, Bound ofY);
  /// What the sum begins with.
  void begin(double value, Bound bound);
  /// One accumulator serves all terms; its steps round `coarseness` times as much as its type does.
  void addInOrder(double coarseness);
  /// Terms come one after the other in so many runs, however many they are.
  static TermSum inRuns(int number) {
    TermSum sum;
    sum.runs = number;
    return sum;
  }
  /// They add up in f64, whatever the type.
  static TermSum inF64() {
    TermSum sum;
    sum.isWide = true;
    return sum;
  }

  /// Of the sum of all in the type. With `isShared` the shared errors of the terms are those of one
  /// place.
  Bound finish(Number number, bool isShared) const;
  /// Of exact arithmetic on the terms.
  double errorAtMost() const { return startBound.total() + own + shared; }

private:
  Bound errorsOfTerms(bool isShared) const;
  /// What rounding partial sums to the type amounts to; none if all are exact.
  Bound roundingError(Number number) const;
  /// The root of the sum of the squares of all partial sums, if the terms come in any order.
  double sizeOfPartialSums() const;

  void noteSign(double term);
  /// The square of the sum of all, or of what lanes that take every so-manieth term have between
  /// them, if that is more, as where signs alternate.
  double squareOfTerms() const;

  /// `magnitude` is that of the finite terms, and `infinite` the sum of the others, all with the
  /// start.
  double start = 0, total = 0, magnitude = 0, infinite = 0, squares = 0, last = 0;
  double own = 0, variance = 0, shared = 0, sharedSquares = 0, parts = 0, partSquares = 0;
  Bound startBound;
  /// Of terms other than 0; those as large as the one before.
  int64_t count = 0, repeated = 0;
  /// The sums of every `lanes.size()`-th term.
  std::array<double, 16> lanes = {};
  int lowestBit = std::numeric_limits<int>::max();
  /// 0 for a cascade.
  float coarseness = 0;
  int runs = 0;
  bool hasProducts = false, isAbove = false, isBelow = false, isWide = false;
};

/// The factors of a product whose order is open.
class FactorProduct {
public:
  /// A factor may itself be the product of others: each of these, too, may come before a 0 among
  /// them.
  void add(double factor, Bound bound, const FactorProduct *of = nullptr);
  Bound finish(Number number, double product) const;

private:
  double relative = 0;
  int64_t lowestBits = 0, count = 0;
  int64_t all = 0; // with those of factors that are products
  /// The exponents of what partial products are at most and at least.
  double grows = 0, shrinks = 0;
  bool isOfNumbers = true; // no factor is infinite or NaN
};

} // namespace tile::ir::interpreter

#endif // TILE_IR_INTERPRETER_INTERPRETERERRORS_H
