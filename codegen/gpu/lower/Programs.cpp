//===- Programs.cpp - which program runs ----------------------------------===//

#include "codegen/gpu/lower/Context.h"
#include "codegen/gpu/plan/OutputCopies.h"
#include "codegen/gpu/plan/PlanProgram.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

Programs::Programs(LoweringContext &context, CodeBuilder &builder) : Emitter(context, builder) {
  ctx.onOp<ParallelOp>([this](ParallelOp op) { emitParallel(op); });
  ctx.onOp<WorkItemOp>([this](WorkItemOp op) { ctx.scalars[op.getResult()] = turn; });
  ctx.onOp<PositionOp>(
      [this](PositionOp op) { ctx.scalars[op.getResult()] = positions.lookup(op.getChannel()); });
  ctx.onOp<AdvanceOp>([this](AdvanceOp op) {
    Value &position = positions[op.getChannel()];
    position = b.add(position, ctx.scalar(op.getCount()));
  });
  ctx.onOp<RankOp>([this](RankOp op) {
    ctx.scalars[op.getResult()] = b.fold<arith::ExtUIOp>(b.getI64Type(), ctx.blockRank);
  });
}

void Programs::emitParallel(ParallelOp op) {
  if (ctx.kernel->hasAttr(groupAttrName) && op.getNames().size() != 2)
    return ctx.fail(op, "groups of programs need two binders");
  Block &body = op.getBody().front();
  if (auto roles = dyn_cast<RolesOp>(body.front()))
    return ctx.emitOp(roles);
  if (emitRuns)
    return emitRuns(op);
  emitPrograms(op, body);
}

Value Programs::blockCount(CodeBuilder &b, Value lower, Value upper, Value size) {
  Value length = b.maxS(b.sub(upper, lower), b.i64(0));
  return b.fold<arith::DivUIOp>(b.add(length, b.sub(size, b.i64(1))), size);
}

void Programs::emitPrograms(ParallelOp op, Block &body) {
  turn = b.i64(0);
  // Of a cluster, its number.
  auto inClusters = [&](Value number) {
    Value shift = b.integer(b.getI32Type(), llvm::Log2_32(ctx.blocks));
    return ctx.blocks > 1 ? b.fold<arith::ShRUIOp>(number, shift) : number;
  };
  Value block = inClusters(readSpecial(b, "ctaid.x"));
  positions.clear();
  Values start = {b.i64(0)}; // programs before, then the channels' positions
  for (Operation &op : body)
    if (auto advance = dyn_cast<AdvanceOp>(op))
      start.push_back(positions[advance.getChannel()] = b.i64(0));
  if (!ctx.kernel->hasAttr(persistentAttrName)) {
    ctx.program = b.fold<arith::ExtUIOp>(b.getI64Type(), block);
    bindProgram(op, block);
    ctx.records.watchProgram();
    return ctx.emitBlock(body);
  }
  Type i64 = b.getI64Type();
  Value first = b.fold<arith::ExtUIOp>(i64, block);
  Value step = b.fold<arith::ExtUIOp>(i64, inClusters(readSpecial(b, "nctaid.x")));
  b.loop(first, programCount(op), step, start, [&](Value number, ValueRange carried) {
    turn = carried[0];
    for (auto [position, value] : llvm::zip_equal(positions, carried.drop_front()))
      position.second = value;
    ctx.program = number;
    ctx.records.watchProgram();
    bindLater = [&] { bindProgram(op, b.fold<arith::TruncIOp>(b.getI32Type(), number)); };
    ctx.emitBlock(body);
    bindLater = nullptr;
    Values next = {b.add(carried[0], b.i64(1))};
    for (const auto &position : positions)
      next.push_back(position.second);
    return next;
  });
  turn = b.i64(0);
}

Value Programs::programCount(ParallelOp op) {
  Value count = b.i64(1);
  for (size_t n = 0; n < op.getNames().size(); ++n)
    count = b.mul(count, blockCount(b, ctx.scalar(op.getLower()[n]), ctx.scalar(op.getUpper()[n]),
                                    b.i64(op.getSizes()[n])));
  return count;
}

/// Of so many blocks by so many, the places of a program's: down `group` rows of blocks, then one
/// to the right.
static std::pair<Value, Value> groupedPlace(CodeBuilder &b, Value number, Value rows, Value columns,
                                            int64_t group) {
  auto div = [&](Value x, Value y) { return b.fold<arith::DivUIOp>(x, y); };
  auto rest = [&](Value x, Value y) { return b.sub(x, b.mul(div(x, y), y)); };
  Value height = b.integer(b.getI32Type(), group), width = b.mul(columns, height);
  Value first = b.mul(div(number, width), height), inside = rest(number, width);
  Value here = b.minS(b.sub(rows, first), height);
  return {b.add(first, rest(inside, here)), div(inside, here)};
}

void Programs::bindProgram(ParallelOp op, Value number) {
  bindBinders(op, number, llvm::to_vector(llvm::seq<unsigned>(0, op.getNames().size())));
}

void Programs::bindBinders(ParallelOp op, Value number, ArrayRef<unsigned> binders) {
  // There are fewer than 2³¹ programs, so each count is, too.
  Type i32 = b.getI32Type();
  auto countOf = [&](size_t n) {
    return b.fold<arith::TruncIOp>(i32, blockCount(b, ctx.scalar(op.getLower()[n]),
                                                   ctx.scalar(op.getUpper()[n]),
                                                   b.i64(op.getSizes()[n])));
  };
  auto group = ctx.kernel->getAttrOfType<IntegerAttr>(groupAttrName);
  Values places(binders.size());
  if (group) {
    std::tie(places[0], places[1]) =
        groupedPlace(b, number, countOf(0), countOf(1), group.getInt());
  } else {
    for (size_t n = binders.size(); n-- > 1;) {
      Value count = countOf(binders[n]), quotient = b.fold<arith::DivUIOp>(number, count);
      places[n] = b.sub(number, b.mul(quotient, count));
      number = quotient;
    }
    if (!binders.empty())
      places[0] = number;
  }
  for (auto [n, place] : llvm::zip_equal(binders, places)) {
    Value lower = ctx.scalar(op.getLower()[n]), upper = ctx.scalar(op.getUpper()[n]);
    int64_t size = op.getSizes()[n];
    Value wide = b.fold<arith::ExtUIOp>(b.getI64Type(), place);
    Value origin = b.add(lower, b.mul(wide, b.i64(size)));
    BlockArgument argument = op.getBody().getArgument(n);
    if (isOnlyOne(argument))
      ctx.scalars[argument] = lower; // which is there after the programs, too
    else if (op.getEach()[n])
      ctx.scalars[argument] = origin;
    else
      ctx.ranges[axisOf(argument)] = {origin,
                                      b.add(origin, b.minS(b.i64(size), b.sub(upper, origin)))};
  }
}

Value Programs::coordinateOf(unsigned binder) {
  ParallelOp parallel = ctx.kernel.getParallel();
  BlockArgument argument = parallel.getBody().getArgument(binder);
  return parallel.getEach()[binder] ? ctx.scalar(argument)
                                    : ctx.ranges.lookup(axisOf(argument)).origin;
}
