//===- PipelineOps.cpp - what roles, channels and tensor cores agree on ---===//

#include "codegen/gpu/dialect/Mma.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/target/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

//===-- Types -------------------------------------------------------------===//

static int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

int64_t SharedType::getBytes() const { return getRows() * getColumns() * bytesOf(getElement()); }

int64_t SharedType::getPanelColumns() const { return getSwizzle() / bytesOf(getElement()); }

LogicalResult SharedType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                 RankedTensorType matrix, int64_t swizzle) {
  if (matrix.getRank() != 2 || !matrix.hasStaticShape() || matrix.getEncoding())
    return emitError() << "a matrix in shared memory has two extents, and no axes";
  Type element = matrix.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return emitError() << "elements in shared memory are numbers of whole bytes";
  if (swizzle != 128 && swizzle != 64 && swizzle != 32)
    return emitError() << "a panel has 128, 64 or 32 bytes a row";
  int64_t rows = matrix.getDimSize(0), columns = matrix.getDimSize(1);
  if (rows < 1 || rows > 256 || rows % 8 != 0)
    return emitError() << "a matrix in shared memory has 8 to 256 rows, a multiple of 8";
  if (columns < 1 || columns * bytesOf(element) % swizzle != 0)
    return emitError() << "columns are whole panels of " << swizzle << " bytes";
  return success();
}

SharedType ChannelType::getPart(size_t n) const { return cast<SharedType>(getSlot()[n]); }

int64_t ChannelType::getSlotBytes() const {
  int64_t bytes = 0;
  for (size_t n = 0; n < getSlot().size(); ++n)
    bytes += llvm::alignTo(getPart(n).getBytes(), 1024);
  return bytes;
}

LogicalResult ChannelType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t depth,
                                  ArrayRef<Type> slot) {
  if (depth < 1 || depth > 64)
    return emitError() << "a channel has 1 to 64 slots";
  if (slot.empty() || !llvm::all_of(slot, llvm::IsaPred<SharedType>))
    return emitError() << "a slot holds matrices in shared memory";
  return success();
}

LogicalResult PendingType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                  RankedTensorType tile) {
  return hasLayout(tile) ? success() : emitError() << "what is pending is a tile with a layout";
}

//===-- Channels ----------------------------------------------------------===//

static RolesOp rolesOver(Operation *op) { return op->getParentOfType<RolesOp>(); }

unsigned tile::codegen::gpu::roleOf(RolesOp roles, Operation *op) {
  Region *region = op->getParentRegion();
  while (region->getParentOp() != roles)
    region = region->getParentOp()->getParentRegion();
  return region->getRegionNumber();
}

bool tile::codegen::gpu::startsEarly(KernelOp kernel) {
  bool hasChannel = false;
  for (Operation &op : kernel.getBody().front()) {
    if (auto parallel = dyn_cast<ParallelOp>(op))
      return hasChannel && isa<RolesOp>(parallel.getBody().front().front());
    hasChannel |= isa<ChannelOp>(op);
    if (!isa<ChannelOp, AxisOp>(op) && !isMemoryEffectFree(&op))
      return false;
  }
  return false;
}

LogicalResult ChannelOp::verify() {
  if (!isa<KernelOp>((*this)->getParentOp()))
    return emitOpError("stands in the body of the kernel");
  std::optional<unsigned> filler;
  bool isReleased = false;
  for (Operation *user : getResult().getUsers()) {
    RolesOp roles = rolesOver(user);
    if (!roles)
      return user->emitOpError("uses a channel outside of roles");
    unsigned role = roleOf(roles, user);
    isReleased |= isa<ReleaseOp>(user);
    if (!isa<PutOp>(user))
      continue;
    if (filler && *filler != role)
      return user->emitOpError("fills a channel that another role fills, too");
    filler = role;
  }
  if (filler && !isReleased)
    return emitOpError("is filled, and no role releases its items");
  auto isAdvanced = [&](Operation *user) {
    RolesOp roles = rolesOver(user);
    return bool(advanceOf(roles.getBodies()[roleOf(roles, user)], getResult()));
  };
  auto users = llvm::make_filter_range(getResult().getUsers(),
                                       [](Operation *user) { return !isa<CombineOp>(user); });
  if (llvm::any_of(users, isAdvanced) && !llvm::all_of(users, isAdvanced))
    return emitOpError("is advanced by one role, and used by another that doesn't");
  return success();
}

LogicalResult PutOp::verify() {
  ChannelType channel = getChannel().getType();
  size_t parts = channel.getSlot().size();
  if (getSources().size() != parts || getMaps().size() != parts)
    return emitOpError("needs one source and one map for each of the ") << parts << " parts";
  for (Type dim : getDims().getTypes())
    if (!isa<SpanType>(dim) && !dim.isInteger(64))
      return emitOpError("begins at spans and i64 values");
  unsigned blocks = numBlocks((*this)->getParentOfType<KernelOp>());
  if (getSplit() && getSplit()->size() != parts)
    return emitOpError("says for each part what the blocks of a cluster get: split");
  for (size_t n = 0; n < parts; ++n) {
    int64_t split = getSplit() ? (*getSplit())[n] : 0;
    if (split < -1 || split > 1)
      return emitOpError("is split along rows (0), columns (1), or not at all (-1)");
    if (split == -1 && channel.getPart(n).getRows() % (8 * blocks) != 0)
      return emitOpError("part ") << n << " has no share for each block, of 8 rows or a multiple";
    auto source = cast<MemRefType>(getSources()[n].getType());
    AffineMap map = cast<AffineMapAttr>(getMaps()[n]).getValue();
    if (source.getElementType() != channel.getPart(n).getElement())
      return emitOpError("part ") << n << " has other elements than its source";
    if (getTf32() && !source.getElementType().isF32())
      return emitOpError("rounds f32 to tf32, and part ") << n << " has other elements";
    if (source.getRank() < 2 || source.getRank() > 5)
      return emitOpError("copies from tensors of rank 2 to 5");
    if (map.getNumDims() != getDims().size() || map.getNumSymbols() != 0 ||
        map.getNumResults() != static_cast<unsigned>(source.getRank()))
      return emitOpError("map ") << n << " gives a coordinate for each dimension of its source";
  }
  return success();
}

LogicalResult GetOp::verify() {
  if (TypeRange(getParts().getTypes()) != TypeRange(getChannel().getType().getSlot()))
    return emitOpError("gives what a slot of the channel holds");
  return success();
}

//===-- Roles -------------------------------------------------------------===//

// tile_gpu.roles "load" warps 4 registers 40 { … }, "multiply" warps 8 registers 232 { … }
ParseResult RolesOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> names;
  SmallVector<int64_t> warps, registers;
  auto parseRole = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name) || parser.parseKeyword("warps") ||
        parser.parseInteger(warps.emplace_back()) || parser.parseKeyword("registers") ||
        parser.parseInteger(registers.emplace_back()) || parser.parseRegion(*result.addRegion()))
      return failure();
    names.push_back(builder.getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(parseRole) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  for (auto &region : result.regions)
    if (region->empty())
      region->emplaceBlock();
  result.addAttribute(getNamesAttrName(result.name), builder.getArrayAttr(names));
  result.addAttribute(getWarpsAttrName(result.name), builder.getDenseI64ArrayAttr(warps));
  result.addAttribute(getRegistersAttrName(result.name), builder.getDenseI64ArrayAttr(registers));
  return success();
}

void RolesOp::print(OpAsmPrinter &printer) {
  for (auto [n, body] : llvm::enumerate(getBodies())) {
    printer << (n ? ", " : " ") << getNames()[n] << " warps " << getWarps()[n] << " registers "
            << getRegisters()[n] << " ";
    printer.printRegion(body, /*printEntryBlockArgs=*/false);
  }
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getNamesAttrName(), getWarpsAttrName(), getRegistersAttrName()});
}

int64_t tile::codegen::gpu::registersAtStart(int64_t warps) {
  return registersOfMultiprocessor / (32 * warps) / 8 * 8;
}

bool tile::codegen::gpu::puts(Region &role) {
  return role.walk([](PutOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

AdvanceOp tile::codegen::gpu::advanceOf(Region &role, Value channel) {
  for (AdvanceOp op : role.getOps<AdvanceOp>())
    if (op.getChannel() == channel)
      return op;
  return {};
}

bool tile::codegen::gpu::takesTurns(Region &role) {
  return role
      .walk([](Operation *op) {
        return isa<AwaitTurnOp, PassTurnOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether one thread can't do it by itself.
static bool takesWarps(Operation *op) {
  auto isTile = [](Type type) { return isa<RankedTensorType, PendingType>(type); };
  return isa<GetOp, ReleaseOp, CombineOp, AwaitTurnOp, PassTurnOp>(op) ||
         llvm::any_of(op->getOperandTypes(), isTile) || llvm::any_of(op->getResultTypes(), isTile);
}

LogicalResult RolesOp::verify() {
  size_t count = getBodies().size();
  if (count == 0 || getNames().size() != count || getWarps().size() != count ||
      getRegisters().size() != count)
    return emitOpError("needs a name, warps and registers for each role");
  int64_t warps = 0, registers = 0;
  for (size_t n = 0; n < count; ++n) {
    if (getWarps()[n] < 4 || getWarps()[n] % 4 != 0 || !llvm::isPowerOf2_64(getWarps()[n]))
      return emitOpError("a role has 4, 8 or 16 warps");
    if (getRegisters()[n] < 24 || getRegisters()[n] > 240 || getRegisters()[n] % 8 != 0)
      return emitOpError("a thread has 24 to 240 registers, a multiple of 8");
    warps += getWarps()[n];
    registers += getRegisters()[n] * getWarps()[n] * 32;
  }
  if (warps > 32)
    return emitOpError("a program has at most 32 warps");
  // A CTA's roles share out what its threads start with; who asks for more waits for ever.
  if (int64_t pool = registersAtStart(warps) * 32 * warps; registers > pool)
    return emitOpError("asks for ")
           << registers << " registers; a CTA of " << warps << " warps has " << pool;
  for (Region &role : getBodies())
    if (puts(role) && role.walk([](Operation *op) {
                            return takesWarps(op) ? WalkResult::interrupt() : WalkResult::advance();
                          })
                          .wasInterrupted())
      return emitOpError("a role that puts is one thread's: it gets nothing, and has no tiles");
  if (llvm::count_if(getBodies(), [](Region &role) { return takesTurns(role); }) > 1)
    return emitOpError("has more than one role whose warpgroups take turns");
  for (Region &role : getBodies()) {
    bool awaits = false, passes = false;
    role.walk([&](AwaitTurnOp) { awaits = true; });
    role.walk([&](PassTurnOp) { passes = true; });
    if (awaits != passes)
      return emitOpError("has a role that awaits turns and never passes one on, or the reverse");
  }
  auto given = (*this)->getParentOfType<KernelOp>()->getAttrOfType<IntegerAttr>(warpsAttrName);
  if (given && given.getInt() != warps)
    return emitOpError("has ") << warps << " warps, and the kernel " << given.getInt();
  if (!llvm::hasSingleElement(*(*this)->getBlock()))
    return emitOpError("is all of the body of its tile.parallel");
  return success();
}

int64_t tile::codegen::gpu::numWarpsOf(Operation *op) {
  if (RolesOp roles = rolesOver(op))
    return roles.getWarps()[roleOf(roles, op)];
  auto given = op->getParentOfType<KernelOp>()->getAttrOfType<IntegerAttr>(warpsAttrName);
  return given ? given.getInt() : 0;
}

LogicalResult PositionOp::verify() {
  RolesOp roles = rolesOver(*this);
  if (!roles)
    return success(); // the channel tells
  Region &role = roles.getBodies()[roleOf(roles, *this)];
  AdvanceOp advance = advanceOf(role, getChannel());
  if (!advance)
    return emitOpError("is known in a role that advances the channel");
  if (advance->isBeforeInBlock(role.front().findAncestorOpInBlock(*getOperation())))
    return emitOpError("stands behind the op that advances the channel");
  return success();
}

LogicalResult AdvanceOp::verify() {
  if (!isa<RolesOp>((*this)->getParentOp()))
    return emitOpError("stands in the body of a role");
  if (advanceOf(*(*this)->getParentRegion(), getChannel()) != *this)
    return emitOpError("advances a channel that the role has advanced before");
  return success();
}

static LogicalResult checkTurn(Operation *op) {
  // One barrier a warpgroup, of the hardware's 16.
  if (rolesOver(op) && numWarpsOf(op) >= 8)
    return success();
  return op->emitOpError("stands in a role of 8 or 16 warps");
}

LogicalResult AwaitTurnOp::verify() { return checkTurn(*this); }
LogicalResult PassTurnOp::verify() { return checkTurn(*this); }

//===-- Tensor cores ------------------------------------------------------===//

/// The number of warps of a role, where warpgroups can multiply in it; or else 0.
static int64_t warpsOfRole(Operation *op) {
  return rolesOver(op) && numBlocks(op->getParentOfType<KernelOp>()) == 1 ? numWarpsOf(op) : 0;
}

/// Whether a tile is the first operand of `mma` in registers, for so many warps.
static bool isOperand(RankedTensorType tile, int64_t warps) {
  return tile.getRank() == 2 && tile.hasStaticShape() &&
         (tile.getElementType().isBF16() || tile.getElementType().isF16()) && warps % 4 == 0 &&
         warps > 0 && tile.getDimSize(0) % (warps * 16) == 0 && tile.getDimSize(1) % 16 == 0 &&
         layoutOf(tile) == mmaLayout(tile.getDimSize(0), tile.getDimSize(1), warps);
}

LogicalResult ReadOp::verify() {
  auto tile = cast<RankedTensorType>(getResult().getType());
  SharedType matrix = getMatrix().getType();
  int64_t rows = matrix.getRows(), columns = matrix.getColumns();
  if (getByColumns())
    std::swap(rows, columns);
  if (tile.getRank() != 2 || tile.getDimSize(0) != rows || tile.getDimSize(1) != columns ||
      tile.getElementType() != matrix.getElement())
    return emitOpError("gives a tile of ") << rows << " × " << columns << ", of the same elements";
  if (!isOperand(tile, warpsOfRole(*this)))
    return emitOpError(
        "reads 16-bit floats as `mma` takes its first operand, in a role of programs "
        "that are no clusters");
  return success();
}

LogicalResult PartialReduceOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  SmallVector<StringAttr> axes(axesOf(from));
  auto at = llvm::find(axes, getAxisAttr());
  if (at == axes.end())
    return emitOpError("the tile has no axis ") << getAxisAttr();
  if (llvm::is_contained(axes, getIntoAttr()))
    return emitOpError("the tile has the axis ") << getIntoAttr() << " already";
  unsigned axis = at - axes.begin();
  *at = getIntoAttr();
  Layout layout = layoutOf(from).partial(axis);
  SmallVector<int64_t> shape(from.getShape());
  shape[axis] = layout.extent(axis);
  Type element = from.getElementType();
  bool isBitwise = llvm::is_contained({CombineKind::andi, CombineKind::ori, CombineKind::xori,
                                       CombineKind::umax, CombineKind::umin},
                                      getKind());
  bool ignoresNan = getKind() == CombineKind::fmax || getKind() == CombineKind::fmin;
  if (isa<FloatType>(element) ? isBitwise : ignoresNan || !element.isInteger())
    return emitOpError("doesn't combine elements of ") << element;
  if (from.getElementType() != to.getElementType() || to.getShape() != ArrayRef(shape) ||
      axesOf(to) != ArrayRef(axes) || layoutOf(to) != layout)
    return emitOpError("gives ") << shape[axis] << " elements along " << getIntoAttr() << ", with "
                                 << layout.str();
  return success();
}

LogicalResult MmaBeginOp::verify() {
  if (getResult().getType().getTile() != getInput().getType())
    return emitOpError("changes the tile");
  return success();
}

LogicalResult MmaEndOp::verify() {
  if (getPending() > 7)
    return emitOpError("waits until 0 to 7 groups run");
  if (getAcc().getType().getTile() != getResult().getType())
    return emitOpError("changes the tile");
  return success();
}

LogicalResult CombineOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  auto kernel = (*this)->getParentOfType<KernelOp>();
  int64_t warps = numWarpsOf(*this), blocks = numBlocks(kernel), columns = from.getDimSize(1);
  if (!rolesOver(*this) || blocks < 2 || kernel->hasAttr(persistentAttrName))
    return emitOpError("stands in a role of clusters that run one program each");
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType() ||
      from.getElementTypeBitWidth() != 32)
    return emitOpError("adds up elements of 32 bits, and changes the layout alone");
  if (from.getRank() != 2 || warps % 4 != 0 || from.getDimSize(0) % (warps * 16) != 0 ||
      mmaColumns(columns) != columns || columns / blocks < 8)
    return emitOpError("gives each block 8 columns or more, a power of two");
  if (layoutOf(from) != mmaLayout(from.getDimSize(0), columns, warps, blocks, Sharing::Parts) ||
      layoutOf(to) != mmaLayout(from.getDimSize(0), columns, warps, blocks, Sharing::Columns))
    return emitOpError("takes sums as tensor cores leave them, and gives each block its columns");
  ChannelType channel = getChannel().getType();
  if (channel.getDepth() * channel.getSlotBytes() < from.getNumElements() * 4)
    return emitOpError("needs ") << from.getNumElements() * 4 << " bytes of slots";
  return success();
}

LogicalResult SendOp::verify() {
  auto tile = cast<RankedTensorType>(getValue().getType());
  auto target = cast<MemRefType>(getTarget().getType());
  int64_t warps = numWarpsOf(*this), blocks = numBlocks((*this)->getParentOfType<KernelOp>());
  unsigned bits = tile.getElementTypeBitWidth();
  if (!rolesOver(*this))
    return emitOpError("stands in a role");
  auto isShared = [&](Sharing sharing) {
    int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1);
    bool byRows = sharing == Sharing::Rows;
    int64_t ofRows = byRows ? blocks : 1, ofColumns = byRows ? 1 : blocks;
    return rows % (warps * 16 * ofRows) == 0 && (ofRows == 1 || rows == warps * 16 * ofRows) &&
           columns % (16 * ofColumns) == 0 && (byRows || mmaColumns(columns) == columns) &&
           layoutOf(tile) == mmaLayout(rows, columns, warps, blocks, sharing);
  };
  if (tile.getRank() != 2 || !tile.hasStaticShape() || warps % 4 != 0 ||
      !(isShared(Sharing::Rows) || isShared(Sharing::Columns)))
    return emitOpError("takes a tile as tensor cores leave it");
  if ((bits != 16 && bits != 32) || tile.getElementType() != target.getElementType())
    return emitOpError("takes elements of 16 or 32 bits, of the target's type");
  if (target.getRank() < 2 || target.getRank() > 5)
    return emitOpError("stores to tensors of rank 2 to 5");
  if (getMap().getNumDims() != getDims().size() || getMap().getNumSymbols() != 0 ||
      getMap().getNumResults() != static_cast<unsigned>(target.getRank()))
    return emitOpError("its map gives a coordinate for each dimension of the target");
  for (Type dim : getDims().getTypes())
    if (!isa<SpanType>(dim) && !dim.isInteger(64))
      return emitOpError("begins at spans and i64 values");
  return success();
}

LogicalResult MmaWaitOp::verify() {
  if (getPending() > 7)
    return emitOpError("waits until 0 to 7 groups run");
  return success();
}

LogicalResult MmaOp::verify() {
  auto shared = dyn_cast<SharedType>(getA().getType());
  SharedType b = getB().getType();
  RankedTensorType acc = getAcc().getType().getTile();
  auto a = shared ? shared.getMatrix() : cast<RankedTensorType>(getA().getType());
  Type element = a.getElementType();
  if (element != b.getElement() || !canMultiply(element, acc.getElementType()))
    return emitOpError("multiplies bf16, f16, f8 or tf32 and adds to f32, or i8 and adds to i32");
  bool aTurned = getAByColumns(), bTurned = getBByColumns();
  if (!shared && (aTurned || !isOperand(a, warpsOfRole(*this))))
    return emitOpError("takes a first operand in registers of 16-bit floats, with mmaLayout, in a "
                       "role of programs that are no clusters");
  int64_t rows = a.getDimSize(aTurned ? 1 : 0);
  int64_t columns = bTurned ? b.getColumns() : b.getRows();
  int64_t depth = a.getDimSize(aTurned ? 0 : 1);
  if (depth != (bTurned ? b.getRows() : b.getColumns()))
    return emitOpError("contracts different extents");
  if (depth * bytesOf(element) % mmaDepthBytes != 0)
    return emitOpError("contracts a multiple of ")
           << mmaDepthBytes / bytesOf(element) << " elements";
  if (bytesOf(element) != 2 && (aTurned || bTurned))
    return emitOpError("contracts elements that are not of two bytes along their rows");
  // Without steps of the blocks' numbers each block has a sum of its own.
  auto kernel = (*this)->getParentOfType<KernelOp>();
  bool isPart = numBlocks(kernel) > 1 && hasLayout(acc) &&
                llvm::popcount(layoutOf(acc).freeBits(Part::Block)) ==
                    static_cast<int>(layoutOf(acc).bases(Part::Block).size());
  int64_t blocks = isPart ? 1 : numBlocks(kernel);
  // Rows that one instruction has and the operand doesn't are nobody's.
  if (!aTurned && blocks == 1 && acc.getRank() == 2 && acc.getDimSize(0) == mmaRows)
    rows = std::max(rows, mmaRows);
  if (acc.getRank() != 2 || acc.getDimSize(0) != rows * blocks || acc.getDimSize(1) != columns)
    return emitOpError("has a result of ") << rows * blocks << " × " << columns;
  int64_t warps = numWarpsOf(*this);
  if (warps == 0 || warps % 4 != 0 || rows % (warps * 16) != 0 || mmaColumns(columns) < 8)
    return emitOpError("needs a multiple of ")
           << warps * 16 << " rows, and of 8 columns, in a role of " << warps << " warps";
  if (blocks > 1 && rows != warps * 16)
    return emitOpError("has ") << warps * 16 << " rows in each block of a cluster";
  Layout wanted = mmaLayout(rows * blocks, columns, warps, numBlocks(kernel),
                            isPart ? Sharing::Parts : Sharing::Rows);
  if (layoutOf(acc) != wanted)
    return emitOpError("needs a result with ") << wanted.str();
  return success();
}
