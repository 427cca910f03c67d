//===- AsCompiled.cpp - a template as the compiler has it for a launch ----===//

#include "codegen/gpu/plan/AsCompiled.h"
#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/loops/NormalizeKernel.h"
#include "codegen/gpu/loops/ValueFacts.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// The dims of a kernel whose values are known, by name.
static SmallVector<std::pair<StringAttr, int64_t>> knownDims(KernelOp kernel,
                                                             ArrayRef<int64_t> dims) {
  SmallVector<std::pair<StringAttr, int64_t>> known;
  for (auto [name, value] : llvm::zip(kernel.getDims().getAsRange<StringAttr>(), dims))
    if (value >= 0)
      known.emplace_back(name, value);
  return known;
}

void tile::codegen::gpu::bindDims(KernelOp kernel, ArrayRef<int64_t> dims, Bindings &bindings) {
  llvm::SetVector<StringRef> names;
  kernel.walk([&](AxisOp axis) {
    collectDims(axis.getLower(), names);
    collectDims(axis.getUpper(), names);
  });
  for (auto [name, value] : knownDims(kernel, dims))
    if (value == 1 || names.contains(name.getValue()))
      bindings.dims.try_emplace(name.getValue(), value);
}

DictionaryAttr tile::codegen::gpu::divisorsOf(KernelOp kernel, ArrayRef<int64_t> dims) {
  constexpr int64_t most = 16;
  Builder builder(kernel.getContext());
  NamedAttrList divisors;
  for (auto [name, value] : knownDims(kernel, dims)) {
    int64_t divisor = value == 0 ? most : std::min(most, value & -value);
    if (divisor > 1)
      divisors.set(name, builder.getI64IntegerAttr(divisor));
  }
  return divisors.getDictionary(kernel.getContext());
}

OwningOpRef<KernelOp> tile::codegen::gpu::asCompiled(KernelOp kernel, ArrayRef<int64_t> dims,
                                                     const llvm::StringMap<int64_t> &sizes) {
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<KernelOp> copy(kernel.clone());
  Bindings bindings{{}, sizes};
  bindDims(kernel, dims, bindings);
  if (failed(specialize(*copy, bindings)))
    return {};
  if (DictionaryAttr divisors = divisorsOf(kernel, dims); !divisors.empty())
    (*copy)->setAttr(divisorsAttrName, divisors);
  normalizeKernel(*copy);
  return copy;
}
