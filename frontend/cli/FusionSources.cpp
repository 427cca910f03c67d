//===- FusionSources.cpp - what people wrote of a graph's calls -----------===//

#include "frontend/cli/FusionSources.h"

#include "ir/proofs/Spelling.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

/// Whole lines.
static SourceExcerpt linesOf(const dsl::SourceFile &file, uint32_t first, uint32_t last) {
  SourceExcerpt excerpt{llvm::sys::path::filename(file.name()).str(), first, ""};
  for (uint32_t line = first; line <= last; ++line)
    excerpt.text += std::string(file.line(line)) + "\n";
  return excerpt;
}

/// The file of that name, of those that a file imports, or itself.
static const dsl::LoadedFile *find(const dsl::LoadedFile *file, StringRef name,
                                   std::set<const dsl::LoadedFile *> &seen) {
  if (!file || !seen.insert(file).second)
    return nullptr;
  if (file->source.name() == name)
    return file;
  for (const dsl::LoadedFile *imported : file->imports)
    if (const dsl::LoadedFile *found = find(imported, name, seen))
      return found;
  return nullptr;
}

/// The declaration that a location is in.
static std::optional<SourceExcerpt> declarationAt(FileLineColRange place,
                                                  const dsl::Program &program) {
  std::set<const dsl::LoadedFile *> seen;
  const dsl::LoadedFile *file = find(program.root(), place.getFilename().strref(), seen);
  if (!file)
    return {};
  uint32_t offset = file->source.offset({place.getStartLine(), place.getStartColumn()});
  for (const dsl::Decl &decl : file->module.decls)
    if (decl.range.begin <= offset && offset < decl.range.end)
      return linesOf(file->source, file->source.position(decl.range.begin).line,
                     file->source.position(decl.range.end).line);
  return {};
}

std::vector<CallSources> cli::sourcesOf(const GraphView &graph, const dsl::Program &program) {
  std::vector<CallSources> all;
  for (const GraphView::Call &call : graph.calls) {
    CallSources &sources = all.emplace_back();
    ir::CallOp op = call.op;
    auto place = op.getLoc()->findInstanceOf<FileLineColRange>();
    if (const dsl::SourceFile *file = place ? program.file(place.getFilename().strref()) : nullptr)
      sources.call = linesOf(*file, place.getStartLine(), place.getEndLine());
    Operation *kernel = SymbolTable::lookupNearestSymbolFrom(op, op.getCalleeAttr());
    auto declared = kernel->getLoc()->findInstanceOf<FileLineColRange>();
    if (declared && !ir::isExpression(op))
      sources.kernel = declarationAt(declared, program);
  }
  return all;
}
