//===- Sites.cpp - ops that may say something -----------------------------===//

#include "codegen/gpu/dialect/Sites.h"
#include "codegen/Reports.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

void tile::codegen::gpu::numberSites(KernelOp kernel, bool watched) {
  Builder builder(kernel.getContext());
  if (watched)
    kernel->setAttr(watchedAttrName, builder.getUnitAttr());
  if (!speaks(kernel))
    return;
  for (auto [n, op] : llvm::enumerate(reportSites(kernel)))
    op->setAttr(siteAttrName, builder.getI64IntegerAttr(static_cast<int64_t>(n)));
}

bool tile::codegen::gpu::speaks(KernelOp kernel) {
  return kernel->hasAttr(watchedAttrName) || hasReports(kernel);
}
