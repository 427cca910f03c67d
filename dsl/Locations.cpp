//===- Locations.cpp - source ranges as MLIR locations, and back ----------===//

#include "dsl/Locations.h"

using namespace mlir;
using namespace tile::dsl;

Location tile::dsl::toLocation(MLIRContext *context, const SourceFile &file,
                               tile::dsl::Range range) {
  SourceFile::Position begin = file.position(range.begin);
  SourceFile::Position end = file.position(std::max(range.begin, range.end));
  return FileLineColRange::get(StringAttr::get(context, file.name()), begin.line, begin.column,
                               end.line, end.column);
}

static FileLineColRange rangeIn(Location location) {
  FileLineColRange result;
  location->walk([&](Location part) {
    if (auto range = dyn_cast<FileLineColRange>(part)) {
      result = range;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return result;
}

tile::dsl::Range tile::dsl::toRange(Location location, const SourceFile &file) {
  FileLineColRange range = rangeIn(location);
  if (!range)
    return {};
  return {file.offset({range.getStartLine(), range.getStartColumn()}),
          file.offset({range.getEndLine(), range.getEndColumn()})};
}

static tile::dsl::Diagnostic place(const Program &program, mlir::Diagnostic &from) {
  tile::dsl::Diagnostic to;
  to.message = from.str();
  if (FileLineColRange range = rangeIn(from.getLocation())) {
    to.file = program.file(range.getFilename().strref());
    if (to.file)
      to.range = toRange(from.getLocation(), *to.file);
  }
  return to;
}

DiagnosticBridge::DiagnosticBridge(MLIRContext &context, const Program &program,
                                   DiagnosticEngine &diags)
    : handler(&context, [&program, &diags](mlir::Diagnostic &from) {
        using Severity = tile::dsl::Diagnostic::Severity;
        Severity severity = Severity::Note;
        if (from.getSeverity() == DiagnosticSeverity::Error)
          severity = Severity::Error;
        else if (from.getSeverity() == DiagnosticSeverity::Warning)
          severity = Severity::Warning;
        else if (from.getSeverity() == DiagnosticSeverity::Remark)
          severity = Severity::Remark;
        tile::dsl::Diagnostic placed = place(program, from);
        tile::dsl::Diagnostic &to =
            diags.report(severity, placed.file, placed.range, std::move(placed.message));
        for (mlir::Diagnostic &note : from.getNotes()) {
          tile::dsl::Diagnostic part = place(program, note);
          part.severity = Severity::Note;
          if (StringRef(part.message).starts_with("hint: "))
            to.hints.push_back(part.message.substr(6));
          else
            to.notes.push_back(std::move(part));
        }
        return success();
      }) {}
