//===- Workarounds.h - what LLVM and ptxas get wrong ----------------------===//
//
// Rewritings of a module that is optimized already, right before PTX is made of
// it: what it computes stays the same, and tools below it leave it right.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_TARGET_WORKAROUNDS_H
#define TILE_CODEGEN_GPU_TARGET_WORKAROUNDS_H

namespace llvm {
class Module;
}

namespace tile::codegen::gpu {

/// ptxas (12.8 to 13.3) takes a minimum or maximum of three as one instruction, and one with a sum,
/// and forgets the sign of an operand that is a negation: max(a, max(b, -c)) is max(a, max(b, c))
/// then, and min(a, 3 - max(b, c)) is min(a, max(b, c) - 3). It doesn't see one in ~x + 1.
void hideNegations(llvm::Module &module);

/// LLVM (22) takes `x < 0 ? x : 0` for the minimum of the two, which may have either zero of −0 and
/// 0: PTX's has −0, where the comparison has the 0 of the other side. It doesn't see a minimum
/// where integers are selected.
void hideMinima(llvm::Module &module);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_TARGET_WORKAROUNDS_H
