//===- AstPrinter.cpp - the syntax tree as text ---------------------------===//

#include "dsl/AstPrinter.h"

#include <algorithm>
#include <cstdio>

namespace tile::dsl {
namespace {

const char *spell(UnaryOp op) {
  switch (op) {
  case UnaryOp::Neg:
    return "neg";
  case UnaryOp::Not:
    return "!";
  case UnaryOp::BitNot:
    return "~";
  }
  return "";
}

const char *spell(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return "+";
  case BinaryOp::Sub:
    return "-";
  case BinaryOp::Mul:
    return "*";
  case BinaryOp::Div:
    return "/";
  case BinaryOp::Rem:
    return "%";
  case BinaryOp::Shl:
    return "<<";
  case BinaryOp::Shr:
    return ">>";
  case BinaryOp::BitAnd:
    return "&";
  case BinaryOp::BitOr:
    return "|";
  case BinaryOp::BitXor:
    return "^";
  case BinaryOp::Eq:
    return "==";
  case BinaryOp::Ne:
    return "!=";
  case BinaryOp::Lt:
    return "<";
  case BinaryOp::Le:
    return "<=";
  case BinaryOp::Gt:
    return ">";
  case BinaryOp::Ge:
    return ">=";
  case BinaryOp::And:
    return "&&";
  case BinaryOp::Or:
    return "||";
  }
  return "";
}

const char *spell(Stmt::AssignOp op) {
  switch (op) {
  case Stmt::AssignOp::Set:
    return "=";
  case Stmt::AssignOp::Add:
    return "+=";
  case Stmt::AssignOp::Sub:
    return "-=";
  case Stmt::AssignOp::Mul:
    return "*=";
  case Stmt::AssignOp::Div:
    return "/=";
  case Stmt::AssignOp::Max:
    return "max=";
  case Stmt::AssignOp::Min:
    return "min=";
  case Stmt::AssignOp::And:
    return "&=";
  case Stmt::AssignOp::Or:
    return "|=";
  case Stmt::AssignOp::Xor:
    return "^=";
  }
  return "";
}

const char *spell(Decl::Kind kind) {
  switch (kind) {
  case Decl::Kind::Import:
    return "import";
  case Decl::Kind::Kernel:
    return "kernel";
  case Decl::Kind::Map:
    return "map";
  case Decl::Kind::Fn:
    return "fn";
  case Decl::Kind::Graph:
    return "graph";
  }
  return "";
}

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

class AstPrinter {
public:
  void print(const Module &module) {
    for (const Decl &decl : module.decls)
      print(decl);
  }
  void print(const Expr &expr);

  std::string out;

private:
  void line(const std::string &text) {
    out.append(2 * indent, ' ');
    out += text;
    out += '\n';
  }
  static std::string text(const ExprPtr &expr) {
    AstPrinter printer;
    printer.print(*expr);
    return std::move(printer.out);
  }
  /// ` name text` where there is an expression.
  static std::string option(const char *name, const ExprPtr &expr) {
    return expr ? std::string(" ") + name + " " + text(expr) : "";
  }
  static std::string text(const TypeExpr &type);
  static std::string text(const Param &param);

  void group(const char *head, const Expr &expr);
  void print(const Decl &decl);
  void print(const Generic &generic);
  void print(const Schedule &schedule);
  void print(const Stmt &stmt);
  void print(const Binder &binder);
  void print(const Block &block) {
    ++indent;
    for (const StmtPtr &stmt : block)
      print(*stmt);
    --indent;
  }
  static std::string names(const Stmt &stmt);

  unsigned indent = 0;
};

//===-- Expressions -------------------------------------------------------===//

/// `(head child … name = arg …)`
void AstPrinter::group(const char *head, const Expr &expr) {
  out += '(';
  out += head;
  for (const ExprPtr &child : expr.children) {
    out += ' ';
    print(*child);
  }
  for (const Arg &arg : expr.args) {
    out += ' ';
    if (arg.name)
      out += arg.name->text + "=";
    print(*arg.value);
  }
  out += ')';
}

void AstPrinter::print(const Expr &expr) {
  switch (expr.kind) {
  case Expr::Kind::Int:
  case Expr::Kind::Float:
  case Expr::Kind::Bool:
  case Expr::Kind::Name:
    out += expr.text;
    break;
  case Expr::Kind::String:
    out += quoted(expr.text);
    break;
  case Expr::Kind::Colon:
    out += ':';
    break;
  case Expr::Kind::Unary:
    group(spell(expr.unary), expr);
    break;
  case Expr::Kind::Binary:
    group(spell(expr.binary), expr);
    break;
  case Expr::Kind::Call:
    group("call", expr);
    break;
  case Expr::Kind::Member:
    group(("." + expr.text).c_str(), expr);
    break;
  case Expr::Kind::Index:
    group("index", expr);
    break;
  case Expr::Kind::List:
    group("list", expr);
    break;
  case Expr::Kind::Tuple:
    group("tuple", expr);
    break;
  }
}

//===-- Statements --------------------------------------------------------===//

std::string AstPrinter::names(const Stmt &stmt) {
  std::string text;
  for (const Ident &name : stmt.names)
    text += " " + name.text;
  return text;
}

void AstPrinter::print(const Binder &binder) {
  const char *kind = binder.kind == Binder::Kind::Tiles  ? " tiles"
                     : binder.kind == Binder::Kind::Each ? " each"
                                                         : " count";
  line("binder " + binder.name.text + kind + option("lo", binder.lo) + option("hi", binder.hi) +
       option("step", binder.step) + option("if", binder.condition));
}

void AstPrinter::print(const Stmt &stmt) {
  switch (stmt.kind) {
  case Stmt::Kind::Let:
    line("let" + names(stmt) + " = " + text(stmt.value) + option("if", stmt.condition));
    return;
  case Stmt::Kind::Var:
    line("var" + names(stmt) + " = " + text(stmt.value));
    return;
  case Stmt::Kind::Assign:
    line("assign " + text(stmt.target) + " " + spell(stmt.op) + " " + text(stmt.value));
    return;
  case Stmt::Kind::Return:
    line("return " + text(stmt.value));
    return;
  case Stmt::Kind::Expr:
    line("do " + text(stmt.value));
    return;
  case Stmt::Kind::Parallel:
    line("parallel");
    break;
  case Stmt::Kind::Grid:
    line("grid");
    break;
  case Stmt::Kind::For:
    line(std::string("for") + (stmt.reassociable ? " reassociable" : "") +
         (stmt.merge ? " merge " + stmt.merge->text : "") + option("sequential", stmt.sequential));
    break;
  case Stmt::Kind::While:
    line("while " + text(stmt.value));
    break;
  case Stmt::Kind::If:
    line("if " + text(stmt.value));
    break;
  }
  ++indent;
  for (const Binder &binder : stmt.binders)
    print(binder);
  --indent;
  print(stmt.body);
  if (!stmt.elseBody.empty())
    line("else");
  print(stmt.elseBody);
}

//===-- Declarations ------------------------------------------------------===//

std::string AstPrinter::text(const TypeExpr &type) {
  std::string out = type.element.text;
  if (!type.isTensor)
    return out;
  out += '[';
  if (type.rankPack)
    out += ".." + type.rankPack->text;
  for (size_t i = 0; i < type.dims.size(); ++i)
    out += (i ? ", " : "") + text(type.dims[i]);
  return out + "]";
}

std::string AstPrinter::text(const Param &param) {
  std::string out = param.isInout ? "inout " : param.isAxis ? "axis " : "";
  out += param.name.text;
  if (!param.type.element.text.empty())
    out += ": " + text(param.type);
  out += option("=", param.defaultValue);
  if (!param.reduce.empty())
    out += std::string(" reduce ") + (param.unordered ? "unordered " : "") + param.reduce;
  return out;
}

void AstPrinter::print(const Generic &generic) {
  std::string text = generic.isConst ? "const " : "generic ";
  text += generic.name.text;
  for (size_t i = 0; i < generic.alternatives.size(); ++i)
    text += (i ? " | " : ": ") + generic.alternatives[i].text;
  line(text + option("=", generic.defaultValue));
}

void AstPrinter::print(const Schedule &schedule) {
  line("schedule" + (schedule.target ? " " + schedule.target->text : ""));
  ++indent;
  for (const ScheduleEntry &entry : schedule.entries)
    line("entry " + entry.key.text + (entry.object ? " " + entry.object->text : "") +
         option("=", entry.value));
  --indent;
}

void AstPrinter::print(const Decl &decl) {
  line(std::string(spell(decl.kind)) + " " +
       (decl.isPath ? quoted(decl.name.text) : decl.name.text));
  ++indent;
  for (size_t from = 0; from < decl.doc.size();) {
    const size_t end = std::min(decl.doc.find('\n', from), decl.doc.size());
    line("doc " + quoted(decl.doc.substr(from, end - from)));
    from = end + 1;
  }
  for (const Generic &generic : decl.generics)
    print(generic);
  for (const Param &param : decl.params)
    line("param " + text(param));
  for (const Param &output : decl.outputs)
    line("output " + text(output));
  if (decl.result)
    line("result " + text(*decl.result));
  for (const Clause &clause : decl.clauses)
    line(clause.kind == Clause::Kind::Dim ? "dim " + clause.name.text + " = " + text(clause.value)
                                          : "requires " + text(clause.value));
  if (decl.bodyExpr)
    line("= " + text(decl.bodyExpr));
  for (const StmtPtr &stmt : decl.body)
    print(*stmt);
  for (const Schedule &schedule : decl.schedules)
    print(schedule);
  --indent;
}

} // namespace

std::string printAst(const Module &module) {
  AstPrinter printer;
  printer.print(module);
  return std::move(printer.out);
}

std::string printAst(const Expr &expr) {
  AstPrinter printer;
  printer.print(expr);
  return std::move(printer.out);
}

} // namespace tile::dsl
