// libFuzzer target: any bytes as a source text. Lexer, parser, formatter, and for every declaration
// elaborator and proofs. A wrong program gets diagnostics; nothing crashes, leaks or takes long.

#include "dsl/AstPrinter.h"
#include "dsl/Elaborator.h"
#include "dsl/Formatter.h"
#include "dsl/Parser.h"

#include "mlir/IR/MLIRContext.h"

#include <cstdlib>

using namespace tile::dsl;

/// An import of a file would make what a text means depend on the machine.
static bool importsFiles(std::string_view text) {
  for (size_t at = 0; (at = text.find("import", at)) != std::string_view::npos; at += 6) {
    size_t next = text.find_first_not_of(" \t\r", at + 6);
    if (next != std::string_view::npos && text[next] == '"')
      return true;
  }
  return false;
}

/// A formatted text has the same syntax tree, and is its own formatted form. What has syntax errors
/// is formatted, too, but nothing is promised of it.
static void format(const std::string &text) {
  DiagnosticEngine diags, more;
  SourceFile source("fuzz.tile", text), once("fuzz.tile", tile::dsl::format(source));
  Module module = parse(source, diags);
  if (diags.errorCount())
    return;
  Module again = parse(once, more);
  if (more.errorCount() || printAst(module) != printAst(again) ||
      tile::dsl::format(once) != once.text())
    std::abort();
}

/// What is printed for `check` and `compile`: every declaration, with each choice of its types.
static void check(std::string text) {
  DiagnosticEngine diags;
  Program program(diags, {});
  LoadedFile *file = program.load("fuzz.tile", std::move(text));
  // As tilec does: nothing is elaborated of a text with syntax errors.
  if (file && diags.errorCount() == 0)
    checkFile(program, *file, diags);
  for (const Diagnostic &diagnostic : diags.diagnostics())
    if (diagnostic.message.empty())
      std::abort();
  (void)diags.print(/*colour=*/false);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  if (importsFiles(text))
    return -1;
  format(text);
  check(std::move(text));
  return 0;
}
