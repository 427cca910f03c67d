//===- Sanitize.cpp - watched launches: --sanitize ------------------------===//

#include "frontend/execute/Sanitize.h"

#include "codegen/Reports.h"
#include "frontend/execute/Rules.h"
#include "runtime/base/Text.h"

#include "ir/proofs/Spelling.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using runtime::SanitizerFinding;
using runtime::SanitizerSite;

//===-- What is watched ---------------------------------------------------===//

/// True unless it is made of dimensions, scalar parameters, binders and counters.
static bool comesFromData(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    bool isCounter = isa<scf::ForOp>(owner) && argument.getArgNumber() == 0;
    return !isCounter && !isa<ir::KernelOp, ir::ParallelOp>(owner);
  }
  Operation *op = value.getDefiningOp();
  return isa<ir::LoadOp>(op) || op->getNumRegions() > 0 ||
         llvm::any_of(op->getOperands(), comesFromData);
}

/// By dimension: whether the index is data.
static std::vector<bool> dataDims(AffineMap map, ValueRange dims, ValueRange syms) {
  std::vector<bool> result;
  for (AffineExpr expr : map.getResults()) {
    bool isData = false;
    for (auto [n, dim] : llvm::enumerate(dims))
      isData |= !isa<ir::SpanType>(dim.getType()) && expr.isFunctionOfDim(n);
    for (auto [n, sym] : llvm::enumerate(syms))
      isData |= expr.isFunctionOfSymbol(n) && comesFromData(sym);
    result.push_back(isData);
  }
  return result;
}

static SanitizerSite siteOf(Operation *op) {
  SanitizerSite site;
  auto describe = [&](auto access, Value memory, SanitizerSite::Kind kind) {
    site.kind = kind;
    site.param = cast<BlockArgument>(memory).getArgNumber();
    site.drops.assign(access.getMap().getNumResults(), false);
  };
  auto dropsAll = [&](bool drops) { site.drops.assign(site.drops.size(), drops); };
  auto kernel = op->getParentOfType<ir::KernelOp>();
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ir::LoadOp load) { describe(load, load.getSource(), SanitizerSite::Kind::Load); })
      .Case([&](ir::StoreOp store) {
        describe(store, store.getTarget(), SanitizerSite::Kind::Store);
        dropsAll(store.getDrops());
      })
      .Case([&](ir::AtomicOp atomic) {
        describe(atomic, atomic.getTarget(), SanitizerSite::Kind::Update);
        dropsAll(atomic.getDrops());
      })
      .Case([&](ir::UpdateOp update) {
        describe(update, update.getTarget(), SanitizerSite::Kind::Update);
        site.drops = dataDims(update.getMap(), update.getDims(), update.getSyms());
      });
  // In a grid kernel a load beside an atomic operation gives what was there before or after. Who
  // orders accesses by acquire and release has a reason for them that isn't looked into.
  bool isOrdered = false;
  if (kernel.isGrid())
    kernel.walk(
        [&](ir::AtomicOp atomic) { isOrdered |= atomic.getOrder() != ir::MemoryOrder::relaxed; });
  site.isAtomic = isOrdered || isa<ir::AtomicOp>(op) || (kernel.isGrid() && isa<ir::LoadOp>(op));
  return site;
}

runtime::Sanitizer tile::frontend::makeSanitizer(ir::KernelOp kernel,
                                                 ArrayRef<ArrayRef<int64_t>> shapes) {
  std::vector<SanitizerSite> sites;
  for (Operation *op : codegen::reportSites(kernel))
    sites.push_back(siteOf(op));
  std::vector<runtime::SanitizerTensor> tensors;
  for (auto [n, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    runtime::SanitizerTensor &tensor = tensors.emplace_back();
    if (!isa<MemRefType>(type))
      continue;
    tensor.name = kernel.getParamName(n).str();
    tensor.mode = modeOf(kernel.getParamMode(n));
    tensor.shape.assign(shapes[n].begin(), shapes[n].end());
  }
  auto binders = static_cast<uint32_t>(kernel.getParallel().getNames().size());
  return runtime::Sanitizer(std::move(sites), std::move(tensors), binders);
}

//===-- What was found ----------------------------------------------------===//

namespace {
class Describer {
public:
  Describer(ir::KernelOp kernel, const runtime::Sanitizer &sanitizer)
      : kernel(kernel), sanitizer(sanitizer), sites(codegen::reportSites(kernel)) {}

  void report(const SanitizerFinding &finding) {
    Location loc = finding.site ? sites[*finding.site]->getLoc() : kernel.getLoc();
    auto diagnostic = emitError(loc, text(finding));
    if (finding.otherSite && finding.otherSite != finding.site)
      diagnostic.attachNote(sites[*finding.otherSite]->getLoc())
          << "the program at " << programText(finding.otherProgram) << " "
          << verb(*finding.otherSite) << " it here";
    if (finding.kind == SanitizerFinding::Kind::Outside)
      diagnostic.attachNote(loc) << "hint: " << hintForOutside(kernel);
  }

private:
  StringRef verb(uint32_t site) {
    return isa<ir::LoadOp>(sites[site])     ? "reads"
           : isa<ir::AtomicOp>(sites[site]) ? "changes"
                                            : "stores";
  }

  std::string programText(ArrayRef<int64_t> coordinates) {
    std::string text;
    for (auto [name, at] :
         llvm::zip(kernel.getParallel().getNames().getAsRange<StringAttr>(), coordinates))
      text += (text.empty() ? "" : ", ") + name.str() + " = " + std::to_string(at);
    return text.empty() ? "no binder" : text;
  }

  /// "`w[5, 0]`"
  std::string element(const SanitizerFinding &finding) const {
    std::string text = "`" + sanitizer.tensors()[finding.param].name + "[";
    for (auto [d, at] : llvm::enumerate(finding.index))
      text += (d ? ", " : "") + std::to_string(at);
    return text + "]`";
  }

  /// "[0, 3) × [0, 9)"
  std::string box(uint32_t param) const {
    std::string text;
    for (int64_t extent : sanitizer.tensors()[param].shape)
      text += (text.empty() ? "[0, " : " × [0, ") + std::to_string(extent) + ")";
    return text.empty() ? "a scalar" : text;
  }

  std::string text(const SanitizerFinding &finding) {
    std::string at = " (in the program at " + programText(finding.program) + ")";
    std::string more =
        finding.count > 1 ? "; " + std::to_string(finding.count) + " times in all" : "";
    switch (finding.kind) {
    case SanitizerFinding::Kind::Outside:
      return element(finding) + " is outside " + box(finding.param) + at + more;
    case SanitizerFinding::Kind::Unwritten:
      return element(finding) + " is read before it is stored" + at + more;
    case SanitizerFinding::Kind::Race:
      return "the program at " + programText(finding.program) + " " + verb(*finding.site).str() +
             " " + element(finding) + ", which the one at " + programText(finding.otherProgram) +
             " " + verb(*finding.otherSite).str() + more;
    case SanitizerFinding::Kind::NeverStored:
      return element(finding) + " is never stored" +
             (finding.count > 1 ? ", nor are " + std::to_string(finding.count - 1) + " more" : "");
    }
    llvm_unreachable("covered switch");
  }

  ir::KernelOp kernel;
  const runtime::Sanitizer &sanitizer;
  SmallVector<Operation *> sites;
};
} // namespace

StringRef tile::frontend::hintForOutside(ir::KernelOp kernel) {
  return kernel.isGrid()
             ? "restrict a `range` or put an `if` around it; read `.pad(0)[…]`, write `.drop[…]`"
             : "read `.pad(0)[…]` or `.clamp[…]`, or give it other indices";
}

std::string tile::frontend::brokenPromiseOf(ir::KernelOp kernel) {
  Operation *promised = kernel.isGrid() ? kernel.getOperation() : nullptr;
  kernel.walk([&](ir::LoadOp load) {
    if (!promised && load.getBounds() == ir::BoundsMode::within)
      promised = load;
  });
  if (!promised)
    return "";
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto place = promised->getLoc()->findInstanceOf<FileLineColRange>())
    stream << runtime::visible(place.getFilename().getValue()) << ":" << place.getStartLine() << ":"
           << place.getStartColumn() << ": ";
  stream << "error: kernel `" << ir::nameInSource(kernel.getSymName())
         << "` reads or stores where there is no memory: "
         << (kernel.isGrid() ? "the author of a grid kernel answers for where it does"
                             : "an index is not inside its tensor, as `within` promises")
         << "\nhint: `--sanitize` says which element; or " << hintForOutside(kernel) << "\n";
  return text;
}

Outcome<Done> tile::frontend::reportFindings(ir::KernelOp kernel,
                                             const runtime::Sanitizer &sanitizer) {
  constexpr size_t mostShown = 10;
  size_t count = sanitizer.findings().size();
  if (count == 0)
    return Done{};
  Describer describer(kernel, sanitizer);
  for (const SanitizerFinding &finding : ArrayRef(sanitizer.findings()).take_front(mostShown))
    describer.report(finding);
  if (count <= mostShown)
    return Failure::reported();
  return Failure::invalid({"the sanitizer found " + std::to_string(count) + " faults in kernel `" +
                               ir::nameInSource(kernel.getSymName()) + "`, of which the first " +
                               std::to_string(mostShown) + " are shown",
                           ""});
}
