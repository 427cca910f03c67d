//===- ProofsFolds.cpp - no value depends on how blocks are cut -----------===//
//
// A dataflow over the kernel's values. A reduction over a block span is
// *partial*: it saw one block, and may only be negated, scaled by what is free
// of the span, combined with its like, and folded. A variable carried by a
// `fold` loop is a *chain*: each step folds a partial value, and nothing else
// reads it. Inside a `reassociable` loop, which is the author's promise, both
// are *tainted* instead: they go anywhere but out of the loop other than as its
// results. Sequential blocks and integer loops have a meaning of their own.
//
// Loops over integers may carry partial values and chains around: their
// arguments join what enters with what comes back, until nothing changes. Then
// one more sweep reports.
//
//===----------------------------------------------------------------------===//

#include "ir/ProofsDetail.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

namespace {

struct State {
  enum class Kind {
    None,     // not reached yet
    Constant, // a number from the source: maybe the identity of an operator
    Free,     // the same however blocks are cut
    Partial,  // one block's share
    Chain,    // a variable on its way through a loop that folds it
    Bad,      // an error was reported
  };
  Kind kind = Kind::None;
  /// Partial: the spans of which it saw one block. Chain: the loops it passes.
  uint64_t spans = 0;
  /// Chain: what its result will be partial over, known after the first fold.
  std::optional<uint64_t> rest;
  /// Of Partial; of a Chain after the first fold.
  std::optional<CombineKind> combine;
  /// Chain: the variable in its outermost loop.
  BlockArgument root;
  TypedAttr constant;
  /// The reassociable loops whose blocks it depends on.
  uint64_t tainted = 0;
  /// Partial: how many elements there are, which only `mean` asks.
  bool isCount = false;

  bool is(Kind other) const { return kind == other; }
  bool isPlain() const { return kind == Kind::Constant || kind == Kind::Free; }
  bool operator==(const State &) const = default;
};
using Kind = State::Kind;

State make(Kind kind, uint64_t tainted = 0) {
  State state;
  state.kind = kind;
  state.tainted = tainted;
  return state;
}

State makePartial(uint64_t spans, CombineKind combine, uint64_t tainted) {
  State state = make(spans ? Kind::Partial : Kind::Free, tainted);
  state.spans = spans;
  if (spans)
    state.combine = combine;
  return state;
}

/// A block span in scope.
struct Scope {
  StringAttr name;
  Operation *binder;
  bool isReassociable = false;
};

class FoldProof {
public:
  explicit FoldProof(ProofContext &context) : context(context) {}
  void run();

private:
  // Sweeps
  void visit(Block &block);
  void visit(Operation &op);
  void visitFor(ForOp loop);
  void visitCount(scf::ForOp loop);
  void visitIf(scf::IfOp op);
  void visitWhile(scf::WhileOp op);
  void enterFold(ForOp loop, unsigned n, uint64_t bit);
  State leaveFold(ForOp loop, unsigned n);
  State leaveReassociable(ForOp loop, unsigned n, uint64_t bit);
  void around(Operation *loop, Value argument, Value init, Value yielded, Value result);
  void checkUses();

  // Transfer
  State stateOfReduce(ReduceOp op);
  State stateOfDot(DotOp op);
  State stateOfCount(CountOp op);
  State stateOfBroadcast(BroadcastOp op);
  State combine(Operation *op, const State &a, const State &b, CombineKind kind);
  State fold(Operation *op, const State &chain, const State &folded, CombineKind kind);
  State scale(Operation *op, const State &a, const State &b, bool divides);
  State negate(Operation *op, const State &a);
  State join(const State &a, const State &b);
  State other(Operation *op);
  void checkStore(StoreOp op);
  void checkUpdate(UpdateOp op);
  /// Operands that decide what runs or where: bounds, conditions, indices.
  void checkPlain(Operation *op, ValueRange operands, StringRef what, bool taintIsFine = false);

  // Errors; each returns Bad
  State bad(const State &a, const State &b = {}) { return make(Kind::Bad, a.tainted | b.tainted); }
  bool mayReport(Operation *op, BlockArgument root = {});
  State refuse(Operation *op, const State &offending, StringRef what);
  State refuseRead(Operation *op, const State &chain);
  State refuseOncePerBlock(Operation *op, CombineKind kind, uint64_t spans, StringRef what);

  State get(Value value) const;
  void set(Value value, const State &state) { states[value] = state; }
  uint64_t bitOf(StringAttr axis) const;
  uint64_t cutBits(ArrayRef<StringAttr> axes) const;
  uint64_t reassociable(uint64_t spans) const;
  std::string names(uint64_t spans) const;
  std::string share(const State &partial) const;
  std::string variable(BlockArgument root) const;

  ProofContext &context;
  llvm::DenseMap<Value, State> states;
  llvm::DenseMap<Value, std::pair<State, State>> conflicts;
  llvm::SmallPtrSet<Operation *, 8> reportedOps;
  llvm::SmallDenseSet<Value> reportedRoots;
  SmallVector<Scope> scopes;
  bool changed = false, reporting = false, isTooDeep = false;
};

} // namespace

//===-- Words -------------------------------------------------------------===//

static StringRef reductionName(CombineKind kind) {
  switch (kind) {
  case CombineKind::add:
    return "sum";
  case CombineKind::mul:
    return "prod";
  case CombineKind::max:
  case CombineKind::umax:
    return "max";
  case CombineKind::min:
  case CombineKind::umin:
    return "min";
  case CombineKind::fmax:
    return "fmax";
  case CombineKind::fmin:
    return "fmin";
  case CombineKind::andi:
    return "all";
  case CombineKind::ori:
    return "any";
  case CombineKind::xori:
    return "xor";
  }
  llvm_unreachable("all kinds are handled");
}

static std::string assignment(CombineKind kind) {
  switch (kind) {
  case CombineKind::add:
    return "`+=`";
  case CombineKind::mul:
    return "`*=`";
  case CombineKind::andi:
    return "`&=`";
  case CombineKind::ori:
    return "`|=`";
  case CombineKind::xori:
    return "`^=`";
  default:
    return ("`" + reductionName(kind) + "=`").str();
  }
}

/// What a combination does, as a verb.
static StringRef verb(CombineKind kind) {
  return kind == CombineKind::add ? "adds" : kind == CombineKind::mul ? "multiplies" : "combines";
}

/// An operation as sources call it.
static std::string operationName(Operation *op) {
  if (isa<CastOpInterface, FpToIntOp>(op))
    return "a cast";
  if (isa<arith::CmpFOp, arith::CmpIOp>(op))
    return "a comparison";
  if (isa<arith::SelectOp>(op))
    return "`where`";
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return "`*`";
  if (isa<arith::DivFOp, DivOp>(op))
    return "`/`";
  if (isa<RemOp>(op))
    return "`%`";
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return "`+`";
  if (isa<arith::SubFOp, arith::SubIOp, arith::NegFOp>(op))
    return "`-`";
  if (isa<DotOp>(op))
    return "`dot`";
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return ("`" + reductionName(reduce.getKind()) + "`").str();
  if (isa<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MaxNumFOp>(op))
    return "`max`";
  if (isa<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp, arith::MinNumFOp>(op))
    return "`min`";
  if (isa<ArgReduceOp>(op))
    return "`argmax`";
  StringRef name = op->getName().stripDialect();
  if (isa<math::MathDialect>(op->getDialect()))
    return ("`" + name + "`").str();
  return "an operation";
}

std::string FoldProof::names(uint64_t spans) const {
  std::string text;
  for (auto [n, scope] : llvm::enumerate(scopes))
    if (spans >> n & 1)
      text += (text.empty() ? "`" : " and `") + scope.name.str() + "`";
  return text;
}

std::string FoldProof::share(const State &partial) const {
  return ("the `" + reductionName(*partial.combine) + "` over one block of " + names(partial.spans))
      .str();
}

std::string FoldProof::variable(BlockArgument root) const {
  StringRef name = nameIn(root.getLoc());
  return name.empty() ? "this variable" : "`" + name.str() + "`";
}

//===-- Scopes ------------------------------------------------------------===//

uint64_t FoldProof::bitOf(StringAttr axis) const {
  for (auto [n, scope] : llvm::enumerate(scopes))
    if (scope.name == axis)
      return uint64_t(1) << n;
  return 0;
}

uint64_t FoldProof::cutBits(ArrayRef<StringAttr> axes) const {
  uint64_t bits = 0;
  for (StringAttr axis : axes)
    bits |= bitOf(axis);
  return bits;
}

uint64_t FoldProof::reassociable(uint64_t spans) const {
  uint64_t bits = 0;
  for (auto [n, scope] : llvm::enumerate(scopes))
    if (scope.isReassociable)
      bits |= uint64_t(1) << n;
  return bits & spans;
}

State FoldProof::get(Value value) const {
  auto found = states.find(value);
  return found == states.end() ? make(Kind::Free) : found->second;
}

//===-- Errors ------------------------------------------------------------===//

/// One error an op, and one a variable, is enough.
bool FoldProof::mayReport(Operation *op, BlockArgument root) {
  return reporting && reportedOps.insert(op).second && (!root || reportedRoots.insert(root).second);
}

State FoldProof::refuse(Operation *op, const State &offending, StringRef what) {
  if (offending.isCount && mayReport(op)) {
    auto diagnostic = context.error(op)
                      << "`mean` over one block of " << names(offending.spans) << " depends on how "
                      << names(offending.spans) << " is cut into blocks";
    diagnostic.attachNote(op->getLoc())
        << "hint: fold the `sum` and divide once, after the loop, by how many elements there are";
  } else if (mayReport(op)) {
    bool isCast = isa<CastOpInterface, FpToIntOp>(op);
    auto diagnostic = context.error(op)
                      << what << " takes " << share(offending) << ", which depends on how "
                      << names(offending.spans) << " is cut into blocks";
    bool inLoop = false;
    for (auto [n, scope] : llvm::enumerate(scopes))
      inLoop |= (offending.spans >> n & 1) && isa<ForOp>(scope.binder);
    if (isCast)
      diagnostic.attachNote(op->getLoc())
          << "hint: cast it after the loop: fold it first, uncast, with "
          << assignment(*offending.combine);
    else if (inLoop)
      diagnostic.attachNote(op->getLoc())
          << "hint: fold it into a `var` with " << assignment(*offending.combine)
          << " and go on with the variable after the loop, or mark the loop `reassociable` if the "
             "result does not depend on the blocks";
    else
      diagnostic.attachNote(op->getLoc()) << "hint: a value over all of " << names(offending.spans)
                                          << " is complete only in a `reduce` output, or with the "
                                             "whole axis `:` instead of a block";
  }
  return bad(offending);
}

State FoldProof::refuseRead(Operation *op, const State &chain) {
  if (mayReport(op, chain.root)) {
    auto loop = cast<ForOp>(chain.root.getOwner()->getParentOp());
    auto diagnostic = context.error(op)
                      << "the loop over `" << loop.getName() << "` reads " << variable(chain.root)
                      << ", which it folds: the value midway depends on how the blocks are cut";
    diagnostic.attachNote(chain.root.getLoc()) << variable(chain.root) << " is carried from here";
    diagnostic.attachNote(op->getLoc())
        << "hint: in such a loop a variable only takes `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or "
           "`^=`; mark the loop `reassociable` or `sequential(n)` for any other recurrence";
  }
  return bad(chain);
}

State FoldProof::refuseOncePerBlock(Operation *op, CombineKind kind, uint64_t spans,
                                    StringRef what) {
  if (mayReport(op)) {
    std::string span = names(spans & -spans);
    auto diagnostic = context.error(op)
                      << what << " " << verb(kind) << " once per block of " << span
                      << ": the result depends on how " << span << " is cut into blocks";
    std::string bare = StringRef(span).drop_front().drop_back().str();
    diagnostic.attachNote(op->getLoc())
        << "hint: fold what is reduced over " << span << ", as in `" << reductionName(kind)
        << "(…, " << bare << ")`, or combine it once, outside";
  }
  return make(Kind::Bad);
}

//===-- Transfer ----------------------------------------------------------===//

/// The operator of an elementwise op that combines its two operands.
static std::optional<CombineKind> combineOf(Operation *op) {
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return CombineKind::add;
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(op))
    return CombineKind::max;
  if (isa<arith::MinimumFOp, arith::MinSIOp>(op))
    return CombineKind::min;
  if (isa<arith::MaxUIOp>(op))
    return CombineKind::umax;
  if (isa<arith::MinUIOp>(op))
    return CombineKind::umin;
  if (isa<arith::MaxNumFOp>(op))
    return CombineKind::fmax;
  if (isa<arith::MinNumFOp>(op))
    return CombineKind::fmin;
  if (isa<arith::AndIOp>(op))
    return CombineKind::andi;
  if (isa<arith::OrIOp>(op))
    return CombineKind::ori;
  if (isa<arith::XOrIOp>(op))
    return CombineKind::xori;
  return std::nullopt;
}

/// True if the number changes nothing when combined.
static bool isIdentity(TypedAttr number, CombineKind kind) {
  if (auto real = dyn_cast<FloatAttr>(number)) {
    APFloat value = real.getValue();
    switch (kind) {
    case CombineKind::add:
      return value.isZero();
    case CombineKind::mul:
      return value.isExactlyValue(1.0);
    case CombineKind::max:
    case CombineKind::fmax:
      return value.isInfinity() && value.isNegative();
    case CombineKind::min:
    case CombineKind::fmin:
      return value.isInfinity() && !value.isNegative();
    default:
      return false;
    }
  }
  APInt value = cast<IntegerAttr>(number).getValue();
  switch (kind) {
  case CombineKind::add:
  case CombineKind::ori:
  case CombineKind::xori:
  case CombineKind::umax:
    return value.isZero();
  case CombineKind::mul:
    return value.isOne();
  case CombineKind::max:
    return value.isMinSignedValue();
  case CombineKind::min:
    return value.isMaxSignedValue();
  case CombineKind::umin:
  case CombineKind::andi:
    return value.isAllOnes();
  case CombineKind::fmax:
  case CombineKind::fmin:
    return false;
  }
  llvm_unreachable("all kinds are handled");
}

static bool isIdentity(const State &state, CombineKind kind) {
  return state.is(Kind::Constant) && isIdentity(state.constant, kind);
}

State FoldProof::combine(Operation *op, const State &a, const State &b, CombineKind kind) {
  if (a.is(Kind::Bad) || b.is(Kind::Bad))
    return bad(a, b);
  if (a.is(Kind::Chain))
    return fold(op, a, b, kind);
  if (b.is(Kind::Chain))
    return fold(op, b, a, kind);
  uint64_t tainted = a.tainted | b.tainted;
  for (auto [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (isIdentity(*x, kind) && (!y->is(Kind::Partial) || y->combine == kind)) {
      State result = *y;
      result.tainted = tainted;
      return result;
    }
    if (x->is(Kind::Partial) && x->combine != kind)
      return refuse(op, *x, operationName(op));
    if (x->is(Kind::Partial) && !y->is(Kind::Partial))
      return refuseOncePerBlock(op, kind, x->spans, "this");
  }
  if (!a.is(Kind::Partial))
    return make(Kind::Free, tainted);
  if (a.spans != b.spans)
    return refuseOncePerBlock(op, kind, a.spans ^ b.spans, "this");
  return makePartial(a.spans, kind, tainted);
}

/// One step of a chain.
State FoldProof::fold(Operation *op, const State &chain, const State &folded, CombineKind kind) {
  if (folded.is(Kind::Bad))
    return bad(chain, folded);
  State result = chain;
  result.tainted |= folded.tainted;
  if (isIdentity(folded, kind) && (!chain.combine || chain.combine == kind))
    return result;
  if (folded.is(Kind::Chain))
    return refuseRead(op, folded);
  if (!folded.is(Kind::Partial))
    return refuseOncePerBlock(op, kind, chain.spans, "this");
  if (folded.combine != kind)
    return refuse(op, folded, operationName(op));
  if (uint64_t missing = chain.spans & ~folded.spans)
    return refuseOncePerBlock(op, kind, missing, "this");
  if (chain.combine && chain.combine != kind) {
    if (mayReport(op, chain.root)) {
      auto diagnostic = context.error(op)
                        << variable(chain.root) << " is folded with " << assignment(kind)
                        << " and with " << assignment(*chain.combine)
                        << " in one loop: the order of the blocks would matter";
      diagnostic.attachNote(chain.root.getLoc()) << variable(chain.root) << " is carried from here";
      diagnostic.attachNote(op->getLoc()) << "hint: use one variable for each operator";
    }
    return bad(chain, folded);
  }
  // What is left partial after the loops needs a variable that began as one.
  uint64_t rest = folded.spans & ~chain.spans;
  if (!chain.rest && rest) {
    auto loop = cast<ForOp>(chain.root.getOwner()->getParentOp());
    State init = get(loop.getInits()[chain.root.getArgNumber() - 1]);
    if (!isIdentity(init, kind))
      return refuseOncePerBlock(op, kind, rest, "this variable's first value");
  }
  if (chain.rest && *chain.rest != rest)
    return refuseOncePerBlock(op, kind, *chain.rest ^ rest, "this");
  result.rest = rest;
  result.combine = kind;
  return result;
}

State FoldProof::negate(Operation *op, const State &a) {
  if (a.is(Kind::Chain))
    return refuseRead(op, a);
  if (a.is(Kind::Partial) && a.combine != CombineKind::add)
    return refuse(op, a, operationName(op));
  return isIdentity(a, CombineKind::add) || a.is(Kind::Partial) || a.is(Kind::Bad)
             ? a
             : make(Kind::Free, a.tainted);
}

/// a · b, or a / b.
State FoldProof::scale(Operation *op, const State &a, const State &b, bool divides) {
  if (a.is(Kind::Bad) || b.is(Kind::Bad))
    return bad(a, b);
  if (!divides && (a.is(Kind::Chain) || b.is(Kind::Chain)))
    return a.is(Kind::Chain) ? fold(op, a, b, CombineKind::mul) : fold(op, b, a, CombineKind::mul);
  for (const State *side : {&a, &b})
    if (side->is(Kind::Chain))
      return refuseRead(op, *side);
  uint64_t tainted = a.tainted | b.tainted;
  if (a.is(Kind::Partial) && a.combine == CombineKind::add && b.isPlain())
    return makePartial(a.spans, CombineKind::add, tainted);
  if (!divides && b.is(Kind::Partial) && b.combine == CombineKind::add && a.isPlain())
    return makePartial(b.spans, CombineKind::add, tainted);
  if (!divides && (a.combine == CombineKind::mul || b.combine == CombineKind::mul))
    return combine(op, a, b, CombineKind::mul);
  for (const State *side : {&a, &b})
    if (side->is(Kind::Partial))
      return refuse(op, *side, operationName(op));
  return make(Kind::Free, tainted);
}

State FoldProof::stateOfReduce(ReduceOp op) {
  State input = get(op.getInput());
  if (input.is(Kind::Bad))
    return input;
  if (input.is(Kind::Chain))
    return refuseRead(op, input);
  if (input.is(Kind::Partial) && input.combine != op.getKind())
    return refuse(op, input, operationName(op));
  uint64_t cut = cutBits(SmallVector<StringAttr>(op.getAxes().getAsRange<StringAttr>()));
  uint64_t tainted = reassociable(cut);
  return makePartial(input.spans | (cut & ~tainted), op.getKind(), input.tainted | tainted);
}

State FoldProof::stateOfDot(DotOp op) {
  uint64_t tainted = 0;
  for (Value side : {op.getLhs(), op.getRhs()}) {
    State state = get(side);
    if (state.is(Kind::Bad))
      return state;
    if (state.is(Kind::Chain))
      return refuseRead(op, state);
    if (state.is(Kind::Partial))
      return refuse(op, state, operationName(op));
    tainted |= state.tainted;
  }
  uint64_t cut = bitOf(op.getAxisAttr()), taint = reassociable(cut);
  State product = makePartial(cut & ~taint, CombineKind::add, tainted | taint);
  return combine(op, get(op.getAcc()), product, CombineKind::add);
}

State FoldProof::stateOfCount(CountOp op) {
  SmallVector<StringAttr> axes = llvm::map_to_vector(op.getSpans(), axisOf);
  uint64_t cut = cutBits(axes), tainted = reassociable(cut);
  State state = makePartial(cut & ~tainted, CombineKind::add, tainted);
  state.isCount = state.is(Kind::Partial);
  return state;
}

State FoldProof::stateOfBroadcast(BroadcastOp op) {
  State input = get(op.getInput());
  ArrayRef<StringAttr> axes = axesOf(op.getType());
  if (input.is(Kind::Chain) && axes.size() != axesOf(op.getInput().getType()).size())
    return refuseRead(op, input);
  if (!input.is(Kind::Partial))
    return input;
  State along = input;
  along.spans &= cutBits(axes);
  if (along.spans)
    return refuse(op, along, "an element along " + names(along.spans));
  return input;
}

/// Operations that keep nothing of what a partial value or chain may do.
State FoldProof::other(Operation *op) {
  uint64_t tainted = 0;
  for (Value operand : op->getOperands()) {
    State state = get(operand);
    if (state.is(Kind::Bad))
      return state;
    if (state.is(Kind::Chain))
      return refuseRead(op, state);
    if (state.is(Kind::Partial))
      return refuse(op, state, operationName(op));
    tainted |= state.tainted;
  }
  return make(Kind::Free, tainted);
}

/// What a variable is that is one or the other; Bad where they don't agree.
State FoldProof::join(const State &a, const State &b) {
  if (a.is(Kind::None) || b.is(Kind::None))
    return a.is(Kind::None) ? b : a;
  State result;
  if (a.is(Kind::Bad) || b.is(Kind::Bad))
    return bad(a, b);
  if (a.is(Kind::Chain) && b.is(Kind::Chain)) {
    bool agrees = a.root == b.root && a.spans == b.spans &&
                  (!a.combine || !b.combine || a.combine == b.combine) &&
                  (!a.rest || !b.rest || a.rest == b.rest);
    result = !agrees ? bad(a, b) : a.combine ? a : b;
  } else if (a.is(Kind::Chain) || b.is(Kind::Chain)) {
    result = bad(a, b);
  } else if (a.is(Kind::Partial) && b.is(Kind::Partial)) {
    result = a.spans == b.spans && a.combine == b.combine ? a : bad(a, b);
  } else if (a.is(Kind::Partial) || b.is(Kind::Partial)) {
    const State &partial = a.is(Kind::Partial) ? a : b, &rest = a.is(Kind::Partial) ? b : a;
    result = isIdentity(rest, *partial.combine) ? partial : bad(a, b);
  } else {
    result = a.is(Kind::Constant) && b.is(Kind::Constant) && a.constant == b.constant
                 ? a
                 : make(Kind::Free);
  }
  result.tainted = a.tainted | b.tainted;
  return result;
}

//===-- Sinks -------------------------------------------------------------===//

void FoldProof::checkPlain(Operation *op, ValueRange operands, StringRef what, bool taintIsFine) {
  for (Value operand : operands) {
    State state = get(operand);
    if (state.is(Kind::Chain))
      refuseRead(op, state);
    else if (state.is(Kind::Partial))
      refuse(op, state, what);
    else if (!taintIsFine && state.tainted && !state.is(Kind::Bad) && mayReport(op)) {
      auto diagnostic = context.error(op)
                        << what << " takes a value that depends on the blocks of "
                        << names(state.tainted) << ", whose loop is `reassociable`";
      diagnostic.attachNote(op->getLoc())
          << "hint: in such a loop partial and carried values reach only the carried variables; "
             "use them after the loop";
    }
  }
}

void FoldProof::checkStore(StoreOp op) {
  checkPlain(op, op.getDims(), "an index");
  checkPlain(op, op.getSyms(), "an index");
  checkPlain(op, op.getValue(), "a store");
}

void FoldProof::checkUpdate(UpdateOp op) {
  checkPlain(op, op.getDims(), "an index");
  checkPlain(op, op.getSyms(), "an index");
  State value = get(op.getValue());
  if (value.is(Kind::Bad))
    return;
  if (!value.is(Kind::Partial) || value.tainted) {
    State visible = value;
    if (value.is(Kind::Partial))
      visible.kind = Kind::Free;
    if (value.is(Kind::Chain) || value.tainted) {
      states[op.getValue()] = visible;
      checkPlain(op, op.getValue(), "an update");
      states[op.getValue()] = value;
      return;
    }
  }
  if (value.is(Kind::Partial) && value.combine != op.getKind()) {
    refuse(op, value, "an update with " + assignment(op.getKind()));
    return;
  }
  Access access(op);
  uint64_t indexed = cutBits(mapAxes(op.getMap(), op.getDims()).names);
  if (uint64_t both = indexed & value.spans) {
    State along = value;
    along.spans = both;
    refuse(op, along, "each element along " + names(both) + " of this update");
    return;
  }
  uint64_t inScope = 0;
  for (size_t n = 0; n < scopes.size(); ++n)
    inScope |= uint64_t(1) << n;
  if (uint64_t missing = inScope & ~indexed & ~value.spans; missing && mayReport(op)) {
    std::string span = names(missing & -missing), text = context.words.of(op.getValue());
    auto diagnostic = context.error(op)
                      << "`" << context.spell(access) << "` " << verb(op.getKind()) << " "
                      << (StringRef(text).contains("…") ? std::string() : "`" + text + "` ")
                      << "once per block of " << span << ": the result depends on how " << span
                      << " is cut into blocks";
    diagnostic.attachNote(op.getLoc())
        << "hint: reduce over " << span << " first, as in `" << reductionName(op.getKind())
        << "(…, " << StringRef(span).drop_front().drop_back() << ")`, or index `"
        << context.nameOf(access) << "` by " << span;
  }
}

//===-- Loops and branches ------------------------------------------------===//

/// Enters a variable into a loop that folds it.
void FoldProof::enterFold(ForOp loop, unsigned n, uint64_t bit) {
  BlockArgument argument = loop.getCarried()[n];
  State state = get(loop.getInits()[n]);
  if (loop.getYield()->getOperand(n) != argument && !state.is(Kind::Bad)) {
    if (!state.is(Kind::Chain)) {
      State init = state;
      state = make(Kind::Chain, init.tainted);
      state.root = argument;
      if (init.is(Kind::Partial)) {
        state.rest = init.spans;
        state.combine = init.combine;
      } else if (!init.is(Kind::Constant)) {
        state.rest = 0;
      }
    }
    state.spans |= bit;
  }
  set(argument, state);
}

State FoldProof::leaveFold(ForOp loop, unsigned n) {
  BlockArgument argument = loop.getCarried()[n];
  State init = get(loop.getInits()[n]), entered = get(argument),
        yielded = get(loop.getYield()->getOperand(n));
  if (loop.getYield()->getOperand(n) == argument)
    return init;
  if (entered.is(Kind::Bad) || yielded.is(Kind::Bad))
    return bad(entered, yielded);
  if (!yielded.is(Kind::Chain) || yielded.root != entered.root || yielded.spans != entered.spans) {
    if (mayReport(loop, entered.root)) {
      Operation *assigned = loop.getYield()->getOperand(n).getDefiningOp();
      Location loc = assigned ? assigned->getLoc() : loop.getLoc();
      auto diagnostic = context.error(loc)
                        << variable(entered.root) << " is assigned, not folded, in the loop over `"
                        << loop.getName() << "`: its last value depends on how `" << loop.getName()
                        << "` is cut into blocks";
      diagnostic.attachNote(entered.root.getLoc())
          << variable(entered.root) << " is carried from here";
      diagnostic.attachNote(loc)
          << "hint: fold with `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`, or mark the loop "
             "`reassociable` or `sequential(n)`";
    }
    return bad(entered, yielded);
  }
  if (init.is(Kind::Chain)) {
    State result = yielded;
    result.spans = init.spans;
    return result;
  }
  if (!yielded.combine) // nothing was folded
    return init;
  return makePartial(yielded.rest.value_or(0), *yielded.combine, yielded.tainted);
}

State FoldProof::leaveReassociable(ForOp loop, unsigned n, uint64_t bit) {
  State init = get(loop.getInits()[n]);
  if (loop.getYield()->getOperand(n) == loop.getCarried()[n])
    return init;
  checkPlain(loop, loop.getInits()[n], "a `reassociable` loop", /*taintIsFine=*/true);
  checkPlain(loop, loop.getYield()->getOperand(n), "a variable of a `reassociable` loop",
             /*taintIsFine=*/true);
  State yielded = get(loop.getYield()->getOperand(n));
  State result = init.isPlain() && yielded.isPlain() ? make(Kind::Free) : make(Kind::Bad);
  result.tainted = (init.tainted | yielded.tainted) & ~bit;
  return result;
}

/// Carries a value around a loop that may be run any number of times.
void FoldProof::around(Operation *loop, Value argument, Value init, Value yielded, Value result) {
  State before = states.lookup(argument);
  State joined = join(join(before, get(init)), states.lookup(yielded));
  if (joined.is(Kind::Bad) && !before.is(Kind::Bad))
    conflicts[argument] = {get(init), states.lookup(yielded)};
  if (!(joined == before)) {
    set(argument, joined);
    changed = true;
  }
  set(result, joined);
  auto conflict = conflicts.find(argument);
  if (!reporting || conflict == conflicts.end())
    return;
  auto [entering, returning] = conflict->second;
  if (entering.is(Kind::Bad) || returning.is(Kind::Bad))
    return;
  for (const State *side : {&returning, &entering}) {
    if (side->is(Kind::Chain)) {
      refuseRead(loop, *side);
      return;
    }
    if (side->is(Kind::Partial)) {
      refuse(loop, *side, "a variable of this loop");
      return;
    }
  }
}

void FoldProof::visitFor(ForOp loop) {
  checkPlain(loop, {loop.getLower(), loop.getUpper()}, "a bound of the loop");
  unsigned count = loop.getInits().size();
  if (loop.getKind() == LoopKind::sequential) {
    for (unsigned n = 0; n < count; ++n)
      around(loop, loop.getCarried()[n], loop.getInits()[n], {}, loop.getResult(n));
    visit(loop.getBody().front());
    for (unsigned n = 0; n < count; ++n)
      around(loop, loop.getCarried()[n], loop.getInits()[n], loop.getYield()->getOperand(n),
             loop.getResult(n));
    return;
  }
  if (scopes.size() == 64) {
    isTooDeep = true;
    return;
  }
  bool isReassociable = loop.getKind() == LoopKind::reassociable;
  uint64_t bit = uint64_t(1) << scopes.size();
  scopes.push_back({loop.getNameAttr(), loop, isReassociable});
  for (unsigned n = 0; n < count; ++n) {
    bool isUnchanged = loop.getYield()->getOperand(n) == loop.getCarried()[n];
    if (!isReassociable)
      enterFold(loop, n, bit);
    else
      set(loop.getCarried()[n], isUnchanged
                                    ? get(loop.getInits()[n])
                                    : make(Kind::Free, get(loop.getInits()[n]).tainted | bit));
  }
  visit(loop.getBody().front());
  SmallVector<State> results;
  for (unsigned n = 0; n < count; ++n)
    results.push_back(isReassociable ? leaveReassociable(loop, n, bit) : leaveFold(loop, n));
  scopes.pop_back();
  for (unsigned n = 0; n < count; ++n)
    set(loop.getResult(n), results[n]);
}

void FoldProof::visitCount(scf::ForOp loop) {
  checkPlain(loop, {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
             "a bound of the loop");
  for (bool after : {false, true}) {
    for (unsigned n = 0; n < loop.getInitArgs().size(); ++n)
      around(loop, loop.getRegionIterArgs()[n], loop.getInitArgs()[n],
             after ? loop.getYieldedValues()[n] : Value(), loop.getResult(n));
    if (!after)
      visit(*loop.getBody());
  }
}

void FoldProof::visitIf(scf::IfOp op) {
  checkPlain(op, op.getCondition(), "the condition of `if`");
  for (Region &region : op->getRegions())
    if (!region.empty())
      visit(region.front());
  for (unsigned n = 0; n < op.getNumResults(); ++n) {
    State a = get(op.thenYield()->getOperand(n)), b = get(op.elseYield()->getOperand(n));
    State joined = join(a, b);
    if (joined.is(Kind::Bad) && !a.is(Kind::Bad) && !b.is(Kind::Bad)) {
      const State &side = a.is(Kind::Chain) || a.is(Kind::Partial) ? a : b;
      if (side.is(Kind::Chain))
        refuseRead(op, side);
      else
        refuse(op, side, "one branch of `if`");
    }
    set(op.getResult(n), joined);
  }
}

void FoldProof::visitWhile(scf::WhileOp op) {
  auto condition = op.getConditionOp();
  for (bool after : {false, true}) {
    for (unsigned n = 0; n < op.getInits().size(); ++n) {
      checkPlain(op, op.getInits()[n], "a variable of `while`", /*taintIsFine=*/true);
      State init = get(op.getInits()[n]);
      State entering = init.isPlain() ? make(Kind::Free, init.tainted) : bad(init);
      State back = after ? get(op.getYieldOp()->getOperand(n)) : State();
      State joined = join(join(states.lookup(op.getBeforeArguments()[n]), entering), back);
      changed |= !(joined == states.lookup(op.getBeforeArguments()[n]));
      set(op.getBeforeArguments()[n], joined);
    }
    if (after)
      break;
    visit(*op.getBeforeBody());
    checkPlain(op, condition.getCondition(), "the condition of `while`");
    for (unsigned n = 0; n < op.getNumResults(); ++n) {
      set(op.getAfterArguments()[n], get(condition.getArgs()[n]));
      set(op.getResult(n), get(condition.getArgs()[n]));
    }
    visit(*op.getAfterBody());
    checkPlain(op, op.getYieldOp()->getOperands(), "a variable of `while`", /*taintIsFine=*/true);
  }
}

void FoldProof::visit(Operation &op) {
  if (auto loop = dyn_cast<ForOp>(op))
    return visitFor(loop);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitCount(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return visitWhile(loop);
  if (auto store = dyn_cast<StoreOp>(op))
    return checkStore(store);
  if (auto update = dyn_cast<UpdateOp>(op))
    return checkUpdate(update);
  if (isa<RestrictOp, AxisOp, RequireOp>(op)) {
    checkPlain(&op, op.getOperands(), isa<AxisOp>(op) ? "a bound of an axis" : "a condition");
    return;
  }
  if (op.hasTrait<OpTrait::IsTerminator>() || op.getNumResults() != 1)
    return;
  auto left = [&] { return get(op.getOperand(0)); };
  auto right = [&] { return get(op.getOperand(1)); };
  State state;
  Attribute number;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    state = stateOfReduce(reduce);
  else if (auto dot = dyn_cast<DotOp>(op))
    state = stateOfDot(dot);
  else if (auto count = dyn_cast<CountOp>(op))
    state = stateOfCount(count);
  else if (auto broadcast = dyn_cast<BroadcastOp>(op))
    state = stateOfBroadcast(broadcast);
  else if (matchPattern(&op, m_Constant(&number))) {
    if (auto splat = dyn_cast<SplatElementsAttr>(number))
      number = splat.getSplatValue<Attribute>();
    state = make(isa<FloatAttr, IntegerAttr>(number) ? Kind::Constant : Kind::Free);
    state.constant = dyn_cast<TypedAttr>(number);
  } else if (auto kind = combineOf(&op))
    state = combine(&op, left(), right(), *kind);
  else if (isa<arith::SubFOp, arith::SubIOp>(op))
    state = right().is(Kind::Chain) ? refuseRead(&op, right())
                                    : combine(&op, left(), negate(&op, right()), CombineKind::add);
  else if (isa<arith::NegFOp>(op))
    state = negate(&op, left());
  else if (isa<arith::MulFOp, arith::MulIOp>(op))
    state = scale(&op, left(), right(), /*divides=*/false);
  else if (isa<arith::DivFOp>(op))
    state = scale(&op, left(), right(), /*divides=*/true);
  else if (isa<math::FmaOp>(op))
    state = combine(&op, scale(&op, left(), right(), /*divides=*/false), get(op.getOperand(2)),
                    CombineKind::add);
  else
    state = other(&op);
  if (auto arg = dyn_cast<ArgReduceOp>(op); arg && !state.is(Kind::Bad))
    if (uint64_t cut = bitOf(arg.getAxisAttr())) {
      if (mayReport(arg)) {
        bool isMax = arg.getKind() == CombineKind::max || arg.getKind() == CombineKind::umax;
        auto diagnostic = context.error(arg)
                          << "`" << (isMax ? "argmax" : "argmin") << "` needs its whole axis; "
                          << names(cut) << " is a block";
        diagnostic.attachNote(arg.getLoc())
            << "hint: read the whole dimension: `:`, or `let n = whole(…)`";
      }
      state = bad(state);
    }
  set(op.getResult(0), state);
}

void FoldProof::visit(Block &block) {
  for (Operation &op : block)
    visit(op);
}

/// A chain is a line: no value of it has two uses, save in branches of one `if`.
void FoldProof::checkUses() {
  auto exclude = [](Operation *a, Operation *b) {
    for (Operation *around = a->getParentOp(); around; around = around->getParentOp())
      if (auto branch = dyn_cast<scf::IfOp>(around);
          branch && branch->isProperAncestor(b) &&
          branch.getThenRegion().isAncestor(a->getParentRegion()) !=
              branch.getThenRegion().isAncestor(b->getParentRegion()))
        return true;
    return false;
  };
  auto check = [&](Value value) {
    State state = states.lookup(value);
    if (!state.is(Kind::Chain) || value.hasOneUse() || value.use_empty())
      return;
    SmallVector<Operation *> users(value.user_begin(), value.user_end());
    // What is no step of the chain was refused where it stands.
    for (size_t a = 0; a < users.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        if (users.size() > 16 || !exclude(users[a], users[b])) {
          // Uses come last first; name the later one.
          refuseRead(users[b], state);
          return;
        }
  };
  context.kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      check(result);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        check(argument);
  });
}

void FoldProof::run() {
  auto parallel = context.kernel.getParallel();
  Block &body = parallel.getBody().front();
  for (auto [n, argument] : llvm::enumerate(body.getArguments()))
    if (!parallel.getEach()[n] && scopes.size() < 64)
      scopes.push_back({axisOf(argument), parallel});
  isTooDeep = scopes.size() == 64;
  for (unsigned sweep = 0; sweep == 0 || (changed && sweep < 256); ++sweep) {
    changed = false;
    visit(context.kernel.getBody().front());
    visit(body);
  }
  if (isTooDeep || changed) {
    context.error(context.kernel) << "this kernel nests too many loops over blocks to be checked";
    return;
  }
  bool failedBefore = context.failed;
  context.failed = false;
  reporting = true;
  visit(context.kernel.getBody().front());
  visit(body);
  checkUses();
  bool anyBad = llvm::any_of(states, [](auto &entry) { return entry.second.is(Kind::Bad); });
  assert((!anyBad || context.failed) && "a bad value without an error");
  if (anyBad && !context.failed)
    context.error(context.kernel) << "this kernel can't be shown to be free of its block sizes";
  context.failed |= failedBefore;
}

void tile::ir::proveFolds(ProofContext &context) { FoldProof(context).run(); }
