#include "ir/dialect/AffineEval.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace tile::ir;

namespace {
class AffineEvalTest : public ::testing::Test {
protected:
  AffineExpr symbol(unsigned position) { return getAffineSymbolExpr(position, &context); }
  AffineExpr dim(unsigned position) { return getAffineDimExpr(position, &context); }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

TEST_F(AffineEvalTest, DividesTowardMinusInfinityAndByZero) {
  AffineExpr quotient = symbol(0).floorDiv(symbol(1)), rest = symbol(0) % symbol(1),
             ceiling = symbol(0).ceilDiv(symbol(1));
  for (int64_t x = -20; x <= 20; ++x)
    for (int64_t y = -5; y <= 5; ++y) {
      int64_t floor = y ? static_cast<int64_t>(std::floor(double(x) / y)) : 0;
      EXPECT_EQ(evaluateAffine(quotient, {}, {x, y}), floor);
      EXPECT_EQ(evaluateAffine(rest, {}, {x, y}), x - floor * y);
      EXPECT_EQ(evaluateAffine(ceiling, {}, {x, y}),
                y ? static_cast<int64_t>(std::ceil(double(x) / y)) : 0);
    }
}

TEST_F(AffineEvalTest, NothingWraps) {
  const int64_t greatest = INT64_MAX, least = INT64_MIN;
  EXPECT_EQ(evaluateAffine(dim(0) + symbol(0), {greatest}, {1}), std::nullopt);
  EXPECT_EQ(evaluateAffine(dim(0) + symbol(0), {greatest}, {-1}), greatest - 1);
  EXPECT_EQ(evaluateAffine(symbol(0) * symbol(1), {}, {greatest, 2}), std::nullopt);
  EXPECT_EQ(evaluateAffine(symbol(0) * symbol(1), {}, {least, -1}), std::nullopt);
  EXPECT_EQ(evaluateAffine(symbol(0).floorDiv(symbol(1)), {}, {least, -1}), std::nullopt);
  EXPECT_EQ(evaluateAffine(symbol(0) % symbol(1), {}, {least, -1}), 0);
  EXPECT_EQ(evaluateAffine(symbol(0).floorDiv(symbol(1)), {}, {least, 2}), least / 2);
}

TEST_F(AffineEvalTest, Formats) {
  llvm::StringRef names[] = {"H", "pad", "R", "S"};
  AffineExpr H = symbol(0), pad = symbol(1), R = symbol(2), S = symbol(3);
  EXPECT_EQ(formatAffine((H + pad * 2 - R).floorDiv(S) + 1, names), "(H + 2 * pad - R) / S + 1");
  EXPECT_EQ(formatAffine((H + 127).floorDiv(128), names), "(H + 127) / 128");
  EXPECT_EQ(formatAffine(H - 3, names), "H - 3");
  EXPECT_EQ(formatAffine((H - R * 2) % 4, names), "(H - 2 * R) % 4");
  EXPECT_EQ(formatAffine(H * (R + 1), names), "H * (R + 1)");
  EXPECT_EQ(formatAffine(H.floorDiv(S) * S, names), "H / S * S");
  EXPECT_EQ(formatAffine(-H, names), "-H");
}

TEST_F(AffineEvalTest, FormattedTextMeansTheSame) {
  // A tiny reader of the notation, with C++'s precedences.
  struct Reader {
    const char *at;
    const int64_t *values;
    int64_t leaf() {
      if (*at == '-')
        return ++at, -leaf();
      if (*at == '(') {
        ++at;
        int64_t value = sum();
        return ++at, value;
      }
      if (isdigit(*at)) {
        char *end;
        int64_t value = std::strtoll(at, &end, 10);
        return at = end, value;
      }
      return values[*at++ - 'A'];
    }
    int64_t product() {
      int64_t value = leaf();
      while (at[0] == ' ' && std::strchr("*/%", at[1])) {
        char op = at[1];
        at += 3;
        int64_t other = leaf();
        auto floor = [&] { return static_cast<int64_t>(std::floor(double(value) / other)); };
        value = op == '*' ? value * other : op == '/' ? floor() : value - floor() * other;
      }
      return value;
    }
    int64_t sum() {
      int64_t value = product();
      while (at[0] == ' ' && std::strchr("+-", at[1])) {
        bool minus = at[1] == '-';
        at += 3;
        int64_t other = product();
        value += minus ? -other : other;
      }
      return value;
    }
  };
  unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  llvm::StringRef names[] = {"A", "B", "C"};
  std::function<AffineExpr(int)> make = [&](int depth) -> AffineExpr {
    if (depth == 0)
      return random() % 2 ? symbol(random() % 3)
                          : getAffineConstantExpr(int(random() % 9) - 4, &context);
    AffineExpr left = make(depth - 1), right = make(random() % depth);
    AffineExpr divisor = getAffineConstantExpr(1 + random() % 5, &context);
    switch (random() % 6) {
    case 0:
      return left + right;
    case 1:
      return left - right;
    case 2:
      return left.floorDiv(divisor);
    case 3:
      return left % divisor;
    case 4:
      return left.ceilDiv(divisor);
    default:
      return left * right;
    }
  };
  for (int trial = 0; trial < 2000; ++trial) {
    AffineExpr expr = make(1 + random() % 3);
    int64_t values[] = {int(random() % 30), int(random() % 30), int(random() % 30)};
    std::string text = formatAffine(expr, names);
    Reader reader{text.c_str(), values};
    EXPECT_EQ(reader.sum(), evaluateAffine(expr, {}, values)) << text;
    EXPECT_EQ(*reader.at, '\0') << text;
  }
}
} // namespace
