//===- EmitPipeline.cpp - roles, and the channels between them ------------===//
//
// A channel is a ring of slots with two barriers each (`mbarrier`): *full* completes when
// the copies into the slot have brought all bytes, *empty* when all warps that read it
// have released it. Item n goes through slot n % depth for the (n / depth)-th time, and
// the parity of that is what tells one completion of a barrier from the next.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/lower/PipelineEmitter.h"
#include "codegen/gpu/plan/PlanProgram.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

PipelineEmitter::PipelineEmitter(LoweringContext &context)
    : Emitter(context, context.b), tensorMaps(tensorMapsOf(ctx.kernel)) {
  ctx.onOp<RolesOp>([this](RolesOp op) { emitRoles(cast<ParallelOp>(op->getParentOp()), op); });
  ctx.onOp<ChannelOp>([this](ChannelOp op) { emitChannel(op); });
  ctx.onOp<PutOp>([this](PutOp op) { emitPut(op); });
  ctx.onOp<GetOp>([this](GetOp op) { emitGet(op); });
  ctx.onOp<ReleaseOp>([this](ReleaseOp op) { emitRelease(op); });
  ctx.onOp<SendOp>([this](SendOp op) { emitSend(op); });
  ctx.onOp<AwaitTurnOp>([this](AwaitTurnOp) { emitTurn(/*waits=*/true); });
  ctx.onOp<PassTurnOp>([this](PassTurnOp) { emitTurn(/*waits=*/false); });
  ctx.onOp<ReadOp>([this](ReadOp op) { emitRead(op); });
  ctx.onOp<MmaOp>([this](MmaOp op) { emitMma(op); });
  ctx.onOp<MmaFreshOp>([this](MmaFreshOp op) { emitFresh(op); });
  ctx.onOp<MmaBeginOp>(
      [this](MmaBeginOp op) { ctx.bind(op.getResult(), ctx.tile(op.getInput()).registers); });
  ctx.onOp<MmaWaitOp>([this](MmaWaitOp op) {
    ctx.bind(op.getResult(), waitForMma(ctx.tile(op.getAcc()).registers, op.getPending()));
  });
  ctx.onOp<MmaEndOp>([this](MmaEndOp op) {
    ctx.bind(op.getResult(), waitForMma(ctx.tile(op.getAcc()).registers, op.getPending()));
  });
  ctx.onOp<CombineOp>([this](CombineOp op) { combineBlocks(op); });
}

//===-- Tensor maps -------------------------------------------------------===//

/// Of a cluster: what its blocks get of a part (PutOp); none: what is where the maps say.
static std::optional<int64_t> splitOf(PutOp op, size_t n) {
  return op.getSplit() ? std::optional((*op.getSplit())[n]) : std::nullopt;
}

/// Whether blocks of a cluster fill each other's slots.
static bool isFilledByOthers(Value channel) {
  return llvm::any_of(channel.getUsers(), [](Operation *user) {
    auto put = dyn_cast<PutOp>(user);
    return put && put.getSplit();
  });
}

/// Of a part that blocks of a cluster fetch for each other each has some panels, or, where there
/// are too few, some rows of all.
static bool isSharedByPanels(SharedType part, unsigned blocks) {
  return part.getColumns() / part.getPanelColumns() % blocks == 0;
}

/// What one copy into a part moves: a panel, or a share of its rows.
static TensorBox boxOfPart(PutOp op, size_t n) {
  SharedType part = op.getChannel().getType().getPart(n);
  TensorBox box;
  box.parameter = cast<BlockArgument>(op.getSources()[n]).getArgNumber();
  box.box.assign(cast<MemRefType>(op.getSources()[n].getType()).getRank(), 1);
  box.box[0] = part.getPanelColumns();
  unsigned blocks = numBlocks(op->getParentOfType<KernelOp>());
  bool sharesRows = splitOf(op, n) == -1 && !isSharedByPanels(part, blocks);
  box.box[1] = part.getRows() / (sharesRows ? blocks : 1);
  box.swizzle = part.getSwizzle();
  box.roundsToTf32 = op.getTf32();
  return box;
}

SmallVector<TensorBox> tile::codegen::gpu::tensorMapsOf(KernelOp kernel) {
  SmallVector<TensorBox> maps;
  auto add = [&](const TensorBox &box) {
    if (!llvm::is_contained(maps, box))
      maps.push_back(box);
  };
  kernel.walk([&](PutOp op) {
    for (size_t n = 0; n < op.getSources().size(); ++n)
      add(boxOfPart(op, n));
  });
  kernel.walk([&](SendOp op) { add(boxOf(op)); });
  return maps;
}

Value PipelineEmitter::tensorMap(const TensorBox &box) {
  size_t first = ctx.prologue->getNumArguments() - tensorMaps.size();
  return ctx.prologue->getArgument(first + (llvm::find(tensorMaps, box) - tensorMaps.begin()));
}

CodeBuilder::Values PipelineEmitter::placeOfBox(AffineMap map, ValueRange values) {
  SmallVector<Index> dims;
  for (Value dim : values)
    dims.push_back(
        {isa<SpanType>(dim.getType()) ? ctx.ranges.lookup(axisOf(dim)).origin : ctx.scalar(dim)});
  Values place;
  for (AffineExpr expr : llvm::reverse(map.getResults()))
    place.push_back(b.fold<arith::TruncIOp>(
        b.getI32Type(), ctx.places.materialize(ctx.places.evaluate(expr, dims, {}))));
  return place;
}

//===-- Barriers ----------------------------------------------------------===//

static void waitFor(CodeBuilder &b, Value barrier, Value parity) {
  inlineAsm(b, Type(), {barrier, parity},
            "{\n\t.reg .pred done;\nagain:\n\t"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n\t"
            "@done bra ready;\n\tbra again;\nready:\n\t}",
            "r,r,~{memory}", /*hasSideEffects=*/true);
}

void PipelineEmitter::emitChannel(ChannelOp op) {
  ChannelType type = op.getResult().getType();
  int64_t depth = type.getDepth();
  ChannelPlace &place = channels[op.getResult()];
  place.slots = llvm::alignTo(ctx.shared.floor, 1024);
  place.barriers = place.slots + depth * type.getSlotBytes();
  ctx.shared.floor = place.barriers + depth * 2 * 8;
  ctx.shared.most = std::max(ctx.shared.most, ctx.shared.floor);
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
  int64_t blocksThatRead = isFilledByOthers(op.getResult()) ? ctx.blocks : 1;
  Value first = ctx.shared.addressOf(place.barriers);
  Value thread = b.add(b.mul(ctx.warp, b.integer(b.getI32Type(), 32)), ctx.lane);
  b.branch(
      b.compare(CmpIPredicate::eq, thread, b.integer(b.getI32Type(), 0)),
      [&] {
        for (int64_t n = 0; n < 2 * depth; ++n)
          inlineAsm(b, Type(),
                    {b.add(first, b.integer(b.getI32Type(), 8 * n)),
                     b.integer(b.getI32Type(), n < depth ? 1 : readers * blocksThatRead)},
                    "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}", true);
        inlineAsm(b, Type(), {}, "fence.mbarrier_init.release.cluster;", "~{memory}", true);
        for (const TensorBox &box : tensorMaps)
          inlineAsm(b, Type(), {tensorMap(box)}, "prefetch.tensormap [$0];", "l", true);
        return Values();
      },
      [&] { return Values(); });
  if (ctx.blocks > 1)
    ctx.barriers.meetBlocks("relaxed"); // a fence has ordered the barriers
  else
    ctx.barriers.meet();
  // Blocks come as far as here once the last ones of the kernel before have ended; behind it all of
  // that is done, and may be read. Had that kernel let them come before (`launch_dependents`),
  // clusters and products of few programs would lose a fifth to a half (docs/performance.md).
  if (startsEarly(ctx.kernel))
    inlineAsm(b, Type(), {}, "griddepcontrol.wait;", "~{memory}", true);
}

//===-- Items -------------------------------------------------------------===//

/// Where an item is: addresses in shared memory, and the parity of its turn.
struct PipelineEmitter::Item {
  Value slot, full, empty, parity;
};

PipelineEmitter::Item PipelineEmitter::itemOf(TypedValue<ChannelType> channel, Value number) {
  Type i32 = b.getI32Type();
  int64_t depth = channel.getType().getDepth();
  ChannelPlace place = channels.lookup(channel);
  Value count = b.integer(i32, depth), n = b.fold<arith::TruncIOp>(i32, number);
  Value turn = b.fold<arith::DivUIOp>(n, count), slot = b.sub(n, b.mul(turn, count));
  Item item;
  item.parity = b.fold<arith::AndIOp>(turn, b.integer(i32, 1));
  item.slot = b.add(ctx.shared.addressOf(place.slots),
                    b.mul(slot, b.integer(i32, channel.getType().getSlotBytes())));
  item.full = b.add(ctx.shared.addressOf(place.barriers), b.mul(slot, b.integer(i32, 8)));
  item.empty = b.add(item.full, b.integer(i32, 8 * depth));
  return item;
}

/// Address of the part within its slot.
static int64_t partOffset(ChannelType channel, size_t part) {
  int64_t offset = 0;
  for (size_t n = 0; n < part; ++n)
    offset += llvm::alignTo(channel.getPart(n).getBytes(), 1024);
  return offset;
}

/// The copies of one part, panel by panel; `place` is where its box begins, innermost first.
void PipelineEmitter::copyPart(PutOp op, size_t n, const Item &item, Values place) {
  Type i32 = b.getI32Type();
  ChannelType channel = op.getChannel().getType();
  SharedType part = channel.getPart(n);
  Value map = tensorMap(boxOfPart(op, n)),
        to = b.add(item.slot, b.integer(i32, partOffset(channel, n)));
  auto moveBy = [&](size_t dim, int64_t step) {
    place[dim] = b.add(place[dim], b.mul(ctx.blockRank, b.integer(i32, step)));
  };
  bool isShared = ctx.blocks > 1 && splitOf(op, n) == -1;
  int64_t panels = part.getColumns() / part.getPanelColumns();
  if (isShared && isSharedByPanels(part, ctx.blocks)) {
    panels /= ctx.blocks;
    moveBy(0, panels * part.getPanelColumns());
    to = b.add(to, b.mul(ctx.blockRank, b.integer(i32, panels * part.getPanelBytes())));
  } else if (isShared) {
    int64_t rows = part.getRows() / ctx.blocks;
    moveBy(1, rows);
    to = b.add(to, b.mul(ctx.blockRank, b.integer(i32, rows * part.getSwizzle())));
  } else if (ctx.blocks > 1 && splitOf(op, n)) {
    bool byColumns = splitOf(op, n) == 1;
    moveBy(byColumns ? 0 : 1, byColumns ? part.getColumns() : part.getRows());
  }
  std::string constraints = "r,l,r";
  for (size_t d = 0; d < place.size(); ++d)
    constraints += ",r";
  std::string text = "cp.async.bulk.tensor." + std::to_string(place.size()) +
                     "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" +
                     (isShared ? ".multicast::cluster" : "") + " [$0], [$1, " +
                     operandList(3, place.size()) + "], [$2]";
  if (isShared) {
    text += ", $" + std::to_string(3 + place.size());
    constraints += ",h";
  }
  Value column = place[0];
  for (int64_t panel = 0; panel < panels; ++panel) {
    place[0] = b.add(column, b.integer(i32, panel * part.getPanelColumns()));
    SmallVector<Value> operands = {b.add(to, b.integer(i32, panel * part.getPanelBytes())), map,
                                   item.full};
    llvm::append_range(operands, place);
    if (isShared)
      operands.push_back(b.integer(b.getI16Type(), (1 << ctx.blocks) - 1));
    inlineAsm(b, Type(), operands, text + ";", constraints + ",~{memory}", true);
  }
}

void PipelineEmitter::emitPut(PutOp op) {
  Type i32 = b.getI32Type();
  ChannelType channel = op.getChannel().getType();
  Value number = ctx.scalar(op.getNumber());
  SmallVector<Values> places;
  int64_t bytes = 0;
  for (size_t n = 0; n < channel.getSlot().size(); ++n) {
    places.push_back(placeOfBox(cast<AffineMapAttr>(op.getMaps()[n]).getValue(), op.getDims()));
    bytes += channel.getPart(n).getBytes();
  }
  Item item = itemOf(op.getChannel(), number);
  // Before an item went through it, a slot is free: the turn before the first one is over.
  waitFor(b, item.empty, b.fold<arith::XOrIOp>(item.parity, b.integer(i32, 1)));
  inlineAsm(b, Type(), {item.full, b.integer(i32, bytes)},
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}", true);
  for (size_t n = 0; n < places.size(); ++n)
    copyPart(op, n, item, places[n]);
}

void PipelineEmitter::emitGet(GetOp op) {
  Item item = itemOf(op.getChannel(), ctx.scalar(op.getNumber()));
  waitFor(b, item.full, item.parity);
  for (auto [n, part] : llvm::enumerate(op.getParts()))
    matrices[part] =
        b.add(item.slot, b.integer(b.getI32Type(), partOffset(op.getChannel().getType(), n)));
}

void PipelineEmitter::emitRelease(ReleaseOp op) {
  Item item = itemOf(op.getChannel(), ctx.scalar(op.getNumber()));
  // A lane for each block that may have fetched what this one reads. What tensor cores read needs
  // no order of the threads' own accesses, which would take long.
  unsigned others = isFilledByOthers(op.getChannel()) ? ctx.blocks : 1;
  Value arrives = b.compare(CmpIPredicate::ult, ctx.lane, b.integer(b.getI32Type(), others));
  if (others > 1)
    inlineAsm(b, Type(), {item.empty, ctx.lane, arrives},
              "{\n\t.reg .b32 there;\n\tbar.warp.sync -1;\n\t"
              "mapa.shared::cluster.u32 there, $0, $1;\n\t"
              "@$2 mbarrier.arrive.shared::cluster.b64 _, [there];\n\t}",
              "r,r,b,~{memory}", true);
  else
    inlineAsm(b, Type(), {item.empty, arrives},
              "bar.warp.sync -1;\n\t@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}",
              true);
}

//===-- Roles -------------------------------------------------------------===//

/// Turns are barriers of the hardware's, one a warpgroup, behind those of the roles. The group that
/// waits and the one that lets it go on meet there; the latter doesn't wait.
static void meetAt(CodeBuilder &b, Value group, unsigned firstBarrier, bool waits) {
  Value number = b.add(group, b.integer(b.getI32Type(), firstBarrier));
  inlineAsm(b, Type(), {number},
            std::string(waits ? "barrier.sync" : "barrier.arrive") + " $0, 256;", "r,~{memory}",
            true);
}

void PipelineEmitter::emitTurn(bool waits) {
  Type i32 = b.getI32Type();
  Value group = b.fold<arith::ShRUIOp>(ctx.warp, b.integer(i32, 2));
  if (!waits) {
    Value next = b.add(group, b.integer(i32, 1));
    group = b.select(b.compare(CmpIPredicate::eq, next, b.integer(i32, ctx.warps / 4)),
                     b.integer(i32, 0), next);
  }
  meetAt(b, group, firstTurnBarrier, waits);
}

/// The last warpgroup gives the first one its first turn.
void PipelineEmitter::giveFirstTurn(Region &body) {
  if (!takesTurns(body))
    return;
  Type i32 = b.getI32Type();
  Value isLast = b.compare(CmpIPredicate::uge, ctx.warp, b.integer(i32, ctx.warps - 4));
  b.branch(
      isLast,
      [&] {
        meetAt(b, b.integer(i32, 0), firstTurnBarrier, /*waits=*/false);
        return Values();
      },
      [&] { return Values(); });
}

void PipelineEmitter::emitRoles(ParallelOp parallel, RolesOp roles) {
  firstTurnBarrier = roles.getBodies().size() + 1;
  makeOutboxes(roles);
  unsigned last = roles.getBodies().size() - 1, end = 0;
  SmallVector<unsigned> ends;
  for (int64_t count : roles.getWarps())
    ends.push_back(end += count);
  Value number = ctx.warp;
  std::function<Values(unsigned)> emitFrom = [&](unsigned n) -> Values {
    if (ctx.failed)
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
  // What others of the cluster send here has to find this block.
  if (ctx.blocks > 1)
    ctx.barriers.meetBlocks("release");
}

void PipelineEmitter::emitRole(ParallelOp parallel, RolesOp roles, unsigned number) {
  unsigned allWarps = ctx.warps, first = 0;
  Value allWarp = ctx.warp;
  auto allPlaces = std::move(ctx.places.threadPlaces);
  for (unsigned n = 0; n < number; ++n)
    first += roles.getWarps()[n];
  ctx.warps = roles.getWarps()[number];
  ctx.places.threadPlaces.clear();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(ctx.prologue);
    ctx.warp = b.sub(allWarp, b.integer(b.getI32Type(), first));
  }
  ctx.barriers.number = number + 1;
  // The kernel starts with the same number for all.
  int64_t given = registersAtStart(allWarps), wanted = roles.getRegisters()[number];
  if (wanted != given)
    inlineAsm(b, Type(), {},
              std::string("setmaxnreg.") + (wanted < given ? "dec" : "inc") + ".sync.aligned.u32 " +
                  std::to_string(wanted) + ";",
              "~{memory}", true);
  numSent = 0;
  auto combines = [&](Region &body) {
    return body.walk([](CombineOp) { return WalkResult::interrupt(); }).wasInterrupted();
  };
  Region &body = roles.getBodies()[number];
  if (puts(body)) {
    // One thread. Others of its warp would run through all of their loop before it begins: 5% of a
    // large product's time.
    Value thread = b.add(b.mul(ctx.warp, b.integer(b.getI32Type(), 32)), ctx.lane);
    b.branch(
        b.compare(CmpIPredicate::eq, thread, b.integer(b.getI32Type(), 0)),
        [&] {
          ctx.programs.emitPrograms(parallel, body.front());
          return Values();
        },
        [&] { return Values(); });
    inlineAsm(b, Type(), {}, "bar.warp.sync -1;", "~{memory}",
              true); // barriers that follow are for whole warps
  } else {
    giveFirstTurn(body);
    ctx.programs.emitPrograms(parallel, body.front());
  }
  // Blocks meet where sums are combined, all of their warps.
  if (!combines(body) &&
      llvm::any_of(roles.getBodies(), [&](Region &other) { return combines(other); }))
    ctx.barriers.meetBlocks("release");
  finishSends(number);
  // Roles run at the same time: what one of them uses is not another's.
  ctx.shared.floor = llvm::alignTo(ctx.shared.most, 16);
  ctx.barriers.number = 0;
  ctx.warps = allWarps;
  ctx.warp = allWarp;
  ctx.places.threadPlaces = std::move(allPlaces);
}
