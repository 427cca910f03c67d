//===- ProofsFoldWords.cpp - what a value that depends on blocks is told ---===//

#include "ir/proofs/ProofsFolds.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::folds;

//===-- Words -------------------------------------------------------------===//

static std::string assignment(CombineKind kind) { return ("`" + assignmentOf(kind) + "`").str(); }

StringRef tile::ir::folds::verb(CombineKind kind) {
  return kind == CombineKind::add ? "adds" : kind == CombineKind::mul ? "multiplies" : "combines";
}

std::string tile::ir::folds::operationName(Operation *op) {
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
  if (auto along = dyn_cast<AlongAxes>(op))
    return ("`" + along.getWord() + "`").str();
  if (isa<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MaxNumFOp>(op))
    return "`max`";
  if (isa<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp, arith::MinNumFOp>(op))
    return "`min`";
  if (isa<arith::ShLIOp>(op))
    return "`<<`";
  if (isa<arith::ShRSIOp, arith::ShRUIOp>(op))
    return "`>>`";
  if (isa<arith::AndIOp>(op))
    return "`&`";
  if (isa<arith::OrIOp>(op))
    return "`|`";
  if (isa<arith::XOrIOp>(op))
    return "`^`";
  // math.absf and math.absi are abs, math.roundeven is round, math.exp is exp.
  StringRef name = llvm::StringSwitch<StringRef>(op->getName().getStringRef())
                       .Cases({"math.absf", "math.absi"}, "abs")
                       .Case("math.powf", "pow")
                       .Case("math.roundeven", "round")
                       .Default(op->getName().stripDialect());
  if (isa<math::MathDialect>(op->getDialect()))
    return ("`" + name + "`").str();
  return "this";
}

std::string FoldProof::names(uint64_t spans) const {
  std::string text;
  for (auto [n, scope] : llvm::enumerate(scopes))
    if (spans >> n & 1)
      text += (text.empty() ? "`" : " and `") + scope.name.str() + "`";
  return text;
}

/// `i` is cut into blocks.
std::string FoldProof::cut(uint64_t spans) const {
  return names(spans) + (spans & (spans - 1) ? " are" : " is") + " cut into blocks";
}

std::string FoldProof::share(const State &partial) const {
  return ("the `" + wordOf(*partial.combine) + "` over one block of " + names(partial.spans)).str();
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
    auto diagnostic = context.error(op) << "`mean` over one block of " << names(offending.spans)
                                        << " depends on how " << cut(offending.spans);
    diagnostic.attachNote(op->getLoc())
        << "hint: fold the `sum` and divide once, after the loop, by how many elements there are";
  } else if (mayReport(op)) {
    bool isCast = isa<CastOpInterface, FpToIntOp>(op);
    auto diagnostic = context.error(op) << what << " takes " << share(offending)
                                        << ", which depends on how " << cut(offending.spans);
    bool inLoop = false;
    for (auto [n, scope] : llvm::enumerate(scopes))
      inLoop |= (offending.spans >> n & 1) && isa<ForOp>(scope.binder);
    if (isCast && inLoop)
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
        << "hint: "
        << (kind == CombineKind::xori ? ""
                                      : ("fold what is reduced over " + span + ", as in `" +
                                         wordOf(kind) + "(…, " + bare + ")`, or ")
                                            .str())
        << "combine it once, outside";
  }
  return make(Kind::Bad);
}
