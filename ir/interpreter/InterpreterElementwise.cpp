//===- InterpreterElementwise.cpp - arith, math and the like --------------===//
//
// Each op is one line: a function of numbers, which the class Elementwise
// applies at every coordinate of the domain. What the parameters are says how
// operands are read: double, int64_t (sign-extended), uint64_t (zero-extended)
// or bool.
//
//===----------------------------------------------------------------------===//

#include "ir/interpreter/InterpreterImpl.h"

#include "llvm/ADT/TypeSwitch.h"

#include <array>
#include <bit>
#include <cmath>

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::interpreter;

//===-- The engine --------------------------------------------------------===//

namespace tile::ir::interpreter {
class Elementwise {
public:
  Elementwise(Machine &machine, Operation *op) : machine(machine), op(op) {
    for (Value operand : op->getOperands())
      operands.push_back(&machine.values.at(operand));
  }

  /// Number type of an operand.
  Number from(unsigned operand = 0) const { return operands[operand]->number; }
  /// Number type of the results.
  Number to() const { return *numberOf(getElementTypeOrSelf(op->getResult(0).getType())); }

  /// result = compute(operands…) at each coordinate.
  template <typename ComputeT>
  LogicalResult each(ComputeT compute, unsigned result = 0) {
    return apply(compute, &ComputeT::operator(), result);
  }

  /// result = a bool that is open where the operands, x and y, are too near to each other.
  template <typename ComputeT>
  LogicalResult eachComparison(ComputeT compute) {
    isComparison = true;
    return each(compute);
  }

  /// result = compute(operands…), which selects one operand's bits.
  LogicalResult select(llvm::function_ref<unsigned(int64_t)> choose) {
    Tile result;
    if (failed(prepare(0, result)))
      return failure();
    for (int64_t index = 0; index < result.size; ++index)
      if (result.contains(index)) {
        unsigned chosen = choose(index);
        std::memcpy(result.at(index), element(chosen, index), byteWidth(result.number));
        if (result.bounds)
          result.setBound(index, boundOfChoice(chosen, index));
      }
    return finish(0, result);
  }

  /// An operand's element; a scalar serves every coordinate.
  const char *element(unsigned operand, int64_t index) const {
    const Tile &tile = *operands[operand];
    return tile.at(tile.axes.empty() ? 0 : index);
  }

private:
  /// One bound for all coordinates is one error for all of them.
  Bound bound(unsigned operand, int64_t index) const {
    const Tile &tile = *operands[operand];
    if (!tile.axes.empty())
      return tile.boundAt(index);
    return {0, roundUp(tile.boundAt(0).total())};
  }

  double value(unsigned operand, int64_t index) const {
    const Tile &tile = *operands[operand];
    return tile.asDouble(tile.axes.empty() ? 0 : index);
  }

  /// Of a bitcast, or of a selection by operand 0.
  Bound boundOfChoice(unsigned chosen, int64_t index) const {
    Bound kept = bound(chosen, index);
    if (operands.size() == 1)
      return kept.isExact() && !(showsNaN && std::isnan(value(0, index))) ? kept : undecided;
    if (bound(0, index).isExact())
      return kept;
    unsigned other = 3 - chosen;
    return ownBound(distance(value(chosen, index), value(other, index)) +
                    std::max(kept.total(), bound(other, index).total()));
  }

  template <typename ComputeT, typename ResultT, typename... ParamTs>
  LogicalResult apply(ComputeT &compute, ResultT (ComputeT::*)(ParamTs...) const, unsigned number) {
    Tile result;
    if (failed(prepare(number, result)))
      return failure();
    applyAll(llvm::function_ref<ResultT(ParamTs...)>(compute), result,
             std::index_sequence_for<ParamTs...>());
    if (result.bounds)
      boundAll(llvm::function_ref<ResultT(ParamTs...)>(compute), result,
               std::index_sequence_for<ParamTs...>());
    return finish(number, result);
  }

  template <typename ResultT, typename... ParamTs, size_t... N>
  void boundAll(llvm::function_ref<ResultT(ParamTs...)> compute, Tile &result,
                std::index_sequence<N...>) const {
    for (int64_t index = 0; index < result.size; ++index) {
      if (!result.contains(index))
        continue;
      std::tuple<ParamTs...> args(read<ParamTs>(operands[N]->number, element(N, index))...);
      ResultT value = std::apply(compute, args);
      Bound bounds[] = {bound(N, index)...};
      Bound change;
      double alone = 0;
      auto effect = [&](auto place) {
        constexpr size_t n = decltype(place)::value;
        double error = bounds[n].total();
        if (error == 0)
          return;
        double most = 0;
        for (int direction : {-1, 1}) {
          auto moved = args;
          std::get<n>(moved) = move(operands[n]->number, std::get<n>(args), direction * error);
          most = std::max(most, between(result.number, std::apply(compute, moved), value));
        }
        alone += most;
        double share = bounds[n].shared / error;
        Bound part = std::isinf(most) || std::isinf(error)
                         ? undecided
                         : Bound{roundUp(most * (1 - share)), roundUp(most * share),
                                 roundUp(most / error * bounds[n].deviation)};
        change = isStepOfFold || change.isExact() ? addIndependent(change, part)
                                                  : addDependent(change, part);
      };
      (effect(std::integral_constant<size_t, N>()), ...);
      if (isComparison)
        change = boundOfComparison(bounds, index);
      if constexpr (sizeof...(ParamTs) == 2)
        if (showsNaN && std::isnan(static_cast<double>(std::get<1>(args))))
          change = undecided;
      if constexpr (std::is_same_v<ResultT, double>) {
        change = addDependent(change, ownBound(beyond(compute, args, bounds, value, alone,
                                                      std::index_sequence<N...>())));
        // At zero all have the same.
        bool isAtZero = change.isExact() && ((static_cast<double>(std::get<N>(args)) == 0) && ...);
        change = roundBound(result.number, value, change, isFree);
        // The function's own results are numbers of the type: nothing more is rounded.
        if (ulps > 0 && std::isfinite(value) && !isAtZero)
          change = addDependent(change, ownBound(ulps * ulpOf(result.number, value)));
      }
      result.setBound(index, change);
    }
  }

  /// How much further operands take the result that are off together, as factors are, than each by
  /// itself, which adds up to `alone`.
  template <typename... ParamTs, size_t... N>
  double beyond(llvm::function_ref<double(ParamTs...)> compute, const std::tuple<ParamTs...> &args,
                const Bound *bounds, double value, double alone, std::index_sequence<N...>) const {
    if ((int(!bounds[N].isExact()) + ...) < 2 || !std::isfinite(alone))
      return 0;
    double most = 0;
    for (unsigned corner = 0; corner < 1U << sizeof...(N); ++corner) {
      auto moved = args;
      ((std::get<N>(moved) = move(operands[N]->number, std::get<N>(args),
                                  (corner >> N & 1 ? 1 : -1) * bounds[N].total())),
       ...);
      most = std::max(most, distance(std::apply(compute, moved), value));
    }
    // Doubles tell no less from nothing.
    double further = most - alone;
    return further > 4 * ulpOf(Number::F64, value) ? further : 0;
  }

  /// Open where x and y may be equal.
  Bound boundOfComparison(const Bound *bounds, int64_t index) const {
    double error = bounds[0].total() + bounds[1].total();
    if (error == 0)
      return {};
    return ownBound(distance(value(0, index), value(1, index)) <= error ? 1 : 0);
  }

  /// An operand that is off by so much.
  template <typename T>
  static T move(Number number, T value, double error) {
    if constexpr (std::is_same_v<T, double>)
      return value + error;
    else if (number == Number::I1)
      return std::is_signed_v<T> ? static_cast<T>(value ? 0 : -1) : static_cast<T>(!value);
    else
      return static_cast<T>(
          static_cast<uint64_t>(value) +
          static_cast<uint64_t>(static_cast<int64_t>(
              std::clamp(std::copysign(std::ceil(std::fabs(error)), error), -0x1p62, 0x1p62))));
  }

  template <typename T>
  static double between(Number number, T moved, T value) {
    if constexpr (std::is_same_v<T, double>) {
      return distance(moved, value);
    } else {
      char bytes[2][8];
      writeInteger(number, bytes[0], static_cast<uint64_t>(moved));
      writeInteger(number, bytes[1], static_cast<uint64_t>(value));
      return std::fabs(double(readSigned(number, bytes[0])) - double(readSigned(number, bytes[1])));
    }
  }

  template <typename ResultT, typename... ParamTs, size_t... N>
  void applyAll(llvm::function_ref<ResultT(ParamTs...)> compute, Tile &result,
                std::index_sequence<N...>) const {
    for (int64_t index = 0; index < result.size; ++index)
      if (result.contains(index))
        write(result.number, result.at(index),
              compute(read<ParamTs>(operands[N]->number, element(N, index))...));
  }

  template <typename T>
  static T read(Number number, const char *at) {
    if constexpr (std::is_same_v<T, double>)
      return readFloat(number, at);
    else if constexpr (std::is_same_v<T, int64_t>)
      return readSigned(number, at);
    else
      return readUnsigned(number, at);
  }
  template <typename T>
  static void write(Number number, char *at, T value) {
    if constexpr (std::is_same_v<T, double>)
      writeFloat(number, at, value);
    else
      writeInteger(number, at, static_cast<uint64_t>(value));
  }

  LogicalResult prepare(unsigned number, Tile &result) {
    if (failed(machine.makeTile(op, op->getResult(number).getType(), result)))
      return failure();
    for (const Tile *operand : operands)
      if (failed(machine.checkDefined(op, *operand, result)))
        return failure();
    return machine.options.tracksErrors ? prepareBounds(result) : success();
  }

  LogicalResult prepareBounds(Tile &result) {
    isStepOfFold = machine.isStepOfFold(op);
    ulps = isFloat(result.number)
               ? functionUlps(op, result.number,
                              {machine.options.errorsOfGpu, machine.options.errorsWithoutFma})
               : 0;
    bool isOff = llvm::any_of(operands, [](const Tile *operand) { return operand->bounds; });
    bool rounds = ulps > 0 || isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
                                  arith::TruncFOp, math::FmaOp, math::SqrtOp>(op);
    isFree = rounds && (isStepOfFold || machine.freeRegions > 0);
    for (const Tile *operand : operands)
      if (operand->bounds)
        result.shareAlong(operand->axes.empty() ? result.axes
                                                : ArrayRef<StringAttr>(operand->sharedAlong));
    showsNaN =
        isa<math::CopySignOp>(op) || (isa<arith::BitcastOp>(op) && isFloat(operands[0]->number));
    return machine.makeBounds(op, result, isOff || isFree || ulps > 0 || showsNaN);
  }

  /// The operands stay valid: results wait until the op is done.
  LogicalResult finish(unsigned number, Tile &result) {
    Machine::settleBounds(result);
    keepParts(op, operands, result);
    results.emplace_back(op->getResult(number), std::move(result));
    if (results.size() == op->getNumResults())
      for (auto &[value, tile] : results)
        machine.values[value] = std::move(tile);
    return success();
  }

  Machine &machine;
  Operation *op;
  /// Of the bounds: of what the function is off by, whether it compares its operands, and whether
  /// other executions round in other places.
  double ulps = 0;
  bool isComparison = false, isStepOfFold = false, isFree = false;
  /// The result shows which NaN an operand is, or its sign: that is not specified.
  bool showsNaN = false;
  SmallVector<const Tile *> operands;
  SmallVector<std::pair<Value, Tile>, 2> results;
};
} // namespace tile::ir::interpreter

using Switch = llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>;
/// Nothing if the op is of another family.
using Outcome = std::optional<LogicalResult>;

//===-- Integers ----------------------------------------------------------===//

static uint64_t shiftLeft(uint64_t x, uint64_t count, unsigned width) {
  return count < width ? x << count : 0;
}

/// x to a power: 0 to a negative one, which has no value, gives 0.
static int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1;
  for (auto factor = static_cast<uint64_t>(base); exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return static_cast<int64_t>(result);
}

static bool compare(arith::CmpIPredicate predicate, int64_t x, int64_t y) {
  auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return x == y;
  case arith::CmpIPredicate::ne:
    return x != y;
  case arith::CmpIPredicate::slt:
    return x < y;
  case arith::CmpIPredicate::sle:
    return x <= y;
  case arith::CmpIPredicate::sgt:
    return x > y;
  case arith::CmpIPredicate::sge:
    return x >= y;
  case arith::CmpIPredicate::ult: // sign extension keeps the unsigned order
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

// Where upstream has poison or undefined behaviour (division by zero, a shift by
// too much) the result is 0.
static Outcome integerArithmetic(Operation *op, Elementwise &e) {
  using S = int64_t;
  using U = uint64_t;
  return Switch(op)
      .Case([&](arith::AddIOp) { return e.each([](U x, U y) { return x + y; }); })
      .Case([&](arith::SubIOp) { return e.each([](U x, U y) { return x - y; }); })
      .Case([&](arith::MulIOp) { return e.each([](U x, U y) { return x * y; }); })
      .Case([&](arith::DivUIOp) { return e.each([](U x, U y) { return y ? x / y : 0; }); })
      .Case([&](arith::RemUIOp) { return e.each([](U x, U y) { return y ? x % y : 0; }); })
      .Case([&](arith::CeilDivUIOp) {
        return e.each([](U x, U y) { return y ? x / y + (x % y != 0) : 0; });
      })
      .Case([&](arith::DivSIOp) {
        return e.each([](S x, S y) { return divideSigned(x, y, /*truncates=*/true); });
      })
      .Case([&](arith::RemSIOp) {
        return e.each([](S x, S y) { return y ? remainderSigned(x, y, /*truncates=*/true) : 0; });
      })
      .Case([&](arith::FloorDivSIOp) {
        return e.each([](S x, S y) { return divideSigned(x, y, /*truncates=*/false); });
      })
      .Case([&](arith::CeilDivSIOp) {
        return e.each([](S x, S y) {
          bool isExact = remainderSigned(x, y, /*truncates=*/false) == 0;
          return divideSigned(x, y, /*truncates=*/false) + (y && !isExact);
        });
      })
      .Case([&](DivOp op) {
        if (op.getIsUnsigned())
          return e.each([](U x, U y) { return y ? x / y : 0; });
        bool truncates = op.getTruncates();
        return e.each([truncates](S x, S y) { return divideSigned(x, y, truncates); });
      })
      .Case([&](RemOp op) {
        if (op.getIsUnsigned())
          return e.each([](U x, U y) { return y ? x % y : x; });
        bool truncates = op.getTruncates();
        return e.each([truncates](S x, S y) { return remainderSigned(x, y, truncates); });
      })
      .Case([&](arith::AddUIExtendedOp) {
        unsigned width = bitWidth(e.from());
        U mask = ~U(0) >> (64 - width);
        (void)e.each([](U x, U y) { return x + y; });
        return e.each([mask](U x, U y) { return ((x + y) & mask) < x; }, 1);
      })
      .Case([&](arith::MulSIExtendedOp) {
        unsigned width = bitWidth(e.from());
        (void)e.each([](S x, S y) { return static_cast<U>(x) * static_cast<U>(y); });
        return e.each([width](S x, S y) { return static_cast<S>(__int128(x) * y >> width); }, 1);
      })
      .Case([&](arith::MulUIExtendedOp) {
        unsigned width = bitWidth(e.from());
        (void)e.each([](U x, U y) { return x * y; });
        return e.each(
            [width](U x, U y) { return static_cast<U>((unsigned __int128)(x)*y >> width); }, 1);
      })
      .Default([](Operation *) { return std::nullopt; });
}

static Outcome integerLogic(Operation *op, Elementwise &e) {
  using S = int64_t;
  using U = uint64_t;
  return Switch(op)
      .Case([&](arith::AndIOp) { return e.each([](U x, U y) { return x & y; }); })
      .Case([&](arith::OrIOp) { return e.each([](U x, U y) { return x | y; }); })
      .Case([&](arith::XOrIOp) { return e.each([](U x, U y) { return x ^ y; }); })
      .Case([&](arith::ShLIOp) {
        unsigned width = bitWidth(e.from());
        return e.each([width](U x, U n) { return shiftLeft(x, n, width); });
      })
      .Case([&](arith::ShRUIOp) {
        unsigned width = bitWidth(e.from());
        return e.each([width](U x, U n) { return n < width ? x >> n : 0; });
      })
      .Case([&](arith::ShRSIOp) {
        unsigned width = bitWidth(e.from());
        return e.each([width](S x, U n) { return n < width ? x >> n : 0; });
      })
      .Case([&](arith::MaxSIOp) { return e.each([](S x, S y) { return std::max(x, y); }); })
      .Case([&](arith::MaxUIOp) { return e.each([](U x, U y) { return std::max(x, y); }); })
      .Case([&](arith::MinSIOp) { return e.each([](S x, S y) { return std::min(x, y); }); })
      .Case([&](arith::MinUIOp) { return e.each([](U x, U y) { return std::min(x, y); }); })
      .Case([&](arith::CmpIOp op) {
        auto predicate = op.getPredicate();
        return e.each([predicate](S x, S y) { return compare(predicate, x, y); });
      })
      .Case([&](math::AbsIOp) {
        return e.each([](S x) { return x < 0 ? -static_cast<U>(x) : static_cast<U>(x); });
      })
      .Case([&](math::IPowIOp) { return e.each([](S x, S y) { return power(x, y); }); })
      .Case([&](math::CtPopOp) { return e.each([](U x) { return U(std::popcount(x)); }); })
      .Case([&](math::CountLeadingZerosOp) {
        unsigned width = bitWidth(e.from());
        return e.each([width](U x) { return U(std::countl_zero(x)) - (64 - width); });
      })
      .Case([&](math::CountTrailingZerosOp) {
        unsigned width = bitWidth(e.from());
        return e.each([width](U x) { return std::min<U>(std::countr_zero(x), width); });
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===-- Floats ------------------------------------------------------------===//

static bool compare(arith::CmpFPredicate predicate, double x, double y) {
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::OEQ:
    return x == y;
  case arith::CmpFPredicate::OGT:
    return x > y;
  case arith::CmpFPredicate::OGE:
    return x >= y;
  case arith::CmpFPredicate::OLT:
    return x < y;
  case arith::CmpFPredicate::OLE:
    return x <= y;
  case arith::CmpFPredicate::ONE:
    return !unordered && x != y;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || x == y;
  case arith::CmpFPredicate::UGT:
    return unordered || x > y;
  case arith::CmpFPredicate::UGE:
    return unordered || x >= y;
  case arith::CmpFPredicate::ULT:
    return unordered || x < y;
  case arith::CmpFPredicate::ULE:
    return unordered || x <= y;
  case arith::CmpFPredicate::UNE:
    return x != y;
  case arith::CmpFPredicate::UNO:
    return unordered;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  }
  llvm_unreachable("covered");
}

static Outcome floatArithmetic(Operation *op, Elementwise &e) {
  using D = double;
  return Switch(op)
      .Case([&](arith::AddFOp) { return e.each([](D x, D y) { return x + y; }); })
      .Case([&](arith::SubFOp) { return e.each([](D x, D y) { return x - y; }); })
      .Case([&](arith::MulFOp) { return e.each([](D x, D y) { return x * y; }); })
      .Case([&](arith::DivFOp) { return e.each([](D x, D y) { return x / y; }); })
      .Case([&](arith::RemFOp) { return e.each([](D x, D y) { return std::fmod(x, y); }); })
      .Case([&](arith::NegFOp) { return e.each([](D x) { return -x; }); })
      .Case([&](arith::MaximumFOp) { return e.each([](D x, D y) { return maximum(x, y); }); })
      .Case([&](arith::MinimumFOp) { return e.each([](D x, D y) { return minimum(x, y); }); })
      .Case([&](arith::MaxNumFOp) { return e.each([](D x, D y) { return maxNumber(x, y); }); })
      .Case([&](arith::MinNumFOp) { return e.each([](D x, D y) { return minNumber(x, y); }); })
      .Case([&](arith::CmpFOp op) {
        auto predicate = op.getPredicate();
        return e.eachComparison([predicate](D x, D y) { return compare(predicate, x, y); });
      })
      .Case([&](math::FmaOp) {
        Number number = e.to();
        return e.each([number](D x, D y, D z) { return fusedMultiplyAdd(number, x, y, z); });
      })
      .Case([&](math::ClampFOp) {
        return e.each([](D x, D low, D high) { return minimum(maximum(x, low), high); });
      })
      .Case([&](math::AbsFOp) { return e.each([](D x) { return std::fabs(x); }); })
      .Case([&](math::CopySignOp) { return e.each([](D x, D y) { return std::copysign(x, y); }); })
      .Case([&](math::CeilOp) { return e.each([](D x) { return std::ceil(x); }); })
      .Case([&](math::FloorOp) { return e.each([](D x) { return std::floor(x); }); })
      .Case([&](math::RoundOp) { return e.each([](D x) { return std::round(x); }); })
      .Case([&](math::RoundEvenOp) { return e.each([](D x) { return std::nearbyint(x); }); })
      .Case([&](math::TruncOp) { return e.each([](D x) { return std::trunc(x); }); })
      .Case([&](math::IsFiniteOp) { return e.each([](D x) { return std::isfinite(x); }); })
      .Case([&](math::IsInfOp) { return e.each([](D x) { return std::isinf(x); }); })
      .Case([&](math::IsNaNOp) { return e.each([](D x) { return std::isnan(x); }); })
      .Case([&](math::IsNormalOp) {
        double least = llvm::APFloat::getSmallestNormalized(semantics(e.from())).convertToDouble();
        return e.each([least](D x) { return std::isfinite(x) && std::fabs(x) >= least; });
      })
      .Default([](Operation *) { return std::nullopt; });
}

static Outcome exponentials(Operation *op, Elementwise &e) {
  using D = double;
  return Switch(op)
      .Case([&](math::SqrtOp) { return e.each([](D x) { return std::sqrt(x); }); })
      .Case([&](math::RsqrtOp) { return e.each([](D x) { return 1 / std::sqrt(x); }); })
      .Case([&](math::CbrtOp) { return e.each([](D x) { return std::cbrt(x); }); })
      .Case([&](math::ExpOp) { return e.each([](D x) { return std::exp(x); }); })
      .Case([&](math::Exp2Op) { return e.each([](D x) { return std::exp2(x); }); })
      .Case([&](math::ExpM1Op) { return e.each([](D x) { return std::expm1(x); }); })
      .Case([&](math::LogOp) { return e.each([](D x) { return std::log(x); }); })
      .Case([&](math::Log2Op) { return e.each([](D x) { return std::log2(x); }); })
      .Case([&](math::Log10Op) { return e.each([](D x) { return std::log10(x); }); })
      .Case([&](math::Log1pOp) { return e.each([](D x) { return std::log1p(x); }); })
      .Case([&](math::PowFOp) { return e.each([](D x, D y) { return std::pow(x, y); }); })
      .Case([&](math::FPowIOp) {
        return e.each([](D x, int64_t y) { return std::pow(x, static_cast<D>(y)); });
      })
      .Case([&](math::ErfOp) { return e.each([](D x) { return std::erf(x); }); })
      .Case([&](math::ErfcOp) { return e.each([](D x) { return std::erfc(x); }); })
      .Default([](Operation *) { return std::nullopt; });
}

static Outcome trigonometry(Operation *op, Elementwise &e) {
  using D = double;
  return Switch(op)
      .Case([&](math::SinOp) { return e.each([](D x) { return std::sin(x); }); })
      .Case([&](math::CosOp) { return e.each([](D x) { return std::cos(x); }); })
      .Case([&](math::SincosOp) {
        (void)e.each([](D x) { return std::sin(x); });
        return e.each([](D x) { return std::cos(x); }, 1);
      })
      .Case([&](math::TanOp) { return e.each([](D x) { return std::tan(x); }); })
      .Case([&](math::AsinOp) { return e.each([](D x) { return std::asin(x); }); })
      .Case([&](math::AcosOp) { return e.each([](D x) { return std::acos(x); }); })
      .Case([&](math::AtanOp) { return e.each([](D x) { return std::atan(x); }); })
      .Case([&](math::Atan2Op) { return e.each([](D y, D x) { return std::atan2(y, x); }); })
      .Case([&](math::SinhOp) { return e.each([](D x) { return std::sinh(x); }); })
      .Case([&](math::CoshOp) { return e.each([](D x) { return std::cosh(x); }); })
      .Case([&](math::TanhOp) { return e.each([](D x) { return std::tanh(x); }); })
      .Case([&](math::AsinhOp) { return e.each([](D x) { return std::asinh(x); }); })
      .Case([&](math::AcoshOp) { return e.each([](D x) { return std::acosh(x); }); })
      .Case([&](math::AtanhOp) { return e.each([](D x) { return std::atanh(x); }); })
      .Default([](Operation *) { return std::nullopt; });
}

//===-- Casts and selection -----------------------------------------------===//

static llvm::RoundingMode roundingOf(arith::TruncFOp op) {
  switch (op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even)) {
  case arith::RoundingMode::to_nearest_even:
    return llvm::RoundingMode::NearestTiesToEven;
  case arith::RoundingMode::downward:
    return llvm::RoundingMode::TowardNegative;
  case arith::RoundingMode::upward:
    return llvm::RoundingMode::TowardPositive;
  case arith::RoundingMode::toward_zero:
    return llvm::RoundingMode::TowardZero;
  case arith::RoundingMode::to_nearest_away:
    return llvm::RoundingMode::NearestTiesToAway;
  }
  llvm_unreachable("covered");
}

/// Ten rounds on the counter, as the paper writes them down, for four draws.
static uint32_t philox(DrawKind kind, uint64_t seed, uint64_t stream, uint64_t index) {
  uint64_t block = index / 4, word = index % 4;
  if (kind != DrawKind::own)
    word = word / 2 * 2 + (kind == DrawKind::second);
  std::array<uint32_t, 4> x = {uint32_t(block), uint32_t(block >> 32), uint32_t(stream),
                               uint32_t(stream >> 32)};
  std::array<uint32_t, 2> key = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t left = uint64_t(0xD2511F53) * x[0], right = uint64_t(0xCD9E8D57) * x[2];
    x = {uint32_t(right >> 32) ^ x[1] ^ key[0], uint32_t(right),
         uint32_t(left >> 32) ^ x[3] ^ key[1], uint32_t(left)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return x[word];
}

static Outcome casts(Operation *op, Elementwise &e) {
  using D = double;
  using S = int64_t;
  using U = uint64_t;
  Number to = e.to();
  auto toInt = [to](bool isSigned) {
    return [to, isSigned](D x) { return toInteger(to, x, isSigned); };
  };
  return Switch(op)
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return e.each([](S x) { return x; }); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](auto) { return e.each([](U x) { return x; }); })
      .Case([&](arith::ExtFOp) { return e.each([](D x) { return x; }); })
      .Case([&](arith::TruncFOp op) {
        llvm::RoundingMode mode = roundingOf(op);
        if (mode == llvm::RoundingMode::NearestTiesToEven) // as all results are rounded
          return e.each([](D x) { return x; });
        return e.each([to, mode](D x) { return roundTo(to, x, mode); });
      })
      .Case([&](arith::SIToFPOp) {
        return e.each([to](S x) { return roundInteger(to, static_cast<U>(x), true); });
      })
      .Case(
          [&](arith::UIToFPOp) { return e.each([to](U x) { return roundInteger(to, x, false); }); })
      .Case([&](arith::FPToSIOp) { return e.each(toInt(/*isSigned=*/true)); })
      .Case([&](arith::FPToUIOp) { return e.each(toInt(/*isSigned=*/false)); })
      .Case([&](FpToIntOp op) { return e.each(toInt(!op.getIsUnsigned())); })
      .Case([&](PhiloxOp op) {
        DrawKind kind = op.getKind();
        return e.each(
            [kind](U seed, U stream, U index) -> U { return philox(kind, seed, stream, index); });
      })
      .Case([&](RoundTf32Op) { return e.each([](D x) { return roundToTf32(x); }); })
      .Case([&](arith::BitcastOp) { return e.select([](int64_t) { return 0u; }); })
      .Case([&](arith::SelectOp) {
        return e.select(
            [&](int64_t index) { return readUnsigned(Number::I1, e.element(0, index)) ? 1u : 2u; });
      })
      .Default([](Operation *) { return std::nullopt; });
}

LogicalResult Machine::executeElementwise(Operation *op) {
  bool isNumeric = op->getNumResults() > 0 && op->getNumRegions() == 0 &&
                   llvm::all_of(op->getOperands(), [&](Value v) { return values.contains(v); }) &&
                   llvm::all_of(op->getResultTypes(), [](Type type) {
                     return isTileValue(type) && numberOf(getElementTypeOrSelf(type));
                   });
  if (isNumeric) {
    if (auto step = sumSteps.find(op); step != sumSteps.end())
      return executeSumStep(op, step->second);
    Elementwise e(*this, op);
    for (auto family :
         {integerArithmetic, integerLogic, floatArithmetic, exponentials, trigonometry, casts})
      if (Outcome outcome = family(op, e))
        return *outcome;
  }
  return fail(op, "the interpreter has no rule for " + op->getName().getStringRef());
}
