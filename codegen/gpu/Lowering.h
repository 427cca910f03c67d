//===- Lowering.h - from the tile_gpu level to LLVM's ---------------------===//
//
// One kernel becomes one function that each thread runs: a tile is the list of
// the registers that its layout gives the thread, an elementwise op one operation
// a register. Control flow is the same for all threads of a program, so barriers
// may stand anywhere.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWERING_H
#define TILE_CODEGEN_GPU_LOWERING_H

#include "codegen/Elementwise.h"
#include "codegen/gpu/Divisors.h"
#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/InlineAsm.h"
#include "codegen/gpu/Shortage.h"
#include "codegen/gpu/Sites.h"
#include "codegen/gpu/TileGpuOps.h"
#include "ir/Domain.h"

#include "llvm/ADT/MapVector.h"

namespace tile::codegen::gpu {

/// What a lowered kernel needs of its launch.
struct LoweredKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::LLVM::LLVMFuncOp function; // in the module
  unsigned threads = 0;
  /// Of a program: more than one are a cluster, and follow each other in the grid.
  unsigned blocks = 1;
  /// Of dynamic shared memory, a block.
  int64_t sharedBytes = 0;
  llvm::SmallVector<TensorBox> tensorMaps;
  /// The op that takes most of that, of the kernel that was lowered.
  mlir::Operation *largestOfShared = nullptr;
  /// Contractions whose types tensor cores have, but not as their tiles are, and why.
  llvm::SmallVector<PlainDot> plainDots;
  /// Whether there is a function with this suffix (GpuCode::start, finish).
  bool hasStart = false, hasFinish = false;
  /// Whether the function folds copies itself where the launch gives it a counter.
  bool foldsItself = false;
  static constexpr llvm::StringLiteral startSuffix = ".start", finishSuffix = ".finish";
  llvm::SmallVector<ReduceCopies, 1> copies;
  /// See GpuCode.
  llvm::SmallVector<unsigned, 1> keptBinders;
  bool storesAlone = false;
};

/// A kernel on the tile_gpu level as a module of the LLVM dialect and arith and math on scalars.
/// The function has the kernel's name; its parameters are the tensors' addresses and the scalars in
/// order (bool as i8), then the dims as i64, then what GpuCode says. Program n is block n of the
/// grid, or cluster n, the last binder fastest; there are fewer than 2^31. Fails, with an error at
/// the op, where the backend lacks it. `room` is the shared memory that blocks of turns to come may
/// have; 0: there are none.
mlir::FailureOr<LoweredKernel> lowerKernel(ir::KernelOp kernel, const GpuTarget &gpuTarget,
                                           int64_t room = mostSharedOfOp);

/// A function's name in the module, which no function that kernels call has.
inline constexpr llvm::StringLiteral symbolPrefix = "kernel.";
inline std::string symbolOf(llvm::StringRef name) { return (symbolPrefix + name).str(); }

/// What one copy of a warp's rows moves.
TensorBox boxOf(SendOp op);
/// The boxes that a kernel's copies move, each once, in the order of their first use.
llvm::SmallVector<TensorBox> tensorMapsOf(ir::KernelOp kernel);
/// A tile in registers.
struct Tile {
  llvm::SmallVector<mlir::StringAttr> axes;
  Layout layout;
  CodeBuilder::Values registers;

  int axisIndex(mlir::StringAttr axis) const {
    auto found = llvm::find(axes, axis);
    return found == axes.end() ? -1 : static_cast<int>(found - axes.begin());
  }
};

/// base + constant; no base is 0.
struct Index {
  mlir::Value base;
  int64_t constant = 0;
};

/// A tensor in memory, row-major.
struct Tensor {
  mlir::Value pointer;
  mlir::Type element; // of the IR
  llvm::SmallVector<mlir::Value> extents, strides;
  /// Powers of two that divide the strides.
  llvm::SmallVector<int64_t> strideDivisors;
  unsigned innermost = 0; // dimension (Divisors.h)
  bool isInvariant = false;
  /// What is before the kernel may write it while the kernel's first instructions run.
  bool isEarly = false;
  /// Other programs may change it meanwhile.
  bool isContended = false;
};

/// The `reduce` outputs of a kernel that have copies; the others are updated atomically.
llvm::SmallVector<ReduceCopies, 1> copiesOf(ir::KernelOp kernel);
/// With more registers of a thread for the updates of all programs of a block, programs have fewer
/// for what they are about.
inline constexpr int64_t mostOfUpdates = 32;
/// The binders that decide which elements of all outputs with copies a program updates, if each of
/// these is updated once, in all its elements: blocks that differ in them may share a copy, where
/// threads have room for `mostOfUpdates` (ReduceOutputs.cpp).
llvm::SmallVector<unsigned, 1> keptBindersOf(ir::KernelOp kernel);
/// Whether what follows complete sums is little.
bool hasSmallFinishes(ir::KernelOp kernel);
/// Whether a kernel with copies has so few elements of them that its last block may fold them, and
/// all blocks come to the end.
bool foldsItself(ir::KernelOp kernel);

/// Whether it is the integer of a binder that has just one value, in all programs.
bool isOnlyOne(mlir::Value value);
/// Two elements of 16 bits as a word, the first one low.
mlir::Value packPair(CodeBuilder &b, mlir::Value first, mlir::Value second);
/// A special register of this name, as i32.
mlir::Value readSpecial(CodeBuilder &b, llvm::StringRef name);

struct PrefetchedRows;
class Scan;
struct ScanRun;
struct ScanLines;
struct DotOperand;
struct DotFragments;
struct WarpMma;

/// A load of a loop, of which copies bring blocks of turns to come (Stages.cpp): elements that one
/// copy moves; where its tile begins and ends in a slot, and steps along its axes there, of
/// elements.
struct StagedLoad {
  ir::LoadOp load;
  int64_t width = 1, start = 0, end = 0;
  llvm::SmallVector<int64_t> strides;
};
/// What a turn has of it.
struct StagedOperand {
  const StagedLoad *staged = nullptr;
  mlir::Value slot;
};

/// Where a register's row or column of an operand of a dot begins; registers with one key share it.
struct DotRow {
  Index place;
  llvm::SmallVector<int64_t, 2> key;
};

class KernelLowering {
public:
  /// `room`: the shared memory that a block may have.
  KernelLowering(CodeBuilder &b, ir::KernelOp kernel, mlir::LLVM::LLVMFuncOp function,
                 const GpuTarget &gpuTarget, int64_t room = mostSharedOfOp);
  mlir::LogicalResult run();
  /// Emits another function of the kernel, which fills `reduce` outputs with their identities, or
  /// folds the copies of those that have some.
  void runStart();
  void runFinish();
  int64_t sharedBytes() const {
    return reservedShared ? llvm::alignTo(mostShared, 128) + reservedShared : mostShared;
  }
  /// The op that takes that much.
  mlir::Operation *largestOfShared() const { return mostSharedOp; }
  /// See LoweredKernel.
  llvm::SmallVector<PlainDot> plainDots;
  /// See GpuCode.
  llvm::SmallVector<unsigned, 1> keptBinders;
  bool storesAlone = false;

  /// The state that two make.
  using Combine = llvm::function_ref<CodeBuilder::Values(mlir::ValueRange, mlir::ValueRange)>;

private:
  using Value = mlir::Value;
  using Values = CodeBuilder::Values;
  using Axes = llvm::ArrayRef<mlir::StringAttr>;

  //===-- Ops in order (LowerKernel.cpp, LowerControl.cpp) ----------------===//
  void bindParameters();
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitParallel(ir::ParallelOp op);
  /// The programs of this block of threads, by this body.
  void emitPrograms(ir::ParallelOp op, mlir::Block &body);
  /// Binds what a program has to the one of this number, an i32.
  void bindProgram(ir::ParallelOp op, Value number);
  /// Binds some of the binders to the place of this number among their places alone.
  void bindBinders(ir::ParallelOp op, Value number, llvm::ArrayRef<unsigned> binders);
  /// How many programs there are, as i64.
  Value programCount(ir::ParallelOp op);
  /// What follows a pipeline's sums is emitted some columns at a time, so that few registers hold
  /// what is made of them, but for what an op needs that takes all of a tile.
  void planSlices(mlir::Operation *sums);
  /// Whether what two slices have of them at a time isn't too much.
  bool haveRoomAhead(llvm::ArrayRef<mlir::Operation *> loads);
  void emitNext(mlir::Operation *op);
  void emitSlice(mlir::ArrayRef<mlir::Operation *> ops, int64_t begin, int64_t end);
  void emitFirstLoads();
  /// All of them but the first one's loads, and before them what is emitted as a whole.
  void emitSlices();
  /// Whether a register of a tile is made now.
  bool isInSlice(Axes axes, const Layout &layout, int64_t reg) const;
  void emitElementwiseOp(mlir::Operation *op);
  bool emitPairsOfHalves(mlir::Operation *op);
  /// Sines, cosines and tangents of f32: all threads compute those of moderate arguments, and where
  /// one has others, those in a branch.
  void emitAngles(mlir::Operation *op);
  /// Random bits: a block for four neighbours (EmitRandom.cpp).
  void emitPhiloxOp(ir::PhiloxOp op);
  struct Draws;
  Value drawOperand(const Draws &draws, unsigned number, int64_t reg);
  /// The block of the draw that is so far ahead of a register's. Of several registers conditions
  /// number one, the first by its lowest bit.
  std::array<Value, 4> blockOf(const Draws &draws, llvm::ArrayRef<int64_t> registers,
                               llvm::ArrayRef<Value> which, int64_t ahead);
  Value selectNumber(llvm::ArrayRef<Value> values, llvm::ArrayRef<Value> bits);
  /// Where blocks begin is known.
  void drawAligned(const Draws &draws, llvm::ArrayRef<int64_t> registers);
  void drawTogether(const Draws &draws, llvm::ArrayRef<llvm::SmallVector<int64_t>> groups,
                    llvm::ArrayRef<unsigned> bits,
                    llvm::function_ref<Value(llvm::ArrayRef<Value>, unsigned)> pick);
  void drawRun(const Draws &draws, int64_t first, int64_t count);
  /// By instructions that only GPUs have, for a register; null where there are none (FastMath.cpp).
  Value emitFast(mlir::Operation *op, mlir::ValueRange operands);
  /// What an elementwise op gives for one number of each operand.
  Value emitNumber(mlir::Operation *op, mlir::ValueRange operands);
  /// A division of rows by one number each; false where it is none.
  bool emitRowDivision(mlir::Operation *op);
  Values divideAll(mlir::ValueRange numerators, Value divisor);
  /// Asks for the rows of a program that comes later, after the last load of rows, if the kernel's
  /// plan says so (Prefetch.cpp).
  void prefetchAfter(ir::LoadOp load);
  void prefetchRows(const PrefetchedRows &rows, Value exists);
  void emitBroadcast(ir::BroadcastOp op);
  void emitCoords(ir::CoordsOp op);
  void emitFor(ir::ForOp op);
  /// Binds a loop's axis to its block from here on.
  void bindBlock(ir::ForOp op, Value origin);
  /// Loads of a loop that are made a turn ahead (LoadsAhead.cpp), and which of their elements, in
  /// order, are carried together: null for one by itself.
  struct AheadLoads {
    llvm::SmallVector<ir::LoadOp> loads;
    llvm::SmallVector<mlir::VectorType> vectors;
  };
  llvm::SmallVector<ir::LoadOp> loadsAhead(ir::ForOp op);
  /// Whether a load of a loop can be made in another turn than its own.
  bool isReadAhead(ir::LoadOp load);
  /// Operands of a loop's turns to come, in a ring of slots (Stages.cpp).
  struct Stages {
    llvm::SmallVector<StagedLoad> loads;
    int64_t depth = 0, bytes = 0; // slots; of one
    Value base;
  };
  Stages stagesOf(ir::ForOp op);
  std::optional<StagedLoad> stagedLoad(ir::LoadOp load, int64_t start);
  Value slotOf(const Stages &stages, Value number);
  Value placeInSlot(const StagedLoad &staged, Value slot, int64_t reg);
  void startCopies(const StagedLoad &staged, Value slot);
  void startTurn(const Stages &stages, ir::ForOp op, Value origin, Value slot);
  void startFirstTurns(const Stages &stages, ir::ForOp op);
  /// The turn's operands are there, in its slot; those of a later one are on their way.
  void beginTurn(const Stages &stages, ir::ForOp op, Value origin, Value slot);
  Value nextSlot(const Stages &stages, Value slot);
  void finishStages(const Stages &stages);
  Values readStaged(const StagedOperand &operand);
  int64_t registersOf(ir::LoadOp op);
  /// Reads the block from `origin` on, if there is one; gives what the loop carries.
  Values fetchAhead(AheadLoads &ahead, ir::ForOp op, Value origin);
  void bindAhead(const AheadLoads &ahead, mlir::ValueRange packed);
  /// What is carried from block to block of a loop, or from program to program for an update, and
  /// does nothing but fold a reduction over these.
  struct Fold {
    ir::ReduceOp reduce;
    mlir::Operation *combine;
    llvm::SmallVector<unsigned> kept; // axes of the reduction's input
    bool isLongSum = false;
  };
  /// What can wait until the loop is done: the folds between threads. By carried value; null
  /// reductions where nothing waits.
  llvm::SmallVector<Fold> foldsOf(ir::ForOp op) const;
  /// States of the thread's own registers, for a start and after a block.
  Values startOf(const Fold &fold);
  Values stepOf(const Fold &fold, mlir::ValueRange before);
  Values finish(const Fold &fold, mlir::ValueRange states, mlir::Value init);
  /// What all threads have together.
  Values joined(const Fold &fold, mlir::ValueRange states);
  /// A long sum is two values a register: all sums, then what they have lost. A round begins with
  /// zeros in place of the sums and gives its terms, of which those count that hold.
  Values startOfSum(mlir::ValueRange init);
  Values zerosOf(mlir::ValueRange numbers);
  Values addTerms(mlir::ValueRange before, mlir::ValueRange terms,
                  llvm::ArrayRef<mlir::Value> holds = {});
  Values totalOf(mlir::ValueRange states);
  /// Gives the same sums, with as much of what they have lost in them as they can hold.
  Values settle(mlir::ValueRange states);
  /// The registers of a loop's carried values.
  struct Carried {
    struct Part {
      size_t count;
      bool isLongSum;
    };
    llvm::SmallVector<Part> parts;
    void append(Values &registers, mlir::ValueRange more, bool isLongSum);
    llvm::SmallVector<mlir::ValueRange> split(mlir::ValueRange registers) const;
    bool hasLongSums() const;
  };
  /// CodeBuilder::loop, for a loop that may be one of several runs. Where it is known how far it
  /// goes it counts from 0: assemblers see how often a loop runs, and unroll it by that, only
  /// between constants. With `mostWritten` rounds that are no more are written out.
  Values loopBetween(Value lower, Value upper, Value step, mlir::ValueRange inits,
                     CodeBuilder::LoopBody body, bool mayUnroll = true, int64_t mostWritten = 0);
  /// A loop, given its carried values' registers.
  using Loop = llvm::function_ref<Values(Value lower, Value upper, mlir::ValueRange registers)>;
  /// Rounds of a loop in runs of so many, each a loop for itself. `run` gets registers that follow
  /// the carried values' as they are, and gives them. With `copies` its code is there more than
  /// once: so many stand in one round of the loop over whole runs, and what is left behind these is
  /// one of its own, so that assemblers see how long the whole ones are.
  Values loopInRuns(Value lower, Value upper, int64_t step, int64_t rounds, mlir::ValueRange inits,
                    Loop run, int64_t copies = 0);
  /// The loop by runs, where it has or may have more rounds than sums of two numbers bear. They
  /// settle behind each run.
  Values loopOfSums(std::optional<int64_t> rounds, Value lower, Value upper, int64_t step,
                    const Carried &carried, mlir::ValueRange inits, Loop loop);
  /// A maximum and the sum that it scales, among a loop's carried values, which each thread folds
  /// by itself (RescaledSums.h).
  struct Rescaled {
    size_t maximumNumber, sumNumber;
    ir::ReduceOp maximum, added;
    mlir::Operation *scale;
  };
  llvm::SmallVector<Rescaled> rescaledOf(ir::ForOp loop);
  /// Those of all threads, after the loop.
  std::pair<Values, Values> joinRescaled(const Rescaled &pair, mlir::ValueRange maxima,
                                         mlir::ValueRange sums);
  void emitCount(mlir::scf::ForOp op);
  void emitIf(mlir::scf::IfOp op);
  void emitWhile(mlir::scf::WhileOp op);
  void fail(mlir::Operation *op, const llvm::Twine &what);

  Value scalar(Value value) const;
  Tile tile(Value value) const;
  /// All registers of values one after the other, and back.
  Values flatten(mlir::ValueRange values) const;
  void bind(mlir::ValueRange values, mlir::ValueRange registers);
  /// Where a carried value has an element in a loop's block; empty: everywhere.
  Values keepMask(ir::ForOp op, Value carried);

  //===-- Places and masks (Places.cpp) -----------------------------------===//
  Value numberOf(Part part) const {
    return part == Part::Lane ? lane : part == Part::Warp ? warp : blockRank;
  }
  /// What the thread's number adds to a coordinate, as i32.
  Value threadPlace(const Layout &layout, unsigned axis);
  /// Whether a register's constant adds to it without carry.
  static bool isAdditive(const Layout &layout, unsigned axis);
  /// A coordinate within the tile, from 0, as i32.
  Value localPlace(const Layout &layout, unsigned axis, int64_t reg);
  Index coordinate(mlir::StringAttr axis, const Layout &layout, unsigned position, int64_t reg);
  Value materialize(Index index);
  Index evaluate(mlir::AffineExpr expr, llvm::ArrayRef<Index> dims, llvm::ArrayRef<Value> syms);
  /// The greatest power of two known to divide a value, at most 64.
  /// How many coordinates the axis has here, as i32; null if the layout covers no more.
  Value limitFor(mlir::StringAttr axis, const Layout &layout, unsigned position);
  /// Whether each register holds an element of the domain; null registers: always.
  Values domainMask(Axes axes, const Layout &layout);
  /// Where this thread is the one of several with copies that acts; null: always.
  Value isFirstCopy(const Layout &layout);
  /// The same among the threads of a block.
  Value isFirstThread(const Layout &layout);

  //===-- Memory (LowerMemory.cpp) ----------------------------------------===//
  struct Access;
  void emitLoad(ir::LoadOp op);
  void emitScalarLoad(ir::LoadOp op);
  void emitStore(ir::StoreOp op);
  Access accessOf(mlir::Value memory, mlir::AffineMap map, mlir::ValueRange dims,
                  mlir::ValueRange syms, Axes axes, const Layout &layout);
  llvm::SmallVector<Index> indicesAt(const Access &access, int64_t reg);
  Value addressOf(const Access &access, llvm::ArrayRef<Index> indices);
  /// How many registers from an aligned one on one access may take.
  int64_t vectorFor(const Access &access, bool isChecked);
  /// The mask and that all indices are inside the tensor.
  Value insideOf(const Access &access, llvm::ArrayRef<Index> indices, Value mask);
  /// Applies a load's bounds: may change indices and the mask.
  void applyBounds(ir::LoadOp op, const Access &access, llvm::SmallVectorImpl<Index> &indices,
                   Value &mask);
  /// Reads `count` elements; `otherwise` where the mask does not hold.
  Values read(const Tensor &tensor, Value address, int64_t count, Value mask, Value otherwise);
  /// The tile as it is in memory; where parts of it are kept (LoopAxis.h), and where from.
  Values readTile(ir::LoadOp op, const Access &access, int64_t width);
  Values readKept(ir::LoadOp op, const Access &access, int64_t width);
  void write(const Tensor &tensor, Value address, mlir::ValueRange elements, Value mask);
  Value fromMemory(Value raw, mlir::Type element);
  Value toMemory(Value value, mlir::Type element);

  //===-- `reduce` outputs (EmitUpdate.cpp, ReduceOutputs.cpp) -------------===//
  void emitUpdate(ir::UpdateOp op);
  void updateAtomically(ir::UpdateOp op, const Access &access, Value address, Value number,
                        Value mask);
  /// Where accesses are watched, `allowed` are their masks.
  void updateInTurn(ir::UpdateOp op, const Access &access, mlir::ValueRange numbers,
                    mlir::ValueRange allowed);
  /// The mask of a register, and its number as the target takes it.
  Value updateMask(ir::UpdateOp op, const Access &access, llvm::ArrayRef<Index> indices,
                   int64_t reg);
  /// Elements of the target as numbers that combine.
  mlir::Type combinedType(mlir::Type element);
  Value identityFor(unsigned param);
  /// Puts this block's copies in the place of the outputs.
  void bindCopies();
  void fillCopies();
  /// Updates of the same elements by every program of a block (`combine`), in all threads'
  /// registers until these programs are done. Where they fold a reduction, threads join what they
  /// have then.
  llvm::SmallVector<Fold> accumulatedUpdates();
  Values startOfUpdate(const Fold &fold);
  /// The binders that decide alone which elements the updates are of, where all elements of the
  /// outputs are some program's; none: blocks have copies of whole outputs.
  llvm::SmallVector<unsigned, 1> findKeptBinders();
  void writeAccumulated(const Fold &fold, mlir::ValueRange states);
  void fill(unsigned param, Value first, Value step, Value count);
  Value elementsOf(const Tensor &tensor);
  void finishOutput(const ReduceCopies &copies, const Tensor &output, Value block);
  void finishFewCopies(const ReduceCopies &copies, const Tensor &output, Value block);
  /// An element of the copies from number `begin` on, each `step` further, as one number.
  Value foldRun(unsigned param, const Tensor &first, Value element, Value length, Value begin,
                int64_t step);
  /// With a counter: the last of the blocks to come here folds all copies.
  void foldByLast();
  void foldFew(unsigned param, const Tensor &first, const Tensor &output);
  void writeFolded(unsigned param, const Tensor &output, Value element, Value folded);
  /// What an output's element is of what its updates made, as it is stored.
  Value finished(unsigned param, const Tensor &output, Value folded);
  //===-- What programs share (EmitAtomic.cpp) ----------------------------===//
  /// Finds the tensors whose accesses have an order.
  void findContended();
  /// An access comes: a barrier where it may meet one before it.
  void orderAccess(Value memory, bool writes);
  /// Afterwards any access may have happened, as at the ends of regions.
  void assumeAccesses();
  /// The registers of the thread whose copy acts, in all threads with copies.
  Values shareFirst(const Layout &layout, Values registers);
  /// One element, of which all threads have a copy.
  Layout layoutOfScalar() const;
  /// A tile's own, or that of a scalar.
  Layout layoutOfValue(Value value) const;
  void emitAtomic(ir::AtomicOp op);
  /// The operation on one element where the predicate holds (null: always); gives the old one.
  Value emitAtomicElement(ir::AtomicOp op, Value address, Value predicate, Value value,
                          Value expected);
  Value emitFloatExtreme(ir::AtomicOp op, Value address, Value predicate, Value value);

  //===-- What kernels say (EmitReport.cpp) -------------------------------===//
  void emitAssert(ir::AssertOp op);
  void emitPrint(ir::PrintOp op);
  /// Programs that run one after the other in a block, or in another order, can't.
  bool canReport(mlir::Operation *op);
  Value reportField(unsigned number);
  Value isFirstThread();
  void byFirstThread(llvm::function_ref<void()> act);
  Value programCoordinate(unsigned binder);
  /// The program ends where the condition holds, which is the same in all of its threads.
  void leaveIf(Value condition, llvm::function_ref<void()> before);
  void reportFailure(ir::AssertOp op, mlir::ValueRange coordinates);
  Value anyThread(Value condition);
  /// Row-major, of what a layout covers.
  static llvm::SmallVector<int64_t> stridesOf(const Layout &layout);
  Value takeRecord(int64_t bytes, Value &fits);
  static uint64_t siteOf(mlir::Operation *op);
  void storeHeader(Value record, uint64_t site, int64_t bytes);
  void storeReported(Value value, Value record, int64_t offset, Value place);
  void storeShown(const Tile &tile, Value record, int64_t data, int64_t defined);

  //===-- Watched accesses (EmitWatch.cpp) --------------------------------===//
  /// An element of an access: where, and whether it is accessed (null: it is).
  struct Planned {
    llvm::SmallVector<Index> indices;
    Value mask;
  };
  /// A program begins.
  void watchProgram();
  void noteAccess(mlir::Operation *op, const Access &access, const Layout &layout,
                  llvm::function_ref<Planned(int64_t)> plan);
  /// An access is about to happen. Gives for each register whether it may; nothing where nobody
  /// watches.
  Values watch(mlir::Operation *op, const Access &access, const Layout &layout,
               llvm::function_ref<Planned(int64_t)> plan);

  //===-- Between threads (Exchange.cpp) ----------------------------------===//
  void emitConvert(ConvertOp op);
  Tile convert(const Tile &tile, const Layout &layout);
  Values exchangeLanes(const WarpExchange &exchange, mlir::ValueRange registers);
  /// Between warps: each leaves its states in shared memory, and all read all of them.
  void foldWarps(const Layout &left, unsigned warpMask, llvm::MutableArrayRef<Values> folded,
                 Combine combine);
  /// Folds states of several numbers, each a list of registers, along axes. Every register is taken
  /// to be inside; gives the layout of what is left, and the states.
  std::pair<Layout, llvm::SmallVector<Values>> reduceStates(const Layout &layout,
                                                            llvm::ArrayRef<Values> states,
                                                            llvm::ArrayRef<unsigned> kept,
                                                            Combine combine);
  /// The states of a thread's registers that end in one place, folded as a tree; by register of
  /// what is left.
  static llvm::SmallVector<Values> foldRegisters(const Layout &layout, const Layout &left,
                                                 llvm::ArrayRef<Values> states,
                                                 llvm::ArrayRef<unsigned> kept, Combine combine);
  /// Between the threads of a program.
  void foldThreads(const Layout &layout, llvm::ArrayRef<unsigned> kept,
                   llvm::MutableArrayRef<Values> folded, Combine combine);
  /// Between the blocks of a cluster, in the order of their numbers (Clusters.cpp).
  void foldBlocks(const Layout &left, unsigned blockMask, llvm::MutableArrayRef<Values> folded,
                  Combine combine);
  Value arrivalOf(int64_t bytes);
  void announceBlock();
  void waitForBlocks();
  /// A reduction's input, with the identity for what is not inside.
  Values identityOutside(ir::ReduceOp op);
  void emitReduce(ir::ReduceOp op);
  void emitPartialReduce(PartialReduceOp op);
  void emitArgReduce(ir::ArgReduceOp op);
  void emitCountOp(ir::CountOp op);
  void emitDot(ir::DotOp op);
  /// The operand of this number as it was made: a conversion for the op alone is made with it.
  Value sourceOf(ir::DotOp op, unsigned number) const;
  /// The operand as elements has registers and a mask where they are asked for.
  DotOperand operandOf(ir::DotOp op, unsigned number, bool hasRegisters);
  /// Puts what contractions by threads take of before their loop into shared memory once, for all
  /// turns, if there is room: registers are then free of it. Gives what `residents` has more.
  llvm::SmallVector<std::pair<ir::DotOp, unsigned>> placeResidents(ir::ForOp loop);
  /// Whether a conversion is made where its dots are: what they need of it, by way of shared
  /// memory.
  bool isMadeByDots(ConvertOp op) const;
  /// By each thread's multiply-adds: the sums.
  Values multiplyByThreads(ir::DotOp op, llvm::MutableArrayRef<DotOperand> operands);
  /// By instructions of warps (EmitWarpMma.cpp); false where there are none for it.
  bool emitWarpDot(ir::DotOp op, llvm::MutableArrayRef<DotOperand> operands);
  DotFragments fragmentsOf(const DotOperand &operand, const WarpMma &mma, const Layout &layout);
  void storeFragments(const DotFragments &operand);
  void clearFragments(const DotFragments &operand);
  Value numberOf(const DotFragments &operand, int64_t reg);
  Value wordOf(DotFragments &operand, int64_t reg);
  Value hasNonFinite(const DotFragments &operand);
  Values multiplyFragments(DotFragments &rows, DotFragments &columns, const WarpMma &mma, Axes axes,
                           const Layout &sums, Values acc);
  void storeOperand(const DotOperand &operand, mlir::Type type, Value chunkStart, int64_t chunk);
  llvm::SmallVector<DotRow> rowsOf(const DotOperand &operand, Axes axes, const Layout &layout);
  /// Adds so many products to each register.
  Values multiplyRows(llvm::ArrayRef<DotOperand> operands,
                      llvm::ArrayRef<llvm::SmallVector<DotRow>> rows, mlir::Type type, Value count,
                      mlir::ValueRange acc);

  //===-- Along an axis (EmitScan.cpp, EmitSort.cpp, EmitTake.cpp) ----------===//
  void emitScan(ir::ScanOp op);
  /// By number: states by register, and the last ones by register of the layout without the axis.
  struct Scanned {
    llvm::SmallVector<Values> states, last;
  };
  /// Combines along an axis of a layout that `layoutForScan` gave, from `inits` on. Where the mask
  /// of a register doesn't hold, the state stays.
  Scanned scanStates(const Layout &layout, unsigned axis, bool reverse,
                     llvm::ArrayRef<Values> states, llvm::ArrayRef<Value> mask,
                     llvm::ArrayRef<Values> inits, Combine combine);
  /// This layout, or if threads don't follow each other along the axis another one.
  Layout layoutForScan(const Layout &layout, unsigned axis) const;
  /// Joins a run's total with those of the other lanes; all runs' with those of the other warps,
  /// which have them by place of `left` and repeat.
  void joinLanes(const Scan &scan, ScanRun &run, llvm::ArrayRef<unsigned> bits);
  void joinWarps(const Scan &scan, const Layout &left, ScanLines &lines,
                 llvm::ArrayRef<unsigned> bits);
  void emitSort(ir::SortOp op);
  struct Sorting;
  /// Puts the elements of some lines into shared memory, sorted.
  void sortLines(const Sorting &sorting, const Tile &input, llvm::ArrayRef<Value> mask,
                 const Values &ranks, Value firstLine);
  void mergeStages(const Sorting &sorting);
  /// The n-th elements of lines: values and coordinates, by register of a result.
  std::pair<Values, Values> readSorted(const Sorting &sorting, mlir::Value result,
                                       mlir::ValueRange values, mlir::ValueRange coordinates,
                                       Value firstLine);
  /// How many coordinates inside stand before each one.
  Values ranksOf(const Tile &input, unsigned axis, llvm::ArrayRef<Value> mask);
  Value lineOf(const Sorting &sorting, Axes axes, const Layout &layout, int64_t reg);
  void emitTake(ir::TakeOp op);

  Value shuffleXor(Value value, unsigned mask);
  /// The value of another lane of the warp.
  Value shuffleFrom(Value value, Value lane);
  Value shuffle(Value value, llvm::StringRef intrinsic, Value operand);
  void barrier();
  /// Address of byte `offset` of the program's shared memory; asks for so many bytes.
  Value shared(int64_t bytes);
  /// Address of memory that nothing else gets, after that which `shared` gives out by turns.
  Value reserved(int64_t bytes);
  Value sharedAt(Value base, Value index, mlir::Type element, int64_t constant = 0);
  void storeShared(Value value, Value address);
  Value loadShared(mlir::Type element, Value address);
  /// Position of a register in a row-major array of the layout's extents; `strides` of the axes.
  Index linearPlace(const Layout &layout, int64_t reg, llvm::ArrayRef<int64_t> strides);

  //===-- Roles and channels (LowerPipeline.cpp, EmitMma.cpp) -------------===//
  void emitChannel(ChannelOp op);
  void emitPut(PutOp op);
  struct Item;
  void copyPart(PutOp op, size_t n, const Item &item, Values place);
  void emitGet(GetOp op);
  void emitRelease(ReleaseOp op);
  void emitRoles(ir::ParallelOp parallel, RolesOp roles);
  void emitRole(ir::ParallelOp parallel, RolesOp roles, unsigned number);
  /// Waits for the warpgroup's turn, or passes it on.
  void emitTurn(bool waits);
  void giveFirstTurn(mlir::Region &role);
  void emitRead(ReadOp op);
  /// Two matrices, the first one in shared memory or in registers, and how their product is in
  /// registers.
  struct MmaSource {
    mlir::Value a, b;
    bool aByColumns, bByColumns;
    const Layout &layout;
  };
  Values startMma(const MmaSource &source, mlir::ValueRange registers, int64_t rowRepeat,
                  mlir::Value adds, bool commits);
  void emitMma(MmaOp op);
  /// The parameter that is the map of a box, and where a box begins, as i32, innermost first.
  Value tensorMap(const TensorBox &box);
  Values placeOfBox(mlir::AffineMap map, mlir::ValueRange dims);
  /// Room in which warps leave their rows for copies to fetch (EmitSend.cpp).
  void makeOutboxes(RolesOp roles);
  void emitSend(SendOp op);
  void combineBlocks(CombineOp op);
  /// All threads of a cluster come here; `order`: with all that they have sent to each other.
  void meetBlocks(llvm::StringRef order);
  /// Leaves the warp's 16 rows from `row` and `column` of the tile on there.
  void fillOutbox(SendOp op, Value outbox, int64_t row, int64_t column);
  void finishSends(unsigned role);
  /// Waits for groups; the registers are those of the pending tile.
  Values waitForMma(mlir::ValueRange registers, int64_t pending);
  /// Address of byte `offset` of the program's shared memory, as i32.
  Value sharedAddress(int64_t offset);
  Item itemOf(mlir::TypedValue<ChannelType> channel, Value number);

  CodeBuilder &b;
  ir::KernelOp kernel;
  mlir::LLVM::LLVMFuncOp function;
  TargetInfo target;
  ir::Domains domains;
  Divisors divisors;
  mlir::Block *prologue;
  Value lane, warp, thread, blockRank; // i32; the block's number in its cluster
  unsigned warps, blocks;
  Value report; // null where nothing is reported
  bool watches = false;
  Value program; // its number, i64
  /// Columns that are emitted, from 0 on in turn.
  struct Slice {
    mlir::StringAttr axis;
    int64_t begin = 0, end = 0;
  };
  std::optional<Slice> slice;
  /// Of what follows the sums: what is emitted as a whole, and then the rest, `step` columns at a
  /// time. Its loads are emitted for `width` columns, so many ahead. No columns: all is emitted as
  /// a whole.
  struct Slices {
    mlir::StringAttr axis;
    int64_t columns = 0, width = 0, step = 0;
    llvm::SmallVector<mlir::Operation *> whole, loads, rest;
  } slices;
  /// Finds out which program runs, where that is still to do; null: it is done.
  std::function<void()> bindLater;
  Values dims;
  llvm::DenseMap<Value, Value> scalars;
  llvm::DenseMap<Value, Tile> tiles;
  llvm::DenseMap<Value, Tensor> tensors;
  /// First coordinate of an axis' tile, and the first one past it.
  struct Range {
    Value origin, end;
  };
  llvm::DenseMap<mlir::StringAttr, Range> ranges;
  std::map<std::vector<int64_t>, Value> threadPlaces;
  /// Where the channels' slots begin, and their barriers.
  struct ChannelPlace {
    int64_t slots, barriers;
  };
  llvm::DenseMap<Value, ChannelPlace> channels;
  llvm::DenseMap<Value, Value> matrices; // addresses in shared memory, i32
  llvm::SmallVector<TensorBox> tensorMaps;
  /// Where the outboxes of the roles' warps begin, by role; negative: there are none.
  llvm::SmallVector<int64_t> outboxes;
  /// Copies from a warp's outboxes that were emitted for a program.
  int64_t numSent = 0;
  Value turn;
  /// Numbers of the items that the program's role puts or gets next, by channel.
  llvm::MapVector<Value, Value> positions;
  /// Which of the hardware's barriers the warps use that run this.
  unsigned barrierNumber = 0;
  /// From which one on they are those of warpgroups' turns.
  unsigned firstTurnBarrier = 0;
  /// What is taken of shared memory: for good, or for all turns of a loop.
  int64_t sharedFloor = 0;
  int64_t room; // of shared memory
  llvm::DenseMap<mlir::Operation *, StagedOperand> stagedOperands;
  /// Where operands are that stay for all turns of a loop.
  std::map<std::pair<mlir::Operation *, unsigned>, Value> residents;
  /// What happened to a tensor of a grid kernel since the last barrier.
  struct Accesses {
    bool byTiles = false, isRead = false, isWritten = false;
  };
  llvm::MapVector<Value, Accesses> accesses;
  mlir::Operation *currentOp = nullptr, *mostSharedOp = nullptr;
  /// `reduce` outputs with copies, as GpuCode has them; the tensors are then those of the block.
  llvm::SmallVector<ReduceCopies, 1> copies;
  Value placeOfCopies, counter; // of u32; null: another function folds
  Value numCopies, numPrograms; // i64
  /// This block has the copy of this number, and its kept binders have this one of so many places.
  Value copyNumber, keptPlace, keptPlaces; // i32
  /// The tensors themselves, in the order of `copies`.
  llvm::SmallVector<Tensor, 1> copiedOutputs;
  llvm::DenseMap<mlir::Operation *, Values> accumulated;
  int64_t mostShared = 0, reservedShared = 0;
  Value reservedBase; // i32, set at the end
  bool hasClusterFolds = false;
  llvm::SmallPtrSet<mlir::Operation *, 4> waiting; // not emitted where they stand
  llvm::SmallPtrSet<mlir::Operation *, 4> apart;   // reductions of each thread's own elements
  struct Kept {
    Layout layout;
    int64_t width = 0;
    Value base;
  };
  llvm::DenseMap<int64_t, Kept> kept;
  bool failed = false;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWERING_H
