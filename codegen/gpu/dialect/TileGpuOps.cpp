//===- TileGpuOps.cpp - layouts as attributes, and their ops --------------===//

#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/dialect/KernelAttributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

#include "codegen/gpu/dialect/TileGpuDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "codegen/gpu/dialect/TileGpuAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "codegen/gpu/dialect/TileGpuTypes.cpp.inc"
#define GET_OP_CLASSES
#include "codegen/gpu/dialect/TileGpuOps.cpp.inc"

namespace {
/// Layouts are long, and most tiles of a kernel share a few: texts name them once.
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, llvm::raw_ostream &stream) const override {
    if (!isa<LayoutAttr>(attribute))
      return AliasResult::NoAlias;
    stream << "layout";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void TileGpuDialect::initialize() {
  addInterfaces<LayoutAliases>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/gpu/dialect/TileGpuAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "codegen/gpu/dialect/TileGpuTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "codegen/gpu/dialect/TileGpuOps.cpp.inc"
      >();
}

//===-- Layouts -----------------------------------------------------------===//

static SmallVector<int64_t> flatten(ArrayRef<Layout::Coords> steps) {
  SmallVector<int64_t> numbers;
  for (const Layout::Coords &step : steps)
    llvm::append_range(numbers, step);
  return numbers;
}

LayoutAttr LayoutAttr::get(MLIRContext *context, ArrayRef<StringAttr> names, const Layout &layout) {
  return get(context, names, flatten(layout.bases(Part::Register)),
             flatten(layout.bases(Part::Lane)), flatten(layout.bases(Part::Warp)),
             flatten(layout.bases(Part::Block)), layout.repeats());
}

static Layout makeLayout(unsigned rank, ArrayRef<ArrayRef<int64_t>> steps,
                         ArrayRef<int64_t> repeats) {
  Layout layout(rank);
  for (auto [part, numbers] : llvm::enumerate(steps))
    for (size_t at = 0; at < numbers.size(); at += rank)
      layout.addBasis(static_cast<Part>(part), Layout::Coords(numbers.slice(at, rank)));
  for (unsigned axis = 0; axis < rank; ++axis)
    layout.setRepeat(axis, repeats[axis]);
  return layout;
}

Layout LayoutAttr::getLayout() const {
  return makeLayout(getNames().size(), {getRegisters(), getLanes(), getWarps(), getBlocks()},
                    getRepeats());
}

LogicalResult LayoutAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<StringAttr> names, ArrayRef<int64_t> registers,
                                 ArrayRef<int64_t> lanes, ArrayRef<int64_t> warps,
                                 ArrayRef<int64_t> blocks, ArrayRef<int64_t> repeats) {
  size_t rank = names.size();
  constexpr int64_t most = int64_t(1) << 24;
  if (rank == 0 || repeats.size() != rank)
    return emitError() << "a layout needs axes, and a repeat for each";
  for (ArrayRef<int64_t> steps : {registers, lanes, warps, blocks})
    if (steps.size() % rank != 0 ||
        llvm::any_of(steps, [](int64_t x) { return x < 0 || x >= most; }))
      return emitError() << "a step has one coordinate an axis, from 0 to 2^24 - 1";
  if (lanes.size() != laneBits * rank || warps.size() > laneBits * rank ||
      blocks.size() > blockBits * rank)
    return emitError() << "a layout has 5 bits of lanes, and at most 5 of warps and 4 of blocks";
  if (llvm::any_of(repeats, [](int64_t x) { return x < 1 || x > most; }))
    return emitError() << "a layout repeats its atom 1 to 2^24 times";
  Layout layout = makeLayout(rank, {registers, lanes, warps, blocks}, repeats);
  if (!layout.isOnto())
    return emitError() << "steps have to be independent and to reach all of the atom";
  return success();
}

/// "= [[0, 1], …],"
static ParseResult parseSteps(AsmParser &parser, size_t rank, SmallVectorImpl<int64_t> &numbers) {
  auto parseStep = [&]() -> ParseResult {
    size_t before = numbers.size();
    auto parseNumber = [&] { return parser.parseInteger(numbers.emplace_back()); };
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNumber))
      return failure();
    if (numbers.size() - before != rank)
      return parser.emitError(place, "a step has one coordinate an axis");
    return success();
  };
  return failure(parser.parseEqual() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStep) ||
                 parser.parseComma());
}

// <["i", "N"], register = [[0, 1]], lane = [[0, 2], …], warp = [[1, 0]], repeat = [2, 1]>, with
// block = [[0, 64]] after the warps where there are some
Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> registers, lanes, warps, blocks, repeats;
  auto parseName = [&]() -> ParseResult { return parser.parseAttribute(names.emplace_back()); };
  auto parseRepeat = [&] { return parser.parseInteger(repeats.emplace_back()); };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseName) ||
      parser.parseComma() || parser.parseKeyword("register") ||
      parseSteps(parser, names.size(), registers) || parser.parseKeyword("lane") ||
      parseSteps(parser, names.size(), lanes) || parser.parseKeyword("warp") ||
      parseSteps(parser, names.size(), warps))
    return {};
  if (succeeded(parser.parseOptionalKeyword("block")) && parseSteps(parser, names.size(), blocks))
    return {};
  if (parser.parseKeyword("repeat") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRepeat) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(parser.getContext(), names, registers, lanes, warps, blocks,
                                       repeats);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getNames(), printer);
  printer << "], " << getLayout().str() << ">";
}

bool tile::codegen::gpu::hasLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_nonnull<LayoutAttr>(tensor.getEncoding());
}

unsigned tile::codegen::gpu::numBlocks(KernelOp kernel) {
  auto blocks = kernel->getAttrOfType<IntegerAttr>(blocksAttrName);
  return blocks ? blocks.getInt() : 1;
}

Layout tile::codegen::gpu::layoutOf(Type tile) {
  return cast<LayoutAttr>(cast<RankedTensorType>(tile).getEncoding()).getLayout();
}

Layout tile::codegen::gpu::reordered(const Layout &layout, ArrayRef<StringAttr> from,
                                     ArrayRef<StringAttr> to) {
  SmallVector<unsigned> positions;
  for (StringAttr axis : to)
    positions.push_back(llvm::find(from, axis) - from.begin());
  return layout.project(positions);
}

Type tile::codegen::gpu::withLayout(Type tile, const Layout &layout) {
  auto tensor = cast<RankedTensorType>(tile);
  return tensor.cloneWithEncoding(LayoutAttr::get(tile.getContext(), axesOf(tile), layout));
}

//===-- Conversions -------------------------------------------------------===//

LogicalResult ConvertOp::verify() {
  if (withoutLayout(getInput().getType()) != withoutLayout(getResult().getType()))
    return emitOpError("changes more than the layout");
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? getInput() : Value();
}

//===-- Kernels on this level ---------------------------------------------===//

bool tile::codegen::gpu::hasRoles(KernelOp kernel) {
  return kernel->walk([](RolesOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool tile::codegen::isOnGpuLevel(KernelOp kernel) { return kernel->hasAttr(gpu::warpsAttrName); }

int64_t tile::codegen::warpsOf(KernelOp kernel) {
  auto warps = kernel->getAttrOfType<IntegerAttr>(gpu::warpsAttrName);
  return warps ? warps.getInt() : 0;
}

bool tile::codegen::hasLayouts(KernelOp kernel) {
  auto isOfLevel = [](Type type) { return gpu::hasLayout(type) || isa<gpu::PendingType>(type); };
  return kernel
      .walk([&](Operation *op) {
        bool found = isa<gpu::TileGpuDialect>(op->getDialect()) ||
                     llvm::any_of(op->getResultTypes(), isOfLevel);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void tile::codegen::loadGpuDialect(MLIRContext &context) {
  context.loadDialect<gpu::TileGpuDialect>();
}
