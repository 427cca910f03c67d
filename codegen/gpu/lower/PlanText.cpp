//===- PlanText.cpp - what a kernel becomes on a GPU, as text -------------===//

#include "codegen/gpu/lower/PlanText.h"
#include "codegen/gpu/dialect/Mma.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/dialect/WarpMma.h"
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/plan/PlanProgram.h"
#include "ir/fusion/UniteAxes.h"
#include "ir/proofs/Spelling.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

static std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===-- Programs ----------------------------------------------------------===//

/// An extent in the words of the kernel's dims.
static std::string wordsOf(KernelOp kernel, Value lower, Value upper) {
  AffineExpr from = traceDims(lower), to = traceDims(upper);
  if (!from || !to)
    return "?";
  AffineExpr extent = simplifyAffineExpr(to - from, 0, kernel.getDims().size());
  auto map = AffineMap::get(0, kernel.getDims().size(), extent);
  std::string text;
  llvm::raw_string_ostream(text) << map.getResult(0);
  // MLIR names symbols s0, s1 and so on.
  std::string words;
  for (StringRef rest = text; !rest.empty();) {
    unsigned number = 0;
    if (rest.consume_front("s") && !rest.consumeInteger(10, number))
      words += cast<StringAttr>(kernel.getDims()[number]).getValue();
    else
      words += rest.front(), rest = rest.drop_front();
  }
  return words;
}

static std::string programsOf(KernelOp kernel) {
  ParallelOp parallel = kernel.getParallel();
  std::string text;
  for (auto [lower, upper, each, size] : llvm::zip_equal(parallel.getLower(), parallel.getUpper(),
                                                         parallel.getEach(), parallel.getSizes())) {
    std::string extent = wordsOf(kernel, lower, upper);
    int64_t number = 0, step = each ? 1 : size;
    text += text.empty() ? "" : " * ";
    if (!StringRef(extent).getAsInteger(10, number))
      text += std::to_string(llvm::divideCeil(std::max<int64_t>(0, number), step));
    else if (step == 1)
      text += StringRef(extent).contains(' ') ? "(" + extent + ")" : extent;
    else
      text += "ceil(" + (StringRef(extent).contains(' ') ? "(" + extent + ")" : extent) + " / " +
              std::to_string(step) + ")";
  }
  if (unsigned blocks = numBlocks(kernel); blocks > 1)
    text += ", each a cluster of " + std::to_string(blocks) + " CTAs";
  if (kernel->hasAttr(persistentAttrName))
    text += ", in persistent CTAs";
  if (auto group = kernel->getAttrOfType<IntegerAttr>(groupAttrName))
    text += ", down groups of " + std::to_string(group.getInt()) + " rows";
  return text;
}

static std::string tilesOf(KernelOp kernel) {
  ParallelOp parallel = kernel.getParallel();
  SmallVector<std::string> sizes;
  for (auto [name, each, size] : llvm::zip_equal(parallel.getNames().getAsRange<StringAttr>(),
                                                 parallel.getEach(), parallel.getSizes()))
    sizes.push_back(name.str() + " " + std::to_string(each ? 1 : size));
  kernel.walk([&](ForOp loop) {
    sizes.push_back(loop.getName().str() + " " + std::to_string(loop.getSize()));
  });
  return llvm::join(sizes, ", ");
}

//===-- What the program has ----------------------------------------------===//

namespace {
class PlanPrinter {
public:
  PlanPrinter(KernelOp kernel, const LoweredKernel &lowered, llvm::raw_ostream &stream)
      : kernel(kernel), lowered(lowered), stream(stream) {}

  void print() {
    stream << "  programs: " << programsOf(kernel) << "\n  tiles: " << tilesOf(kernel) << "\n";
    printWarps();
    kernel.walk([&](ChannelOp channel) { printChannel(channel); });
    printAxes();
    kernel.walk([&](MmaOp mma) { printMma(mma); });
    kernel.walk([&](DotOp dot) { printDot(dot); });
    for (const StagedLoop &loop : lowered.stagedLoops) {
      if (loop.depth > 0)
        stream << "  operands over `" << loop.axis << "`: " << loop.depth << " stages of "
               << loop.bytes << " bytes, copied by cp.async\n";
      if (loop.ahead > 0)
        stream << "  operands over `" << loop.axis << "`: " << loop.ahead
               << " read an iteration ahead, in registers\n";
    }
    for (const ReduceCopies &copy : lowered.copies)
      stream << "  copies of `" << kernel.getParamName(copy.param) << "`: joined in order, by "
             << (lowered.foldsItself ? "the last CTA" : "a second kernel") << "\n";
    if (auto ahead = kernel->getAttrOfType<IntegerAttr>(prefetchAttrName))
      stream << "  prefetch: rows of the program " << ahead.getInt() << " further on\n";
    stream << "  shared memory: " << lowered.sharedBytes << " bytes a CTA\n";
  }

private:
  void printWarps() {
    bool hasRoles = false;
    kernel.walk([&](RolesOp roles) {
      hasRoles = true;
      for (auto [name, warps, registers] :
           llvm::zip_equal(roles.getNames().getAsValueRange<StringAttr>(), roles.getWarps(),
                           roles.getRegisters()))
        stream << "  role " << name << ": " << warps << " warps, " << registers
               << " registers a thread\n";
    });
    if (!hasRoles)
      stream << "  warps: " << lowered.threads / 32 << "\n";
  }

  void printChannel(ChannelOp channel) {
    ChannelType type = channel.getResult().getType();
    SmallVector<std::string> parts(type.getSlot().size());
    for (size_t n = 0; n < parts.size(); ++n) {
      SharedType part = type.getPart(n);
      parts[n] = std::to_string(part.getRows()) + " x " + std::to_string(part.getColumns()) + " " +
                 typeName(part.getElement());
    }
    for (Operation *user : channel.getResult().getUsers())
      if (auto put = dyn_cast<PutOp>(user))
        for (auto [source, part] : llvm::zip_equal(put.getSources(), parts))
          part =
              (kernel.getParamName(cast<BlockArgument>(source).getArgNumber()) + " " + part).str();
    stream << "  channel: " << type.getDepth() << " stages of " << llvm::join(parts, ", ") << ", "
           << type.getDepth() * type.getSlotBytes() << " bytes\n";
  }

  /// Whole axes, which are in registers, or cut into chunks.
  void printAxes() {
    kernel.walk([&](AxisOp axis) {
      SpanType span = axis.getSpan().getType();
      if (span.getExtent() != 1 && !axis.getSpan().use_empty())
        stream << "  whole axis " << span.getName().getValue() << ": " << span.getExtent()
               << " in registers\n";
    });
    if (auto kept = kernel->getAttrOfType<IntegerAttr>(keptChunksAttrName))
      stream << "  chunks kept in shared memory: " << kept.getInt() << "\n";
  }

  /// Each kind once: a pipeline starts the same instruction before its loop and in it.
  void printOnce(const std::string &line) {
    if (said.insert(line).second)
      stream << line;
  }

  void printMma(MmaOp mma) {
    auto columns = cast<SharedType>(mma.getB().getType());
    auto tile = cast<PendingType>(mma.getAcc().getType()).getTile();
    Type element = columns.getElement();
    int64_t width = mmaWidth(layoutOf(tile).extent(1), element);
    int64_t depth = 8 * mmaDepthBytes / element.getIntOrFloatBitWidth();
    bool inRegisters = !isa<SharedType>(mma.getA().getType());
    printOnce(
        "  contraction: wgmma m64n" + std::to_string(width) + "k" + std::to_string(depth) + " " +
        typeName(element) +
        (inRegisters ? ", the left operand in registers\n" : ", both operands in shared memory\n"));
  }

  void printDot(DotOp dot) {
    const auto *plain =
        llvm::find_if(lowered.plainDots, [&](const PlainDot &other) { return other.dot == dot; });
    std::optional<WarpDot> how = plain == lowered.plainDots.end() ? warpDotOf(dot) : std::nullopt;
    std::string axis = dot.getAxis().str();
    if (how)
      return printOnce("  contraction over `" + axis + "`: mma.sync " + how->mma.shape.str() + " " +
                       typeName(how->mma.element) + "\n");
    std::string why = plain == lowered.plainDots.end() ? whyNoWarpDot(dot) : plain->reason;
    printOnce("  contraction over `" + axis + "`: by threads (" + why + ")\n");
  }

  KernelOp kernel;
  const LoweredKernel &lowered;
  llvm::raw_ostream &stream;
  llvm::StringSet<> said;
};
} // namespace

std::string tile::codegen::gpu::planText(KernelOp onGpu, const LoweredKernel &lowered,
                                         const GpuTarget &target) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "plan " << nameInSource(onGpu.getSymName()) << " for " << target.name << "\n";
  PlanPrinter(onGpu, lowered, stream).print();
  return text;
}
