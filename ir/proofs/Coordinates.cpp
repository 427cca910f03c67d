//===- Coordinates.cpp - integers of a kernel as sums over atoms ----------===//

#include "ir/proofs/Coordinates.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile::ir;

// Factors and constants stay below this, so that sums of products of them with
// extents stay far inside 64 bits; sums stay short, so that proofs stay fast.
static constexpr int64_t limit = int64_t(1) << 31;
static constexpr size_t maxTerms = 24;
static constexpr unsigned maxDepth = 200;

//===-- Sums --------------------------------------------------------------===//

std::optional<AtomId> Linear::asAtom() const {
  if (constant == 0 && terms.size() == 1 && terms[0].second == 1)
    return terms[0].first;
  return std::nullopt;
}

int64_t Linear::factorOf(AtomId atom) const {
  for (auto [id, factor] : terms)
    if (id == atom)
      return factor;
  return 0;
}

Linear Coordinates::constant(int64_t value) {
  Linear result;
  result.constant = value;
  return result;
}

Linear Coordinates::atom(AtomId id) {
  Linear result;
  result.terms.push_back({id, 1});
  return result;
}

Linear Coordinates::unknown() {
  Atom fresh;
  fresh.kind = Atom::Kind::Data;
  fresh.hasData = true;
  return atom(add(std::move(fresh)));
}

static bool isSafe(__int128 value) { return value > -limit && value < limit; }

Linear Coordinates::add(const Linear &a, const Linear &b, int64_t factor) {
  Linear result;
  auto left = a.terms.begin(), right = b.terms.begin();
  auto push = [&](AtomId id, __int128 value) {
    if (value != 0)
      result.terms.push_back({id, static_cast<int64_t>(value)});
    return isSafe(value);
  };
  bool safe = isSafe(factor);
  while (safe && (left != a.terms.end() || right != b.terms.end())) {
    bool takeLeft =
        right == b.terms.end() || (left != a.terms.end() && left->first <= right->first);
    bool takeRight =
        left == a.terms.end() || (right != b.terms.end() && right->first <= left->first);
    AtomId id = takeLeft ? left->first : right->first;
    __int128 value = 0;
    if (takeLeft)
      value += (left++)->second;
    if (takeRight)
      value += static_cast<__int128>((right++)->second) * factor;
    safe &= push(id, value);
  }
  __int128 sum = a.constant + static_cast<__int128>(b.constant) * factor;
  if (!safe || !isSafe(sum) || result.terms.size() > maxTerms)
    return unknown();
  result.constant = static_cast<int64_t>(sum);
  return result;
}

Linear Coordinates::multiply(const Linear &a, const Linear &b) {
  if (a.isConstant())
    return scale(b, a.constant);
  if (b.isConstant())
    return scale(a, b.constant);
  if (a.terms.size() * b.terms.size() > maxTerms)
    return unknown();
  Linear result = add(scale(a, b.constant), scale(b, a.constant));
  result = plus(result, -a.constant * b.constant); // counted twice
  for (auto [x, f] : a.terms)
    for (auto [y, g] : b.terms) {
      SmallVector<AtomId, 2> factors;
      for (AtomId id : {x, y}) {
        if (atoms[id].kind == Atom::Kind::Product)
          factors.append(atoms[id].factors);
        else
          factors.push_back(id);
      }
      if (factors.size() > 4)
        return unknown();
      result = add(result, scale(atom(product(std::move(factors))), f), g);
    }
  return result;
}

AtomId Coordinates::product(SmallVector<AtomId, 2> factors) {
  llvm::sort(factors);
  auto found = products.find(factors);
  if (found != products.end())
    return found->second;
  Atom made;
  made.kind = Atom::Kind::Product;
  made.isUniform = llvm::all_of(factors, [&](AtomId id) { return atoms[id].isUniform; });
  made.hasData = llvm::any_of(factors, [&](AtomId id) { return atoms[id].hasData; });
  made.factors = factors;
  return products[factors] = add(std::move(made));
}

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Linear Coordinates::divide(const Linear &a, const Linear &b) {
  if (!b.isConstant())
    return term(Atom::Kind::Quotient, a, b);
  if (b.constant == 0)
    return {};
  if (b.constant < 0)
    return divide(scale(a, -1), constant(-b.constant));
  // What the divisor divides goes out: (d·x + y) / d = x + y / d.
  Linear whole, rest;
  for (auto [id, factor] : a.terms)
    if (factor % b.constant == 0)
      whole.terms.push_back({id, factor / b.constant});
    else
      rest.terms.push_back({id, factor});
  whole.constant = floorDivide(a.constant, b.constant);
  rest.constant = a.constant - whole.constant * b.constant;
  return rest.isConstant() ? whole : add(whole, term(Atom::Kind::Floor, rest, b));
}

Linear Coordinates::divideUp(const Linear &a, const Linear &b) {
  if (b.isConstant() && b.constant > 0) // as sources write it: (a + 3) / 4
    return divide(plus(a, b.constant - 1), b);
  return scale(divide(scale(a, -1), b), -1);
}

Linear Coordinates::remainder(const Linear &a, const Linear &b) {
  if (b.isConstant(0))
    return a;
  return subtract(a, multiply(divide(a, b), b));
}

bool Coordinates::isBounded(AtomId id) const {
  const Atom &atom = atoms[id];
  if (atom.kind == Atom::Kind::Data)
    return atom.value && getElementTypeOrSelf(atom.value.getType()).getIntOrFloatBitWidth() < 64;
  return isBounded(atom.a) && isBounded(atom.b) &&
         llvm::all_of(atom.factors, [&](AtomId factor) { return isBounded(factor); });
}

bool Coordinates::isBounded(const Linear &a) const {
  return llvm::all_of(a.terms, [&](auto &term) { return isBounded(term.first); });
}

bool Coordinates::isUniform(const Linear &a) const {
  return llvm::all_of(a.terms, [&](auto &term) { return atoms[term.first].isUniform; });
}

bool Coordinates::hasData(const Linear &a) const {
  return llvm::any_of(a.terms, [&](auto &term) { return atoms[term.first].hasData; });
}

bool Coordinates::mentions(const Linear &a, llvm::function_ref<bool(AtomId)> predicate) const {
  llvm::SmallSetVector<AtomId, 16> open;
  auto add = [&](const Linear &sum) {
    for (auto [id, factor] : sum.terms)
      open.insert(id);
  };
  add(a);
  for (size_t n = 0; n < open.size(); ++n) {
    if (predicate(open[n]))
      return true;
    const Atom &atom = atoms[open[n]];
    add(atom.a);
    add(atom.b);
    open.insert(atom.factors.begin(), atom.factors.end());
  }
  return false;
}

//===-- Atoms -------------------------------------------------------------===//

AtomId Coordinates::add(Atom atom) {
  atoms.push_back(std::move(atom));
  return atoms.size() - 1;
}

Linear Coordinates::term(Atom::Kind kind, const Linear &a, const Linear &b) {
  auto [position, isNew] = terms.try_emplace({kind, a, b}, 0);
  if (isNew) {
    Atom made;
    made.kind = kind;
    made.a = a;
    made.b = b;
    made.isUniform = isUniform(a) && isUniform(b) && kind != Atom::Kind::Choice;
    made.hasData = hasData(a) || hasData(b) || kind == Atom::Kind::Choice;
    position->second = add(std::move(made));
  }
  return atom(position->second);
}

AtomId Coordinates::twin(AtomId id) {
  if (atoms[id].isUniform)
    return id;
  auto found = twins.find(id);
  if (found != twins.end())
    return found->second;
  Atom copy = atoms[id];
  AtomId result;
  if (copy.kind == Atom::Kind::Product) {
    SmallVector<AtomId, 2> factors;
    for (AtomId factor : copy.factors)
      factors.push_back(twin(factor));
    result = product(std::move(factors));
  } else {
    if (copy.isTerm()) {
      copy.a = twin(copy.a);
      copy.b = twin(copy.b);
    }
    result = add(std::move(copy));
  }
  return twins[id] = result;
}

Linear Coordinates::twin(const Linear &a) {
  Linear result = constant(a.constant);
  for (auto [id, factor] : a.terms)
    result = add(result, atom(twin(id)), factor);
  return result;
}

//===-- Dimensions --------------------------------------------------------===//

Coordinates::Coordinates(KernelOp kernel) : kernel(kernel) {
  for (auto require : kernel.getBody().front().getOps<RequireOp>())
    unite(require.getCondition());
}

/// Takes dimensions that are required to be equal for one, and those that are
/// required to be a number for that number.
void Coordinates::unite(Value condition) {
  Operation *op = condition.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op)) {
    unite(both.getLhs());
    unite(both.getRhs());
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return;
  auto left = compare.getLhs().getDefiningOp<DimOp>(),
       right = compare.getRhs().getDefiningOp<DimOp>();
  if (auto scalar = dyn_cast<BlockArgument>(left ? compare.getRhs() : compare.getLhs());
      scalar && (left || right)) {
    Linear known = dimension((left ? left : right).getName()), other = trace(scalar);
    for (auto &[name, value] : dims)
      if (value == known)
        value = other;
    return;
  }
  APInt number;
  if (left && right) { // a conflict of two numbers stays for the launch to refuse
    Linear known = dimension(left.getName());
    Linear other = dimension(right.getName());
    if (other.isConstant())
      std::swap(known, other);
    for (auto &[name, value] : dims)
      if (value == other)
        value = known;
  } else if (left && matchPattern(compare.getRhs(), m_ConstantInt(&number)) &&
             number.getSignificantBits() <= 32) {
    Linear known = dimension(left.getName());
    for (auto &[name, value] : dims)
      if (value == known)
        value = constant(number.getSExtValue());
  }
}

Linear Coordinates::dimension(StringRef name) {
  auto [position, isNew] = dims.try_emplace(name.str());
  if (isNew) {
    Atom made;
    made.kind = Atom::Kind::Dim;
    made.name = name.str();
    made.isUniform = true;
    position->second = atom(add(std::move(made)));
  }
  return position->second;
}

//===-- Values ------------------------------------------------------------===//

Linear Coordinates::opaque(Value value) {
  Atom made;
  made.kind = Atom::Kind::Data;
  made.value = value;
  made.hasData = true;
  return atom(add(std::move(made)));
}

Linear Coordinates::trace(Value value) {
  auto found = traced.find(value);
  if (found != traced.end())
    return found->second;
  Linear result;
  if (std::optional<Linear> single = traceSingle(value)) {
    result = *single;
  } else if (isa<SpanType>(value.getType())) {
    Atom made;
    made.kind = Atom::Kind::Coordinate;
    made.value = value;
    result = atom(add(std::move(made)));
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    result = traceArgument(argument);
  } else if (++depth < maxDepth) {
    result = traceOp(value.getDefiningOp(), value);
    --depth;
  } else {
    result = opaque(value);
    --depth;
  }
  return traced[value] = result;
}

/// A binder of the program space that has one point is that point.
std::optional<Linear> Coordinates::traceSingle(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto parallel =
      argument ? dyn_cast<ParallelOp>(argument.getOwner()->getParentOp()) : ParallelOp();
  if (!parallel)
    return std::nullopt;
  Linear lower = trace(parallel.getLower()[argument.getArgNumber()]);
  Linear length = subtract(trace(parallel.getUpper()[argument.getArgNumber()]), lower);
  return length.isConstant(1) ? std::optional(lower) : std::nullopt;
}

Linear Coordinates::traceArgument(BlockArgument argument) {
  Operation *owner = argument.getOwner()->getParentOp();
  Atom made;
  made.value = argument;
  if (owner == kernel.getOperation()) {
    made.kind = Atom::Kind::Scalar;
    made.isUniform = true;
  } else if (isa<ParallelOp>(owner)) {
    made.kind = Atom::Kind::Integer;
  } else if (auto loop = dyn_cast<scf::ForOp>(owner); loop && argument == loop.getInductionVar()) {
    made.kind = Atom::Kind::Counter;
  } else {
    return opaque(argument);
  }
  return atom(add(std::move(made)));
}

/// What the width of an integer says about it.
static std::optional<std::pair<int64_t, int64_t>> rangeOf(unsigned width, bool isSigned) {
  if (width > 31)
    return std::nullopt;
  if (!isSigned)
    return std::pair<int64_t, int64_t>(0, (int64_t(1) << width) - 1);
  return std::pair<int64_t, int64_t>(-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1);
}

Linear Coordinates::traceNarrow(Value value, bool isSigned) {
  auto [known, isNew] = narrow.try_emplace({value.getAsOpaquePointer(), isSigned});
  Linear &traced = known->second;
  if (!isNew)
    return traced;
  // Arithmetic of narrow types wraps and is not followed; parameters are fine.
  bool isParameter = false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    isParameter = argument.getOwner()->getParentOp() == kernel.getOperation();
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)) && number.getBitWidth() <= 32)
    return traced = constant(isSigned ? number.getSExtValue()
                                      : static_cast<int64_t>(number.getZExtValue()));
  if (auto condition = isSigned ? std::nullopt : traceCondition(value))
    return traced = *condition;
  Linear result = opaque(value);
  Atom &made = atoms[*result.asAtom()];
  made.range = rangeOf(getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(), isSigned);
  if (isParameter) {
    made.kind = Atom::Kind::Scalar;
    made.isUniform = true;
    made.hasData = false;
  }
  return traced = result;
}

/// A condition as 0 or 1, of those that `cdiv` is made of: comparisons of numbers that are known,
/// and whether a division by a positive number leaves a rest.
std::optional<Linear> Coordinates::traceCondition(Value value) {
  if (auto both = value.getDefiningOp<arith::AndIOp>()) {
    if (depth >= maxDepth)
      return std::nullopt;
    ++depth;
    auto left = traceCondition(both.getLhs()), right = traceCondition(both.getRhs());
    --depth;
    if (left && right && (left->isConstant() || right->isConstant()))
      return multiply(*left, *right);
    return std::nullopt;
  }
  auto compare = value.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::ne ||
      !getElementTypeOrSelf(compare.getLhs().getType()).isInteger(64))
    return std::nullopt;
  Linear right = trace(compare.getRhs());
  if (auto rest = compare.getLhs().getDefiningOp<RemOp>();
      rest && !rest.getIsUnsigned() && !rest.getTruncates() && right.isConstant(0)) {
    Linear dividend = trace(rest.getLhs()), divisor = trace(rest.getRhs());
    if (divisor.isConstant() && divisor.constant > 0)
      return subtract(divideUp(dividend, divisor), divide(dividend, divisor));
  }
  Linear left = trace(compare.getLhs());
  if (left.isConstant() && right.isConstant())
    return constant(left.constant != right.constant);
  return std::nullopt;
}

Linear Coordinates::traceOp(Operation *op, Value value) {
  auto left = [&] { return trace(op->getOperand(0)); };
  auto right = [&] { return trace(op->getOperand(1)); };
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)) && number.getSignificantBits() <= 32)
    return constant(number.getSExtValue());
  if (auto dim = dyn_cast<DimOp>(op))
    return dimension(dim.getName());
  if (isa<CoordsOp, BroadcastOp, arith::IndexCastOp>(op))
    return left();
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op))
    return traceNarrow(op->getOperand(0), isa<arith::ExtSIOp>(op));
  if (!getElementTypeOrSelf(value.getType()).isInteger(64))
    return opaque(value);
  if (isa<arith::AddIOp>(op))
    return add(left(), right());
  if (isa<arith::SubIOp>(op))
    return subtract(left(), right());
  if (isa<arith::MulIOp>(op))
    return multiply(left(), right());
  if (auto division = dyn_cast<DivOp>(op);
      division && !division.getIsUnsigned() && !division.getTruncates())
    return divide(left(), right());
  if (auto rest = dyn_cast<RemOp>(op); rest && !rest.getIsUnsigned() && !rest.getTruncates())
    return remainder(left(), right());
  if (isa<arith::MinSIOp>(op))
    return term(Atom::Kind::Min, left(), right());
  if (isa<arith::MaxSIOp>(op))
    return term(Atom::Kind::Max, left(), right());
  if (isa<arith::SelectOp>(op))
    return term(Atom::Kind::Choice, trace(op->getOperand(1)), trace(op->getOperand(2)));
  return opaque(value);
}

//===-- Maps --------------------------------------------------------------===//

Linear Coordinates::evaluate(AffineExpr expr, ArrayRef<Linear> dimValues,
                             ArrayRef<Linear> symValues) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return isSafe(number.getValue()) ? constant(number.getValue()) : unknown();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dimValues[dim.getPosition()];
  if (auto sym = dyn_cast<AffineSymbolExpr>(expr))
    return symValues[sym.getPosition()];
  if (depth >= maxDepth)
    return unknown();
  ++depth;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Linear left = evaluate(binary.getLHS(), dimValues, symValues);
  Linear right = evaluate(binary.getRHS(), dimValues, symValues);
  --depth;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(left, right);
  case AffineExprKind::Mul:
    return multiply(left, right);
  case AffineExprKind::FloorDiv:
    return divide(left, right);
  case AffineExprKind::CeilDiv:
    return divideUp(left, right);
  case AffineExprKind::Mod:
    return remainder(left, right);
  default:
    llvm_unreachable("leaves are handled above");
  }
}

SmallVector<Linear> Coordinates::indices(AffineMap map, ValueRange dimOperands,
                                         ValueRange symOperands) {
  auto traceAll = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return trace(value); });
  };
  SmallVector<Linear> dimValues = traceAll(dimOperands), symValues = traceAll(symOperands);
  return llvm::map_to_vector(map.getResults(),
                             [&](AffineExpr expr) { return evaluate(expr, dimValues, symValues); });
}

SmallVector<Linear> Coordinates::extents(unsigned parameter) {
  SmallVector<Linear> symValues;
  for (auto name : kernel.getDims().getAsValueRange<StringAttr>())
    symValues.push_back(dimension(name));
  return llvm::map_to_vector(kernel.getParamShape(parameter).getResults(),
                             [&](AffineExpr expr) { return evaluate(expr, {}, symValues); });
}
