#include "tests/fuzz/kernels/EvaluatorImpl.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;
using namespace tile::fuzz::evaluator;

void Machine::check(AssertOp op) {
  Tile shape = newTile(op.getCondition().getType());
  for (Walk walk(shape.extents); !walk.isDone && !hasStopped(); walk.next()) {
    if (!isInside(shape.axes, walk.position))
      continue;
    const NumberSet &holds = at(op.getCondition(), shape.axes, walk.position);
    if (!holds.isKnown)
      return stop(op, "an assertion about a number that is not known", /*isUndecided=*/true);
    if (holds.integer)
      continue;
    std::string place;
    for (auto [axis, lane] : llvm::zip(shape.axes, walk.position))
      place += (place.empty() ? ", at [" : ", ") + axis.str() + " = " +
               std::to_string(axes[axis.getValue()].origin + lane);
    result.failure =
        "assertion failed: " + op.getMessage().str() + place + (place.empty() ? "" : "]");
  }
}

//===-- Prints ------------------------------------------------------------===//

/// The fewest digits that mean the number in its type; none where that isn't plain to see.
static std::optional<std::string> digitsOf(const NumberSet &number, DType type) {
  if (!number.isFloat()) {
    if (!number.isKnown)
      return std::nullopt;
    if (type == DType::Bool)
      return number.integer ? "true" : "false";
    uint64_t bits = 0;
    runtime::storeInt(type, &bits, number.integer);
    return type == DType::U64 ? std::to_string(bits)
                              : std::to_string(runtime::loadInt(type, &bits));
  }
  if (number.isNaN())
    return "nan";
  if (!number.isPoint() || number.anyZero)
    return std::nullopt;
  double value = number.lo;
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  if (value == 0)
    return std::signbit(value) ? "-0" : "0";
  if (std::fabs(value) < 1e-3 || std::fabs(value) > 1e6)
    return std::nullopt;
  for (int digits = 1; digits <= 17; ++digits) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.*e", digits - 1, value);
    if (roundTo(number.type, std::strtod(text, nullptr)) != value)
      continue;
    int exponent = std::atoi(std::strchr(text, 'e') + 1);
    std::snprintf(text, sizeof(text), "%.*f", std::max(0, digits - 1 - exponent), std::atof(text));
    return text;
  }
  return std::nullopt;
}

/// Calls `show` for the positions that are shown, and `skip` for those that are left out.
static void eachShown(int64_t count, llvm::function_ref<void(int64_t)> show,
                      llvm::function_ref<void()> skip) {
  for (int64_t n = 0; n < count; ++n)
    if (count <= 8 || n < 3 || n >= count - 3)
      show(n);
    else if (n == 3)
      skip();
}

std::string Machine::show(Value value, DType type) {
  Tile shape = newTile(value.getType());
  auto number = [&](ArrayRef<int64_t> position) -> std::string {
    if (!isInside(shape.axes, position))
      return "_";
    auto digits = digitsOf(at(value, shape.axes, position), type);
    if (!digits)
      result.printed.reset();
    return digits.value_or("?");
  };
  if (shape.axes.empty())
    return number({});
  std::string ranges, rows;
  for (auto [axis, extent] : llvm::zip(shape.axes, shape.extents)) {
    int64_t first = axes[axis.getValue()].origin, last = first + extent - 1;
    if (extent == 0)
      return "[" + axis.str() + ": empty]";
    ranges += (ranges.empty() ? "" : ", ") + axis.str() + " = " + std::to_string(first);
    if (extent > 1)
      ranges += (extent > 2 ? ", …, " : ", ") + std::to_string(last);
  }
  SmallVector<int64_t> position(shape.axes.size());
  size_t inner = position.size() - 1;
  std::function<void(size_t, std::string)> visit = [&](size_t depth, const std::string &place) {
    if (depth == inner) {
      std::string row;
      eachShown(
          shape.extents[inner],
          [&](int64_t n) {
            position[inner] = n;
            row += (row.empty() ? "" : ", ") + number(position);
          },
          [&] { row += ", …"; });
      rows += inner == 0 ? row : "  " + place + ": " + row + "\n";
      return;
    }
    eachShown(
        shape.extents[depth],
        [&](int64_t n) {
          position[depth] = n;
          std::string name = shape.axes[depth].str();
          visit(depth + 1,
                place + (depth ? ", " : "") + name + " = " + std::to_string(axes[name].origin + n));
        },
        [&] { rows += "  …\n"; });
  };
  visit(0, "");
  return inner == 0 ? "[" + ranges + ": " + rows + "]" : "[" + ranges + "]\n" + rows;
}

void Machine::print(PrintOp op) {
  std::string line = cast<StringAttr>(op.getTexts()[0]).str();
  for (auto [n, value] : llvm::enumerate(op.getValues())) {
    StringRef name = cast<StringAttr>(op.getTypes()[n]).getValue();
    auto type = runtime::parseDType(std::string_view(name.data(), name.size()));
    if (!type)
      return stop(op, "a print of an unknown type");
    line += show(value, *type);
    std::string more = cast<StringAttr>(op.getTexts()[n + 1]).str();
    // What follows rows begins a line of its own.
    if (line.back() == '\n' && !more.empty() && more[0] == ' ')
      more.erase(0, 1);
    line += more;
  }
  if (line.empty() || line.back() != '\n')
    line += '\n';
  if (result.printed)
    *result.printed += line;
}
