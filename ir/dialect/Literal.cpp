//===- Literal.cpp - numbers of the source, before they have a type -------===//

#include "ir/dialect/Literal.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace tile::ir;

static std::string withoutSeparators(StringRef text) {
  std::string digits;
  llvm::copy_if(text, std::back_inserter(digits), [](char c) { return c != '_'; });
  return digits;
}

std::optional<WideInteger> tile::ir::parseInteger(StringRef text) {
  std::string digits = withoutSeparators(text);
  StringRef rest = digits;
  unsigned radix = rest.consume_front_insensitive("0x")   ? 16
                   : rest.consume_front_insensitive("0b") ? 2
                                                          : 10;
  uint64_t value;
  if (rest.getAsInteger(radix, value))
    return std::nullopt;
  return value;
}

double tile::ir::parseReal(StringRef text) {
  return std::strtod(withoutSeparators(text).c_str(), nullptr);
}

static APInt toAPInt(WideInteger value) {
  uint64_t words[] = {static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64)};
  return APInt(128, words);
}

std::string tile::ir::toString(WideInteger value) {
  SmallString<40> text;
  toAPInt(value).toStringSigned(text);
  return text.str().str();
}

std::string tile::ir::toString(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

bool tile::ir::fits(WideInteger value, ElementType type) {
  WideInteger range = WideInteger(1) << bitWidth(type);
  return isUnsigned(type) ? 0 <= value && value < range
                          : -(range / 2) <= value && value < range / 2;
}

static const llvm::fltSemantics &semanticsOf(MLIRContext *context, ElementType type) {
  return cast<FloatType>(toMlir(type, context)).getFloatSemantics();
}

TypedAttr tile::ir::attributeOf(MLIRContext *context, ElementType type, WideInteger value) {
  if (isFloat(type)) {
    APFloat nearest(semanticsOf(context, type));
    nearest.convertFromAPInt(toAPInt(value), /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
    return nearest.isFinite() ? TypedAttr(FloatAttr::get(toMlir(type, context), nearest))
                              : TypedAttr();
  }
  if (!fits(value, type))
    return {};
  return IntegerAttr::get(toMlir(type, context), toAPInt(value).trunc(bitWidth(type)));
}

TypedAttr tile::ir::attributeOf(MLIRContext *context, ElementType type, double value) {
  if (!isFloat(type))
    return {};
  APFloat nearest(value);
  bool isInexact;
  nearest.convert(semanticsOf(context, type), APFloat::rmNearestTiesToEven, &isInexact);
  if (std::isfinite(value) && !nearest.isFinite())
    return {};
  return FloatAttr::get(toMlir(type, context), nearest);
}
