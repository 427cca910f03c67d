//===- DiagnosticJson.h - diagnostics for editors and CI ------------------===//
//
// Every command that takes --json prints one object on standard output, also
// where the call fails: "ok", "diagnostics", and what else the command gives.
// docs/commands.md has the format.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_CLI_DIAGNOSTICJSON_H
#define TILE_FRONTEND_CLI_DIAGNOSTICJSON_H

#include "frontend/cli/Session.h"

#include "llvm/Support/JSON.h"

namespace tile::frontend::cli {

/// Severity, message, hints and notes, and where there is a place file and range; from all of them
/// in order.
llvm::json::Array toJson(const dsl::DiagnosticEngine &diagnostics);
/// Where a range begins and ends: lines and columns count from 1, columns in bytes.
llvm::json::Object rangeOf(const dsl::SourceFile &file, dsl::Range range);
/// Names of files may be any bytes, JSON is UTF-8.
inline llvm::json::Value textOf(llvm::StringRef text) { return llvm::json::fixUTF8(text); }

/// One object, to standard output.
void printJson(llvm::json::Object object);
/// What that prints: no control characters of any kind, whatever names have.
std::string jsonText(llvm::json::Value value);
/// What a call that fails prints: "ok": false and the diagnostics.
void printJsonFailure(const dsl::DiagnosticEngine &diagnostics);

/// Ends a call that failed: its messages, and with --json that object; the exit code.
int failCall(Session &session, Failure failure, bool json);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_DIAGNOSTICJSON_H
