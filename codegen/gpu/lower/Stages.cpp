//===- Stages.cpp - operands of the turns to come, copied without waiting ---===//
//
// In a loop that multiplies by instructions of warps, operands that are multiplied as they
// are in memory go to shared memory by `cp.async`, several turns ahead: threads start the
// copies and go on. A turn then is
//
//   wait for its copies; barrier; start those of a later turn, in the slot
//   of the turn before; multiply
//
// with one barrier, since all have left the turn before when they meet. Registers hold
// nothing of it. Operands that are computed, or whose rows begin anywhere, go the other way
// (LoadsAhead.cpp).
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/dialect/Settings.h"
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/lower/ControlEmitter.h"
#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/plan/PlanProgram.h"
#include "ir/transforms/Specialize.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// The dot that a load is an operand of, and nothing else, by a conversion that the dot makes.
static std::optional<std::pair<DotOp, unsigned>> onlyDotOf(LoadOp load) {
  if (!load->hasOneUse())
    return std::nullopt;
  auto convert = dyn_cast<ConvertOp>(*load->getUsers().begin());
  if (!convert || !convert->hasOneUse())
    return std::nullopt;
  OpOperand &use = *convert->getUses().begin();
  auto dot = dyn_cast<DotOp>(use.getOwner());
  if (!dot || use.getOperandNumber() > 1 || dot->getBlock() != load->getBlock())
    return std::nullopt;
  return std::pair(dot, use.getOperandNumber());
}

std::optional<StagedLoad> ControlEmitter::stagedLoad(LoadOp load, int64_t start) {
  constexpr int64_t leastBytes = 4; // of a copy
  auto only = onlyDotOf(load);
  // What is the same in all turns is read once.
  if (!only || !isReadAhead(load) ||
      !llvm::is_contained(load->getOperands(), cast<ForOp>(load->getParentOp()).getSpan()) ||
      !ctx.domains.restrictsOn(axesOf(load.getType())).empty())
    return std::nullopt;
  auto [dot, number] = *only;
  std::optional<WarpDot> how = warpDotOf(dot);
  std::optional<Layout> layout =
      how ? operandLayout(*how, dot, number, layoutOf(dot.getType())) : std::nullopt;
  DotOperand operand = ctx.operands.operandOf(dot, number, /*hasRegisters=*/false);
  if (!layout || !operand.isZeroOutside || operand.element != how->mma.element)
    return std::nullopt;
  DotFragments fragments = ctx.operands.fragmentsOf(operand, how->mma, *layout);
  const Layout &source = operand.tile.layout;
  if (!fragments.isStaged || fragments.needsClearing())
    return std::nullopt;
  bool isChecked = load.getBounds() == BoundsMode::pad || load.getBounds() == BoundsMode::clamp;
  Access access = ctx.memory.accessOf(load.getSource(), load.getMap(), load.getDims(),
                                      load.getSyms(), axesOf(load.getType()), source);
  StagedLoad staged;
  staged.load = load;
  staged.width = std::min(ctx.memory.vectorFor(access, isChecked), fragments.neighbours());
  if (staged.width * fragments.elementBytes() < leastBytes)
    return std::nullopt;
  fragments.layOut(start);
  staged.start = start, staged.strides = fragments.strides;
  staged.end = static_cast<int64_t>(llvm::alignTo(start + fragments.bytes, 16));
  return staged;
}

ControlEmitter::Stages ControlEmitter::stagesOf(ForOp op) {
  constexpr int64_t most = 4;
  Stages stages;
  if (ctx.watches || ctx.kernel.isGrid())
    return stages;
  unsigned numSums = 0; // of contractions that don't add to each other's
  for (Operation &inner : op.getBody().front()) {
    if (inner.getNumRegions() > 0)
      return stages;
    if (auto dot = dyn_cast<DotOp>(inner))
      numSums += !dot.getAcc().getDefiningOp<DotOp>();
  }
  bindBlock(op, ctx.scalar(op.getLower()));
  for (LoadOp load : op.getBody().getOps<LoadOp>())
    if (auto staged = stagedLoad(load, stages.bytes)) {
      stages.bytes = staged->end;
      stages.loads.push_back(std::move(*staged));
    }
  if (stages.loads.empty())
    return stages;
  // Two blocks at a time hide each other's waits, if there is room for two. Where there are several
  // contractions, as in attention, more goes through shared memory, and registers are what is
  // scarce.
  int64_t depth = ctx.room / 2 / stages.bytes;
  if (depth < 2)
    depth = (ctx.room - ctx.room / 8) / stages.bytes;
  depth = numSums == 1 ? std::min(most, depth) : 0;
  if (auto setting = dyn_cast_or_null<IntegerAttr>(settingOf(ctx.kernel, "stages"));
      setting && ctx.room > 0)
    depth = setting.getInt();
  if (int64_t fitting = ctx.room / stages.bytes; depth > fitting && depth > 1) {
    // What was said for any target is done as far as it goes.
    DictionaryAttr schedule = ctx.kernel.getScheduleAttr();
    auto own = schedule ? schedule.getAs<DictionaryAttr>("target.cuda") : DictionaryAttr();
    bool isForGpus = own && own.contains("stages");
    auto diagnostic = isForGpus
                          ? emitSettingError(ctx.kernel, "stages", "`stages = ")
                          : emitRemark(placeOfEntry(ctx.kernel, "stages", "cuda"), "`stages = ");
    diagnostic << depth << "`: a turn's operands take " << stages.bytes
               << " bytes of shared memory, which has room for ";
    if (fitting > 0)
      diagnostic << fitting << " of them";
    else
      diagnostic << ctx.room << " beside the rest";
    diagnostic.attachNote() << "hint: smaller tile sizes have room for more";
    ctx.failed = isForGpus;
    depth = isForGpus ? 0 : fitting;
  }
  if (depth < 2)
    return {};
  stages.depth = depth;
  stages.base = ctx.shared.take(stages.depth * stages.bytes);
  ctx.shared.floor =
      static_cast<int64_t>(llvm::alignTo(ctx.shared.floor + stages.depth * stages.bytes, 16));
  return stages;
}

Value ControlEmitter::slotOf(const Stages &stages, Value number) {
  Value offset = b.mul(number, b.integer(b.getI32Type(), stages.bytes));
  return ctx.shared.at(stages.base, offset, b.getI8Type());
}

/// Copies of the block that is bound; what is not inside becomes zero.
void ControlEmitter::startCopies(const StagedLoad &staged, Value slot) {
  LoadOp load = staged.load;
  Access access =
      ctx.memory.accessOf(load.getSource(), load.getMap(), load.getDims(), load.getSyms(),
                          axesOf(load.getType()), layoutOf(load.getType()));
  int64_t bytes = staged.width * memoryType(access.tensor.element).getIntOrFloatBitWidth() / 8;
  std::string text = std::string("cp.async.") + (bytes == 16 ? "cg" : "ca") +
                     ".shared.global [$0], [$1], " + std::to_string(bytes) + ", $2;";
  Type i32 = b.getI32Type();
  for (int64_t r = 0, count = access.layout.numRegisters(); r < count; r += staged.width) {
    SmallVector<Index> indices = ctx.memory.indicesAt(access, r);
    Value mask = access.mask[r];
    ctx.memory.applyBounds(load, access, indices, mask);
    Value size = b.integer(i32, bytes);
    if (mask)
      size = b.select(mask, size, b.integer(i32, 0));
    Value to = LLVM::PtrToIntOp::create(b, i32, ctx.operands.placeInSlot(staged, slot, r));
    inlineAsm(b, Type(), {to, ctx.memory.addressOf(access, indices), size}, text, "r,l,r,~{memory}",
              true);
  }
}

void ControlEmitter::startTurn(const Stages &stages, ForOp op, Value origin, Value slot) {
  Value upper = ctx.scalar(op.getUpper());
  bindBlock(op, origin);
  b.branch(
      b.compare(arith::CmpIPredicate::slt, origin, upper),
      [&] {
        for (const StagedLoad &staged : stages.loads)
          startCopies(staged, slotOf(stages, slot));
        return Values();
      },
      [&] { return Values(); });
  // Of a turn that there is not, an empty group: so many groups are so many turns.
  inlineAsm(b, Type(), {}, "cp.async.commit_group;", "~{memory}", true);
}

void ControlEmitter::startFirstTurns(const Stages &stages, ForOp op) {
  ctx.barriers.meet(); // others may still read what was there
  Value origin = ctx.scalar(op.getLower());
  for (int64_t turn = 0; turn + 1 < stages.depth; ++turn) {
    startTurn(stages, op, origin, b.integer(b.getI32Type(), turn));
    origin = b.add(origin, b.i64(op.getSize()));
  }
}

void ControlEmitter::beginTurn(const Stages &stages, ForOp op, Value origin, Value slot) {
  Type i32 = b.getI32Type();
  inlineAsm(b, Type(), {}, "cp.async.wait_group " + std::to_string(stages.depth - 2) + ";",
            "~{memory}", true);
  ctx.barriers.meet();
  Value before = b.select(b.compare(arith::CmpIPredicate::eq, slot, b.integer(i32, 0)),
                          b.integer(i32, stages.depth - 1), b.sub(slot, b.integer(i32, 1)));
  startTurn(stages, op, b.add(origin, b.i64((stages.depth - 1) * op.getSize())), before);
  for (const StagedLoad &staged : stages.loads)
    ctx.operands.stagedOperands[staged.load] = {&staged, slotOf(stages, slot)};
}

Value ControlEmitter::nextSlot(const Stages &stages, Value slot) {
  Type i32 = b.getI32Type();
  Value next = b.add(slot, b.integer(i32, 1));
  Value isOver = b.compare(arith::CmpIPredicate::eq, next, b.integer(i32, stages.depth));
  return b.select(isOver, b.integer(i32, 0), next);
}

void ControlEmitter::finishStages(const Stages &stages) {
  for (const StagedLoad &staged : stages.loads)
    ctx.operands.stagedOperands.erase(staged.load);
}
