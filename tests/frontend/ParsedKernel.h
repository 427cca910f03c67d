// What the parser makes of a text, to compare kernels from C++ with.
#pragma once

#include "dsl/Elaborator.h"

#include <gtest/gtest.h>

namespace tile::test {

/// The IR of the last declaration of a text, with its generics bound.
inline std::string parsed(const std::string &text, const dsl::TypeBindings &types = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  dsl::DiagnosticEngine diags;
  dsl::Program program(diags, {});
  dsl::Elaborator elaborator(context, program, diags);
  dsl::LoadedFile *file = program.load("test.tile", text);
  if (diags.errorCount() == 0)
    elaborator.elaborate({&file->module.decls.back(), file}, types);
  EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false);
  std::string ir;
  llvm::raw_string_ostream stream(ir);
  elaborator.module().print(stream, mlir::OpPrintingFlags().useLocalScope());
  return ir + "\n";
}

} // namespace tile::test
