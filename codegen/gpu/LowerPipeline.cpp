//===- LowerPipeline.cpp - roles, and the channels between them -----------===//
//
// A channel is a ring of slots with two barriers each (`mbarrier`): *full* completes when
// the copies into the slot have brought all bytes, *empty* when all warps that read it
// have released it. Item n goes through slot n % depth for the (n / depth)-th time, and
// the parity of that is what tells one completion of a barrier from the next.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

//===-- Tensor maps -------------------------------------------------------===//

/// What one copy into a part moves: a panel.
static TensorBox boxOf(PutOp op, size_t n) {
  SharedType part = op.getChannel().getType().getPart(n);
  TensorBox box;
  box.parameter = cast<BlockArgument>(op.getSources()[n]).getArgNumber();
  box.box.assign(cast<MemRefType>(op.getSources()[n].getType()).getRank(), 1);
  box.box[0] = part.getPanelColumns();
  box.box[1] = part.getRows();
  box.swizzle = part.getSwizzle();
  return box;
}

SmallVector<TensorBox> tile::codegen::gpu::tensorMapsOf(KernelOp kernel) {
  SmallVector<TensorBox> maps;
  kernel.walk([&](PutOp op) {
    for (size_t n = 0; n < op.getSources().size(); ++n)
      if (TensorBox box = boxOf(op, n); !llvm::is_contained(maps, box))
        maps.push_back(box);
  });
  return maps;
}

//===-- Barriers ----------------------------------------------------------===//

static void waitFor(CodeBuilder &b, Value barrier, Value parity) {
  inlineAsm(b, Type(), {barrier, parity},
            "{\n\t.reg .pred done;\nagain:\n\t"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n\t"
            "@done bra ready;\n\tbra again;\nready:\n\t}",
            "r,r,~{memory}", /*hasSideEffects=*/true);
}

Value KernelLowering::sharedAddress(int64_t offset) {
  Value base = LLVM::PtrToIntOp::create(b, b.getI32Type(), shared(0));
  return b.add(base, b.integer(b.getI32Type(), offset - sharedFloor));
}

void KernelLowering::emitChannel(ChannelOp op) {
  ChannelType type = op.getResult().getType();
  int64_t depth = type.getDepth();
  ChannelPlace &place = channels[op.getResult()];
  place.slots = llvm::alignTo(sharedFloor, 1024);
  place.barriers = place.slots + depth * type.getSlotBytes();
  sharedFloor = place.barriers + depth * 2 * 8;
  mostShared = std::max(mostShared, sharedFloor);
  int64_t readers = 0;
  SmallPtrSet<Region *, 4> counted;
  for (Operation *user : op.getResult().getUsers())
    if (isa<ReleaseOp>(user)) {
      Region *region = user->getParentRegion();
      while (!isa<RolesOp>(region->getParentOp()))
        region = region->getParentOp()->getParentRegion();
      if (counted.insert(region).second)
        readers += numWarpsOf(user);
    }
  Value first = sharedAddress(place.barriers);
  Value thread = b.add(b.mul(warp, b.integer(b.getI32Type(), 32)), lane);
  b.branch(
      b.compare(CmpIPredicate::eq, thread, b.integer(b.getI32Type(), 0)),
      [&] {
        for (int64_t n = 0; n < 2 * depth; ++n)
          inlineAsm(b, Type(),
                    {b.add(first, b.integer(b.getI32Type(), 8 * n)),
                     b.integer(b.getI32Type(), n < depth ? 1 : readers)},
                    "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}", true);
        inlineAsm(b, Type(), {}, "fence.mbarrier_init.release.cluster;", "~{memory}", true);
        return Values();
      },
      [&] { return Values(); });
  barrier();
}

//===-- Items -------------------------------------------------------------===//

/// Where an item is: addresses in shared memory, and the parity of its turn.
struct KernelLowering::Item {
  Value slot, full, empty, parity;
};

KernelLowering::Item KernelLowering::itemOf(TypedValue<ChannelType> channel, Value number) {
  Type i32 = b.getI32Type();
  int64_t depth = channel.getType().getDepth();
  ChannelPlace place = channels.lookup(channel);
  Value count = b.integer(i32, depth), n = b.fold<arith::TruncIOp>(i32, number);
  Value turn = b.fold<arith::DivUIOp>(n, count), slot = b.sub(n, b.mul(turn, count));
  Item item;
  item.parity = b.fold<arith::AndIOp>(turn, b.integer(i32, 1));
  item.slot = b.add(sharedAddress(place.slots),
                    b.mul(slot, b.integer(i32, channel.getType().getSlotBytes())));
  item.full = b.add(sharedAddress(place.barriers), b.mul(slot, b.integer(i32, 8)));
  item.empty = b.add(item.full, b.integer(i32, 8 * depth));
  return item;
}

/// Address of the part's panel within its slot.
static int64_t partOffset(ChannelType channel, size_t part, int64_t panel) {
  int64_t offset = 0;
  for (size_t n = 0; n < part; ++n)
    offset += llvm::alignTo(channel.getPart(n).getBytes(), 1024);
  return offset + panel * channel.getPart(part).getPanelBytes();
}

void KernelLowering::emitPut(PutOp op) {
  Type i32 = b.getI32Type();
  ChannelType channel = op.getChannel().getType();
  SmallVector<Index> dims;
  for (Value dim : op.getDims())
    dims.push_back(
        {isa<SpanType>(dim.getType()) ? ranges.lookup(axisOf(dim)).origin : scalar(dim)});
  Value number = scalar(op.getNumber());
  int64_t bytes = 0;
  for (size_t n = 0; n < channel.getSlot().size(); ++n)
    bytes += channel.getPart(n).getBytes();
  size_t firstMap = prologue->getNumArguments() - tensorMaps.size();
  auto copy = [&](const Item &item, size_t n) {
    SharedType part = channel.getPart(n);
    Value map = prologue->getArgument(firstMap +
                                      (llvm::find(tensorMaps, boxOf(op, n)) - tensorMaps.begin()));
    SmallVector<Value> place;
    for (AffineExpr expr : cast<AffineMapAttr>(op.getMaps()[n]).getValue().getResults())
      place.push_back(b.fold<arith::TruncIOp>(i32, materialize(evaluate(expr, dims, {}))));
    std::reverse(place.begin(), place.end());
    Value column = place[0];
    std::string constraints = "r,l,r";
    for (size_t d = 0; d < place.size(); ++d)
      constraints += ",r";
    for (int64_t panel = 0; panel * part.getPanelColumns() < part.getColumns(); ++panel) {
      place[0] = b.add(column, b.integer(i32, panel * part.getPanelColumns()));
      SmallVector<Value> operands = {
          b.add(item.slot, b.integer(i32, partOffset(channel, n, panel))), map, item.full};
      llvm::append_range(operands, place);
      inlineAsm(b, Type(), operands,
                "cp.async.bulk.tensor." + std::to_string(place.size()) +
                    "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, " +
                    operandList(3, place.size()) + "], [$2];",
                constraints + ",~{memory}", true);
    }
  };
  Value thread = b.add(b.mul(warp, b.integer(i32, 32)), lane);
  b.branch(
      b.compare(CmpIPredicate::eq, thread, b.integer(i32, 0)),
      [&] {
        Item item = itemOf(op.getChannel(), number);
        // Before an item went through it, a slot is free: the turn before the first one is over.
        waitFor(b, item.empty, b.fold<arith::XOrIOp>(item.parity, b.integer(i32, 1)));
        inlineAsm(b, Type(), {item.full, b.integer(i32, bytes)},
                  "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}", true);
        for (size_t n = 0; n < channel.getSlot().size(); ++n)
          copy(item, n);
        return Values();
      },
      [&] { return Values(); });
}

void KernelLowering::emitGet(GetOp op) {
  Item item = itemOf(op.getChannel(), scalar(op.getNumber()));
  waitFor(b, item.full, item.parity);
  for (auto [n, part] : llvm::enumerate(op.getParts()))
    matrices[part] =
        b.add(item.slot, b.integer(b.getI32Type(), partOffset(op.getChannel().getType(), n, 0)));
}

void KernelLowering::emitRelease(ReleaseOp op) {
  Item item = itemOf(op.getChannel(), scalar(op.getNumber()));
  Value isFirst = b.compare(CmpIPredicate::eq, lane, b.integer(b.getI32Type(), 0));
  inlineAsm(b, Type(), {item.empty, isFirst},
            "bar.warp.sync -1;\n\t@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}",
            true);
}

//===-- Roles -------------------------------------------------------------===//

void KernelLowering::emitRoles(ParallelOp parallel, RolesOp roles) {
  unsigned last = roles.getBodies().size() - 1, end = 0;
  SmallVector<unsigned> ends;
  for (int64_t count : roles.getWarps())
    ends.push_back(end += count);
  Value number = warp;
  std::function<Values(unsigned)> emitFrom = [&](unsigned n) -> Values {
    if (failed)
      return {};
    if (n == last) {
      emitRole(parallel, roles, n);
      return {};
    }
    Value isHere = b.compare(CmpIPredicate::ult, number, b.integer(b.getI32Type(), ends[n]));
    b.branch(
        isHere,
        [&] {
          emitRole(parallel, roles, n);
          return Values();
        },
        [&] { return emitFrom(n + 1); });
    return {};
  };
  emitFrom(0);
}

void KernelLowering::emitRole(ParallelOp parallel, RolesOp roles, unsigned number) {
  unsigned allWarps = warps, first = 0;
  Value allWarp = warp;
  auto allPlaces = std::move(threadPlaces);
  for (unsigned n = 0; n < number; ++n)
    first += roles.getWarps()[n];
  warps = roles.getWarps()[number];
  threadPlaces.clear();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(prologue);
    warp = b.sub(allWarp, b.integer(b.getI32Type(), first));
  }
  barrierNumber = number + 1;
  // The kernel starts with the same number for all.
  int64_t given = 65536 / (allWarps * 32) / 8 * 8, wanted = roles.getRegisters()[number];
  if (wanted != given)
    inlineAsm(b, Type(), {},
              std::string("setmaxnreg.") + (wanted < given ? "dec" : "inc") + ".sync.aligned.u32 " +
                  std::to_string(wanted) + ";",
              "~{memory}", true);
  emitPrograms(parallel, roles.getBodies()[number].front());
  // Roles run at the same time: what one of them uses is not another's.
  sharedFloor = llvm::alignTo(mostShared, 16);
  barrierNumber = 0;
  warps = allWarps;
  warp = allWarp;
  threadPlaces = std::move(allPlaces);
}
