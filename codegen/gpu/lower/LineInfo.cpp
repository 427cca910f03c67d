//===- LineInfo.cpp - places of the source in PTX -------------------------===//

#include "codegen/gpu/lower/LineInfo.h"
#include "codegen/gpu/lower/LowerKernel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tile::codegen;

/// In PTX a text has no escapes: ptxas refuses what LLVM writes for quotation marks.
static LLVM::DIFileAttr fileOf(FileLineColLoc place) {
  std::string path = place.getFilename().str();
  std::replace_if(
      path.begin(), path.end(), [](char c) { return c == '"' || c == '\\' || !llvm::isPrint(c); },
      '_');
  return LLVM::DIFileAttr::get(place.getContext(), llvm::sys::path::filename(path),
                               llvm::sys::path::parent_path(path));
}

void gpu::addLineInfo(LLVM::LLVMFuncOp function, Location place) {
  auto start = place->findInstanceOf<FileLineColLoc>();
  if (!start)
    return;
  MLIRContext *context = function.getContext();
  auto newId = [&] { return DistinctAttr::create(UnitAttr::get(context)); };
  LLVM::DIFileAttr file = fileOf(start);
  // Directives alone: `.loc` and `.file`, no sections, and no code that is kept as it stands.
  auto unit = LLVM::DICompileUnitAttr::get(
      newId(), llvm::dwarf::DW_LANG_C, file, StringAttr::get(context, "tilec"),
      /*isOptimized=*/true, LLVM::DIEmissionKind::DebugDirectivesOnly);
  auto flags = LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized;
  StringRef symbol = function.getSymName();
  symbol.consume_front(symbolPrefix);
  StringAttr name = StringAttr::get(context, symbol);
  auto type = LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {});
  auto scope = LLVM::DISubprogramAttr::get(context, newId(), unit, file, name, name, file,
                                           start.getLine(), start.getLine(), flags, type,
                                           /*retainedNodes=*/{}, /*annotations=*/{});
  function->setLoc(FusedLoc::get(context, {start}, scope));
  llvm::DenseMap<StringAttr, Attribute> otherFiles;
  function.getBody().walk([&](Operation *op) {
    auto at = op->getLoc()->findInstanceOf<FileLineColLoc>();
    if (!at || at.getFilename() == start.getFilename())
      return op->setLoc(at ? at : start);
    // Of a function that is imported: in a scope that is in that file.
    Attribute &other = otherFiles[at.getFilename()];
    if (!other)
      other = LLVM::DILexicalBlockFileAttr::get(context, scope, fileOf(at), /*discriminator=*/0);
    op->setLoc(FusedLoc::get(context, {at}, other));
  });
}
