//===- BuilderExtent.cpp - arithmetic on dimensions -----------------------===//

#include "frontend/builder/BuilderImpl.h"

using namespace tile;
using namespace tile::detail;
using BinaryOp = ir::KernelBuilder::Binary;

ExtentPtr tile::detail::extentNumber(int64_t value) {
  ExtentNode node;
  node.number = value;
  return std::make_shared<const ExtentNode>(std::move(node));
}

static ExtentPtr binary(BinaryOp op, const ExtentPtr &left, const ExtentPtr &right) {
  ExtentNode node;
  node.kind = ExtentNode::Kind::Binary;
  node.op = op;
  node.left = left;
  node.right = right;
  return std::make_shared<const ExtentNode>(std::move(node));
}

#define TILE_EXTENT_OPERATOR(RESULT, OPERAND, SYMBOL, OP)                                          \
  RESULT tile::operator SYMBOL(const OPERAND &a, const OPERAND &b) {                               \
    return RESULT(binary(BinaryOp::OP, a.get(), b.get()));                                         \
  }
TILE_EXTENT_OPERATOR(Extent, Extent, +, Add)
TILE_EXTENT_OPERATOR(Extent, Extent, -, Sub)
TILE_EXTENT_OPERATOR(Extent, Extent, *, Mul)
TILE_EXTENT_OPERATOR(Extent, Extent, /, Div)
TILE_EXTENT_OPERATOR(Extent, Extent, %, Rem)
TILE_EXTENT_OPERATOR(Condition, Extent, ==, Eq)
TILE_EXTENT_OPERATOR(Condition, Extent, !=, Ne)
TILE_EXTENT_OPERATOR(Condition, Extent, <, Lt)
TILE_EXTENT_OPERATOR(Condition, Extent, <=, Le)
TILE_EXTENT_OPERATOR(Condition, Extent, >, Gt)
TILE_EXTENT_OPERATOR(Condition, Extent, >=, Ge)
TILE_EXTENT_OPERATOR(Condition, Condition, &&, And)
TILE_EXTENT_OPERATOR(Condition, Condition, ||, Or)
#undef TILE_EXTENT_OPERATOR

Extent tile::operator-(const Extent &a) {
  ExtentNode node;
  node.kind = ExtentNode::Kind::Negate;
  node.left = a.get();
  return Extent(std::make_shared<const ExtentNode>(std::move(node)));
}

//===-- As text -----------------------------------------------------------===//

static const char *symbolOf(BinaryOp op) {
  static const char *const symbols[] = {"+", "-",  "*",  "/", "%",  "<<", ">>", "&",  "|",
                                        "^", "==", "!=", "<", "<=", ">",  ">=", "&&", "||"};
  return symbols[static_cast<unsigned>(op)];
}

/// How tightly an operator binds, as the language has it.
static int strengthOf(const ExtentNode &node) {
  if (node.kind == ExtentNode::Kind::Negate)
    return 6;
  if (node.kind != ExtentNode::Kind::Binary)
    return 7;
  switch (node.op) {
  case BinaryOp::Mul:
  case BinaryOp::Div:
  case BinaryOp::Rem:
    return 5;
  case BinaryOp::Add:
  case BinaryOp::Sub:
    return 4;
  case BinaryOp::And:
    return 2;
  case BinaryOp::Or:
    return 1;
  default:
    return 3;
  }
}

static std::string spellWithin(const ExtentNode &node, int strength) {
  std::string text = spell(node);
  return strengthOf(node) < strength ? "(" + text + ")" : text;
}

std::string tile::detail::spell(const ExtentNode &node) {
  int strength = strengthOf(node);
  switch (node.kind) {
  case ExtentNode::Kind::Number:
    return std::to_string(node.number);
  case ExtentNode::Kind::Dim:
    return node.name;
  case ExtentNode::Kind::Negate:
    return "-" + spellWithin(*node.left, strength + 1);
  case ExtentNode::Kind::Binary:
    return spellWithin(*node.left, strength) + " " + symbolOf(node.op) + " " +
           spellWithin(*node.right, strength + 1);
  }
  llvm_unreachable("covered switch");
}

std::string Extent::str() const { return spell(*node); }
std::string Condition::str() const { return spell(*node); }
