//===- Settings.cpp - what a schedule says besides tile sizes -------------===//

#include "codegen/gpu/dialect/Settings.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "ir/builder/Schedule.h"
#include "ir/proofs/Spelling.h"
#include "ir/transforms/Specialize.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

Attribute tile::codegen::gpu::settingOf(KernelOp kernel, StringRef name) {
  if (!isSetting(kernel, name))
    return {}; // a binder is called so
  DictionaryAttr schedule = kernel.getScheduleAttr();
  auto own = schedule ? schedule.getAs<DictionaryAttr>("target.cuda") : DictionaryAttr();
  Attribute value = own ? own.get(name) : Attribute();
  if (!value && schedule)
    value = schedule.get(name);
  if (auto list = dyn_cast_or_null<ArrayAttr>(value))
    value = list.empty() ? Attribute() : list[0];
  return value;
}

int64_t tile::codegen::gpu::numberOf(KernelOp kernel, StringRef name) {
  auto number = dyn_cast_or_null<IntegerAttr>(settingOf(kernel, name));
  return number ? number.getInt() : 0;
}

InFlightDiagnostic tile::codegen::gpu::emitSettingError(KernelOp kernel, StringRef name,
                                                        const Twine &message) {
  return emitError(placeOfEntry(kernel, name, "cuda"), message);
}

int64_t tile::codegen::gpu::groupedRows(KernelOp kernel) {
  auto order = dyn_cast_or_null<StringAttr>(settingOf(kernel, "order"));
  return order ? groupedRowsOf(order.getValue()).value_or(1) : 0;
}

//===-- What is of no use -------------------------------------------------===//

void tile::codegen::gpu::remarkOnSettings(KernelOp kernel, KernelOp onGpu) {
  bool isPipeline = onGpu.walk([](RolesOp) { return WalkResult::interrupt(); }).wasInterrupted();
  bool splits = onGpu.walk([](CombineOp) { return WalkResult::interrupt(); }).wasInterrupted();
  auto remark = [&](StringRef name, const Twine &reason) {
    emitRemark(placeOfEntry(kernel, name, "cuda"), "`")
        << name << "` has no effect on `" << nameInSource(kernel.getSymName())
        << "` here: " << reason;
  };
  if (numberOf(kernel, "split") > 1 && !splits)
    remark("split", isPipeline ? "its programs contract all"
                               : "only pipelines of Hopper's tensor cores split a contraction");
  int64_t cluster = numberOf(kernel, "cluster");
  if (cluster > 1 && isPipeline)
    remark("cluster", "a pipeline's tile sizes and `split` say how many blocks a program has");
  else if (cluster > 1 && cluster != numBlocks(onGpu))
    remark("cluster", "its programs have one block each");
  if (groupedRows(kernel) > 1 && !onGpu->hasAttr(groupAttrName))
    remark("order", isPipeline ? "programs go in groups where they have two binders"
                               : "only pipelines of Hopper's tensor cores have orders of programs");
  if (settingOf(kernel, "warps") && isPipeline)
    remark("warps", "a pipeline has those of its roles");
  if (settingOf(kernel, "persistent") && !onGpu->hasAttr(persistentAttrName))
    remark("persistent", "only pipelines that split nothing run program after program");
  if (settingOf(kernel, "specialize"))
    remark("specialize", "code is specialized for what a launch has");
}
