//===- LoopText.cpp - descriptions of loops as text -----------------------===//

#include "codegen/gpu/loops/LoopDesc.h"
#include "ir/dialect/ElementType.h"
#include "ir/proofs/Spelling.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

//===-- Words -------------------------------------------------------------===//

static std::string typeText(Type type) {
  Type element = getElementTypeOrSelf(type);
  std::string text;
  llvm::raw_string_ostream(text) << element;
  if (element.isInteger())
    return element.isInteger(1) ? "bool" : text;
  // MLIR says f8E4M3FN.
  return StringRef(text).starts_with("f8") ? StringRef(text).lower().substr(0, 6) : text;
}

static std::string axesText(ArrayRef<StringAttr> axes) {
  return llvm::join(llvm::map_range(axes, [](StringAttr axis) { return axis.str(); }), ", ");
}

/// The axes of one letter of a contraction; several in parentheses.
static std::string groupText(StringRef letter, ArrayRef<StringAttr> axes) {
  std::string text = axesText(axes);
  return letter.str() + " " + (axes.size() == 1 ? text : "(" + text + ")");
}

/// An infix operator, or nothing.
static StringRef symbolOf(Operation *op) {
  auto compared = [](auto predicate) -> StringRef {
    using Predicate = decltype(predicate);
    if constexpr (std::is_same_v<Predicate, arith::CmpIPredicate>) {
      static constexpr StringLiteral words[] = {"==", "!=", "<",  "<=", ">",
                                                ">=", "<",  "<=", ">",  ">="};
      return words[static_cast<unsigned>(predicate)];
    } else {
      switch (predicate) {
      case arith::CmpFPredicate::OEQ:
        return "==";
      case arith::CmpFPredicate::OGT:
        return ">";
      case arith::CmpFPredicate::OGE:
        return ">=";
      case arith::CmpFPredicate::OLT:
        return "<";
      case arith::CmpFPredicate::OLE:
        return "<=";
      case arith::CmpFPredicate::UNE:
        return "!=";
      default:
        return "";
      }
    }
  };
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return "+"; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return "-"; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return "*"; })
      .Case<arith::DivFOp, DivOp>([](auto) { return "/"; })
      .Case<RemOp>([](auto) { return "%"; })
      .Case<arith::AndIOp>([](auto) { return "&"; })
      .Case<arith::OrIOp>([](auto) { return "|"; })
      .Case<arith::XOrIOp>([](auto) { return "^"; })
      .Case<arith::ShLIOp>([](auto) { return "<<"; })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([](auto) { return ">>"; })
      .Case<arith::CmpIOp, arith::CmpFOp>([&](auto op) { return compared(op.getPredicate()); })
      .Default([](Operation *) { return ""; });
}

static std::string functionOf(Operation *op) {
  if (auto along = dyn_cast<AlongAxes>(op))
    return along.getWord().str();
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>([](auto) { return "max"; })
      .Case<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>([](auto) { return "min"; })
      .Case<arith::MaxNumFOp>([](auto) { return "fmax"; })
      .Case<arith::MinNumFOp>([](auto) { return "fmin"; })
      .Case<arith::SelectOp>([](auto) { return "where"; })
      .Case<arith::BitcastOp>([](auto) { return "bits"; })
      .Case<CastOpInterface>([](Operation *cast) { return typeText(cast->getResult(0).getType()); })
      .Default([](Operation *other) {
        return other->getName().getStringRef().rsplit('.').second.str();
      });
}

/// A comparison or the like as an operand of its own: `where(l > 0, …)`.
static std::string withoutParentheses(std::string text) {
  int depth = 0;
  for (auto [n, letter] : llvm::enumerate(text)) {
    depth += letter == '(' ? 1 : letter == ')' ? -1 : 0;
    if (depth == 0 && n + 1 < text.size())
      return text;
  }
  return text.size() > 2 && text.front() == '(' ? text.substr(1, text.size() - 2) : text;
}

/// What changes no value, and is left out: copies along further axes, and wider types.
static bool isSilent(Operation *op) {
  return isa<BroadcastOp, arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp>(op);
}

//===-- Expressions -------------------------------------------------------===//

namespace {
/// Values in the words of a loop: what has a name by that, the rest by what it is computed from.
class ExpressionText {
public:
  ExpressionText(const Spelling &spelling) : spelling(spelling) {}

  std::string of(Value value, unsigned depth = 0) const { return spell(value, depth).text; }
  void name(Value value, const Twine &text) { names[value] = text.str(); }
  /// By `fresh` t1, t2 and so on.
  void nameFresh(Value value) { name(value, "t" + Twine(++count)); }
  bool isNamed(Value value) const { return names.contains(value); }
  std::string nameOf(Value value) const { return names.lookup(value); }
  /// Without the name.
  std::string definitionOf(Value value) const { return spellOp(value.getDefiningOp(), 0).text; }

private:
  Spelled spell(Value value, unsigned depth) const;
  Spelled spellOp(Operation *op, unsigned depth) const;
  Spelled number(Attribute value) const;

  const Spelling &spelling;
  llvm::DenseMap<Value, std::string> names;
  unsigned count = 0;
};
} // namespace

Spelled ExpressionText::number(Attribute value) const {
  if (auto elements = dyn_cast<SplatElementsAttr>(value))
    value = elements.getSplatValue<Attribute>();
  std::string text;
  if (auto real = dyn_cast<FloatAttr>(value)) {
    SmallString<16> digits;
    real.getValue().toString(digits, /*FormatPrecision=*/6);
    text = StringRef(digits).lower();
  } else if (auto flag = dyn_cast<BoolAttr>(value)) {
    text = flag.getValue() ? "true" : "false";
  } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
    text = llvm::toString(integer.getValue(), 10, /*Signed=*/true);
  }
  return {text, text[0] == '-' ? Spelled::Sum : Spelled::Atom};
}

Spelled ExpressionText::spell(Value value, unsigned depth) const {
  if (auto known = names.find(value); known != names.end())
    return {known->second, Spelled::Atom};
  constexpr unsigned mostDepth = 24;
  if (++depth > mostDepth)
    return {"…", Spelled::Atom};
  Operation *op = value.getDefiningOp();
  if (!op || isa<DimOp, CoordsOp>(op))
    return {spelling.of(value), Spelled::Atom};
  return spellOp(op, depth);
}

Spelled ExpressionText::spellOp(Operation *op, unsigned depth) const {
  if (op->getNumRegions() != 0)
    return {"…", Spelled::Atom};
  if (isSilent(op))
    return spell(op->getOperand(0), depth);
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant)))
    return number(constant);
  if (auto load = dyn_cast<LoadOp>(op))
    return {spelling.access(load.getSource(), load.getMap(), load.getDims(), load.getSyms()),
            Spelled::Atom};
  if (auto fma = dyn_cast<math::FmaOp>(op))
    return Spelling::join(Spelling::join(spell(fma.getA(), depth), "*", spell(fma.getB(), depth)),
                          "+", spell(fma.getC(), depth));
  if (auto flip = dyn_cast<arith::XOrIOp>(op); flip && matchPattern(flip.getRhs(), m_One()) &&
                                               getElementTypeOrSelf(flip.getType()).isInteger(1))
    return {"!" + spell(flip.getLhs(), depth).text, Spelled::Atom};
  if (StringRef symbol = symbolOf(op); !symbol.empty()) {
    Spelled left = spell(op->getOperand(0), depth), right = spell(op->getOperand(1), depth);
    if (llvm::is_contained({"+", "-", "*", "/", "%"}, symbol))
      return Spelling::join(std::move(left), symbol, std::move(right));
    return {"(" + left.text + " " + symbol.str() + " " + right.text + ")", Spelled::Atom};
  }
  if (isa<arith::NegFOp>(op)) {
    Spelled operand = spell(op->getOperand(0), depth);
    bool isAtom = operand.level == Spelled::Atom;
    return {"-" + (isAtom ? operand.text : "(" + operand.text + ")"), Spelled::Sum};
  }
  SmallVector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(withoutParentheses(spell(operand, depth).text));
  if (auto along = dyn_cast<AlongAxes>(op))
    for (StringAttr axis : along.getAxesAlong())
      operands.push_back(axis.str());
  return {functionOf(op) + "(" + llvm::join(operands, ", ") + ")", Spelled::Atom};
}

//===-- Loops -------------------------------------------------------------===//

namespace {
class LoopPrinter {
public:
  LoopPrinter(KernelOp kernel)
      : kernel(kernel), coordinates(kernel), spelling(coordinates), values(spelling), stream(text) {
  }
  std::string print();

private:
  void printLoop(const LoopDesc &loop);
  void printHeader(const LoopDesc &loop);
  void printConditions(const LoopDesc &loop);
  void printBody(const LoopDesc &loop);
  void printContraction(const ContractionDesc &contraction, StringRef indent);
  void printOperand(StringRef side, const OperandDesc &operand, StringRef indent);
  void printSplit(const LoopDesc &loop);
  /// What is computed for these values and has no name yet, as lines.
  void printRows(ArrayRef<Value> needed, Block *body, StringRef indent);
  void printAfter(Operation *last, Operation *next);
  std::string conditionOf(RestrictOp restrict);
  std::string writeOf(Operation *write);
  std::string boundsOf(const LoopRange &range);
  std::string rangeOf(StringAttr axis);
  bool isRead(Value value) const;
  /// Whether a parameter, a dimension or an axis has the name.
  bool isTaken(StringRef name) const;

  KernelOp kernel;
  Coordinates coordinates;
  Spelling spelling;
  ExpressionText values;
  std::string text;
  llvm::raw_string_ostream stream;
};
} // namespace

std::string LoopPrinter::boundsOf(const LoopRange &range) {
  return spelling.of(coordinates.trace(range.lower)) + ".." +
         spelling.of(coordinates.trace(range.upper)) + (range.isEach ? " each" : " tiles");
}

/// ` in 0..128` of an axis that is no dimension's.
std::string LoopPrinter::rangeOf(StringAttr axis) {
  auto whole = Domains(kernel).spanOf(axis).getDefiningOp<AxisOp>();
  if (!whole || llvm::is_contained(kernel.getDims(), axis))
    return "";
  return " in " + spelling.of(coordinates.trace(whole.getLower())) + ".." +
         spelling.of(coordinates.trace(whole.getUpper()));
}

/// What is subtracted stands on the smaller side.
std::string LoopPrinter::conditionOf(RestrictOp restrict) {
  IntegerSet set = restrict.getConstraint();
  SmallVector<Linear> dims, symbols;
  for (Value dim : restrict.getDims())
    dims.push_back(coordinates.trace(dim));
  for (Value symbol : restrict.getSyms())
    symbols.push_back(coordinates.trace(symbol));
  Linear sum = coordinates.evaluate(set.getConstraint(0), dims, symbols), above, below;
  for (auto [atom, factor] : sum.terms)
    (factor > 0 ? above : below).terms.push_back({atom, std::abs(factor)});
  bool isStrict = sum.constant == -1 && !set.isEq(0);
  if (!isStrict)
    (sum.constant > 0 ? above : below).constant = std::abs(sum.constant);
  StringRef relation = set.isEq(0) ? " == " : isStrict ? " < " : " <= ";
  std::string condition = spelling.of(below) + relation.str() + spelling.of(above);
  return restrict.getUnless() ? values.of(restrict.getUnless()) + " || " + condition : condition;
}

void LoopPrinter::printHeader(const LoopDesc &loop) {
  if (loop.loops.empty()) {
    stream << "once\n";
    return;
  }
  SmallVector<std::string> names, bounds;
  for (const LoopRange &range : loop.ranges) {
    names.push_back(range.name.str());
    bounds.push_back(boundsOf(range));
  }
  std::string all = llvm::join(names, ", ");
  stream << "loop " << (names.size() == 1 ? all : "(" + all + ")") << " in "
         << llvm::join(bounds, ", ");
  const char *separator = " where ";
  for (Operation *nested : loop.loops)
    for (RestrictOp restrict : nested->getRegion(0).getOps<RestrictOp>()) {
      stream << separator << conditionOf(restrict);
      separator = " and ";
    }
  stream << ", " << stringifyLoopKind(loop.kind) << "\n";
}

void LoopPrinter::printConditions(const LoopDesc &loop) {
  for (Operation *condition : loop.conditions)
    stream << "  if " << values.of(condition->getOperand(0)) << "\n";
}

/// What operands, sums and stores are named by: loads stand as they are.
bool LoopPrinter::isRead(Value value) const {
  Operation *op = value.getDefiningOp();
  return !op || values.isNamed(value) || isa<LoadOp, CoordsOp, DimOp>(op) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

bool LoopPrinter::isTaken(StringRef name) const {
  KernelOp of = kernel;
  for (unsigned n = 0; n < of.getNumArguments(); ++n)
    if (of.getParamName(n) == name)
      return true;
  return llvm::is_contained(of.getDims().getAsValueRange<StringAttr>(), name) ||
         Domains(of).spanOf(name);
}

/// The ops that need a value's own text: those behind what is left out.
static void collectReaders(Value value, llvm::SmallPtrSetImpl<Operation *> &readers) {
  for (Operation *user : value.getUsers())
    if (isSilent(user))
      collectReaders(user->getResult(0), readers);
    else
      readers.insert(user);
}

void LoopPrinter::printRows(ArrayRef<Value> needed, Block *body, StringRef indent) {
  // In the order of the body; what only one op needs is part of its text.
  llvm::SetVector<Operation *> cone;
  SmallVector<Value> pending(needed);
  llvm::SmallPtrSet<Operation *, 8> asked;
  for (Value value : needed)
    asked.insert(value.getDefiningOp());
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (isRead(value) || op->getBlock() != body || !cone.insert(op))
      continue;
    llvm::append_range(pending, op->getOperands());
  }
  SmallVector<Operation *> ordered(cone.begin(), cone.end());
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SmallVector<std::string> parts;
  for (Operation *op : ordered) {
    if (isSilent(op) || op->getNumResults() != 1 ||
        !isa<RankedTensorType>(op->getResult(0).getType()))
      continue;
    Value result = op->getResult(0);
    llvm::SmallPtrSet<Operation *, 4> readers;
    collectReaders(result, readers);
    bool isCarried = isa<ForOp, scf::ForOp>(body->getParentOp()) &&
                     llvm::is_contained(body->getTerminator()->getOperands(), result);
    if (readers.size() < 2 && !(isCarried && asked.contains(op)))
      continue;
    std::string definition = values.definitionOf(result);
    if (!isCarried) {
      values.nameFresh(result);
    } else {
      Block::BlockArgListType carried = body->getArguments().drop_front();
      for (auto [n, yielded] : llvm::enumerate(body->getTerminator()->getOperands()))
        if (yielded == result)
          values.name(result, values.nameOf(carried[n]) + "'");
    }
    parts.push_back(values.nameOf(result) + " = " + definition);
  }
  for (auto [n, part] : llvm::enumerate(parts))
    stream << indent << (n == 0 ? "rows " : "     ") << part << "\n";
}

void LoopPrinter::printOperand(StringRef side, const OperandDesc &operand, StringRef indent) {
  using Source = OperandDesc::Source;
  auto wordOf = [](Source source) -> StringRef {
    return source == Source::Box ? "box" : source == Source::Rows ? "rows" : "elements";
  };
  auto accessOf = [&](LoadOp load) {
    return spelling.access(load.getSource(), load.getMap(), load.getDims(), load.getSyms());
  };
  auto outsideOf = [&](LoadOp load) -> std::string {
    if (load.getBounds() == BoundsMode::clamp)
      return ", clamped";
    return load.getBounds() == BoundsMode::pad ? ", " + values.of(load.getPad()) + " outside" : "";
  };
  stream << indent << side << " " << (operand.isResident ? "resident " : "");
  if (operand.source == Source::Result) {
    stream << "result " << values.of(operand.value) << "\n";
    return;
  }
  if (operand.source != Source::Computed) {
    LoadOp load = operand.loads.front();
    stream << wordOf(operand.source) << " " << accessOf(load) << outsideOf(load)
           << (operand.value.getDefiningOp<RoundTf32Op>() ? ", as tf32" : "") << "\n";
    return;
  }
  // What is read has a letter.
  ExpressionText expression(spelling);
  SmallVector<std::string> sources;
  unsigned next = 0;
  auto nextLetter = [&] {
    std::string letter;
    do {
      letter = next < 3 ? std::string(1, "xyz"[next]) : "x" + std::to_string(next + 1);
      ++next;
    } while (isTaken(letter));
    return letter;
  };
  for (LoadOp load : operand.loads) {
    std::string letter = nextLetter();
    expression.name(load.getResult(), letter);
    sources.push_back(
        (wordOf(sourceOf(load)) + " " + letter + " = " + accessOf(load) + outsideOf(load)).str());
  }
  stream << "computed " << expression.of(operand.value) << ": " << typeText(operand.value.getType())
         << "[" << axesText(axesOf(operand.value.getType())) << "] of " << llvm::join(sources, ", ")
         << "\n";
}

void LoopPrinter::printContraction(const ContractionDesc &contraction, StringRef indent) {
  DotOp dot = contraction.dot;
  Value acc = dot.getAcc();
  SmallVector<Value> needed;
  using Source = OperandDesc::Source;
  for (const OperandDesc *operand : {&contraction.lhs, &contraction.rhs})
    if (operand->source == Source::Result)
      needed.push_back(operand->value);
  if (acc.getDefiningOp() && acc.getDefiningOp()->getBlock() == dot->getBlock())
    needed.push_back(acc);
  printRows(needed, dot->getBlock(), indent);
  Block *body = dot->getBlock();
  if (contraction.carried)
    values.name(dot.getResult(), values.nameOf(body->getArgument(*contraction.carried + 1)));
  else
    values.nameFresh(dot.getResult());
  stream << indent << "contract " << values.nameOf(dot.getResult()) << ": ";
  if (!contraction.batch.empty())
    stream << groupText("batch", contraction.batch) << ", ";
  if (!contraction.m.empty())
    stream << groupText("M", contraction.m) << ", ";
  if (!contraction.n.empty())
    stream << groupText("N", contraction.n) << ", ";
  stream << groupText("K", contraction.k);
  if (contraction.isWhole)
    stream << rangeOf(dot.getAxisAttr()) << ", all of it";
  stream << "\n";
  std::string inner = (indent + "  ").str();
  bool isPlain = matchPattern(acc, m_AnyZeroFloat()) || matchPattern(acc, m_Zero()) ||
                 (contraction.carried && acc == body->getArgument(*contraction.carried + 1));
  if (auto broadcast = acc.getDefiningOp<BroadcastOp>())
    isPlain |= matchPattern(broadcast.getInput(), m_AnyZeroFloat()) ||
               matchPattern(broadcast.getInput(), m_Zero());
  if (!isPlain)
    stream << inner << "onto " << values.of(acc) << "\n";
  printOperand("lhs", contraction.lhs, inner);
  printOperand("rhs", contraction.rhs, inner);
}

std::string LoopPrinter::writeOf(Operation *write) {
  return llvm::TypeSwitch<Operation *, std::string>(write)
      .Case<StoreOp, UpdateOp>([&](auto op) {
        std::string target =
            spelling.access(op.getTarget(), op.getMap(), op.getDims(), op.getSyms());
        std::string joins = " = ";
        if (auto update = dyn_cast<UpdateOp>(write))
          joins = update.getKind() == CombineKind::add
                      ? " += "
                      : " " + stringifyCombineKind(update.getKind()).str() + "= ";
        return target + joins + values.of(op.getValue());
      })
      .Default([](Operation *) { return std::string(); });
}

void LoopPrinter::printBody(const LoopDesc &loop) {
  Block *body = loop.body();
  auto next = loop.contractions.begin();
  DotOp lastDot = loop.contractions.back().dot;
  Operation *last = loop.loops.empty() ? lastDot.getOperation() : body->getTerminator();
  for (Operation &op : *body) {
    if (next != loop.contractions.end() && DotOp(next->dot) == &op)
      printContraction(*next++, "  ");
    if (!loop.loops.empty() && isa<UpdateOp, StoreOp>(op)) {
      printRows(op.getOperand(0), body, "  ");
      stream << "  update " << writeOf(&op) << "\n";
    }
    if (&op == last)
      break;
  }
  if (loop.loops.empty())
    return;
  SmallVector<Value> yielded;
  for (const CarriedDesc &carried : loop.carried)
    yielded.push_back(carried.next);
  printRows(yielded, body, "  ");
}

void LoopPrinter::printSplit(const LoopDesc &loop) {
  static constexpr StringLiteral words[] = {"none", "by sum", "by fold", "by merge"};
  stream << "  split " << words[static_cast<unsigned>(loop.split)] << "\n";
}

void LoopPrinter::printLoop(const LoopDesc &loop) {
  printHeader(loop);
  for (auto [n, carried] : llvm::enumerate(loop.carried)) {
    StringRef name = nameIn(carried.value.getLoc());
    values.name(carried.value, name.empty() ? "c" + Twine(n) : Twine(name));
  }
  for (const CarriedDesc &carried : loop.carried) {
    stream << "  carry " << values.nameOf(carried.value) << ": "
           << typeText(carried.value.getType());
    if (ArrayRef<StringAttr> axes = axesOf(carried.value.getType()); !axes.empty())
      stream << "[" << axesText(axes) << "]";
    stream << " = " << values.of(carried.init);
    if (carried.rescaledBy) {
      Value maximum = loop.carried[*carried.rescaledBy].value;
      if (maximum == carried.value)
        stream << ", a maximum";
      else
        stream << ", scaled by exp(" << values.nameOf(maximum) << " - " << values.nameOf(maximum)
               << "')";
    }
    stream << "\n";
  }
  printConditions(loop);
  printBody(loop);
  if (!loop.loops.empty())
    printSplit(loop);
  for (const CarriedDesc &carried : loop.carried)
    values.name(carried.result, values.nameOf(carried.value));
}

/// What is stored between a loop and the next one of the same body.
void LoopPrinter::printAfter(Operation *last, Operation *next) {
  SmallVector<std::string> parts;
  for (Operation *op = last->getNextNode(); op && op != next; op = op->getNextNode())
    if (isa<StoreOp, UpdateOp>(op))
      parts.push_back(writeOf(op));
  if (!parts.empty())
    stream << "after: " << llvm::join(parts, "; ") << "\n";
}

std::string LoopPrinter::print() {
  std::vector<LoopDesc> loops = describeLoops(kernel);
  for (auto [n, loop] : llvm::enumerate(loops)) {
    printLoop(loop);
    Block &programs = kernel.getParallel().getBody().front();
    auto outermost = [&](const LoopDesc &loop) -> Operation * {
      DotOp last = loop.contractions.back().dot;
      return programs.findAncestorOpInBlock(loop.loops.empty() ? *last : *loop.loops.front());
    };
    printAfter(outermost(loop), n + 1 < loops.size() ? outermost(loops[n + 1]) : nullptr);
  }
  return text;
}

std::string tile::codegen::gpu::loopText(KernelOp kernel) { return LoopPrinter(kernel).print(); }
