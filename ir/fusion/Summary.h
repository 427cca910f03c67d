//===- Summary.h - what a kernel does to memory, from its IR alone --------===//
//
// The program space of a kernel, with what becomes of each dimension in it; and
// for each access the quasi-affine map from a point of that space to an element,
// with the points it is made at. That is what legality of fusion is decided on:
// no names, no source, templates as well as specialized kernels.
//
// A point has a coordinate for each dimension: of the programs, of the loops
// around the access, and of the whole axes of its tile. A block binder's coordinate
// is that of an element, not the number of the block, so that the map is the same
// for every tile size.
//
// Where the map or the domain can't be stated, the summary says so, and states
// more than is touched, never less.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_SUMMARY_H
#define TILE_IR_FUSION_SUMMARY_H

#include "ir/proofs/Solver.h"

#include "llvm/Support/JSON.h"

#include <memory>

namespace tile::ir {

struct ProofContext;

/// What becomes of the coordinates of a dimension.
struct DimensionRole {
  enum class Kind {
    Map,      // each on its own: an output has them, too
    Contract, // they meet in sums of products
    Reduce,   // they meet in a result that has none of them
    Scan,     // each needs those before it
    Opaque,   // they meet in a way that has no rule
  };
  Kind kind = Kind::Map;
  /// How they meet, in the language's words: `max`, `cumsum`, `sort`.
  std::string how;
  auto operator<=>(const DimensionRole &) const = default;
  std::string text() const;
};

struct SpaceDimension {
  enum class Kind {
    Each,    // of programs, a binder over integers
    Tiles,   // of programs, a binder over blocks
    Loop,    // over blocks
    Counter, // of a loop over integers
    While,   // a loop that a condition ends: nothing more is known of it
    Axis,    // a whole axis
  };
  Kind kind;
  /// The ParallelOp, ForOp, scf::ForOp, scf::WhileOp or AxisOp.
  mlir::Operation *binder = nullptr;
  /// The span or integer; null of While.
  mlir::Value value;
  std::string name;
  /// The coordinate runs over [lower, upper), of a Counter in steps of `step`.
  Linear coordinate, lower, upper, step;
  /// Of a block, once it is known.
  std::optional<int64_t> size;
  /// In the order of their kinds; none twice.
  llvm::SmallVector<DimensionRole, 2> roles;

  bool isOfPrograms() const { return kind == Kind::Each || kind == Kind::Tiles; }
};

struct AccessSummary {
  enum class Kind { Read, Write, Update, Atomic };
  enum class Precision { Exact, OverApproximate, DataDependent };
  /// What points mean whose element is outside the tensor.
  enum class Outside {
    Proved,   // there are none
    Promised, // there are none, the author says
    Padded,   // nothing is read
    Clamped,  // the nearest element is read
    Dropped,  // nothing is written
  };
  Kind kind;
  mlir::Operation *op;
  unsigned parameter;
  /// The element of the tensor, an expression for each of its dimensions.
  llvm::SmallVector<Linear> element;
  /// The access as an author would write it.
  std::string text;
  /// The dimensions of its points, by their position in the space.
  llvm::SmallVector<unsigned> over;
  /// What holds of its points besides the ranges of their coordinates.
  Facts domain;
  Outside outside = Outside::Proved;
  /// DataDependent: the element comes from data. OverApproximate: more points than there are.
  Precision precision = Precision::Exact;
  /// Why it is not exact.
  llvm::SmallVector<std::string> reasons;
  /// The tensors whose data an index is made of.
  llvm::SmallVector<unsigned> data;
  /// Of updates and atomics: how elements combine.
  std::string combination;
};

/// What a kernel does that is no access.
struct EffectSummary {
  enum class Kind { Assert, Print, Random };
  Kind kind;
  mlir::Operation *op;
  llvm::SmallVector<unsigned> over;
  /// Of Assert and Print: what they say.
  std::string message;
  /// Of Random: the numbers' seed, stream and counter, over the points.
  Linear seed, stream, counter;
  bool isExact = true;
};

class KernelSummary {
public:
  explicit KernelSummary(KernelOp kernel);
  ~KernelSummary();

  KernelOp kernel() const;
  llvm::ArrayRef<SpaceDimension> space() const { return dimensions; }
  llvm::ArrayRef<AccessSummary> accesses() const { return accessList; }
  llvm::ArrayRef<EffectSummary> effects() const { return effectList; }
  /// What the expressions are made of.
  ProofContext &context() const { return *proofs; }

  /// Visits the points of an access in a launch, where `launch` has values for dims and scalars
  /// (launchPoint), and `shape` the tensor's extents. If it is not exact, elements come that are
  /// not touched, and coordinates that nothing is known of have no value in the point. False if
  /// there are more than `budget` points.
  bool forEachElement(const AccessSummary &access, const Point &launch,
                      llvm::ArrayRef<int64_t> shape, int64_t budget,
                      llvm::function_ref<void(const Point &, llvm::ArrayRef<int64_t>)> visit) const;
  /// The same, only at some coordinates of each dimension of the space, by its position. `choose`
  /// gets the range and the step.
  using Choice =
      llvm::function_ref<llvm::SmallVector<int64_t>(unsigned, int64_t, int64_t, int64_t)>;
  bool
  forSomeElements(const AccessSummary &access, const Point &launch, llvm::ArrayRef<int64_t> shape,
                  int64_t budget, Choice choose,
                  llvm::function_ref<void(const Point &, llvm::ArrayRef<int64_t>)> visit) const;
  /// By dims and parameters of the kernel; `scalars` are bits, not read of tensors.
  Point launchPoint(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<uint64_t> scalars) const;
  /// The number of the program, row-major; nothing if a binder has no value or no size.
  std::optional<int64_t> programAt(const Point &point) const;

  /// For readers, a line for each thing.
  std::string text() const;
  llvm::json::Value json() const;

private:
  void collectSpace();
  void collectAccesses();
  void collectEffects();
  void findRoles();
  void summarize(AccessSummary &access, mlir::AffineMap map, mlir::ValueRange dims,
                 mlir::ValueRange syms);
  void addConditions(AccessSummary &access, llvm::ArrayRef<mlir::StringAttr> axes);
  void addCondition(AccessSummary &access, const Linear &sum, bool isZero);
  void judgeIndices(AccessSummary &access);
  void judgeRanges(AccessSummary &access);
  llvm::SmallVector<unsigned> pointsOf(mlir::Operation *op,
                                       llvm::ArrayRef<mlir::StringAttr> axes) const;
  llvm::SmallVector<unsigned> tensorsBehind(const Linear &sum) const;
  std::string spellData(const Linear &sum) const;
  std::string spellCondition(const Linear &sum, bool isZero) const;
  llvm::json::Value json(const SpaceDimension &dimension) const;
  llvm::json::Value json(const AccessSummary &access) const;
  llvm::json::Value json(const EffectSummary &effect) const;
  std::string text(const SpaceDimension &dimension) const;
  std::string text(const AccessSummary &access) const;
  std::string text(const EffectSummary &effect) const;
  std::string namesOf(llvm::ArrayRef<unsigned> over) const;
  std::string signature() const;

  std::unique_ptr<ProofContext> proofs;
  std::vector<SpaceDimension> dimensions;
  std::vector<AccessSummary> accessList;
  std::vector<EffectSummary> effectList;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_SUMMARY_H
