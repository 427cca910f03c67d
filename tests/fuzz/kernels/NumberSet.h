// What one element of a tile may be: a set of numbers that holds every result the language allows.
//
// Sums and products of floats may be taken in any association, and functions such as exp have
// errors up to a bound; everything else has one result. So most sets have a single element, and
// comparing with them is comparing exactly; the others are intervals from the standard error
// analysis: n terms in any association differ from their sum by at most γ(n)·Σ|x|, γ(n) = n·u / (1
// − n·u) (Higham, Accuracy and Stability of Numerical Algorithms, chapter 4).
//
// What a partial sum of a loop is added to takes part in the association, too, so sums carry Σ|x|
// and n along (Fold); where all terms are multiples of a power of two and Σ|x| is so small that any
// partial sum is a number of the type, the sum is exact whatever its association.
#pragma once

#include "runtime/tensor/DType.h"

#include <cstdint>
#include <limits>
#include <string>

namespace tile::fuzz {

using runtime::DType;

/// Of a number that came from a sum or a product.
struct Fold {
  enum Kind : uint8_t { None, Sum, Product } kind = None;
  double terms = 0;
  /// Of sums Σ|x|; of products Π max(|x|, 1).
  double mass = 0;
  /// Of products Π min(|x|, 1).
  double least = 1;
  /// All terms are multiples of 2^quantum.
  int quantum = std::numeric_limits<int>::max();
};

struct NumberSet {
  DType type = DType::F32;
  // Integers and bools: one number, sign-extended, or any.
  bool isKnown = true;
  int64_t integer = 0;
  // Floats: the interval, none if lo > hi.
  double lo = 0, hi = 0;
  bool mayBeNaN = false;
  /// A zero may have either sign.
  bool anyZero = false;
  Fold fold;

  static NumberSet ofInt(DType type, int64_t value);
  static NumberSet ofFloat(DType type, double value);
  static NumberSet interval(DType type, double lo, double hi);
  /// Every value of the type.
  static NumberSet any(DType type);
  static NumberSet nan(DType type);
  /// The element in memory.
  static NumberSet load(DType type, const void *element);

  bool isFloat() const { return runtime::isFloat(type); }
  bool isNaN() const { return lo > hi && mayBeNaN; }
  bool isPoint() const { return isFloat() ? lo == hi && !mayBeNaN : isKnown; }
  bool isAny() const;
  bool contains(double value) const { return lo <= value && value <= hi; }
  bool hasInfinity() const;
  double magnitude() const;
  /// Whether an element in memory is one of these.
  bool admits(const void *element) const;
  std::string str() const;
};

/// To nearest, ties to even.
double roundTo(DType type, double value);
/// Bits of the significand, the hidden one too.
int precisionOf(DType type);
/// All numbers of the type are multiples of 2^this.
int leastExponent(DType type);
NumberSet hull(const NumberSet &a, const NumberSet &b);

//===-- Any association ---------------------------------------------------===//

/// A sum of many terms.
class SumOf {
public:
  explicit SumOf(DType type) : type(type) {}
  void add(const NumberSet &term);
  /// Adds a · b, rounded or not.
  void addProduct(const NumberSet &a, const NumberSet &b);
  NumberSet result() const;

private:
  void addInterval(long double low, long double high);

  DType type;
  long double lo = 0, hi = 0;
  Fold fold{Fold::Sum, 0, 0, 1, std::numeric_limits<int>::max()};
  bool isNaN = false, mayBeNaN = false, isAny = false;
  bool hasPlusInfinity = false, hasMinusInfinity = false;
};

class ProductOf {
public:
  explicit ProductOf(DType type) : type(type) {}
  void multiply(const NumberSet &factor);
  NumberSet result() const;

private:
  DType type;
  NumberSet value = NumberSet::ofFloat(DType::F64, 1);
  Fold fold{Fold::Product, 0, 1, 1, std::numeric_limits<int>::max()};
  bool isNaN = false, hasInfinity = false, hasZero = false;
  bool isExact = true;
};

} // namespace tile::fuzz
