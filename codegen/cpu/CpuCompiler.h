//===- CpuCompiler.h - kernels to machine code of a CPU -------------------===//
//
// Takes one specialized kernel (tile sizes static, dimensions static or not) and
// gives LLVM IR, assembly, an object file, or code to run in this process.
// Errors are reported at the kernel; the kernel itself is not changed.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_CPU_CPUCOMPILER_H
#define TILE_CODEGEN_CPU_CPUCOMPILER_H

#include "codegen/cpu/FoldOrder.h"
#include "ir/dialect/TileOps.h"
#include "runtime/artifact/CpuEntry.h"

#include <memory>
#include <optional>
#include <string>

namespace tile::codegen {

struct CpuOptions {
  /// As in `-march`: "native", or a name LLVM knows, such as "x86-64-v3".
  std::string cpu = "native";
  /// 0 to 3, of LLVM's code generator and passes.
  int optimization = 2;
  /// What caches hold: outputs of this size are stored past them, and rows that are read again are
  /// copied where they collide. None: what this machine's do, or, of another processor, usual ones.
  std::optional<int64_t> cacheBytes = std::nullopt;
  /// Code that tells of every access (runtime/launch/Sanitizer.h), element by element; slow.
  bool sanitizes = false;
  /// As a GPU's thread computes: scalars, and functions expanded where the C library would be
  /// called. For tests of those; needs a CPU with multiply-adds.
  bool asThread = false;
};

/// Machine code in this process; it lives as long as this object.
class CpuCode {
public:
  CpuCode(CpuCode &&);
  ~CpuCode();
  const runtime::CpuEntry &entry() const { return theEntry; }

private:
  friend class CpuCompiler;
  struct State;
  CpuCode(std::unique_ptr<State> state, runtime::CpuEntry entry);
  std::unique_ptr<State> state;
  runtime::CpuEntry theEntry;
};

class CpuCompiler {
public:
  explicit CpuCompiler(CpuOptions options = {}) : options(std::move(options)) {}

  /// The optimized LLVM IR; `optimized = false` shows it as it is generated.
  mlir::FailureOr<std::string> compileToLlvmIr(ir::KernelOp kernel, bool optimized = true) const;
  mlir::FailureOr<std::string> emitAssembly(ir::KernelOp kernel) const;
  /// The bytes of an ELF object with the functions NAME, NAME.programs,
  /// NAME.scratch and NAME.work, of `reduce` outputs NAME.apart (see CpuEntry.h).
  mlir::FailureOr<std::string> emitObject(ir::KernelOp kernel) const;
  /// All that `emitObject`'s result depends on, as text: the kernel, the processor and its
  /// features, the options, LLVM's version and this compiler's sources. Empty if there is no such
  /// processor.
  std::string describeObject(ir::KernelOp kernel) const;
  /// Loads such an object into this process. It has to come from the same kernel and options.
  mlir::FailureOr<CpuCode> load(ir::KernelOp kernel, llvm::StringRef object) const;
  mlir::FailureOr<CpuCode> jit(ir::KernelOp kernel) const;
  /// In which order the kernel's sums are made.
  mlir::FailureOr<FoldOrders> foldOrders(ir::KernelOp kernel) const;

private:
  CpuOptions options;
};

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_CPUCOMPILER_H
