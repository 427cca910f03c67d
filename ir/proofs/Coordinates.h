//===- Coordinates.h - integers of a kernel as sums over atoms ------------===//
//
// Proofs speak about indices, bounds and conditions as linear sums
//
//   Σ factor · atom + constant
//
// where an atom is a dimension, a coordinate of a span, a counter, a number
// that comes from data, or a non-linear term over other sums: a quotient, a
// product, a minimum. Equal terms are one atom, so comparing sums is comparing
// vectors. Arithmetic is that of unbounded integers; what would leave a safe
// range becomes an atom that nothing is known about.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_PROOFS_COORDINATES_H
#define TILE_IR_PROOFS_COORDINATES_H

#include "ir/proofs/Domain.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>
#include <tuple>

namespace tile::ir {

using AtomId = unsigned;

struct Linear {
  llvm::SmallVector<std::pair<AtomId, int64_t>, 4> terms; // by atom; no zero factors
  int64_t constant = 0;

  bool isConstant() const { return terms.empty(); }
  bool isConstant(int64_t value) const { return terms.empty() && constant == value; }
  /// The atom it is, if it is just one.
  std::optional<AtomId> asAtom() const;
  int64_t factorOf(AtomId atom) const;
  bool operator==(const Linear &other) const = default;
  bool operator<(const Linear &other) const {
    return std::tie(constant, terms) < std::tie(other.constant, other.terms);
  }
};

struct Atom {
  enum class Kind {
    Dim,        // a dimension or constant of the kernel
    Scalar,     // a scalar parameter
    Coordinate, // of a span
    Integer,    // bound by `each`
    Counter,    // of a loop over integers
    Data,       // from memory, or from an operation that is not followed
    Floor,      // a / b, b a positive constant
    Quotient,   // a / b, b symbolic
    Product,    // of factors
    Min,        // of a and b
    Max,        // of a and b
    Choice,     // a or b
  };
  Kind kind;
  mlir::Value value; // the span, argument or data; null for terms
  std::string name;  // of a dimension
  Linear a, b;
  llvm::SmallVector<AtomId, 2> factors;
  /// The least and greatest value, where the type of data says so.
  std::optional<std::pair<int64_t, int64_t>> range;
  /// One value for the whole launch.
  bool isUniform = false;
  /// Data, or a term over data.
  bool hasData = false;

  bool isTerm() const { return kind >= Kind::Floor; }
};

class Coordinates {
public:
  explicit Coordinates(KernelOp kernel);

  KernelOp getKernel() const { return kernel; }
  const Atom &operator[](AtomId atom) const { return atoms[atom]; }
  size_t size() const { return atoms.size(); }

  /// An i64 value, a span (its coordinate) or a tile of i64.
  Linear trace(mlir::Value value);
  /// An integer of fewer bits, by its value.
  Linear traceNarrow(mlir::Value value, bool isSigned);
  Linear evaluate(mlir::AffineExpr expr, llvm::ArrayRef<Linear> dims, llvm::ArrayRef<Linear> syms);
  /// What an access says about each dimension of its tensor.
  llvm::SmallVector<Linear> indices(mlir::AffineMap map, mlir::ValueRange dims,
                                    mlir::ValueRange syms);
  /// The extents of a tensor parameter.
  llvm::SmallVector<Linear> extents(unsigned parameter);

  static Linear constant(int64_t value);
  static Linear atom(AtomId id);
  Linear add(const Linear &a, const Linear &b, int64_t factor = 1);
  Linear subtract(const Linear &a, const Linear &b) { return add(a, b, -1); }
  Linear scale(const Linear &a, int64_t factor) { return add({}, a, factor); }
  Linear plus(const Linear &a, int64_t number) { return add(a, constant(number)); }
  Linear multiply(const Linear &a, const Linear &b);
  /// Rounds toward −∞; x / 0 = 0.
  Linear divide(const Linear &a, const Linear &b);
  /// Rounds toward +∞.
  Linear divideUp(const Linear &a, const Linear &b);
  /// a − (a / b) · b; x % 0 = x.
  Linear remainder(const Linear &a, const Linear &b);

  /// True if the sum is made of what is kept small (IndexLimits.h): of anything
  /// but 64-bit integers that come from data.
  bool isBounded(const Linear &a) const;
  /// True if the machine computes the sum without wrapping: it is bounded, or
  /// one value as it stands.
  bool isExact(const Linear &a) const { return a.asAtom() || isBounded(a); }

  bool isUniform(const Linear &a) const;
  bool hasData(const Linear &a) const;

  /// True if the predicate holds for an atom of the sum or of a term in it.
  bool mentions(const Linear &a, llvm::function_ref<bool(AtomId)> predicate) const;

  /// The same sum for another point: every atom that is not uniform is replaced
  /// by its twin.
  Linear twin(const Linear &a);
  AtomId twin(AtomId id);

private:
  bool isBounded(AtomId id) const;
  void unite(mlir::Value condition);
  Linear dimension(mlir::StringRef name);
  Linear traceOp(mlir::Operation *op, mlir::Value value);
  std::optional<Linear> traceSingle(mlir::Value value);
  std::optional<Linear> traceCondition(mlir::Value value);
  Linear traceArgument(mlir::BlockArgument argument);
  Linear opaque(mlir::Value value);
  Linear unknown();
  AtomId add(Atom atom);
  /// The term with this kind and operands, made once.
  Linear term(Atom::Kind kind, const Linear &a, const Linear &b);
  AtomId product(llvm::SmallVector<AtomId, 2> factors);

  KernelOp kernel;
  std::vector<Atom> atoms;
  llvm::DenseMap<mlir::Value, Linear> traced;
  std::map<std::pair<void *, bool>, Linear> narrow; // by value and whether it is signed
  std::map<std::tuple<Atom::Kind, Linear, Linear>, AtomId> terms;
  std::map<llvm::SmallVector<AtomId, 2>, AtomId> products;
  std::map<std::string, Linear> dims;
  std::map<AtomId, AtomId> twins;
  unsigned depth = 0;
};

} // namespace tile::ir

#endif // TILE_IR_PROOFS_COORDINATES_H
