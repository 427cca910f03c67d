//===- InterpreterDomain.cpp - which elements of a tile exist -------------===//

#include "ir/dialect/AffineEval.h"
#include "ir/interpreter/InterpreterImpl.h"

#include "llvm/Support/CheckedArithmetic.h"

#include <limits>

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::interpreter;

//===-- Spans and restrictions --------------------------------------------===//

void Machine::forgetDomains(llvm::function_ref<bool(ArrayRef<StringAttr>)> concerns) {
  SmallVector<AxesAttr> stale;
  for (const auto &entry : domains)
    if (concerns(entry.first.getNames()))
      stale.push_back(entry.first);
  for (AxesAttr key : stale)
    domains.erase(key);
}

void Machine::bindAxis(StringAttr name, Axis axis) {
  [[maybe_unused]] bool isNew = axes.try_emplace(name, axis).second;
  assert(isNew && "verified of kernels");
  boundAxes.push_back(name);
}

static bool restricts(RestrictOp op, ArrayRef<StringAttr> names) {
  return llvm::all_of(op.getDims().getTypes(), [&](Type span) {
    return llvm::is_contained(names, cast<SpanType>(span).getName());
  });
}

void Machine::leave(size_t axisCount, size_t restrictionCount) {
  for (; restrictions.size() > restrictionCount; restrictions.pop_back())
    forgetDomains(
        [&](ArrayRef<StringAttr> names) { return restricts(restrictions.back().op, names); });
  for (; boundAxes.size() > axisCount; boundAxes.pop_back()) {
    forgetDomains(
        [&](ArrayRef<StringAttr> names) { return llvm::is_contained(names, boundAxes.back()); });
    axes.erase(boundAxes.back());
  }
}

LogicalResult Machine::executeAxis(AxisOp op) {
  int64_t lower = integer(op.getLower()), upper = integer(op.getUpper());
  std::optional<int64_t> length = llvm::checkedSub(std::max(lower, upper), lower);
  SpanType type = op.getSpan().getType();
  if (!length)
    return fail(op,
                "the axis `" + type.getName().getValue() + "` is longer than 64 bits can count");
  int64_t extent = ShapedType::isDynamic(type.getExtent()) ? *length : type.getExtent();
  if (extent < *length)
    return fail(op, "the axis `" + type.getName().getValue() + "` has " + Twine(*length) +
                        " coordinates, but its type has room for " + Twine(extent));
  bindAxis(type.getName(), {lower, *length});
  return success();
}

LogicalResult Machine::executeRestrict(RestrictOp op) {
  if (op.getDims().empty())
    return fail(op, "a tile.restrict without a span restricts nothing");
  if (op.getUnless() && truth(op.getUnless()))
    return success();
  Restriction restriction{op, {}};
  for (Value symbol : op.getSyms())
    restriction.syms.push_back(integer(symbol));
  restrictions.push_back(restriction);
  forgetDomains([&](ArrayRef<StringAttr> names) { return restricts(op, names); });
  return success();
}

//===-- Domains -----------------------------------------------------------===//

LogicalResult Machine::makeBox(Operation *op, ArrayRef<StringAttr> names, Box &box) {
  box.axes = names;
  std::optional<int64_t> size = 1;
  for (StringAttr name : names) {
    auto axis = axes.find(name);
    if (axis == axes.end())
      return fail(op, "the axis `" + name.getValue() + "` is not in scope");
    box.extents.push_back(axis->second.count);
    size = size ? llvm::checkedMul(*size, axis->second.count) : std::nullopt;
  }
  if (!size)
    return failForMemory(op, std::numeric_limits<int64_t>::max());
  box.size = *size;
  return computeDomain(op, box);
}

LogicalResult Machine::computeDomain(Operation *op, Box &box) {
  if (box.axes.empty())
    return success();
  AxesAttr key = AxesAttr::get(kernel.getContext(), box.axes);
  if (auto known = domains.find(key); known != domains.end()) {
    box.defined = known->second;
    return success();
  }
  SmallVector<Restriction *> conditions;
  for (Restriction &restriction : restrictions)
    if (restricts(restriction.op, box.axes))
      conditions.push_back(&restriction);
  if (conditions.empty()) {
    domains[key] = nullptr;
    return success();
  }

  SmallVector<int64_t> origins;
  for (StringAttr name : box.axes)
    origins.push_back(axes.at(name).origin);
  std::shared_ptr<std::vector<char>> defined;
  if (failed(allocate(op, box.size, defined)))
    return failure();
  SmallVector<int64_t> coordinates;
  LogicalResult result = box.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    bool inside = true;
    for (Restriction *condition : conditions) {
      if (!inside)
        break;
      coordinates.clear();
      for (Type type : condition->op.getDims().getTypes()) {
        size_t d = llvm::find(box.axes, cast<SpanType>(type).getName()) - box.axes.begin();
        coordinates.push_back(origins[d] + position[d]);
      }
      IntegerSet set = condition->op.getConstraint();
      int64_t value = evaluateIndex(set.getConstraint(0), coordinates, condition->syms);
      inside = set.isEq(0) ? value == 0 : value >= 0;
    }
    (*defined)[index] = inside;
    return success();
  });
  domains[key] = box.defined = defined;
  return result;
}

//===-- Tiles -------------------------------------------------------------===//

Extents Tile::stridesAlong(ArrayRef<StringAttr> names) const {
  Extents strides(names.size(), 0);
  int64_t stride = 1;
  for (size_t d = axes.size(); d-- > 0; stride *= extents[d])
    for (auto [name, along] : llvm::zip(names, strides))
      if (name == axes[d])
        along = stride;
  return strides;
}

LogicalResult Machine::makeTile(Operation *op, Type type, Tile &tile) {
  if (failed(makeBox(op, axesOf(type), tile)))
    return failure();
  return makeTile(op, getElementTypeOrSelf(type), Box(tile), tile);
}

LogicalResult Machine::makeTile(Operation *op, Type element, const Box &box, Tile &tile) {
  std::optional<Number> number = numberOf(element);
  if (!number) {
    std::string text;
    llvm::raw_string_ostream(text) << "the interpreter has no numbers of type " << element;
    return fail(op, text);
  }
  static_cast<Box &>(tile) = box;
  tile.number = *number;
  std::optional<int64_t> bytes = llvm::checkedMul<int64_t>(box.size, byteWidth(*number));
  return allocate(op, bytes.value_or(std::numeric_limits<int64_t>::max()), tile.data);
}

LogicalResult Machine::allocate(Operation *op, int64_t bytes,
                                std::shared_ptr<std::vector<char>> &data) {
  if (bytes > options.maxTileBytes - tileBytes)
    return failForMemory(op, bytes);
  // Counting costs more than a small tile is worth.
  constexpr int64_t alwaysFits = 4096;
  if (bytes <= alwaysFits) {
    data = std::make_shared<std::vector<char>>(bytes);
    return success();
  }
  data = {new std::vector<char>(bytes), [this, bytes](std::vector<char> *vector) {
            delete vector;
            tileBytes -= bytes;
          }};
  tileBytes += bytes;
  return success();
}

//===-- Errors ------------------------------------------------------------===//

void Tile::shareAlong(ArrayRef<StringAttr> names) {
  for (StringAttr name : names)
    if (!llvm::is_contained(sharedAlong, name))
      sharedAlong.push_back(name);
}

TermSum Tile::termsAt(int64_t index) const {
  if (terms)
    return (*terms)[index];
  TermSum start;
  start.begin(asDouble(index), boundAt(index));
  return start;
}

LogicalResult Machine::makeBounds(Operation *op, Tile &tile, bool isNeeded) {
  if (!isNeeded || !options.tracksErrors)
    return success();
  std::optional<int64_t> bytes = llvm::checkedMul<int64_t>(tile.size, sizeof(Bound));
  return allocate(op, bytes.value_or(std::numeric_limits<int64_t>::max()), tile.bounds);
}

void Machine::settleBounds(Tile &tile) {
  if (!tile.bounds)
    return;
  for (int64_t index = 0; index < tile.size; ++index)
    if (!tile.boundAt(index).isExact())
      return;
  tile.bounds = nullptr;
  tile.sharedAlong.clear();
}

/// The variable that a fold loop carries, maybe through loops over integers inside.
static bool isCarriedByFold(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  Operation *owner = argument.getOwner()->getParentOp();
  while (isa_and_nonnull<scf::ForOp, scf::WhileOp>(owner))
    owner = owner->getParentOfType<ForOp>();
  auto loop = dyn_cast_or_null<ForOp>(owner);
  return loop && loop.getKind() == LoopKind::fold;
}

bool Machine::isStepOfFold(Operation *op) const {
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    return llvm::any_of(op->getOperands(), isCarriedByFold);
  return isa<math::FmaOp>(op) && isCarriedByFold(op->getOperand(2));
}

LogicalResult Machine::checkExtents(Operation *op, const Tile &tile) {
  for (auto [name, extent] : llvm::zip(tile.axes, tile.extents)) {
    auto axis = axes.find(name);
    if (axis == axes.end() || axis->second.count != extent)
      return fail(op, "its operand has " + Twine(extent) + " elements along the axis `" +
                          name.getValue() + "`, which is of another length here");
  }
  return success();
}

LogicalResult Machine::checkDefined(Operation *op, const Tile &tile, const Box &box) {
  if (failed(checkExtents(op, tile)))
    return failure();
  if (!tile.defined || (tile.axes == box.axes && tile.defined == box.defined))
    return success();
  Extents strides = tile.stridesAlong(box.axes);
  return box.forEach([&](int64_t, ArrayRef<int64_t> position) {
    if (tile.contains(offsetOf(position, strides)))
      return success();
    return fail(op,
                "uses an element outside the domain of its operand, at " + describe(box, position));
  });
}

/// "[i = 3, N = 0]"
std::string Machine::describe(const Box &box, ArrayRef<int64_t> position) const {
  std::string text = "[";
  for (auto [name, lane] : llvm::zip(box.axes, position)) {
    auto axis = axes.find(name);
    int64_t origin = axis == axes.end() ? 0 : axis->second.origin;
    text +=
        (Twine(text.size() > 1 ? ", " : "") + name.getValue() + " = " + Twine(origin + lane)).str();
  }
  return text + "]";
}
