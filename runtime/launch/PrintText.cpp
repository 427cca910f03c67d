#include "runtime/launch/PrintText.h"
#include "runtime/base/Text.h"

#include <charconv>
#include <cmath>

namespace tile::runtime {

//===-- Numbers -----------------------------------------------------------===//

namespace {
/// As few digits as give the number again, as a decimal fraction where that is short.
template <typename Float>
std::string shortest(Float value) {
  char buffer[64];
  auto write = [&](auto... format) {
    auto result = std::to_chars(buffer, buffer + sizeof buffer, value, format...);
    return std::string(buffer, result.ptr);
  };
  double size = std::fabs(static_cast<double>(value));
  bool isPlain = size == 0 || (size >= 1e-4 && size < 1e16);
  return isPlain ? write(std::chars_format::fixed) : write(std::chars_format::scientific);
}

/// Of the types below f32: the fewest digits that round to the same bits.
std::string shortestNarrow(DType type, const void *element) {
  double value = loadDouble(type, element);
  size_t bytes = static_cast<size_t>(sizeOf(type));
  for (int digits = 1; digits < 9; ++digits) {
    char buffer[32];
    auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits);
    double read = 0;
    std::from_chars(buffer, end.ptr, read);
    unsigned char bits[8], wanted[8];
    storeDouble(type, bits, read);
    storeDouble(type, wanted, value);
    if (std::equal(bits, bits + bytes, wanted))
      return shortest(read);
  }
  return shortest(value);
}
} // namespace

std::string formatNumber(DType type, const void *element) {
  if (type == DType::Bool)
    return loadInt(type, element) ? "true" : "false";
  if (type == DType::U64)
    return std::to_string(static_cast<uint64_t>(loadInt(type, element)));
  if (!isFloat(type))
    return std::to_string(loadInt(type, element));
  double value = loadDouble(type, element);
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  if (type == DType::F64)
    return shortest(value);
  return type == DType::F32 ? shortest(static_cast<float>(value)) : shortestNarrow(type, element);
}

//===-- Tiles -------------------------------------------------------------===//

namespace {
constexpr int64_t mostShown = 8, edge = 3;

/// Calls `show(position)` for the positions that are shown, `skip` where some are left out.
template <typename Show, typename Skip>
void eachShown(int64_t count, Show show, Skip skip) {
  for (int64_t n = 0; n < count; ++n) {
    if (count > mostShown && n == edge) {
      skip();
      n = count - edge;
    }
    show(n);
  }
}

/// "i = 4, …, 11"
std::string rangeText(const PrintAxis &axis) {
  std::string text = std::string(axis.name) + " = " + std::to_string(axis.lower);
  int64_t count = axis.upper - axis.lower;
  if (count > 1)
    text += (count > 2 ? ", …, " : ", ") + std::to_string(axis.upper - 1);
  return text;
}
} // namespace

void PrintText::add(std::string_view more) {
  // What follows rows begins a line, without the space between arguments.
  if (text.ends_with('\n') && more.starts_with(' '))
    more.remove_prefix(1);
  text += visible(more);
}

void PrintText::addRow(const PrintValue &value, int64_t offset) {
  const PrintAxis &axis = value.axes.back();
  bool isFirst = true;
  auto separate = [&] {
    text += isFirst ? "" : ", ";
    isFirst = false;
  };
  auto show = [&](int64_t n) {
    separate();
    int64_t element = offset + n * axis.stride;
    bool isInside = !value.defined || value.defined[element] != std::byte(0);
    text += isInside ? formatNumber(value.type, value.data + element * sizeOf(value.type)) : "_";
  };
  auto skip = [&] {
    separate();
    text += "…";
  };
  eachShown(axis.upper - axis.lower, show, skip);
}

void PrintText::addRows(const PrintValue &value, size_t depth, int64_t offset,
                        const std::string &place) {
  if (depth + 1 == value.axes.size()) {
    text += "  " + place + ": ";
    addRow(value, offset);
    text += "\n";
    return;
  }
  const PrintAxis &axis = value.axes[depth];
  auto show = [&](int64_t n) {
    addRows(value, depth + 1, offset + n * axis.stride,
            place + (place.empty() ? "" : ", ") + std::string(axis.name) + " = " +
                std::to_string(axis.lower + n));
  };
  eachShown(axis.upper - axis.lower, show, [&] { text += "  …\n"; });
}

void PrintText::add(const PrintValue &value) {
  if (value.axes.empty()) {
    text += formatNumber(value.type, value.data);
    return;
  }
  std::string ranges;
  for (const PrintAxis &axis : value.axes) {
    if (axis.upper <= axis.lower) {
      text += "[" + std::string(axis.name) + ": empty]";
      return;
    }
    ranges += (ranges.empty() ? "" : ", ") + rangeText(axis);
  }
  text += "[" + ranges;
  if (value.axes.size() == 1) {
    text += ": ";
    addRow(value, 0);
    text += "]";
    return;
  }
  text += "]\n";
  addRows(value, 0, 0, "");
}

std::string PrintText::take() {
  if (!text.ends_with('\n'))
    text += '\n';
  return std::move(text);
}

} // namespace tile::runtime
