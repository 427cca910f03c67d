#include "runtime/tensor/Scalar.h"
#include "runtime/base/Text.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace tile::runtime {

namespace {

/// Digits of base 10, or of base 16 after "0x"; nothing if other characters occur or the number
/// is over 2^120.
std::optional<Int128> parseMagnitude(std::string_view digits) {
  unsigned base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  }
  if (digits.empty())
    return std::nullopt;
  Int128 value = 0;
  for (char c : digits) {
    unsigned digit;
    if (c >= '0' && c <= '9')
      digit = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<unsigned>(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<unsigned>(c - 'A') + 10;
    else
      return std::nullopt;
    if (digit >= base || value >> 120 != 0)
      return std::nullopt;
    value = value * base + digit;
  }
  return value;
}

} // namespace

Result<Scalar> parseScalar(std::string_view text) {
  std::string whole(text);
  if (text == "true" || text == "false")
    return Scalar{whole, text == "true"};

  bool negative = text.starts_with('-');
  std::string_view unsignedText = text.substr(negative || text.starts_with('+'));
  if (unsignedText == "inf" || unsignedText == "nan") {
    double value = unsignedText == "inf" ? std::numeric_limits<double>::infinity()
                                         : std::numeric_limits<double>::quiet_NaN();
    return Scalar{whole, negative ? -value : value};
  }
  // "-0" means the real one: as an integer it would lose its sign.
  if (std::optional<Int128> magnitude = parseMagnitude(unsignedText);
      magnitude && !(negative && *magnitude == 0))
    return Scalar{whole, negative ? -*magnitude : *magnitude};

  double value = 0;
  bool startsLikeNumber =
      unsignedText.find_first_of("0123456789") <= (unsignedText.starts_with('.') ? 1u : 0u);
  const char *first = unsignedText.data(), *last = first + unsignedText.size();
  auto [end, error] = std::from_chars(first, last, value);
  if (!startsLikeNumber || error == std::errc::invalid_argument || end != last)
    return Error{quote(text) + " is no number",
                 "write something like 42, -0x1f, 1e-5, inf, nan, true or false"};
  if (error == std::errc::result_out_of_range)
    return Error{quote(text) + " is outside the range of f64", "write inf or 0 if that is meant"};
  return Scalar{whole, negative ? -value : value};
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

static Status storeInteger(const Scalar &scalar, DType type, void *element) {
  std::string name(nameOf(type));
  const auto *integer = std::get_if<Int128>(&scalar.value);
  // "-0" is kept as a real.
  const auto *real = std::get_if<double>(&scalar.value);
  Int128 value = integer ? *integer : 0;
  if (!integer && !(real && *real == 0 && scalar.text == "-0"))
    return Error{quote(scalar.text) + " is no integer, as " + name + " needs",
                 "write an integer, or change the type"};
  if (value < integerMin(type) || value > Int128(integerMax(type)))
    return Error{quote(scalar.text) + " doesn't fit " + name,
                 name + " goes from " + std::to_string(integerMin(type)) + " to " +
                     std::to_string(integerMax(type))};
  storeInt(type, element, static_cast<int64_t>(static_cast<uint64_t>(value)));
  return {};
}

static Status storeFloat(const Scalar &scalar, DType type, void *element) {
  std::string name(nameOf(type));
  if (std::holds_alternative<bool>(scalar.value))
    return Error{quote(scalar.text) + " is no number, as " + name + " needs", "write a number"};
  const auto *integer = std::get_if<Int128>(&scalar.value);
  double value = integer ? static_cast<double>(*integer) : std::get<double>(scalar.value);
  // Through int64_t an integer rounds once, not first to double.
  if (integer && *integer == static_cast<int64_t>(*integer))
    storeInt(type, element, static_cast<int64_t>(*integer));
  else
    storeDouble(type, element, value);
  double stored = loadDouble(type, element);
  if (std::isinf(value) && stored != value)
    return Error{name + " has no infinity",
                 "its greatest value is " + std::to_string(largestFinite(type))};
  if (std::isfinite(value) && !std::isfinite(stored))
    return Error{quote(scalar.text) + " doesn't fit " + name, "write inf if that is meant, or "
                                                              "use a wider type"};
  return {};
}

Status storeScalar(const Scalar &scalar, DType type, void *element) {
  if (isFloat(type))
    return storeFloat(scalar, type, element);
  if (isInteger(type))
    return storeInteger(scalar, type, element);
  const auto *truth = std::get_if<bool>(&scalar.value);
  if (!truth)
    return Error{quote(scalar.text) + " is no truth value, as bool needs", "write true or false"};
  storeInt(type, element, *truth);
  return {};
}

} // namespace tile::runtime
