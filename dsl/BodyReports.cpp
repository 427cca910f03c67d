//===- BodyReports.cpp - what kernels say: assert and print ---------------===//

#include "dsl/BodyElaborator.h"

#include "dsl/Names.h"

using namespace tile;
using namespace tile::dsl;

/// True for a call of `assert` or `print`, which it elaborates.
bool BodyElaborator::reportStatement(const Expr &call) {
  if (call.kind != Expr::Kind::Call || call.children[0]->kind != Expr::Kind::Name)
    return false;
  const Expr &callee = *call.children[0];
  if (callee.text != "assert" && callee.text != "print")
    return false;
  if (const Binding *binding = lookup(callee.text); binding || tensorNamed(callee)) {
    notCallable(callee, binding);
    return true;
  }
  for (const Arg &arg : call.args)
    if (arg.name) {
      error(arg.name->range, quoted(callee.text) + " has no named arguments");
      return true;
    }
  if (callee.text == "assert")
    assertStatement(call);
  else
    printStatement(call);
  return true;
}

/// A condition as the source writes it, in one line.
static std::string sourceOf(const SourceFile &file, Range range) {
  std::string text;
  for (char c : file.text().substr(range.begin, range.end - range.begin)) {
    bool isSpace = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!isSpace)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  return text;
}

void BodyElaborator::assertStatement(const Expr &call) {
  bool hasMessage = call.args.size() == 2 && call.args[1].value->kind == Expr::Kind::String;
  if (call.args.empty() || call.args.size() > 2 || (call.args.size() == 2 && !hasMessage)) {
    error(call.range, "`assert` takes a condition and, if you like, a message")
        .hints.push_back("as in `assert(n > 0, \"there is nothing to do\")`");
    return;
  }
  const Expr &condition = *call.args[0].value;
  ir::Expr value = evaluate(condition);
  at(call.range);
  builder.assertHolds(value, hasMessage ? call.args[1].value->text
                                        : quoted(sourceOf(file->source, condition.range)));
}

void BodyElaborator::printStatement(const Expr &call) {
  llvm::SmallVector<ir::KernelBuilder::PrintItem> items;
  for (const Arg &arg : call.args) {
    ir::KernelBuilder::PrintItem &item = items.emplace_back();
    if (arg.value->kind == Expr::Kind::String)
      item.text = arg.value->text;
    else
      item.value = evaluate(*arg.value);
  }
  at(call.range);
  builder.print(items);
}
