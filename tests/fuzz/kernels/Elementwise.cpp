#include "tests/fuzz/kernels/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;
using ir::CombineKind;

static constexpr double infinity = std::numeric_limits<double>::infinity();
using Operands = ArrayRef<NumberSet>;
using Outcome = std::optional<NumberSet>;

std::optional<DType> fuzz::dtypeOf(Type type) {
  if (type.isInteger(1))
    return DType::Bool;
  if (type.isInteger(8))
    return DType::I8;
  if (type.isInteger(16))
    return DType::I16;
  if (type.isInteger(32))
    return DType::I32;
  if (type.isInteger(64) || type.isIndex())
    return DType::I64;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  return std::nullopt;
}

//===-- Integers ----------------------------------------------------------===//

unsigned fuzz::widthOf(DType type) {
  return type == DType::Bool ? 1 : static_cast<unsigned>(8 * runtime::sizeOf(type));
}

static uint64_t unsignedOf(DType type, int64_t value) {
  return static_cast<uint64_t>(value) & (~uint64_t(0) >> (64 - widthOf(type)));
}

int64_t fuzz::wrap(DType type, uint64_t value) {
  unsigned unused = 64 - widthOf(type);
  return type == DType::Bool ? static_cast<int64_t>(value & 1)
                             : static_cast<int64_t>(value << unused) >> unused;
}

/// Rounded toward −∞, or toward zero; x / 0 = 0.
static int64_t quotient(__int128 x, __int128 y, bool truncates) {
  if (y == 0)
    return 0;
  __int128 result = x / y;
  if (!truncates && x % y != 0 && (x < 0) != (y < 0))
    --result;
  return static_cast<int64_t>(static_cast<uint64_t>(result));
}

int64_t fuzz::combineIntegers(CombineKind kind, DType type, int64_t x, int64_t y) {
  auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  bool isBelow = unsignedOf(type, x) < unsignedOf(type, y);
  switch (kind) {
  case CombineKind::add:
    return wrap(type, ux + uy);
  case CombineKind::mul:
    return wrap(type, ux * uy);
  case CombineKind::max:
  case CombineKind::fmax:
    return x > y ? x : y;
  case CombineKind::min:
  case CombineKind::fmin:
    return x < y ? x : y;
  case CombineKind::umax:
    return isBelow ? y : x;
  case CombineKind::umin:
    return isBelow ? x : y;
  case CombineKind::andi:
    return x & y;
  case CombineKind::ori:
    return x | y;
  case CombineKind::xori:
    return x ^ y;
  }
  llvm_unreachable("covered");
}

/// 1 and 0 are true and false; the type decides what "least" is.
NumberSet fuzz::identityOf(CombineKind kind, DType type) {
  bool isFloat = runtime::isFloat(type);
  double most = type == DType::F8E4M3 ? runtime::largestFinite(type) : infinity;
  uint64_t least = uint64_t(1) << (widthOf(type) - 1);
  switch (kind) {
  case CombineKind::add:
    return isFloat ? NumberSet::ofFloat(type, 0) : NumberSet::ofInt(type, 0);
  case CombineKind::mul:
    return isFloat ? NumberSet::ofFloat(type, 1) : NumberSet::ofInt(type, 1);
  case CombineKind::max:
  case CombineKind::fmax:
    return isFloat ? NumberSet::ofFloat(type, -most) : NumberSet::ofInt(type, wrap(type, least));
  case CombineKind::min:
  case CombineKind::fmin:
    return isFloat ? NumberSet::ofFloat(type, most) : NumberSet::ofInt(type, wrap(type, least - 1));
  case CombineKind::umin:
  case CombineKind::andi:
    return NumberSet::ofInt(type, wrap(type, ~uint64_t(0)));
  case CombineKind::umax:
  case CombineKind::ori:
  case CombineKind::xori:
    return NumberSet::ofInt(type, 0);
  }
  llvm_unreachable("covered");
}

static bool compare(arith::CmpIPredicate predicate, DType type, int64_t x, int64_t y) {
  uint64_t ux = unsignedOf(type, x), uy = unsignedOf(type, y);
  // A signed bool is 0 or −1.
  int64_t sx = type == DType::Bool ? -x : x, sy = type == DType::Bool ? -y : y;
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return x == y;
  case arith::CmpIPredicate::ne:
    return x != y;
  case arith::CmpIPredicate::slt:
    return sx < sy;
  case arith::CmpIPredicate::sle:
    return sx <= sy;
  case arith::CmpIPredicate::sgt:
    return sx > sy;
  case arith::CmpIPredicate::sge:
    return sx >= sy;
  case arith::CmpIPredicate::ult:
    return ux < uy;
  case arith::CmpIPredicate::ule:
    return ux <= uy;
  case arith::CmpIPredicate::ugt:
    return ux > uy;
  case arith::CmpIPredicate::uge:
    return ux >= uy;
  }
  llvm_unreachable("covered");
}

/// Philox4x32-10: ten rounds of two 32-bit products, each round with another key, for four draws.
static uint32_t philox(uint64_t seed, uint64_t stream, uint64_t draw, ir::DrawKind kind) {
  uint64_t index = draw >> 2, pair = draw & 2;
  uint64_t word = kind == ir::DrawKind::own     ? draw & 3
                  : kind == ir::DrawKind::first ? pair
                                                : pair + 1;
  uint32_t counter[4] = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                         static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)};
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xD2511F53) * counter[0], odd = uint64_t(0xCD9E8D57) * counter[2];
    uint32_t next[4] = {
        static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(odd),
        static_cast<uint32_t>(even >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(even)};
    std::copy(std::begin(next), std::end(next), counter);
    key[0] += 0x9E3779B9; // the golden ratio
    key[1] += 0xBB67AE85; // √3 − 1
  }
  return counter[word];
}

/// An op on known integers; the result before it is wrapped.
static std::optional<uint64_t> integerOp(Operation *op, Operands v, unsigned resultNumber) {
  DType type = v[0].type;
  int64_t x = v[0].integer, y = v.size() > 1 ? v[1].integer : 0;
  auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
  uint64_t ux = unsignedOf(type, x), uy = unsignedOf(type, y);
  auto combined = [&](CombineKind kind) {
    return static_cast<uint64_t>(combineIntegers(kind, type, x, y));
  };
  using Result = std::optional<uint64_t>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return a + b; })
      .Case([&](arith::SubIOp) { return a - b; })
      .Case([&](arith::MulIOp) { return a * b; })
      .Case([&](arith::AndIOp) { return a & b; })
      .Case([&](arith::OrIOp) { return a | b; })
      .Case([&](arith::XOrIOp) { return a ^ b; })
      .Case([&](arith::ShLIOp) { return uy < widthOf(type) ? a << uy : 0; })
      .Case([&](arith::ShRUIOp) { return uy < widthOf(type) ? ux >> uy : 0; })
      .Case([&](arith::ShRSIOp) { return uy < widthOf(type) ? static_cast<uint64_t>(x >> uy) : 0; })
      .Case([&](arith::MaxSIOp) { return combined(CombineKind::max); })
      .Case([&](arith::MinSIOp) { return combined(CombineKind::min); })
      .Case([&](arith::MaxUIOp) { return combined(CombineKind::umax); })
      .Case([&](arith::MinUIOp) { return combined(CombineKind::umin); })
      .Case([&](arith::CmpIOp op) { return compare(op.getPredicate(), type, x, y); })
      .Case<arith::ExtSIOp>([&](auto) { return type == DType::Bool ? -a : a; })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) { return ux; })
      .Case<arith::TruncIOp, arith::IndexCastOp>([&](auto) { return a; })
      .Case([&](arith::MulSIExtendedOp) {
        return resultNumber ? static_cast<uint64_t>(__int128(x) * y >> widthOf(type)) : a * b;
      })
      .Case([&](arith::MulUIExtendedOp) {
        using Wide = unsigned __int128;
        return resultNumber ? static_cast<uint64_t>(Wide(ux) * uy >> widthOf(type)) : a * b;
      })
      .Case([&](math::CtPopOp) { return static_cast<uint64_t>(std::popcount(ux)); })
      .Case([&](math::CountLeadingZerosOp) {
        return static_cast<uint64_t>(std::countl_zero(ux)) - (64 - widthOf(type));
      })
      .Case([&](math::CountTrailingZerosOp) {
        return std::min<uint64_t>(std::countr_zero(ux), widthOf(type));
      })
      .Case([&](math::AbsIOp) { return x < 0 ? -a : a; })
      .Case([&](ir::PhiloxOp op) {
        return philox(a, b, static_cast<uint64_t>(v[2].integer), op.getKind());
      })
      .Case([&](ir::DivOp op) {
        return static_cast<uint64_t>(op.getIsUnsigned() ? quotient(ux, uy, true)
                                                        : quotient(x, y, op.getTruncates()));
      })
      .Case([&](ir::RemOp op) {
        uint64_t whole = static_cast<uint64_t>(
            op.getIsUnsigned() ? quotient(ux, uy, true) : quotient(x, y, op.getTruncates()));
        return a - whole * b;
      })
      .Default([](Operation *) { return Result(); });
}

//===-- All ops ------------------------------------------------------------===//

/// The nearest number of the type, in one rounding.
static double fromInteger(DType type, __int128 value) {
  if (type == DType::F64)
    return static_cast<double>(value);
  if (type == DType::F32)
    return static_cast<float>(value);
  // To odd in double first: then rounding again rounds as once.
  auto near = static_cast<double>(value);
  auto back = static_cast<__int128>(near);
  if (back != value) {
    double truncated = (value > 0) == (back > value) ? std::nextafter(near, 0) : near;
    uint64_t bits = llvm::bit_cast<uint64_t>(truncated) | 1;
    near = llvm::bit_cast<double>(bits);
  }
  return roundTo(type, near);
}

/// The same bits; those of a NaN are not specified.
static NumberSet bitcast(const NumberSet &x, DType type) {
  if (!x.isPoint() || (x.isFloat() && x.lo == 0 && x.anyZero))
    return NumberSet::any(type);
  uint64_t bits = 0;
  if (x.isFloat())
    runtime::storeDouble(x.type, &bits, x.lo);
  else
    runtime::storeInt(x.type, &bits, x.integer);
  return NumberSet::load(type, &bits);
}

Outcome fuzz::evaluate(Operation *op, Operands operands, DType type, unsigned result) {
  if (isa<arith::SelectOp>(op)) {
    const NumberSet &condition = operands[0];
    return condition.isKnown ? operands[condition.integer ? 1 : 2] : hull(operands[1], operands[2]);
  }
  if (operands.empty())
    return std::nullopt;
  if (isa<arith::BitcastOp>(op))
    return bitcast(operands[0], type);
  if (operands[0].isFloat())
    return evaluateFloats(op, operands, type);
  bool isKnown = llvm::all_of(operands, [](const NumberSet &x) { return x.isKnown; });
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    if (!isKnown)
      return NumberSet::any(type);
    int64_t value = operands[0].integer;
    bool isSigned = isa<arith::SIToFPOp>(op) && operands[0].type != DType::Bool;
    return NumberSet::ofFloat(
        type, fromInteger(type, isSigned ? __int128(value) : unsignedOf(operands[0].type, value)));
  }
  std::optional<uint64_t> value = integerOp(op, operands, result);
  if (!value)
    return std::nullopt;
  return isKnown ? NumberSet::ofInt(type, wrap(type, *value)) : NumberSet::any(type);
}
