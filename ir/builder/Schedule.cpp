//===- Schedule.cpp - whether a schedule says what some target can do -----===//

#include "ir/builder/Schedule.h"
#include "ir/transforms/Specialize.h"

using namespace mlir;
using namespace tile::ir;

using Refusal = std::optional<UserError>;

std::optional<int64_t> tile::ir::groupedRowsOf(StringRef order) {
  int64_t rows = 0;
  if (!order.consume_front("grouped(") || !order.consume_back(")") || order.getAsInteger(10, rows))
    return std::nullopt;
  return rows;
}

bool tile::ir::isSetting(KernelOp kernel, StringRef name) {
  return llvm::is_contained(scheduleSettings, name) &&
         !llvm::is_contained(sizableBinders(kernel), StringAttr::get(kernel.getContext(), name));
}

//===-- Numbers -----------------------------------------------------------===//

static Refusal refuseCount(StringRef name, int64_t number) {
  std::string hint = ("without `" + name + "` the compiler chooses").str();
  auto refuse = [&](const Twine &text) {
    return UserError{(text + ", not " + Twine(number)).str(), hint};
  };
  bool isPower = number > 0 && llvm::isPowerOf2_64(number);
  if (name == "cluster" && !(isPower && number <= mostBlocks))
    return refuse("a cluster has 1, 2, 4, 8 or 16 blocks");
  if (name == "warps" && !(isPower && number <= mostWarps))
    return refuse("a program has 1, 2, 4, 8, 16 or 32 warps");
  if (name == "split" && !(isPower && number <= 8))
    return refuse("a contraction is split in 1, 2, 4 or 8");
  if (name == "stages" && (number < 1 || number > mostStages))
    return refuse("a loop has 1 to " + Twine(mostStages) + " stages");
  return std::nullopt;
}

Refusal tile::ir::refuseNumber(StringRef name, bool isSetting, int64_t number) {
  if (isSetting)
    if (Refusal refusal = refuseCount(name, number))
      return refusal;
  if (number >= 1 && number <= maxTileSize)
    return std::nullopt;
  return UserError{("`" + name + "` is " + Twine(number) + ": a schedule's numbers are from 1 to " +
                    Twine(maxTileSize))
                       .str(),
                   ""};
}

//===-- Entries -----------------------------------------------------------===//

static Refusal refuseOrder(Attribute value) {
  auto order = dyn_cast<StringAttr>(value);
  if (!order)
    return UserError{"`order` is rowmajor, or grouped(n)", ""};
  if (order.getValue() == "rowmajor")
    return std::nullopt;
  std::optional<int64_t> rows = groupedRowsOf(order.getValue());
  if (!rows)
    return UserError{("`order = " + order.getValue() + "` is no order of programs").str(),
                     "the orders are rowmajor, and grouped(n) for n rows of programs that go "
                     "together, such as grouped(8)"};
  if (*rows >= 1 && *rows <= mostGroupedRows)
    return std::nullopt;
  return UserError{("`order = " + order.getValue() + "`: from 1 to " + Twine(mostGroupedRows) +
                    " rows of programs go together")
                       .str(),
                   ""};
}

/// Of one value; a list's values one by one.
static Refusal refuseValue(StringRef name, bool isSetting, Attribute value) {
  if (isSetting && name == "order")
    return refuseOrder(value);
  if (isSetting && !llvm::is_contained(countSettings, name)) {
    if (isa<UnitAttr, BoolAttr>(value))
      return std::nullopt;
    return UserError{("`" + name + "` takes no value").str(), ""};
  }
  if (isSetting && name == "split" && isa<UnitAttr>(value))
    return std::nullopt; // the target chooses
  auto number = dyn_cast<IntegerAttr>(value);
  if (number && !isa<BoolAttr>(value))
    return refuseNumber(name, isSetting, number.getInt());
  if (isSetting)
    return UserError{("`" + name + "` is a number").str(), ""};
  return UserError{("`" + name + "` is a tile size, or a list of candidates").str(),
                   ("write `" + name + " = 64` or `" + name + " = [64, 128]`").str()};
}

static Refusal refuseEntry(StringRef name, bool isSetting, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list)
    return refuseValue(name, isSetting, value);
  if (list.empty())
    return UserError{("`" + name + "` has an empty list of candidates").str(),
                     ("without `" + name + "` the compiler chooses").str()};
  for (Attribute one : list)
    if (Refusal refusal = refuseValue(name, isSetting, one))
      return refusal;
  return std::nullopt;
}

/// Of the name of what is neither a setting nor has a tile size.
static UserError refuseName(KernelOp kernel, StringRef name) {
  SmallVector<StringRef> known;
  for (StringAttr binder : sizableBinders(kernel))
    known.push_back(binder.getValue());
  return {("`" + name + "` has no tile size").str(),
          known.empty() ? "leave it out" : adviseName(name, known, "the tile sizes are")};
}

static LogicalResult checkEntries(KernelOp kernel, bool settingsAlone) {
  bool isRight = true;
  auto check = [&](DictionaryAttr entries, StringRef target) {
    for (NamedAttribute entry : entries) {
      StringRef name = entry.getName();
      if (target.empty() && name.starts_with("target."))
        continue;
      bool isOfSettings = isSetting(kernel, name);
      if (settingsAlone && !isOfSettings)
        continue;
      bool isSizable =
          llvm::is_contained(sizableBinders(kernel), StringAttr::get(kernel.getContext(), name));
      Refusal refusal = isOfSettings || isSizable
                            ? refuseEntry(name, isOfSettings, entry.getValue())
                            : Refusal(refuseName(kernel, name));
      if (!refusal)
        continue;
      isRight = false;
      auto diagnostic = emitError(placeOfEntry(kernel, name, target), refusal->message);
      if (!refusal->hint.empty())
        diagnostic.attachNote() << "hint: " << refusal->hint;
    }
  };
  DictionaryAttr schedule = kernel.getScheduleAttr();
  if (!schedule)
    return success();
  check(schedule, "");
  for (StringRef target : scheduleTargets)
    if (auto own = schedule.getAs<DictionaryAttr>(("target." + target).str()))
      check(own, target);
  return success(isRight);
}

LogicalResult tile::ir::checkSchedule(KernelOp kernel) { return checkEntries(kernel, false); }
LogicalResult tile::ir::checkSettings(KernelOp kernel) { return checkEntries(kernel, true); }
