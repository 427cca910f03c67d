//===- Spelling.cpp - tile IR in the words of the source ------------------===//

#include "ir/proofs/Spelling.h"

#include "ir/dialect/ElementType.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tile::ir;

static constexpr unsigned maxDepth = 8;
static const Spelled ellipsis{"…", Spelled::Atom};

StringRef tile::ir::nameIn(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc))
    return named.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = nameIn(part); !name.empty())
        return name;
  if (auto site = dyn_cast<CallSiteLoc>(loc))
    return nameIn(site.getCallee());
  return {};
}

/// Of a call: an array with a name for each result, empty where it has none.
static constexpr StringLiteral namesOfResults = "tile.values";

StringRef tile::ir::nameOfResult(OpResult result) {
  Operation *call = result.getOwner();
  if (auto names = call->getAttrOfType<ArrayAttr>(namesOfResults))
    if (StringRef name = cast<StringAttr>(names[result.getResultNumber()]).getValue();
        !name.empty())
      return name;
  return call->getNumResults() == 1 ? nameIn(call->getLoc()) : StringRef();
}

void tile::ir::nameResult(OpResult result, StringRef name) {
  Operation *call = result.getOwner();
  Builder builder(call->getContext());
  SmallVector<Attribute> names(call->getNumResults(), builder.getStringAttr(""));
  if (auto known = call->getAttrOfType<ArrayAttr>(namesOfResults))
    names.assign(known.begin(), known.end());
  names[result.getResultNumber()] = builder.getStringAttr(name);
  call->setAttr(namesOfResults, builder.getArrayAttr(names));
}

bool tile::ir::isExpression(CallOp call) {
  // The n-th one that a graph `g` has is `g.map<n>`; nothing that a source names has a point in it.
  StringRef number = call.getCallee().rsplit(".map").second;
  return !number.empty() && llvm::all_of(number, llvm::isDigit);
}

std::string tile::ir::nameOfCallee(CallOp call) {
  StringRef expression = isExpression(call) ? nameIn(call->getLoc()) : StringRef();
  return (expression.empty() ? call.getCallee().split('.').first : expression).str();
}

std::string tile::ir::nameInSource(StringRef symbol) {
  // Behind names stand the types of an instance, numbers, and what was made of a graph.
  SmallVector<StringRef> parts, names;
  symbol.split(parts, '.');
  for (StringRef &part : parts) {
    StringRef number = part;
    bool isMade =
        part == "fused" || llvm::all_of(part, llvm::isDigit) ||
        (number.consume_front("map") && !number.empty() && llvm::all_of(number, llvm::isDigit));
    bool isName = &part == parts.begin() || (!isMade && !elementTypeNamed(part));
    if (isName && !llvm::is_contained(names, part))
      names.push_back(part);
  }
  constexpr size_t most = 4;
  if (names.size() > most)
    return (names.front() + " + … + " + names.back()).str();
  return llvm::join(names, " + ");
}

std::string tile::ir::placeOf(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  return llvm::sys::path::filename(place.getFilename()).str() + ":" +
         std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn());
}

std::vector<std::string> tile::ir::placesOf(Location loc) {
  auto site = dyn_cast<CallSiteLoc>(loc);
  if (!site)
    return {placeOf(loc)};
  std::vector<std::string> places = placesOf(site.getCallee()),
                           callers = placesOf(site.getCaller());
  places.insert(places.end(), callers.begin(), callers.end());
  return places;
}

Spelled Spelling::join(Spelled left, StringRef op, Spelled right) {
  // What each side has to bind as tightly as, to stand without parentheses. A quotient gets them
  // in products, whichever side it is on: (j / D)*D is neither j / (D*D) nor D*j / D.
  Spelled::Level level = Spelled::Sum, least = Spelled::Sum, leastRight = Spelled::Sum;
  if (op == "-")
    leastRight = Spelled::Quotient;
  else if (op == "*")
    level = least = leastRight = Spelled::Product;
  else if (op != "+") {
    level = Spelled::Quotient;
    least = op == "/" ? Spelled::Product : Spelled::Atom;
    leastRight = Spelled::Atom;
  }
  if (left.level < least)
    left.text = "(" + left.text + ")";
  if (right.level < leastRight)
    right.text = "(" + right.text + ")";
  if (op == "+" && right.text[0] == '-') { // a + -b
    op = "-";
    right.text = right.text.substr(1);
  }
  // 2*p, but (K + 127) / 128
  std::string space = op == "*" ? "" : " ";
  return {left.text + space + op.str() + space + right.text, level};
}

//===-- Sums --------------------------------------------------------------===//

Spelled Spelling::spell(AtomId id, unsigned depth) const {
  const Atom &atom = coordinates[id];
  if (++depth > maxDepth)
    return ellipsis;
  auto call = [&](StringRef function) {
    return Spelled{
        (function + "(" + spell(atom.a, depth).text + ", " + spell(atom.b, depth).text + ")").str(),
        Spelled::Atom};
  };
  switch (atom.kind) {
  case Atom::Kind::Dim:
    return {atom.name, Spelled::Atom};
  case Atom::Kind::Scalar:
  case Atom::Kind::Coordinate:
  case Atom::Kind::Integer:
  case Atom::Kind::Counter:
  case Atom::Kind::Data:
    return atom.value ? spell(atom.value, depth) : ellipsis;
  case Atom::Kind::Floor:
  case Atom::Kind::Quotient:
    return join(spell(atom.a, depth), "/", spell(atom.b, depth));
  case Atom::Kind::Product: {
    Spelled result = spell(atom.factors[0], depth);
    for (AtomId factor : ArrayRef(atom.factors).drop_front())
      result = join(result, "*", spell(factor, depth));
    return result;
  }
  case Atom::Kind::Min:
    return call("min");
  case Atom::Kind::Max:
    return call("max");
  case Atom::Kind::Choice:
    return ellipsis;
  }
  llvm_unreachable("all kinds are handled");
}

Spelled Spelling::spell(const Linear &sum, unsigned depth) const {
  std::optional<Spelled> result;
  auto append = [&](Spelled term, int64_t factor) {
    int64_t size = factor < 0 ? -factor : factor;
    if (size != 1)
      term = join({std::to_string(size), Spelled::Atom}, "*", std::move(term));
    if (result)
      result = join(*result, factor < 0 ? "-" : "+", std::move(term));
    else if (factor < 0)
      result = Spelled{"-" + (term.level == Spelled::Sum ? "(" + term.text + ")" : term.text),
                       Spelled::Sum};
    else
      result = std::move(term);
  };
  // What is added comes first, so that nothing begins with a minus needlessly.
  for (bool negative : {false, true})
    for (auto [id, factor] : sum.terms)
      if ((factor < 0) == negative)
        append(spell(id, depth), factor);
  if (!result)
    return {std::to_string(sum.constant), Spelled::Atom};
  if (sum.constant != 0)
    result = join(*result, sum.constant < 0 ? "-" : "+",
                  {std::to_string(sum.constant < 0 ? -sum.constant : sum.constant), Spelled::Atom});
  return *result;
}

//===-- Values ------------------------------------------------------------===//

std::string Spelling::parameter(Value argument) const {
  auto parameter = dyn_cast<BlockArgument>(argument);
  if (!parameter || parameter.getOwner()->getParentOp() != kernel.getOperation())
    return "…";
  StringRef name = kernel.getParamName(parameter.getArgNumber());
  return name.empty() ? "argument " + std::to_string(parameter.getArgNumber()) : name.str();
}

/// True if the axis is the unnamed `:` over a dimension.
static bool isColon(Value span, KernelOp kernel) {
  StringAttr name = axisOf(span);
  auto axis = span.getDefiningOp<AxisOp>();
  return axis && llvm::is_contained(kernel.getDims(), name) &&
         matchPattern(axis.getLower(), m_Zero());
}

static StringRef symbolOf(Operation *op) {
  if (isa<arith::AddIOp, arith::AddFOp>(op))
    return "+";
  if (isa<arith::SubIOp, arith::SubFOp>(op))
    return "-";
  if (isa<arith::MulIOp, arith::MulFOp>(op))
    return "*";
  if (isa<DivOp, arith::DivFOp>(op))
    return "/";
  if (isa<RemOp>(op))
    return "%";
  return {};
}

Spelled Spelling::spell(Value value, unsigned depth) const {
  if (++depth > maxDepth)
    return ellipsis;
  if (isa<SpanType>(value.getType()))
    return {(marksWholeAxes && isColon(value, kernel) ? ":" : "") + axisOf(value).str(),
            Spelled::Atom};
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (owner == kernel.getOperation())
      return {parameter(argument), Spelled::Atom};
    if (auto parallel = dyn_cast<ParallelOp>(owner))
      return {cast<StringAttr>(parallel.getNames()[argument.getArgNumber()]).str(), Spelled::Atom};
    if (StringRef name = nameIn(argument.getLoc()); !name.empty())
      return {name.str(), Spelled::Atom};
    auto name = owner->getAttrOfType<StringAttr>("tile.name");
    if (isa<scf::ForOp>(owner) && argument.getArgNumber() == 0)
      return {name ? name.str() : "counter", Spelled::Atom};
    return ellipsis;
  }
  Operation *op = value.getDefiningOp();
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)) && number.getSignificantBits() <= 64)
    return {std::to_string(number.getSExtValue()),
            number.isNegative() ? Spelled::Sum : Spelled::Atom};
  if (auto dim = dyn_cast<DimOp>(op))
    return {dim.getName().str(), Spelled::Atom};
  if (auto load = dyn_cast<LoadOp>(op))
    return {access(load.getSource(), load.getMap(), load.getDims(), load.getSyms(), depth),
            Spelled::Atom};
  if (isa<CoordsOp, BroadcastOp>(op) || isa<CastOpInterface>(op))
    return spell(op->getOperand(0), depth);
  if (StringRef symbol = symbolOf(op); !symbol.empty())
    return join(spell(op->getOperand(0), depth), symbol, spell(op->getOperand(1), depth));
  return ellipsis;
}

Spelled Spelling::spell(AffineExpr expr, ValueRange dims, ValueRange syms, unsigned depth) const {
  if (++depth > maxDepth)
    return ellipsis;
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return {std::to_string(number.getValue()),
            number.getValue() < 0 ? Spelled::Sum : Spelled::Atom};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return spell(dims[dim.getPosition()], depth);
  if (auto sym = dyn_cast<AffineSymbolExpr>(expr))
    return spell(syms[sym.getPosition()], depth);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr left = binary.getLHS(), right = binary.getRHS();
  auto recurse = [&](AffineExpr side) { return spell(side, dims, syms, depth); };
  auto factor = dyn_cast<AffineConstantExpr>(right);
  switch (expr.getKind()) {
  case AffineExprKind::Add: {
    // a + (−1)·b is a − b, and a + (−1) is a − 1.
    if (factor && factor.getValue() < 0)
      return join(recurse(left), "-",
                  recurse(getAffineConstantExpr(-factor.getValue(), expr.getContext())));
    if (auto product = dyn_cast<AffineBinaryOpExpr>(right);
        product && product.getKind() == AffineExprKind::Mul)
      if (auto minus = dyn_cast<AffineConstantExpr>(product.getRHS());
          minus && minus.getValue() < 0)
        return join(recurse(left), "-", recurse(product.getLHS() * -minus.getValue()));
    return join(recurse(left), "+", recurse(right));
  }
  case AffineExprKind::Mul:
    if (factor && factor.getValue() == -1) {
      Spelled operand = recurse(left);
      return {"-" + (operand.level == Spelled::Sum ? "(" + operand.text + ")" : operand.text),
              Spelled::Sum};
    }
    return factor ? join(recurse(right), "*", recurse(left))
                  : join(recurse(left), "*", recurse(right));
  case AffineExprKind::FloorDiv:
    return join(recurse(left), "/", recurse(right));
  case AffineExprKind::CeilDiv:
    return {"cdiv(" + recurse(left).text + ", " + recurse(right).text + ")", Spelled::Atom};
  case AffineExprKind::Mod:
    return join(recurse(left), "%", recurse(right));
  default:
    llvm_unreachable("leaves are handled above");
  }
}

//===-- Entry points ------------------------------------------------------===//

std::string Spelling::of(const Linear &sum) const { return spell(sum, 0).text; }
std::string Spelling::of(AtomId atom) const { return spell(atom, 0).text; }
std::string Spelling::of(Value value) const { return spell(value, 0).text; }

std::string Spelling::index(AffineMap map, unsigned result, ValueRange dims, ValueRange syms,
                            unsigned depth) const {
  AffineExpr expr = map.getResult(result);
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    if (Value operand = dims[dim.getPosition()];
        isa<SpanType>(operand.getType()) && isColon(operand, kernel))
      return ":";
  return spell(expr, dims, syms, depth).text;
}

std::string Spelling::access(Value memory, AffineMap map, ValueRange dims, ValueRange syms,
                             unsigned depth) const {
  std::string text = parameter(memory) + "[";
  for (unsigned n = 0; n < map.getNumResults(); ++n)
    text += (n ? ", " : "") + index(map, n, dims, syms, depth);
  return text + "]";
}
