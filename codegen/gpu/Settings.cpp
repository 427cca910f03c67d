//===- Settings.cpp - what a schedule says besides tile sizes -------------===//

#include "codegen/gpu/Settings.h"
#include "codegen/gpu/TileGpuOps.h"
#include "ir/Specialize.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

Attribute tile::codegen::gpu::settingOf(KernelOp kernel, StringRef name) {
  if (llvm::is_contained(countSettings, name) && !isCountSetting(kernel, name))
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

//===-- What there is on no GPU -------------------------------------------===//

static constexpr int64_t mostRows = 65535;

/// The rows of `grouped(rows)`; none where it is no such text.
static std::optional<int64_t> rowsOf(StringRef order) {
  int64_t rows = 0;
  if (!order.consume_front("grouped(") || !order.consume_back(")") || order.getAsInteger(10, rows))
    return std::nullopt;
  return rows;
}

int64_t tile::codegen::gpu::groupedRows(KernelOp kernel) {
  auto order = dyn_cast_or_null<StringAttr>(settingOf(kernel, "order"));
  return order ? rowsOf(order.getValue()).value_or(1) : 0;
}

static LogicalResult checkOrder(KernelOp kernel) {
  auto order = dyn_cast_or_null<StringAttr>(settingOf(kernel, "order"));
  if (!order || order.getValue() == "rowmajor")
    return success();
  std::optional<int64_t> rows = rowsOf(order.getValue());
  if (rows && *rows >= 1 && *rows <= mostRows)
    return success();
  auto diagnostic = emitSettingError(kernel, "order", "`order = ") << order.getValue();
  if (rows) {
    diagnostic << "`: from 1 to " << mostRows << " rows of programs go together";
    return failure();
  }
  diagnostic << "` is no order of programs";
  diagnostic.attachNote() << "hint: the orders are rowmajor, and grouped(n) for n rows of programs "
                             "that go together, such as grouped(8)";
  return failure();
}

/// Of a setting that is a power of two, up to `most`.
static LogicalResult checkPower(KernelOp kernel, StringRef name, int64_t most,
                                const Twine &message) {
  int64_t number = numberOf(kernel, name);
  if (!settingOf(kernel, name) || (number >= 1 && number <= most && llvm::isPowerOf2_64(number)))
    return success();
  auto diagnostic = emitSettingError(kernel, name, message) << number;
  diagnostic.attachNote() << "hint: without `" << name << "` the compiler chooses";
  return failure();
}

LogicalResult tile::codegen::gpu::checkSettings(KernelOp kernel) {
  constexpr int64_t mostBlocks = 16;
  for (StringRef name : countSettings)
    if (Attribute value = settingOf(kernel, name); value && !isa<IntegerAttr>(value))
      return emitSettingError(kernel, name, "`") << name << "` is a number";
  if (Attribute value = settingOf(kernel, "order"); value && !isa<StringAttr>(value))
    return emitSettingError(kernel, "order", "`order` is rowmajor, or grouped(n)");
  if (Attribute value = settingOf(kernel, "persistent"); value && !isa<UnitAttr, BoolAttr>(value))
    return emitSettingError(kernel, "persistent", "`persistent` takes no value");
  if (failed(checkPower(kernel, "cluster", mostBlocks,
                        "a cluster has 1, 2, 4, 8 or 16 blocks, not ")) ||
      failed(
          checkPower(kernel, "warps", mostWarps, "a program has 1, 2, 4, 8, 16 or 32 warps, not ")))
    return failure();
  return checkOrder(kernel);
}

//===-- What is of no use -------------------------------------------------===//

void tile::codegen::gpu::remarkOnSettings(KernelOp kernel, KernelOp onGpu) {
  bool isPipeline = onGpu.walk([](RolesOp) { return WalkResult::interrupt(); }).wasInterrupted();
  bool splits = onGpu.walk([](CombineOp) { return WalkResult::interrupt(); }).wasInterrupted();
  auto remark = [&](StringRef name, const Twine &reason) {
    emitRemark(placeOfEntry(kernel, name, "cuda"), "`")
        << name << "` has no effect on `" << kernel.getSymName() << "` here: " << reason;
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
