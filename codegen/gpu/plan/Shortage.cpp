//===- Shortage.cpp - kernels that need more than their target has --------===//

#include "codegen/gpu/plan/Shortage.h"
#include "codegen/gpu/dialect/Settings.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/dialect/WarpMma.h"
#include "codegen/gpu/target/Target.h"
#include "ir/transforms/Specialize.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// Where the source's schedule says it, if it does.
static std::optional<Location> scheduledPlace(Operation *op, StringRef binder, int64_t size) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<KernelOp>();
  Location place = placeOfEntry(kernel, binder, "cuda");
  bool isSaid = llvm::is_contained(scheduledSizes(kernel, binder, "cuda"), size);
  return isSaid && place != kernel.getLoc() ? std::optional(place) : std::nullopt;
}

static llvm::SmallDenseSet<StringRef> axesOfTiles(Operation *op) {
  llvm::SmallDenseSet<StringRef> axes;
  if (op)
    for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
      for (Type type : types)
        for (StringAttr axis : axesOf(type))
          axes.insert(axis.getValue());
  return axes;
}

LogicalResult GpuShortage::report(ArrayRef<std::pair<std::string, int64_t>> fittingSizes) const {
  // What can be changed stands in the schedule, where that says it.
  std::optional<Location> scheduled;
  std::string setting;
  bool isOfStages = !blocks.empty() && blocks[0].first == "stages";
  for (const auto &[name, size] : ArrayRef(blocks).take_front(isOfStages ? 1 : blocks.size()))
    if ((scheduled = scheduledPlace(op, name, size))) {
      setting = "with `" + name + " = " + std::to_string(size) + "` the kernel ";
      break;
    }
  Location place = scheduled ? *scheduled : op->getLoc();
  auto diagnostic = isSoft ? emitRemark(place, setting + what + ": it will be slow")
                           : emitError(place, setting + what);
  auto &note = diagnostic.attachNote() << "hint: ";
  if (blocks.empty()) {
    note << "its axes are whole: loop over one of them in blocks";
    return failure();
  }
  // Without sizes that fit: the first, which are the op's.
  SmallVector<std::pair<std::string, int64_t>> large;
  for (const auto &block : blocks)
    if (fittingSizes.empty() ? large.empty() : llvm::any_of(fittingSizes, [&](const auto &size) {
          return size.first == block.first;
        }))
      large.push_back(block);
  note << (isOfStages         ? "fewer need less: "
           : large.size() > 1 ? "smaller tile sizes need less: "
                              : "a smaller tile size needs less: ");
  llvm::interleaveComma(large, note, [&](const auto &block) {
    note << "`" << block.first << "` is " << block.second;
  });
  for (const auto &[n, size] : llvm::enumerate(fittingSizes))
    note << (n == 0 ? " (" : " ") << "--set " << size.first << "=" << size.second;
  note << (fittingSizes.empty() ? "" : ")");
  return failure();
}

/// `ownAlone`: only those of the op's tiles.
static SmallVector<std::pair<std::string, int64_t>> blocksOf(KernelOp kernel, Operation *op,
                                                             bool ownAlone = false) {
  llvm::SmallDenseSet<StringRef> axes = axesOfTiles(op);
  SmallVector<std::pair<std::string, int64_t>> blocks;
  auto add = [&](Attribute name, int64_t size) {
    std::pair<std::string, int64_t> block{cast<StringAttr>(name).str(), size};
    // Loops over whole axes in chunks are no binder's.
    if (size > 1 && !StringRef(block.first).contains('@') && !llvm::is_contained(blocks, block) &&
        (!ownAlone || axes.contains(block.first)))
      blocks.push_back(std::move(block));
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (auto parallel = dyn_cast<ParallelOp>(inner))
      for (auto [name, size] : llvm::zip(parallel.getNames(), parallel.getSizes()))
        add(name, size);
    if (auto loop = dyn_cast<ForOp>(inner))
      add(loop.getNameAttr(), loop.getSize());
  });
  llvm::stable_sort(blocks, [&](const auto &x, const auto &y) {
    bool isOfX = axes.contains(x.first), isOfY = axes.contains(y.first);
    return isOfX != isOfY ? isOfX : x.second > y.second;
  });
  return blocks;
}

GpuShortage gpu::findElementShortage(KernelOp kernel, int64_t most) {
  Operation *worst = nullptr;
  int64_t needed = most;
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (hasLayout(type) && layoutOf(type).numRegisters() > needed) {
        worst = op;
        needed = layoutOf(type).numRegisters();
      }
  });
  if (!worst)
    return {};
  return {worst,
          "needs " + std::to_string(needed) +
              " elements a thread; the GPU backend does not have more than " +
              std::to_string(most) + " yet",
          blocksOf(kernel, worst)};
}

int64_t gpu::registersOfThread(KernelOp kernel) {
  int64_t warps = kernel->getAttrOfType<IntegerAttr>(warpsAttrName).getInt();
  return std::min(maxRegistersOfThread, registersOfMultiprocessor / (32 * warps));
}

int64_t gpu::wordsOf(ValueRange tiles) {
  int64_t words = 0;
  for (Value tile : tiles)
    if (hasLayout(tile.getType()))
      words += layoutOf(tile.getType()).numRegisters() *
               std::max(1u, getElementTypeOrSelf(tile.getType()).getIntOrFloatBitWidth() / 32);
  return words;
}

GpuShortage gpu::findScanShortage(KernelOp kernel) {
  int64_t most = registersOfThread(kernel) / 2;
  GpuShortage shortage;
  kernel.walk([&](ScanOp scan) {
    int64_t words = wordsOf(scan.getScanned());
    if (words <= most)
      return WalkResult::advance();
    shortage = {scan,
                "needs " + std::to_string(words) +
                    " registers a thread for the states of a scan; " + std::to_string(most) +
                    " are there for them",
                blocksOf(kernel, scan, /*ownAlone=*/true), /*isSoft=*/true};
    return WalkResult::interrupt();
  });
  return shortage;
}

GpuShortage gpu::findCarriedShortage(KernelOp kernel) {
  constexpr int64_t ofProducts = 40; // for fragments and addresses
  int64_t registers = registersOfThread(kernel);
  GpuShortage shortage;
  kernel.walk([&](ForOp loop) {
    if (loop->getParentOfType<RolesOp>()) // which share out registers
      return WalkResult::advance();
    bool multiplies = !loop.getBody().front().getOps<DotOp>().empty();
    int64_t most = registers - std::max(registers / 8, multiplies ? ofProducts : 0);
    int64_t words = wordsOf(loop.getInits());
    if (words <= most)
      return WalkResult::advance();
    // By the axes of what it carries.
    shortage = {loop,
                "needs " + std::to_string(words) +
                    " registers a thread for what a loop carries, and there are " +
                    std::to_string(most) + " of " + std::to_string(registers) + " for it",
                blocksOf(kernel, loop, /*ownAlone=*/true), /*isSoft=*/true};
    return WalkResult::interrupt();
  });
  return shortage;
}

/// Its operands and sums, what loops around it carry, and what was made before for ops behind it.
static int64_t wordsAtDot(DotOp dot) {
  SmallVector<Value> held{dot.getResult()};
  for (Value operand : {dot.getLhs(), dot.getRhs()}) {
    auto convert = operand.getDefiningOp<ConvertOp>(); // made with the product
    held.push_back(convert ? convert.getInput() : operand);
  }
  for (auto loop = dot->getParentOfType<ForOp>(); loop; loop = loop->getParentOfType<ForOp>())
    for (Value init : loop.getInits())
      held.push_back(init);
  for (Operation &op : llvm::make_range(dot->getBlock()->begin(), dot->getIterator())) {
    bool isForLater = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return user->getBlock() == dot->getBlock() && dot->isBeforeInBlock(user);
    });
    if (isForLater)
      llvm::append_range(held, op.getResults());
  }
  return wordsOf(held);
}

GpuShortage gpu::findStagingShortage(KernelOp kernel, ArrayRef<PlainDot> dots) {
  for (const PlainDot &plain : dots)
    if (plain.bytes > mostSharedOfOp && plain.leastBytes <= mostSharedOfOp)
      return {.op = plain.dot,
              .what = "needs " + std::to_string(plain.bytes) +
                      " bytes of shared memory for a `dot` on tensor cores; there are " +
                      std::to_string(mostSharedOfOp),
              .blocks = blocksOf(kernel, plain.dot, /*ownAlone=*/true),
              .isSoft = true,
              .isTold = true};
  return {};
}

GpuShortage gpu::findPlainShortage(KernelOp kernel, ArrayRef<PlainDot> dots) {
  int64_t registers = registersOfThread(kernel), most = registers - registers / 4; // for addresses
  GpuShortage shortage;
  kernel.walk([&](DotOp dot) {
    bool isPlain = !warpDotOf(dot) ||
                   llvm::any_of(dots, [&](const PlainDot &plain) { return plain.dot == dot; });
    int64_t words = wordsAtDot(dot);
    if (!isPlain || dot->getParentOfType<RolesOp>() || words <= most)
      return WalkResult::advance();
    shortage = {.op = dot,
                .what = "needs " + std::to_string(words) +
                        " registers a thread for a `dot` without tensor cores, and there are " +
                        std::to_string(most) + " of " + std::to_string(registers) + " for it",
                .blocks = blocksOf(kernel, dot, /*ownAlone=*/true),
                .isSoft = true};
    return WalkResult::interrupt();
  });
  return shortage;
}

GpuShortage gpu::findSharedShortage(KernelOp kernel, int64_t bytes, Operation *op,
                                    StringRef target) {
  int64_t most = GpuTarget::of(target).sharedBytes;
  if (bytes <= most)
    return {};
  GpuShortage shortage{op ? op : kernel.getOperation(),
                       "needs " + std::to_string(bytes) + " bytes of shared memory a program; " +
                           target.str() + " has " + std::to_string(most),
                       blocksOf(kernel, op)};
  // A loop takes what its turns to come do (Stages.cpp).
  auto stages = dyn_cast_or_null<IntegerAttr>(settingOf(kernel, "stages"));
  if (stages && isa_and_nonnull<ForOp>(op))
    shortage.blocks.insert(shortage.blocks.begin(), {"stages", stages.getInt()});
  return shortage;
}

/// What `schedule cuda` alone says of a binder.
static SmallVector<int64_t> askedFor(KernelOp kernel, StringRef binder) {
  DictionaryAttr schedule = kernel.getScheduleAttr();
  auto own = schedule ? schedule.getAs<DictionaryAttr>("target.cuda") : DictionaryAttr();
  return own && own.contains(binder) ? scheduledSizes(kernel, binder, "cuda")
                                     : SmallVector<int64_t>();
}

std::vector<std::string> gpu::openBinders(KernelOp kernel, const llvm::StringMap<int64_t> &given) {
  std::vector<std::string> open;
  for (StringAttr binder : sizableBinders(kernel))
    if (!given.contains(binder) && askedFor(kernel, binder).size() != 1)
      open.push_back(binder.str());
  return open;
}

std::optional<std::pair<std::string, int64_t>>
gpu::smallerTile(KernelOp kernel, const GpuShortage &shortage, ArrayRef<std::string> open) {
  for (const auto &[name, size] : shortage.blocks) {
    if (!llvm::is_contained(open, name))
      continue;
    SmallVector<int64_t> candidates = askedFor(kernel, name);
    bool isChosen = candidates.size() > 1;
    int64_t smaller =
        isChosen ? 0 : int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(1, size) - 1)));
    for (int64_t candidate : candidates)
      if (isChosen && candidate < size)
        smaller = std::max(smaller, candidate);
    if (smaller > 0)
      return std::pair(name, smaller);
  }
  return std::nullopt;
}
