//===- DiagnosticJson.cpp - diagnostics for editors and CI ----------------===//

#include "frontend/cli/DiagnosticJson.h"
#include "runtime/base/Text.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

static llvm::StringRef nameOf(dsl::Diagnostic::Severity severity) {
  switch (severity) {
  case dsl::Diagnostic::Severity::Error:
    return "error";
  case dsl::Diagnostic::Severity::Warning:
    return "warning";
  case dsl::Diagnostic::Severity::Remark:
    return "remark";
  case dsl::Diagnostic::Severity::Note:
    return "note";
  }
  llvm_unreachable("covered switch");
}

static llvm::json::Object toJson(dsl::SourceFile::Position position) {
  return llvm::json::Object{{"line", position.line}, {"column", position.column}};
}

llvm::json::Object tile::frontend::cli::rangeOf(const dsl::SourceFile &file, dsl::Range range) {
  return llvm::json::Object{{"start", ::toJson(file.position(range.begin))},
                            {"end", ::toJson(file.position(std::max(range.begin, range.end)))}};
}

static llvm::json::Object toJson(const dsl::Diagnostic &diagnostic) {
  llvm::json::Object object{{"severity", nameOf(diagnostic.severity)},
                            {"message", textOf(diagnostic.message)}};
  if (diagnostic.file) {
    object["file"] = textOf(diagnostic.file->name());
    object["range"] = rangeOf(*diagnostic.file, diagnostic.range);
  }
  llvm::json::Array hints, notes, fixes;
  for (const std::string &hint : diagnostic.hints)
    hints.push_back(textOf(hint));
  for (const dsl::Diagnostic &note : diagnostic.notes)
    notes.push_back(toJson(note));
  if (diagnostic.file)
    for (const dsl::Diagnostic::FixIt &fix : diagnostic.fixIts)
      fixes.push_back(llvm::json::Object{{"range", rangeOf(*diagnostic.file, fix.range)},
                                         {"replacement", textOf(fix.replacement)}});
  if (!fixes.empty())
    object["fixes"] = std::move(fixes);
  object["hints"] = std::move(hints);
  object["notes"] = std::move(notes);
  return object;
}

llvm::json::Array tile::frontend::cli::toJson(const dsl::DiagnosticEngine &diagnostics) {
  llvm::json::Array array;
  for (const dsl::Diagnostic &diagnostic : diagnostics.diagnostics())
    array.push_back(::toJson(diagnostic));
  return array;
}

std::string tile::frontend::cli::jsonText(llvm::json::Value value) {
  return runtime::visibleJson(llvm::formatv("{0:2}\n", std::move(value)).str());
}

void tile::frontend::cli::printJson(llvm::json::Object object) {
  llvm::outs() << jsonText(std::move(object));
}

void tile::frontend::cli::printJsonFailure(const dsl::DiagnosticEngine &diagnostics) {
  printJson(llvm::json::Object{{"ok", false}, {"diagnostics", toJson(diagnostics)}});
}

int tile::frontend::cli::failCall(Session &session, Failure failure, bool json) {
  int code = session.fail(std::move(failure));
  if (json)
    printJsonFailure(session.diags);
  return code;
}
