//===- Lowering.h - from one specialized kernel to LLVM-level functions ---===//
//
// ScalarLowering emits what has no axes; BodyLowering adds loop nests. Each
// *root* (store, update, reduction, dot, carried value, a value worth keeping)
// becomes one nest, which pulls its producers in one element or vector at a time.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_CPU_LOWERING_H
#define TILE_CODEGEN_CPU_LOWERING_H

#include "codegen/Elementwise.h"
#include "codegen/cpu/FoldOrder.h"
#include "codegen/cpu/Plan.h"
#include "ir/proofs/Domain.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace tile::codegen {

/// A coordinate or index: one number, or one a lane. With `counts`, lane l is
/// `value` + l.
struct Lanes {
  mlir::Value value;
  bool counts = false;
  /// Quotients and remainders of lanes that count, and those plus a number: null `value`, and these
  /// instead. As long as the lanes pass no multiple of the divisor (`isOne`) lane l is `first`,
  /// with `counts` `first` + l; where they pass one (`isTwo`) so are the first `length`, and the
  /// others are `second`, or `second` + l.
  struct Runs {
    mlir::Value isOne, isTwo, first, second, length;
    bool counts;
  };
  std::optional<Runs> runs = std::nullopt;
};

/// A tensor in memory, row-major.
struct Memory {
  mlir::Value pointer;
  mlir::Type element; // of the IR
  llvm::SmallVector<mlir::Value> extents, strides;
  bool isInvariant = false;
  /// Other programs may read and write it meanwhile: single elements are read and written as a
  /// whole, and as often as the program says.
  bool isShared = false;
};

/// Elements in memory: `offset` from `pointer`, which holds all that the lanes have in common, so
/// that it stays outside of the innermost loop.
struct Place {
  mlir::Value pointer;
  Lanes offset;
};

/// How many elements a row has where rows of 2 to 4 follow each other without a gap, so that some
/// of them are as many vectors; else 0.
int lengthOfFew(const Memory &memory);

class ScalarLowering {
public:
  ScalarLowering(CodeBuilder &b, ir::KernelOp kernel, const TargetInfo &target,
                 const ir::Domains &domains, mlir::Block *prologue)
      : b(b), kernel(kernel), target(target), domains(domains), prologue(prologue) {}
  virtual ~ScalarLowering() = default;

  /// Takes parameters and dims from the arrays of the C interface.
  /// The tensors' pointers may be given apart.
  void bindArrays(mlir::Value params, mlir::Value dims, mlir::ValueRange tensors = {});
  /// A value without axes.
  mlir::Value scalar(mlir::Value value);
  /// True for what depends on parameters and dims alone.
  static bool isEntryValue(mlir::Value value);
  /// [lower, upper) of an axis as a whole; lower ≤ upper.
  std::pair<mlir::Value, mlir::Value> wholeRange(llvm::StringRef axis);
  mlir::Value lengthOf(llvm::StringRef axis);
  /// The greatest extent that an axis can have in a tile; null and an error
  /// where it depends on data.
  mlir::Value extentBound(mlir::StringAttr axis);
  /// The extent of an axis, or what it is likely to be; dynamic if neither is known.
  int64_t likelyExtentOf(mlir::StringAttr axis) const;
  /// Lanes of the vectors that go along an axis: as many as it has, if that is known. With more,
  /// masked, each row that is stored would wait for what is written of the one before.
  int lanesAlong(mlir::StringAttr axis) const;
  /// Lanes that a contraction's vectors have at least, and so the rows of buffers room for.
  static constexpr int fewestLanes = 4;
  /// Shape of a scratch buffer: the last axis is padded to whole vectors along it,
  /// or to a multiple of `multiple` if that is more.
  llvm::SmallVector<mlir::Value> bufferShape(llvm::ArrayRef<mlir::StringAttr> axes,
                                             int64_t multiple = 1);

  /// Over the output as it stands in memory, complete.
  void emitFinish(ir::FinishOp op);

  void set(mlir::Value value, mlir::Value emitted) { scalars[value] = emitted; }
  bool hasFailed() const { return failed; }

protected:
  friend class KernelLowering;
  Memory memoryOf(mlir::Value parameter);
  void emitScalar(mlir::Operation *op);

  //===-- Memory ----------------------------------------------------------===//
  using DimValue = llvm::function_ref<Lanes(mlir::Value dim)>;
  Lanes evaluate(mlir::AffineExpr expr, llvm::ArrayRef<Lanes> dims,
                 llvm::ArrayRef<mlir::Value> syms, bool asRuns = false);
  /// Lanes that a counting index has at the current place.
  virtual int lanesHere() const { return 1; }
  /// Whether what is emitted may leave the builder in another block.
  virtual bool mayBranch() const { return false; }
  /// Whether `branchHere` may be called, which goes on in the block that it leaves the builder in.
  virtual bool mayBranchHere() const { return false; }
  virtual CodeBuilder::Values branchHere(mlir::Value condition, CodeBuilder::Branch then,
                                         CodeBuilder::Branch otherwise) {
    return b.branch(condition, then, otherwise);
  }
  mlir::Value materialize(Lanes lanes, int width);
  /// With `asRuns`, those that are divided come as runs where they can.
  llvm::SmallVector<Lanes> indicesOf(mlir::AffineMap map, mlir::ValueRange dims,
                                     mlir::ValueRange syms, DimValue dimValue, bool asRuns = false);
  Place locate(const Memory &memory, llvm::ArrayRef<Lanes> indices, int width);
  /// An element of each of several short rows, which are read as a whole; null where that can't be.
  mlir::Value readOfRows(const Memory &memory, llvm::ArrayRef<Lanes> indices, int width);
  mlir::Value orderedMask(mlir::Value mask, mlir::Type element, int width);
  /// Reads where `mask` (null: everywhere) holds; elsewhere gives `otherwise`.
  mlir::Value readElements(const Memory &memory, const Place &place, int width, mlir::Value mask,
                           mlir::Value otherwise);
  /// Reads the same where one of the indices comes as runs: one run or two with an access each,
  /// more as `apart` does. It gives null where other indices have lanes, too, or those of a run
  /// aren't neighbours.
  mlir::Value readRuns(const Memory &memory, llvm::ArrayRef<Lanes> indices, int width,
                       mlir::Value mask, mlir::Value otherwise,
                       llvm::function_ref<mlir::Value()> apart);
  void writeElements(const Memory &memory, const Place &place, int width, mlir::Value mask,
                     mlir::Value value);
  /// Lanes next to each other, as memory has them.
  void writeVector(const Memory &memory, const Place &place, mlir::Value mask, mlir::Value vector);
  mlir::Value emitLoad(ir::LoadOp op, DimValue dimValue, int width, mlir::Value mask);
  /// The mask of an access that a sanitizer is told of, and may forbid.
  virtual mlir::Value watched(mlir::Operation *, llvm::ArrayRef<Lanes>, mlir::Value mask) {
    return mask;
  }
  /// Whether the indices lie inside; null for certainly.
  mlir::Value insideOf(const Memory &memory, llvm::ArrayRef<Lanes> indices, int width,
                       const llvm::BitVector &proved);
  /// Which results of a map need no bounds check.
  llvm::BitVector provedInside(mlir::Value parameter, mlir::AffineMap map, mlir::ValueRange dims);
  mlir::Value fromMemory(mlir::Value raw, mlir::Type element);
  mlir::Value toMemory(mlir::Value value, mlir::Type element);
  /// Memory to send reads and writes to that must not happen.
  mlir::Value sinkFor(mlir::Type type);

  CodeBuilder &b;
  ir::KernelOp kernel;
  const TargetInfo &target;
  const ir::Domains &domains;
  /// Dominates everything; open at its end until the function is complete.
  mlir::Block *prologue;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Memory> memories;
  llvm::SmallVector<mlir::Value> dims;
  mlir::Value sink;
  bool failed = false;
};

/// A tile in scratch memory.
struct Buffer {
  Memory memory;
  llvm::SmallVector<mlir::StringAttr> axes;
  /// It may be a part of a tensor, to be read alone: behind its rows are other elements, or
  /// nothing.
  bool isView = false;
  /// Not null: of its first axis, which begins here, it has a part after the other; of another one
  /// the vector that the nest is at.
  mlir::Value ringFrom;
  /// The nest that wrote it last stores one element at a time.
  bool isByElement = false;
};

/// Random words in memory, in the order of the draws, from the one of a round's first lane on.
struct Draws {
  mlir::Value seed, stream, index; // of the IR
  mlir::Value words, parity;       // of the first draw's number
};

/// One loop of the nest that is being emitted.
struct Level {
  mlir::StringAttr axis;
  mlir::Value coordinate; // of lane 0
  int width = 1;
  mlir::Value laneMask;                      // lanes inside the range; null for all
  mlir::Block *before = nullptr;             // where what doesn't vary in it goes
  bool isPlace = false;                      // no loop: that is the block that it stands in
  llvm::DenseMap<void *, mlir::Value> known; // values and restricts at this level
  int copy = 0, copies = 1;                  // vectors that a round computes, neighbours
  llvm::SmallVector<Draws, 1> draws;         // which those share
};

/// True if lanes along the axis are neighbours in a tensor of this type.
bool isUnitStride(mlir::MemRefType type, mlir::AffineMap map, mlir::ValueRange dims,
                  mlir::StringAttr axis);
/// Axes with the one for vectors at the end.
llvm::SmallVector<mlir::StringAttr> withLast(llvm::ArrayRef<mlir::StringAttr> axes,
                                             mlir::StringAttr last);
/// Whether a dot takes it, in the order of its own axes.
bool isReadByDot(mlir::Value value);
/// Calls `leaf` for each tile that `isThere` and each load that computing a value reads. What is
/// to be kept, and isn't there yet, is computed of its operands.
void forEachRead(const Plan &plan, mlir::Value value, llvm::function_ref<bool(mlir::Value)> isThere,
                 llvm::function_ref<void(mlir::Value)> leaf);

/// x · y + sum: for floats in one rounding, where the target can.
mlir::Value emitMultiplyAdd(CodeBuilder &b, const TargetInfo &target, mlir::Value x, mlir::Value y,
                            mlir::Value sum);
/// An operand of a dot as a number of the accumulator's type.
mlir::Value toAccumulator(CodeBuilder &b, const TargetInfo &target, mlir::Value value,
                          mlir::Type from, mlir::Type to);
struct DotAxes;

class BodyLowering : public ScalarLowering {
public:
  BodyLowering(CodeBuilder &b, ir::KernelOp kernel, const TargetInfo &target,
               const ir::Domains &domains, const Plan &plan, mlir::Block *prologue,
               mlir::LLVM::LLVMFuncOp function, FoldOrders &orders)
      : ScalarLowering(b, kernel, target, domains, prologue), plan(plan), function(function),
        orders(orders) {}

  /// Takes the report from behind the parameters.
  void bindReport(mlir::Value params);
  /// The binders, the one last whose blocks follow each other. Blocks that are read across come in
  /// the order of their rows: stores that go from row to row wait less than loads do.
  llvm::SmallVector<unsigned> programOrder();
  /// Emits all programs in [programLo, programHi).
  void emitPrograms(mlir::Value programLo, mlir::Value programHi);
  /// Axes of the scratch buffers, in the order of the function's last arguments.
  struct BufferShape {
    llvm::SmallVector<mlir::StringAttr> axes;
    mlir::Type element;
    llvm::SmallVector<int64_t> fixed; // more extents
    int64_t multiple = 1;             // of which the last axis' extent is one
    int64_t mostBytes = 0;            // if not 0: it isn't used where that is too few
  };
  llvm::ArrayRef<BufferShape> bufferShapes() const { return shapes; }

private:
  using Values = CodeBuilder::Values;
  using Axes = llvm::ArrayRef<mlir::StringAttr>;

  //===-- Blocks and control flow (ControlFlow.cpp) -----------------------===//
  void emitBlock(mlir::Block &block);
  void emitOps(mlir::Block::iterator begin, mlir::Block::iterator end);
  void emitOp(mlir::Operation *op);
  void emitFor(ir::ForOp op);
  void emitCount(mlir::scf::ForOp op);
  void emitIf(mlir::scf::IfOp op);
  void emitWhile(mlir::scf::WhileOp op);
  /// Gives each carried tile a buffer that holds its first value; null for scalars.
  llvm::SmallVector<Buffer *> enterCarried(mlir::ValueRange inits, mlir::Operation *op);
  void setCarried(mlir::ValueRange carried, llvm::ArrayRef<Buffer *> tiles,
                  mlir::ValueRange scalarValues);
  /// Where a carried value has an element in the block; neither: everywhere.
  struct Keep {
    Buffer *buffer = nullptr;
    mlir::Value scalar;
  };
  Keep keepMask(ir::ForOp op, mlir::Type carried);
  /// Assigns the tiles among `values` at once, as if in parallel.
  void assignTiles(mlir::ValueRange values, llvm::ArrayRef<Buffer *> targets,
                   llvm::ArrayRef<Keep> keeps = {});
  mlir::Value skipsBlock(ir::ForOp op);
  /// Bounds of an affine expression over the blocks of its spans; null: unknown.
  std::pair<mlir::Value, mlir::Value> interval(mlir::AffineExpr expr, mlir::ValueRange dims,
                                               mlir::ValueRange syms);
  /// Those of the values that have no axes, emitted.
  Values scalarsAmong(mlir::ValueRange values);

  //===-- Scratch ---------------------------------------------------------===//
  Buffer *newBuffer(mlir::Type element, Axes axes);
  /// Scratch for as many rows of `fixed` elements as the axes have coordinates,
  /// rounded up to a multiple of `multiple` and of whole vectors.
  mlir::Value newPanel(mlir::Type element, Axes axes, llvm::ArrayRef<int64_t> fixed,
                       int64_t multiple = 1);
  /// The buffer that holds a value, if one does.
  Buffer *bufferOf(mlir::Value value) const { return buffers.lookup(value); }
  llvm::SmallVector<Lanes> placeIn(const Buffer &buffer);
  Place bufferPlace(const Buffer &buffer);
  mlir::Value readBuffer(const Buffer &buffer);
  mlir::Value readByElement(const Buffer &buffer, const Place &place);
  void writeBuffer(Buffer &buffer, mlir::Value value);
  /// Writes whole rows of few elements, given column by column, at the innermost level with lanes;
  /// the indices are those of the first column.
  void writeRows(const Memory &memory, llvm::SmallVector<Lanes> indices, Values columns);
  void keep(mlir::Value value, Buffer *into);
  /// The axis along which the rows of a kept load go, where it is read along another one, and
  /// squares of vectors can be transposed between them (KeepAcross.cpp); else null.
  mlir::StringAttr axisOfRows(mlir::Value value) const;
  /// Whether lanes go along the rows of such a load: they are read where it is, for it was read
  /// just before, and in the buffer they lie apart.
  bool readsRows(mlir::Value value);
  /// Whether a value is loaded from memory that nothing writes while the kernel runs.
  bool isInput(mlir::Value value);
  /// Keeps a load whose rows go along `rows` in a buffer that lies along another axis.
  void keepAcross(mlir::Value value, Buffer *into, mlir::StringAttr rows);
  /// Emits a nest whose lanes go along `inner`, with what it pulls of long blocks that lie along
  /// another axis lying along this one, in copies.
  void withTurned(mlir::ValueRange pulled, mlir::StringAttr inner, llvm::function_ref<void()> emit);
  /// The vectors at `count` coordinates of an axis, from one on, transposed.
  Values readAcross(mlir::StringAttr axis, mlir::Value from, mlir::Value end, int count,
                    llvm::function_ref<mlir::Value()> element);
  /// What nests read of a load (CollidingRows.cpp): the tensor, or a copy where rows collide.
  void copyIfRowsCollide(ir::LoadOp load);
  mlir::Value rowsCollide(const Buffer &copy, mlir::Value stride);
  /// A nest over the elements of a tile in scratch.
  void overTile(const Buffer &tile, llvm::function_ref<void()> body);
  /// How a value that is kept lies in scratch: along an axis that fills vectors, as what it is
  /// computed of.
  llvm::SmallVector<mlir::StringAttr> orderOfKept(mlir::Value value) const;
  int64_t extentOf(mlir::StringAttr axis) const; // dynamic if it is no constant
  /// An extent of at most half a vector wastes its lanes.
  bool isShort(mlir::StringAttr axis) const;
  /// How many accesses of a nest go along an axis, how many of these might go along rows of few in
  /// its place, and how many lie apart along it.
  struct Accesses {
    int inOrder = 0, byRows = 0, apart = 0;
  };
  /// Short vectors take less time than lanes that go from row to row where rows are stored, and
  /// what is computed between the accesses costs little.
  bool paysShort(mlir::StringAttr axis, const Accesses &accesses, int cost) const;
  /// Whether `few` numbers the elements of whole rows of few (`lengthOfFew`), and vectors go along
  /// `rows`.
  bool areRowsOfFew(const Memory &memory, mlir::StringAttr rows, mlir::StringAttr few);
  /// The axis of whole rows of a tensor, each of which is so few elements along another one that
  /// vectors along rows are read and stored in order (`lengthOfFew`); else null.
  mlir::StringAttr rowsOfFew(mlir::Value tensor, mlir::AffineMap map, mlir::ValueRange dims,
                             mlir::StringAttr few);

  //===-- Nests (Nest.cpp) ------------------------------------------------===//
  std::pair<mlir::Value, mlir::Value> rangeOf(mlir::StringAttr axis);
  using LevelBody = llvm::function_ref<Values(mlir::ValueRange)>;
  /// Several rounds of a loop at once, each with carried values of its own: what
  /// waits for its own last round is as many times faster.
  struct Unroll {
    int copies = 1; // a power of two
    mlir::ValueRange start;
    llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> join;
    /// So many rounds fold into one state, at most, and what is carried is that of all chains
    /// (Cascade.cpp); 0: one chain, which is what is carried.
    int64_t chain = 0;
    /// Adds a chain to all before.
    llvm::function_ref<Values(mlir::ValueRange all, mlir::ValueRange chain)> add = nullptr;
    /// No other axis is gone through: what comes out is the sum. Else it is what goes into the next
    /// row.
    bool isAlone = false;
    /// It may be one chain, after all.
    bool mayBeShort = false;
    llvm::function_ref<Values(mlir::ValueRange all)> close = nullptr;
  };
  /// The coordinates of a level.
  struct Range {
    mlir::StringAttr axis;
    mlir::Value lo, hi;
    int width;
  };
  /// Several vectors with carried values of their own, or which take them one from the other; or a
  /// single one with its lanes masked.
  struct Round {
    int vectors = 1;
    bool isChain = false, isTail = false;
    bool mayFill = false; // it comes to the ends of what the nest's cuts have
  };
  /// Rounds of a level from `from` to `to`. What doesn't vary in them goes to the end of `before`.
  Values rounds(const Range &range, mlir::Value from, mlir::Value to, Round round,
                mlir::ValueRange inits, mlir::Block *before, LevelBody body);
  /// Loops over the axes, the innermost one unrolled if asked for; or with several vectors a round,
  /// one after the other.
  Values nest(Axes axes, mlir::StringAttr vectorAxis, mlir::ValueRange carried, LevelBody body,
              const Unroll *unroll = nullptr, int vectors = 1);
  /// The first coordinate and how many there are, if both are known, and those are few, where the
  /// nest has lanes already; else 0 and 0.
  std::pair<int64_t, int64_t> shortRange(mlir::Value from, mlir::Value to) const;
  Values level(mlir::StringAttr axis, mlir::Value lo, mlir::Value hi, int width,
               mlir::ValueRange carried, LevelBody body, const Unroll *unroll = nullptr,
               int vectors = 1);
  /// Where a nest's chain of steps is cut (Plan::cuts): before the innermost level goes on from
  /// these values, they are computed for a number of vectors.
  struct Cuts {
    mlir::StringAttr axis;
    llvm::SmallVector<std::pair<mlir::Value, Buffer *>, 2> values; // in order
    int64_t length = 0; // of the axis, at a time; a power of two
    mlir::Value step;   // which a round takes of it
  };
  /// Calls `emit`, which emits a nest that pulls these values and whose innermost level is `axis`,
  /// with its cuts.
  Values withCuts(mlir::StringAttr axis, mlir::StringAttr vectorAxis, mlir::ValueRange pulled,
                  llvm::function_ref<Values()> emit);
  void fillCuts(const Range &range, mlir::Value from);
  /// `rounds`, with what they need of the cuts before so many of them.
  Values filledRounds(const Range &range, mlir::Value from, mlir::Value to, Round round,
                      mlir::ValueRange inits, mlir::Block *before, LevelBody body);
  Buffer *newRing(mlir::Value value, mlir::StringAttr axis, mlir::StringAttr vectorAxis);
  Cuts cuts; // of the nest that is emitted
  /// Random words (EmitRandom.cpp): how many vectors along the axis share them, in a nest that
  /// pulls these values.
  int vectorsFor(mlir::StringAttr axis, mlir::ValueRange pulled) const;
  /// Gives the words of an op at the nest's place; null where its lanes draw no neighbours.
  mlir::Value emitDraws(ir::PhiloxOp op);
  /// So many from a number on; if there may be no branch, with more blocks than are needed.
  Draws drawRound(ir::PhiloxOp op, mlir::Value first, int draws, bool mayBranch);
  /// Emits at one coordinate of an axis, without a loop.
  void at(mlir::StringAttr axis, mlir::Value coordinate, llvm::function_ref<void()> body);
  /// The axis along which lanes cost least; null where no axis is worth vectors. A short one is
  /// chosen before a long one only where something is written or `mayBeShort` is set.
  struct Access {
    mlir::Value tensor; // null for a tile
    mlir::AffineMap map;
    mlir::ValueRange dims;
    bool mayGoByRows = false; // whole rows of few elements at a time
  };
  mlir::StringAttr chooseVectorAxis(Axes candidates, mlir::ValueRange pulled,
                                    std::optional<Access> written, const Buffer *into,
                                    bool mayBeShort = false);
  int levelOf(Axes axes) const;
  void moveTo(int level);
  int widthAt(Axes axes) const;
  int lanesHere() const override;
  bool mayBranch() const override {
    return !hasMoved && (levels.empty() || !levels.back().isPlace);
  }
  bool mayBranchHere() const override { return !hasMoved; }
  CodeBuilder::Values branchHere(mlir::Value condition, CodeBuilder::Branch then,
                                 CodeBuilder::Branch otherwise) override;
  Lanes coordinateOf(mlir::StringAttr axis) const;
  /// A span's coordinate, or the value of a tile of integers, as an index.
  Lanes indexOf(mlir::Value dim);
  /// The value at the nest's coordinates.
  mlir::Value emit(mlir::Value value);
  mlir::Value emitTile(mlir::Value value);
  bool isReadAtOnce(ir::LoadOp op);
  /// Asks for what the load reads in the nest's next rounds and in the next program, where that
  /// pays (Prefetch.cpp).
  void prefetch(ir::LoadOp op);
  bool prefetchAhead(ir::LoadOp op, const Level &lanes);
  void prefetchNext(ir::LoadOp op, const Level &lanes, bool isDear);
  bool prefetchBy(mlir::Value distance, ir::LoadOp op, int width, CodeBuilder::CacheLevel into);
  bool isReadInOrder(ir::LoadOp op, const Level &lanes);
  /// Asks for what the loads read next that a kept value was computed of.
  void prefetchBehind(mlir::Value value);
  mlir::Value distanceToNext(ir::LoadOp op);
  mlir::Value distanceAlong(ir::LoadOp op, unsigned binder);
  mlir::Value emitRestrict(ir::RestrictOp op);
  mlir::Value holdsUpTo(mlir::AffineExpr expr, llvm::ArrayRef<Lanes> dims,
                        llvm::ArrayRef<mlir::Value> syms);
  /// Lanes below a count, of any i64.
  mlir::Value firstLanes(mlir::Value count, int width);
  /// Which lanes are inside the domain of a tile with these axes; null for all.
  mlir::Value domainMask(Axes axes);
  mlir::Value restrictMask(Axes axes);
  mlir::Value tailMask(Axes axes) const;

  /// Emits what another path of control has to compute for itself.
  void apart(llvm::function_ref<void()> body);

  //===-- Roots -----------------------------------------------------------===//
  void emitStore(ir::StoreOp op);
  struct StoreNest {
    llvm::SmallVector<mlir::StringAttr> axes;
    mlir::StringAttr vectorAxis;
    mlir::StringAttr few; // not null: along the vector axis are whole rows of few elements
    bool isStreamable;    // as far as is known before it runs
    bool operator==(const StoreNest &) const = default;
  };
  StoreNest nestOf(ir::StoreOp op);
  llvm::SmallVector<ir::StoreOp> storedWith(ir::StoreOp op, const StoreNest &nest);
  void emitStores(llvm::ArrayRef<ir::StoreOp> together, const StoreNest &own);
  /// The stores behind a value that go through its elements with it: while it is made to be kept,
  /// it is stored, too, and not read again for that.
  llvm::SmallVector<ir::StoreOp> storedAlong(mlir::Value value, Axes axes,
                                             mlir::StringAttr vectorAxis);
  /// Stores at the nest's place, where that is not to go past the caches.
  void storeAlong(llvm::ArrayRef<ir::StoreOp> stores);
  /// Whether a kernel that transposes, or takes whole columns, stores blocks in rows of a few
  /// lines.
  bool isScattered(const StoreNest &nest, int64_t elementBytes) const;
  mlir::Value bytesOf(const Memory &memory);
  /// Whether a tensor is so long that stores go past the caches.
  mlir::Value isLarge(const Memory &memory, const StoreNest &nest);
  /// Stores whole rows at the nest's place, all of which are computed before.
  void storeRows(llvm::ArrayRef<ir::StoreOp> stores, mlir::StringAttr few);
  /// Stores at the nest's place.
  void storeElement(ir::StoreOp op, const Memory &memory, bool streamed);
  /// Whether the store's vectors from here on may go past the caches.
  mlir::Value mayStream(ir::StoreOp op, const Memory &memory, const StoreNest &nest);
  void emitUpdate(ir::UpdateOp op);
  void emitAtomic(ir::AtomicOp op);
  void emitReduce(ir::ReduceOp op);
  void emitArgReduce(ir::ArgReduceOp op);
  mlir::Value bestOfLanes(ir::CombineKind kind, Values state);
  /// The input's element, of narrow floats as f32.
  mlir::Value numberOf(ir::ArgReduceOp op, int width);
  /// The best of the elements between two coordinates of the axis, and the first coordinate where
  /// it is, −1 for none.
  mlir::Value bestBetween(ir::ArgReduceOp op, mlir::Value worst, mlir::Value from, mlir::Value to);
  mlir::Value firstWhere(ir::ArgReduceOp op, mlir::Value best, mlir::Value from, mlir::Value to);
  mlir::Value seekBest(ir::ArgReduceOp op, mlir::Value worst);
  Values walkToBest(ir::ArgReduceOp op, mlir::StringAttr vectorAxis, mlir::Value worst,
                    mlir::Value from, mlir::Value to);
  mlir::Value placeOfBest(ir::ArgReduceOp op, mlir::StringAttr vectorAxis, mlir::Value worst);
  void emitCountOp(ir::CountOp op);
  void emitScan(ir::ScanOp op);
  Values alongAxis(mlir::StringAttr axis, bool reverse, mlir::ValueRange carried,
                   llvm::function_ref<Values(mlir::ValueRange)> body);
  struct LineSort; // EmitSort.cpp
  void emitSort(ir::SortOp op);
  mlir::Value appendWords(LineSort &line, mlir::Value panel, mlir::Value at, mlir::Value keys,
                          mlir::Value mask);
  mlir::Value packLine(LineSort &line);
  mlir::Value sortLine(LineSort &line);
  Values boundOfFirst(LineSort &line, mlir::Value most);
  mlir::Value sortFirst(LineSort &line, mlir::Value most);
  void writeRanks(LineSort &line, mlir::Value count, Buffer *values, Buffer *coordinates);
  void emitTake(ir::TakeOp op);
  void emitDot(ir::DotOp op);
  bool mayWriteInto(ir::DotOp op);
  void emitDotAsReduction(ir::DotOp op, Buffer *into, bool isChain);
  llvm::SmallVector<mlir::StringAttr> orderOfProduct(ir::DotOp op) const;
  /// How the n-th tile that a loop carries lies in scratch.
  llvm::SmallVector<mlir::StringAttr> orderOfCarried(mlir::Operation *loop, size_t n,
                                                     mlir::Value init);
  void emitPackedDot(ir::DotOp op, const DotAxes &axes, Buffer *into);
  /// A value that a nest folds over its inner axes.
  struct Fold {
    Values start; // scalars
    std::function<Values(mlir::ValueRange state)> step;
    std::function<Values(mlir::ValueRange, mlir::ValueRange)> join;
    std::function<mlir::Value(mlir::ValueRange state)> finish;
    Buffer *into = nullptr; // of the result, if it has axes
    /// In place of the start, where that differs from element to element.
    std::function<mlir::Value()> begin = nullptr;
    /// Its state is a sum of floats, of any number of terms.
    bool isSum = false;
  };
  /// With a single value as its state, which is the result.
  static Fold simpleFold(mlir::Value start, std::function<mlir::Value(mlir::Value)> step,
                         std::function<mlir::Value(mlir::Value, mlir::Value)> join, Buffer *into);
  struct Reduction {
    mlir::SmallVector<mlir::StringAttr> outer, inner;
    mlir::StringAttr vectorAxis;
    int copies = 1, vectors = 1;
    bool isDear = false;                        // its code is there once only
    int64_t chain = 0;                          // of its sums (Cascade.cpp)
    llvm::SmallVector<mlir::Value> pulled = {}; // by all folds
  };
  /// Computes all folds in one nest; gives the results of those without outer axes.
  Values reductionNest(const Reduction &reduction, llvm::ArrayRef<Fold> folds);
  /// With chains of so many rounds, or, with 0, in one.
  void emitReduction(const Reduction &reduction, llvm::ArrayRef<Fold> folds, int64_t chain,
                     Values &results);
  Values joinAll(llvm::ArrayRef<Fold> folds, mlir::ValueRange x, mlir::ValueRange y);
  Values joinCopies(const Unroll &unroll, Values states);

  //===-- Long sums (Cascade.cpp) -----------------------------------------===//
  /// Rounds in a chain of a sum; 0 where there is too little to add up so.
  int64_t chainOf(const Reduction &reduction);
  /// The state of all chains, while there is none but this; behind it, if rows follow each other,
  /// that of a chain, and of how many rows it is.
  Values openSums(llvm::ArrayRef<Fold> folds, mlir::ValueRange state, bool isAlone);
  Values addChain(llvm::ArrayRef<Fold> folds, mlir::ValueRange all, mlir::ValueRange chain);
  Values closeSums(llvm::ArrayRef<Fold> folds, mlir::ValueRange all);
  /// Adds a row to what rows carry; `lastChain` adds all chains of it but the last, and returns
  /// that.
  Values addRow(const Unroll &unroll, mlir::ValueRange carried,
                llvm::function_ref<Values(Values &all)> lastChain);
  /// The sums, of states with `each` values, after the last row.
  Values closeRows(llvm::ArrayRef<Fold> folds, size_t each, mlir::ValueRange state);
  /// Runs from the range's begin to `end`, a whole number of steps, and adds all chains but the
  /// last one, which it returns.
  Values chains(const Range &range, mlir::Value end, Round round, LevelBody body,
                const Unroll &unroll, Values &all);
  /// A float that a loop carries and only adds to: its carried value is a chain.
  struct CarriedSum {
    Fold fold;
    Buffer *chain = nullptr; // of a tile; else it is a scalar
    unsigned scalar = 0;     // with this number among those that are carried
    llvm::SmallVector<Buffer *, 2> all;
  };
  struct CarriedSums {
    int64_t rounds = 0; // of a chain
    llvm::SmallVector<CarriedSum> sums;
    Values all; // of the scalars
  };
  CarriedSums carriedSums(mlir::Operation *loop, llvm::ArrayRef<Buffer *> tiles);
  /// Adds the chains to all before them, of which the first has none, and starts them anew, or
  /// makes them the sums.
  void addCarried(const CarriedSums &sums, Values &scalars, Values &all, mlir::Value isFirst,
                  bool isLast);
  /// CodeBuilder::loop, for such sums, too.
  Values loopOfChains(mlir::Value lower, mlir::Value upper, mlir::Value step, Values inits,
                      const CarriedSums &sums, CodeBuilder::LoopBody body);
  /// Whether what is computed of each element may be computed twice, or its code be there twice.
  bool isCheapTwice(mlir::Value value) const;
  /// How often to unroll a nest that folds this value over these axes.
  int copiesFor(mlir::Value pulled, Axes inner, mlir::StringAttr vectorAxis);
  /// The nest of a reduction or dot that adds up these values: in an order that is given, else in
  /// the fastest.
  Reduction reductionOf(mlir::Operation *op, Axes all, Axes inner, mlir::ValueRange pulled,
                        const Buffer *into, std::optional<FoldOrder> pinned);
  Fold foldOf(ir::ReduceOp op, Buffer *into);
  FoldOrder orderOf(const Reduction &reduction) const;
  /// What is kept of a value at the nest's place.
  mlir::Value keptElement(mlir::Value value);
  /// Keeps a value, and computes those reductions of it that fit into the same nest.
  void keepAndReduce(mlir::Value value, Buffer *into);
  /// All lanes of a state joined.
  Values horizontal(Values state,
                    llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> join);
  /// Records where a root's result is.
  void setResult(mlir::Value result, Buffer *buffer, mlir::Value scalarValue);
  Buffer *resultBuffer(mlir::Type type);
  /// A buffer takes what a reduction leaves of a tile.
  Buffer *reducedBuffer(mlir::Value result);

  //===-- What kernels say (EmitReport.cpp) -------------------------------===//
  void emitAssert(ir::AssertOp op);
  void emitPrint(ir::PrintOp op);
  void reportFailure(ir::AssertOp op);
  mlir::Value watched(mlir::Operation *op, llvm::ArrayRef<Lanes> indices,
                      mlir::Value mask) override;
  /// Tells that a program begins, in code that is watched.
  void enterProgram();
  mlir::Value programCoordinate(unsigned binder);
  /// Returns from the function, after `before`, where the condition holds.
  void leaveIf(mlir::Value condition, llvm::function_ref<void()> before);
  /// Returns if this program or an earlier one has failed.
  void leaveIfFailed(mlir::Value program);
  mlir::Value reportField(unsigned field);
  mlir::Value callReport(unsigned field, llvm::ArrayRef<mlir::Value> arguments,
                         mlir::Type result = {});
  mlir::Value siteConstant(mlir::Operation *op);
  mlir::Value newWords(int64_t count);
  void storeWord(mlir::Value words, int64_t index, mlir::Value value);
  Buffer *shownBuffer(mlir::Value value);
  /// Which elements of a tile are inside its conditions, in the order of these axes; null for all.
  Buffer *maskBuffer(Axes axes);

  const Plan &plan;
  mlir::Value report, program; // null where nothing is reported
  llvm::DenseMap<mlir::Operation *, unsigned> siteNumbers;
  mlir::LLVM::LLVMFuncOp function;
  FoldOrders &orders; // as they come
  llvm::SmallVector<BufferShape> shapes;
  llvm::SmallVector<std::unique_ptr<Buffer>> allBuffers;
  llvm::DenseMap<mlir::Value, Buffer *> buffers;
  llvm::DenseMap<mlir::StringAttr, std::pair<mlir::Value, mlir::Value>> blocks;
  llvm::SmallVector<Level> levels;
  bool hasMoved = false;              // to another level, at whose end code stays in one block
  int64_t unrolled = 1;               // copies of the code at this place
  llvm::DenseSet<mlir::Value> zeroed; // kept values that are 0 outside their conditions
  bool streams = false;               // some store goes past the caches
  int nests = 0;                      // emitted so far
  struct Reads {
    int firstNest = 0, prefetchingNest = 0;
    bool isApart = false; // its rows lie apart, or come at once (hasRowsApart, isReadAtOnce)
    /// To what the next program reads, once it is known; of short rows, which the first nest asks
    /// for, and of what others do.
    mlir::Value shortDistance, distance;
  };
  llvm::DenseMap<mlir::Operation *, Reads> readsOf;
  int costBehind = 0;    // of the ops between the nest's result and what is emitted
  bool asksAhead = true; // false in the nest of a store that may not run
  llvm::DenseSet<mlir::Operation *> done; // reductions and stores that are in some nest
  /// Stores that are in some nest, too, except where this holds.
  llvm::DenseMap<mlir::Operation *, mlir::Value> storedUnless;
  friend class PackedDot;
};

/// Whether floats are added to a `reduce` output, whose copies then are f64 (CpuEntry.h).
bool hasWideSums(ir::KernelOp kernel);

/// A module with the kernel's functions, in the LLVM dialect and arith: `NAME`
/// with the signature of CpuKernelFunction, `NAME.programs`, `NAME.scratch`, `NAME.work` and, with
/// `reduce` outputs, `NAME.apart` with that of CpuQueryFunction. `orders` gets those of the
/// kernel's sums.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerKernel(ir::KernelOp kernel, const TargetInfo &target, FoldOrders &orders);

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_LOWERING_H
