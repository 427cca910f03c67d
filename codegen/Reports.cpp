//===- Reports.cpp - where a kernel speaks to its launch ------------------===//

#include "codegen/Reports.h"
#include "runtime/artifact/CpuReport.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tile::ir;

SmallVector<Operation *> tile::codegen::reportSites(KernelOp kernel) {
  SmallVector<Operation *> sites;
  kernel.walk([&](Operation *op) {
    if (isa<AssertOp, PrintOp, LoadOp, StoreOp, UpdateOp, AtomicOp>(op))
      sites.push_back(op);
  });
  return sites;
}

bool tile::codegen::hasReports(KernelOp kernel) {
  return llvm::any_of(reportSites(kernel),
                      [](Operation *op) { return isa<AssertOp, PrintOp>(op); });
}

std::string tile::codegen::placeOf(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  return llvm::sys::path::filename(place.getFilename()).str() + ":" +
         std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn());
}

/// Names, one a line.
template <typename Names>
static std::string lines(Names &&names) {
  std::string text;
  for (auto [n, name] : llvm::enumerate(names)) {
    text += n ? "\n" : "";
    for (char c : name.getValue())
      text += c == '\n' ? ' ' : c;
  }
  return text;
}

std::string tile::codegen::encodeSite(Operation *op, unsigned number) {
  std::vector<std::string> fields = {std::to_string(number), placeOf(op->getLoc())};
  if (auto assertion = dyn_cast<AssertOp>(op)) {
    ParallelOp parallel = op->getParentOfType<KernelOp>().getParallel();
    fields.push_back(assertion.getMessage().str());
    fields.push_back(lines(parallel.getNames().getAsRange<StringAttr>()));
    fields.push_back(lines(axesOf(assertion.getCondition().getType())));
  } else {
    auto print = cast<PrintOp>(op);
    for (auto [text, type, value] :
         llvm::zip(print.getTexts(), print.getTypes(), print.getValues())) {
      fields.push_back(cast<StringAttr>(text).str());
      std::string names = lines(axesOf(value.getType()));
      fields.push_back(cast<StringAttr>(type).str() + (names.empty() ? "" : "\n" + names));
    }
    fields.push_back(cast<StringAttr>(print.getTexts()[print.getValues().size()]).str());
  }
  return tile::runtime::encodeSite(fields);
}
