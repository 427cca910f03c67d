// Tensor::preview: which elements are shown, and how.
#include "runtime/tensor/Tensor.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tile::runtime {

/// Digits that tell neighbouring values of a small float apart, and a readable few otherwise.
static int significantDigits(DType type) {
  if (type == DType::F16)
    return 4;
  return sizeOf(type) <= 2 ? 3 : 5;
}

std::string formatElement(DType type, const void *element) {
  // to_chars rather than printf: the decimal point must not follow the locale.
  std::array<char, 64> text;
  std::to_chars_result end{};
  if (type == DType::Bool)
    return loadInt(type, element) ? "true" : "false";
  if (isFloat(type))
    end = std::to_chars(text.begin(), text.end(), loadDouble(type, element),
                        std::chars_format::general, significantDigits(type));
  else if (isSigned(type))
    end = std::to_chars(text.begin(), text.end(), loadInt(type, element));
  else
    end = std::to_chars(text.begin(), text.end(), static_cast<uint64_t>(loadInt(type, element)));
  std::string result(text.begin(), end.ptr);
  return result == "-nan" ? "nan" : result;
}

namespace {

constexpr int64_t wholeLimit = 32;
constexpr int64_t elidedLimit = 64;

/// How much of a dimension is shown: everything, or `head` entries, "…", `tail` entries.
struct Window {
  int64_t head, tail;
  bool elided;
};

int64_t shownElements(const std::vector<Window> &windows) {
  int64_t shown = 1;
  for (const Window &window : windows)
    shown = std::min(shown * (window.head + window.tail), elidedLimit + 1);
  return shown;
}

Window windowOf(int64_t extent, int64_t head, int64_t tail) {
  if (extent <= head + tail)
    return {extent, 0, false};
  return {head, tail, true};
}

std::vector<Window> chooseWindows(const Tensor &tensor) {
  const Shape &shape = tensor.shape();
  std::vector<Window> windows(shape.size());
  int64_t edge = tensor.numElements() <= wholeLimit ? wholeLimit : 3;
  do {
    for (size_t d = 0; d < shape.size(); ++d)
      windows[d] = windowOf(shape[d], edge, edge);
  } while (shownElements(windows) > elidedLimit && --edge > 0);
  // Still too many at one entry an end: of the outer dimensions show only the first entry.
  for (size_t d = 0; d < shape.size() && shownElements(windows) > elidedLimit; ++d)
    windows[d] = windowOf(shape[d], 1, 0);
  return windows;
}

class Printer {
public:
  explicit Printer(const Tensor &tensor) : tensor(tensor), windows(chooseWindows(tensor)) {}

  std::string print() {
    visit(0, 0, [&](int64_t offset) { width = std::max(width, text(offset).size()); });
    visit(
        0, 0,
        [&](int64_t offset) {
          std::string element = text(offset);
          result.append(width - element.size(), ' ');
          result += element;
        },
        true);
    return std::move(result);
  }

private:
  std::string text(int64_t offset) const {
    return formatElement(tensor.dtype(), tensor.data() + offset * sizeOf(tensor.dtype()));
  }

  /// Calls `leaf` for each shown element; with `brackets` also writes what stands between them.
  template <typename Leaf>
  void visit(size_t dimension, int64_t offset, const Leaf &leaf, bool brackets = false) {
    if (dimension == windows.size())
      return leaf(offset);
    const Window &window = windows[dimension];
    int64_t extent = tensor.shape()[dimension];
    if (brackets)
      result += '[';
    for (int64_t i = 0; i < window.head; ++i) {
      separate(dimension, i > 0 && brackets);
      visit(dimension + 1, offset * extent + i, leaf, brackets);
    }
    if (window.elided && brackets) {
      separate(dimension, true);
      result += "…";
    }
    for (int64_t i = extent - window.tail; i < extent; ++i) {
      separate(dimension, brackets);
      visit(dimension + 1, offset * extent + i, leaf, brackets);
    }
    if (brackets)
      result += ']';
  }

  /// A space between elements, a new line between rows, a blank line more for each level above.
  void separate(size_t dimension, bool needed) {
    if (!needed)
      return;
    size_t below = windows.size() - 1 - dimension;
    if (below == 0) {
      result += ' ';
      return;
    }
    result.append(below, '\n');
    result.append(dimension + 1, ' ');
  }

  const Tensor &tensor;
  std::vector<Window> windows;
  size_t width = 0;
  std::string result;
};

} // namespace

std::string Tensor::preview() const {
  if (count == 0)
    return "[] (" + describe() + ")";
  return Printer(*this).print();
}

} // namespace tile::runtime
