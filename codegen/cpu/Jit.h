//===- Jit.h - LLVM modules to machine code -------------------------------===//
#ifndef TILE_CODEGEN_CPU_JIT_H
#define TILE_CODEGEN_CPU_JIT_H

#include "codegen/Elementwise.h"
#include "codegen/cpu/CpuCompiler.h"

#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace llvm::orc {
class LLJIT;
}

namespace tile::codegen {

/// A machine for `cpu` ("native" is the one this runs on).
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const CpuOptions &options);
TargetInfo describeTarget(const llvm::TargetMachine &machine, const CpuOptions &options);

/// The passes over LLVM IR, in order.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// Masked stores of one lane become scalar ones. LLVM 22 would do the same, but with what the lane
/// was before it was made narrower, so that elements beside it are overwritten (its issue 179489).
void storeSingleLanes(llvm::Module &module);

/// Loads an object into this process; its bytes are copied.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> loadObject(llvm::StringRef object);

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_JIT_H
