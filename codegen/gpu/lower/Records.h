//===- Records.h - what programs leave for the launch to read -------------===//
//
// What a program says goes to memory that the launch reads when all is done
// (runtime/artifact/GpuReport.h): records, of a length that is known here. Where
// accesses are watched (--sanitize) each program notes all elements that it is about to
// access, in the order in which it does, and leaves out what is outside. When all is
// done the host looks at them as if the programs had run one after the other: what it
// finds is what it finds on the CPU, whatever the device did at the same time.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_RECORDS_H
#define TILE_CODEGEN_GPU_LOWER_RECORDS_H

#include "codegen/gpu/lower/TensorAccess.h"

namespace tile::codegen::gpu {

/// Writes what the launch reads afterwards.
class Records : public Emitter {
public:
  using Emitter::Emitter;

  /// Programs that run one after the other in a block, or in another order, can't.
  bool canReport(mlir::Operation *op);
  /// A field of the report that all programs share.
  Value reportField(unsigned number);
  void byFirstThread(llvm::function_ref<void()> act);
  /// So many bytes of the records, the same address in all threads.
  Value takeRecord(int64_t bytes, Value &fits);
  void storeHeader(Value record, uint64_t site, int64_t bytes);
  void storeReported(Value value, Value record, int64_t offset, Value place);
  static uint64_t siteOf(mlir::Operation *op);
  /// Row-major, of what a layout covers.
  static llvm::SmallVector<int64_t> stridesOf(const Layout &layout);

  /// A program begins.
  void watchProgram();
  /// An element of an access: where, and whether it is accessed (null: it is).
  struct Planned {
    llvm::SmallVector<Index> indices;
    Value mask;
  };
  /// An access is about to happen. Gives for each register whether it may; nothing where nobody
  /// watches.
  Values watch(mlir::Operation *op, const Access &access, const Layout &layout,
               llvm::function_ref<Planned(int64_t)> plan);

  /// Address of the report; null where nothing is reported.
  Value report;

private:
  Value isFirstThread();
  void noteAccess(mlir::Operation *op, const Access &access, const Layout &layout,
                  llvm::function_ref<Planned(int64_t)> plan);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_RECORDS_H
