//===- EmitSend.cpp - tiles that bulk copies store ------------------------===//
//
// Stores from registers are of 4 bytes a lane, in rows of the tensor that are far apart, and
// a warp waits until the memory has taken them. Here each warp leaves 16 rows of 128 bytes in
// shared memory, an *outbox*, and a copy fetches them from there while the warp goes on with
// the next ones, in its other outbox. What is a row here may be a column of the tensor: then it
// goes across on its way there. Pieces of 16 bytes change places as copies have it (SharedType), so
// that neither side meets conflicts of banks.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/dialect/Mma.h"
#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/lower/PipelineEmitter.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

static constexpr int64_t rowsOfWarp = 16, pieceBytes = 16;

/// Whether the tile's rows are columns of the tensor.
static bool isAcross(SendOp op) {
  AffineMap map = op.getMap();
  StringAttr rows = axesOf(op.getValue().getType())[0];
  for (auto [n, dim] : llvm::enumerate(op.getDims()))
    if (isa<SpanType>(dim.getType()) && axisOf(dim) == rows &&
        map.getResult(map.getNumResults() - 1).isFunctionOfDim(n))
      return true;
  return false;
}

namespace {
/// What one copy moves of a warp's rows: as many columns as make 128 bytes of a row, but so few of
/// several results that what waits for its copy leaves most registers to what makes the rest. In
/// the outbox it lies as in the tensor, in rows of so many bytes.
struct Parcel {
  bool isAcross;
  int64_t columns, rowBytes;
};
} // namespace

static Parcel parcelOf(SendOp op) {
  constexpr int64_t mostBytes = 128, leastBytes = 32, mostWords = 48;
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  const Layout &layout = layoutOf(tile);
  int64_t elementBytes = tile.getElementTypeBitWidth() / 8;
  int64_t all = layout.extentOfBlock(1) * elementBytes, bytes = std::min(mostBytes, all & -all);
  int64_t rows = llvm::range_size(op->getBlock()->getOps<SendOp>()) * layout.repeats()[0];
  while (bytes > leastBytes && rows * bytes * rowsOfWarp / 32 / 4 > mostWords)
    bytes /= 2;
  bool across = isAcross(op);
  return {across, bytes / elementBytes, across ? rowsOfWarp * elementBytes : bytes};
}

TensorBox tile::codegen::gpu::boxOf(SendOp op) {
  auto target = cast<MemRefType>(op.getTarget().getType());
  Parcel parcel = parcelOf(op);
  TensorBox box;
  box.parameter = cast<BlockArgument>(op.getTarget()).getArgNumber();
  box.box.assign(target.getRank(), 1);
  box.box[0] = parcel.isAcross ? rowsOfWarp : parcel.columns;
  box.box[1] = parcel.isAcross ? parcel.columns : rowsOfWarp;
  box.swizzle = parcel.rowBytes;
  return box;
}

void PipelineEmitter::makeOutboxes(RolesOp roles) {
  outboxes.assign(roles.getBodies().size(), -1);
  for (auto [n, body] : llvm::enumerate(roles.getBodies())) {
    if (!body.walk([](SendOp) { return WalkResult::interrupt(); }).wasInterrupted())
      continue;
    outboxes[n] = llvm::alignTo(ctx.shared.floor, 1024);
    ctx.shared.floor = outboxes[n] + roles.getWarps()[n] * outboxesOfWarp * outboxBytes;
  }
  ctx.shared.most = std::max(ctx.shared.most, ctx.shared.floor);
}

void PipelineEmitter::fillOutbox(SendOp op, Value outbox, int64_t row, int64_t column) {
  Type i32 = b.getI32Type();
  auto c = [&](int64_t value) { return b.integer(i32, value); };
  Tile tile = ctx.tile(op.getValue());
  auto [across, columns, width] = parcelOf(op);
  int64_t pieces = width / pieceBytes, bits = op.getTarget().getType().getElementTypeBitWidth();
  auto at = [&](int64_t r, int64_t j) {
    return tile.registers[*tile.layout.registerAt({row + r, column + j})];
  };
  // Where a row's piece lies: pieces change places by the bits of the address from 128 on.
  auto address = [&](Value inRow, Value piece, Value inPiece) {
    Value start = b.mul(inRow, c(width));
    Value moved = b.fold<arith::AndIOp>(b.fold<arith::ShRUIOp>(start, c(7)), c(pieces - 1));
    Value place = b.add(start, b.mul(b.fold<arith::XOrIOp>(piece, moved), c(pieceBytes)));
    return b.add(outbox, inPiece ? b.add(place, inPiece) : place);
  };
  if (bits == 16) {
    // Four matrices of 8 × 8 at a time: rows 0 and 8, then columns 8 and on. Each lane names a row
    // of one, or of its transpose.
    Value ofEight = b.fold<arith::AndIOp>(ctx.lane, c(7)),
          second = b.fold<arith::ShRUIOp>(ctx.lane, c(4));
    Value odd = b.fold<arith::AndIOp>(b.fold<arith::ShRUIOp>(ctx.lane, c(3)), c(1));
    Value inRow = b.add(ofEight, b.mul(across ? second : odd, c(8)));
    Value piece = across ? odd : second;
    std::string text = across ? "stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16"
                              : "stmatrix.sync.aligned.m8n8.x4.shared::cta.b16";
    for (int64_t j = 0; j < columns; j += 16) {
      SmallVector<Value> operands = {across ? address(b.add(inRow, c(j)), piece, Value())
                                            : address(inRow, b.add(piece, c(j / 8)), Value())};
      for (int64_t next : {0, 8})
        for (int64_t r : {0, 8})
          operands.push_back(packPair(b, at(r, j + next), at(r, j + next + 1)));
      inlineAsm(b, Type(), operands, text + " [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}",
                true);
    }
    return;
  }
  Value pair = b.fold<arith::AndIOp>(ctx.lane, c(3)),
        first = b.fold<arith::ShRUIOp>(ctx.lane, c(2));
  if (across) {
    Value pieceOfRow = b.fold<arith::ShRUIOp>(first, c(2));
    Value inPiece = b.mul(b.fold<arith::AndIOp>(first, c(3)), c(4));
    for (int64_t j = 0; j < columns; j += 8)
      for (int64_t next : {0, 1})
        for (int64_t r : {0, 8}) {
          Value inRow = b.add(b.mul(pair, c(2)), c(j + next));
          Value place = address(inRow, b.add(pieceOfRow, c(r / 4)), inPiece);
          inlineAsm(b, Type(), {place, b.bitcast(at(r, j + next), i32)}, "st.shared.b32 [$0], $1;",
                    "r,r,~{memory}", true);
        }
    return;
  }
  Value inPiece = b.mul(b.fold<arith::AndIOp>(pair, c(1)), c(8));
  Value pieceOfLane = b.fold<arith::ShRUIOp>(pair, c(1));
  for (int64_t j = 0; j < columns; j += 8)
    for (int64_t r : {0, 8}) {
      Value place = address(b.add(first, c(r)), b.add(pieceOfLane, c(j / 4)), inPiece);
      inlineAsm(b, Type(), {place, b.bitcast(at(r, j), i32), b.bitcast(at(r, j + 1), i32)},
                "st.shared.v2.b32 [$0], {$1, $2};", "r,r,r,~{memory}", true);
    }
}

void PipelineEmitter::emitSend(SendOp op) {
  Type i32 = b.getI32Type();
  auto c = [&](int64_t value) { return b.integer(i32, value); };
  Tile tile = ctx.tile(op.getValue());
  Values place = placeOfBox(op.getMap(), op.getDims());
  Value map = tensorMap(boxOf(op)), isLeader = b.compare(CmpIPredicate::eq, ctx.lane, c(0));
  unsigned number = roleOf(op->getParentOfType<RolesOp>(), op);
  Value first = b.add(ctx.shared.addressOf(outboxes[number]),
                      b.mul(ctx.warp, c(outboxesOfWarp * outboxBytes)));
  int64_t rowsAtOnce = tile.layout.atomExtent(0);
  // The first block's step along each axis; others' are multiples of it.
  auto toBlock = [&](unsigned axis) {
    return ctx.blocks > 1 ? b.mul(ctx.blockRank, c(tile.layout.at(Part::Block, 1)[axis])) : c(0);
  };
  Value ownRow = b.add(b.mul(ctx.warp, c(rowsOfWarp)), toBlock(0));
  std::string constraints = "r,l,b", dims = std::to_string(place.size());
  for (size_t d = 0; d < place.size(); ++d)
    constraints += ",r";
  std::string text = "@$2 cp.async.bulk.tensor." + dims +
                     "d.global.shared::cta.tile.bulk_group [$1, " + operandList(3, place.size()) +
                     "], [$0];\n\t@$2 cp.async.bulk.commit_group;";
  auto [across, columns, rowBytes] = parcelOf(op);
  Value &ofRow = place[across ? 0 : 1], &ofColumn = place[across ? 1 : 0];
  Value row = b.add(ofRow, ownRow), column = b.add(ofColumn, toBlock(1));
  for (int64_t r = 0; r < tile.layout.extent(0); r += rowsAtOnce)
    for (int64_t j = 0; j < tile.layout.extentOfBlock(1); j += columns) {
      if (int64_t last = j + columns - 1;
          ctx.slice && (last < ctx.slice->begin || last >= ctx.slice->end))
        continue; // not all of its columns are there, or they were sent
      // All but the copy before this one have read what they fetch; at first, all.
      inlineAsm(b, Type(), {isLeader},
                "@$0 cp.async.bulk.wait_group.read " + std::to_string(numSent ? 1 : 0) +
                    ";\n\tbar.warp.sync -1;",
                "b,~{memory}", true);
      Value outbox = b.add(first, c(numSent++ % outboxesOfWarp * outboxBytes));
      fillOutbox(op, outbox, r, j);
      inlineAsm(b, Type(), {}, "fence.proxy.async.shared::cta;\n\tbar.warp.sync -1;", "~{memory}",
                true);
      ofRow = b.add(row, c(r));
      ofColumn = b.add(column, c(j));
      SmallVector<Value> operands = {outbox, map, isLeader};
      llvm::append_range(operands, place);
      inlineAsm(b, Type(), operands, text, constraints + ",~{memory}", true);
    }
}

void PipelineEmitter::finishSends(unsigned role) {
  // Shared memory goes with the block.
  if (outboxes[role] >= 0)
    inlineAsm(b, Type(), {}, "cp.async.bulk.wait_group.read 0;", "~{memory}", true);
}
