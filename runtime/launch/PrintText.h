// How `print` shows numbers and tiles; docs/language.md says what it looks like.
#pragma once

#include "runtime/tensor/DType.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tile::runtime {

/// An axis of a tile: the coordinates [lower, upper), `stride` elements apart.
struct PrintAxis {
  std::string_view name;
  int64_t lower = 0, upper = 0, stride = 1;
};

/// A scalar, or a tile if it has axes.
struct PrintValue {
  DType type = DType::F32;
  const std::byte *data = nullptr;
  /// A byte for each element, placed as they are: whether it is inside the domain. Null: all are.
  const std::byte *defined = nullptr;
  std::span<const PrintAxis> axes;
};

/// The shortest digits that mean this number in its type: "0.1", "-3", "1e+20", "true", "nan".
std::string formatNumber(DType type, const void *element);

/// What one print says, line by line.
class PrintText {
public:
  void add(std::string_view text);
  /// Tiles of one axis stay in the line: "[i = 4, …, 11: 1, 2, 3, …, 6, 7, 8]"; of more, each row
  /// gets a line of its own. Of more than eight along an axis the first and last three are shown;
  /// what is outside the domain is "_".
  void add(const PrintValue &value);
  /// All of it, with a newline at the end.
  std::string take();

private:
  void addRows(const PrintValue &value, size_t depth, int64_t offset, const std::string &place);
  void addRow(const PrintValue &value, int64_t offset);

  std::string text;
};

} // namespace tile::runtime
