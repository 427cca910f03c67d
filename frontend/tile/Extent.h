//===- Extent.h - dimensions of a kernel and arithmetic on them -----------===//
#ifndef TILE_FRONTEND_TILE_EXTENT_H
#define TILE_FRONTEND_TILE_EXTENT_H

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>

namespace tile {

namespace detail {
struct ExtentNode;
using ExtentPtr = std::shared_ptr<const ExtentNode>;
ExtentPtr extentNumber(int64_t value);
} // namespace detail

template <typename T>
concept IntegerLiteral = std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool>;

/// A dimension of a kernel (`Kernel::dim`), a constant (`Kernel::constant`), or + - * / % of those
/// and integers. It is a number of elements, known when the kernel is launched. Shapes are made of
/// extents; in a body an extent is an i64. `/` and `%` round toward minus infinity.
class Extent {
public:
  template <IntegerLiteral T>
  Extent(T value) : node(detail::extentNumber(static_cast<int64_t>(value))) {}
  explicit Extent(detail::ExtentPtr node) : node(std::move(node)) {}

  /// "(H + 2) / 3", as the language writes it.
  std::string str() const;
  const detail::ExtentPtr &get() const { return node; }

private:
  detail::ExtentPtr node;
};

Extent operator+(const Extent &a, const Extent &b);
Extent operator-(const Extent &a, const Extent &b);
Extent operator*(const Extent &a, const Extent &b);
Extent operator/(const Extent &a, const Extent &b);
Extent operator%(const Extent &a, const Extent &b);
Extent operator-(const Extent &a);

/// A relation of extents, for `Kernel::require`; in a body a bool.
class Condition {
public:
  explicit Condition(detail::ExtentPtr node) : node(std::move(node)) {}

  std::string str() const;
  const detail::ExtentPtr &get() const { return node; }

private:
  detail::ExtentPtr node;
};

Condition operator==(const Extent &a, const Extent &b);
Condition operator!=(const Extent &a, const Extent &b);
Condition operator<(const Extent &a, const Extent &b);
Condition operator<=(const Extent &a, const Extent &b);
Condition operator>(const Extent &a, const Extent &b);
Condition operator>=(const Extent &a, const Extent &b);
Condition operator&&(const Condition &a, const Condition &b);
Condition operator||(const Condition &a, const Condition &b);

} // namespace tile

#endif // TILE_FRONTEND_TILE_EXTENT_H
