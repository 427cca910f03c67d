// Literals get a type only if it has a place for them, and then they are the nearest number of it.

#include "ir/dialect/Literal.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tile::ir;

namespace {

TEST(Literal, integersOfEveryWidth) {
  mlir::MLIRContext context;
  for (ElementType type : allElementTypes()) {
    if (!isInteger(type))
      continue;
    unsigned bits = bitWidth(type);
    WideInteger greatest = (WideInteger(1) << (isUnsigned(type) ? bits : bits - 1)) - 1;
    WideInteger least = isUnsigned(type) ? 0 : -greatest - 1;
    for (WideInteger inside : {least, WideInteger(0), greatest}) {
      auto number = llvm::dyn_cast_or_null<mlir::IntegerAttr>(attributeOf(&context, type, inside));
      ASSERT_TRUE(number) << nameOf(type).str() << " " << toString(inside);
      EXPECT_EQ(number.getValue().getZExtValue(),
                static_cast<uint64_t>(inside) & (~uint64_t(0) >> (64 - bits)));
    }
    EXPECT_FALSE(attributeOf(&context, type, least - 1)) << nameOf(type).str();
    EXPECT_FALSE(attributeOf(&context, type, greatest + 1)) << nameOf(type).str();
    EXPECT_FALSE(attributeOf(&context, type, 1.0)) << nameOf(type).str();
  }
  EXPECT_TRUE(fits(1, ElementType::Bool));
  EXPECT_FALSE(fits(2, ElementType::Bool));
}

TEST(Literal, floatsAreRoundedOnce) {
  mlir::MLIRContext context;
  auto as = [&](ElementType type, auto value) {
    auto number = llvm::dyn_cast_or_null<mlir::FloatAttr>(attributeOf(&context, type, value));
    return number ? number.getValueAsDouble() : std::nan("");
  };
  // Through f64 it would become a tie, and 2^53.
  WideInteger aboveTie = (WideInteger(1) << 53) + (1 << 29) + 1;
  EXPECT_EQ(as(ElementType::F32, aboveTie), 0x1p53 + 0x1p30);
  EXPECT_EQ(as(ElementType::F32, WideInteger(~uint64_t(0))), 0x1p64);
  EXPECT_EQ(as(ElementType::F64, -(WideInteger(1) << 63) - 1), -0x1p63);
  // To the greatest number as long as that is nearest.
  EXPECT_EQ(as(ElementType::F16, 65519.0), 65504);
  EXPECT_FALSE(attributeOf(&context, ElementType::F16, 65520.0));
  EXPECT_FALSE(attributeOf(&context, ElementType::F16, WideInteger(-65520)));
  EXPECT_EQ(as(ElementType::F8E4M3, 464.0), 448);
  EXPECT_FALSE(attributeOf(&context, ElementType::F8E4M3, 465.0));
  EXPECT_FALSE(attributeOf(&context, ElementType::F32, 0x1.ffffffp127));
  EXPECT_EQ(as(ElementType::F32, HUGE_VAL), HUGE_VAL);
}

TEST(Literal, text) {
  EXPECT_EQ(toString(*parseInteger("18_446744073709551615")), "18446744073709551615");
  EXPECT_EQ(toString(-*parseInteger("0xFFFF_ffff_ffff_ffff")), "-18446744073709551615");
  EXPECT_EQ(parseInteger("0b101"), WideInteger(5));
  EXPECT_FALSE(parseInteger("18446744073709551616"));
  EXPECT_EQ(parseReal("1_0.2_5e1"), 102.5);
  EXPECT_EQ(toString(1e39), "1e+39");
}

} // namespace
