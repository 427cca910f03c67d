//===- Link.h - objects of kernels to a shared object ---------------------===//
#ifndef TILE_CODEGEN_CPU_LINK_H
#define TILE_CODEGEN_CPU_LINK_H

#include "codegen/cpu/CpuCompiler.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace tile::codegen {

/// A shared object for the runtime's loader (runtime/artifact/Library.h).
struct CpuImageCode {
  /// Says what the image is, and stands in it.
  uint64_t id = 0;
  std::string bytes;
};

/// Links what CpuCompiler::emitObject gave for kernels of different names, with the linker that is
/// built into this program. The result has no undefined symbols: what the code calls of the C
/// library it calls through a table in the image. The same objects give the same bytes. May be
/// called from any thread; one links at a time.
llvm::Expected<CpuImageCode> linkImage(llvm::ArrayRef<std::string> objects,
                                       const CpuOptions &options);

/// Those of the instruction sets `names` that code for this processor may use.
llvm::Expected<std::vector<std::string>> usedFeatures(const CpuOptions &options,
                                                      llvm::ArrayRef<std::string_view> names);

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_LINK_H
