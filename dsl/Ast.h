//===- Ast.h - syntax tree of the tile language ---------------------------===//
//
// What the parser produces and the elaborator, formatter and `--emit=ast` read.
// The tree keeps what was written: nothing is resolved, every node has its
// source range.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DSL_AST_H
#define TILE_DSL_AST_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile::dsl {

/// Half-open byte range in one source file.
struct Range {
  uint32_t begin = 0, end = 0;
};

struct Ident {
  std::string text;
  Range range;
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

/// One argument of a call or attribute: `x` or `name = x`.
struct Arg {
  std::optional<Ident> name;
  ExprPtr value;
};

enum class UnaryOp { Neg, Not, BitNot };
enum class BinaryOp {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Shl,
  Shr,
  BitAnd,
  BitOr,
  BitXor,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or // && and ||
};

struct Expr {
  enum class Kind {
    Int,    // text holds the digits as written (decimal, 0x, 0b, with _)
    Float,  // text as written
    Bool,   // text "true" or "false"
    String, // text: unescaped contents
    Name,   // text
    Colon,  // ":" as an index
    Unary,  // unary, children[0]
    Binary, // binary, children[0], children[1]
    Call,   // children[0] is the callee (Name or Member), args
    Member, // children[0] "." text          (x.pad, x.clamp)
    Index,  // children[0] "[" children[1..] "]"
    List,   // "[" children "]"              (schedule candidates)
    Tuple,  // "(" a "," b … ")"             (two or more)
  };
  Kind kind;
  Range range;
  /// Nodes on the longest way down, this one included. The parser builds none above
  /// `maxExprHeight` (Parser.h), so that a walk may recurse.
  uint16_t height = 1;
  std::string text;
  UnaryOp unary = UnaryOp::Neg;
  BinaryOp binary = BinaryOp::Add;
  std::vector<ExprPtr> children;
  std::vector<Arg> args;
  /// Where the operator, member name or "[" stands, for carets.
  Range opRange;
};

//===-- Statements --------------------------------------------------------===//

struct Stmt;
using StmtPtr = std::unique_ptr<Stmt>;
using Block = std::vector<StmtPtr>;

/// One binder of `parallel` or `for`.
struct Binder {
  enum class Kind {
    Tiles, // i in tiles(hi) or tiles(lo..hi)
    Each,  // b in each(hi)
    Count, // r in lo..hi [step s]: ordinary integers (also `grid p in lo..hi`)
  };
  Kind kind = Kind::Tiles;
  Ident name;
  ExprPtr lo; // null: 0
  ExprPtr hi;
  ExprPtr step;      // Count only; null: 1
  ExprPtr condition; // null: none
  Range range;
};

struct Stmt {
  enum class Kind {
    Let,      // names = value [if condition]       (several names: a tuple)
    Var,      // names[0] = value
    Assign,   // target op value
    Parallel, // binders body
    Grid,     // binders body                       (`grid p in 0..n { … }`)
    For,      // binders[0] body, with reassociable/merge/sequential
    While,    // value body
    If,       // value body elseBody
    Return,   // value                              (fn only)
    Expr,     // value: assert(…), print(…), a call
  };
  enum class AssignOp { Set, Add, Sub, Mul, Div, Max, Min, And, Or, Xor };
  Kind kind;
  Range range;
  std::vector<Ident> names;
  ExprPtr target;
  AssignOp op = AssignOp::Set;
  Range opRange;
  ExprPtr value;
  ExprPtr condition;
  std::vector<Binder> binders;
  Block body, elseBody;
  /// `for … reassociable [merge f]`, `for … sequential(n)`
  bool reassociable = false;
  Range modifierRange;
  std::optional<Ident> merge;
  ExprPtr sequential;
};

//===-- Declarations ------------------------------------------------------===//

/// `f32`, `T`, `f32[M, (K+127)/128]`, `T[..S]`, `int`, `axis`
struct TypeExpr {
  Ident element;                 // a type name, a generic's name, `int`, `bool`, `axis`
  bool isTensor = false;         // written with [ ]
  std::vector<ExprPtr> dims;     // of a tensor
  std::optional<Ident> rankPack; // x: T[..S]
  Range range;
};

struct Param {
  Ident name;
  TypeExpr type;
  ExprPtr defaultValue;
  bool isInout = false; // `inout x: f32[N]`
  bool isAxis = false;  // `axis a`, in fn
  /// Outputs: `reduce +`, `reduce unordered max`; empty: a plain output.
  std::string reduce; // "+", "*", "max", "min", "&", "|", "^"
  bool unordered = false;
  Range range;
};

/// `T: f16 | bf16`, `T: float`, `const G: int = 128`
struct Generic {
  Ident name;
  bool isConst = false;
  std::vector<Ident> alternatives; // types or classes; for a const its type
  ExprPtr defaultValue;
  Range range;
};

struct Clause {
  enum class Kind { Requires, Dim } kind;
  Ident name; // Dim
  ExprPtr value;
  Range range;
};

/// `i = [64, 128]`, `order = grouped(8)`, `split k`, `persistent`
struct ScheduleEntry {
  Ident key;
  ExprPtr value;               // null: a flag
  std::optional<Ident> object; // `split k`
  Range range;
};

struct Schedule {
  std::optional<Ident> target; // `schedule cuda { … }`
  std::vector<ScheduleEntry> entries;
  Range range;
};

struct Decl {
  enum class Kind { Import, Kernel, Map, Fn, Graph };
  Kind kind;
  Range range;
  Ident name;          // Import: "std.nn" or the path's text
  bool isPath = false; // import "mine.tile"
  std::string doc;     // the /// lines, without the marks
  std::vector<Generic> generics;
  std::vector<Param> params;
  std::vector<Param> outputs;     // kernel, graph
  std::optional<TypeExpr> result; // map, fn
  std::vector<Clause> clauses;
  Block body;
  ExprPtr bodyExpr; // `= expr` form of map and fn
  std::vector<Schedule> schedules;
};

struct Module {
  std::vector<Decl> decls;
};

} // namespace tile::dsl

#endif // TILE_DSL_AST_H
