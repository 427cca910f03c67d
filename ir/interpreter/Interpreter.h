//===- Interpreter.h - runs a kernel in the plainest possible way ---------===//
//
// The oracle that every backend is compared with. It executes specialized tile
// IR op by op on whole tiles and shares no code with the backends. Each tile
// knows which of its elements are inside its domain; what lies outside does not
// exist, and reading it is reported instead of giving garbage.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_INTERPRETER_INTERPRETER_H
#define TILE_IR_INTERPRETER_INTERPRETER_H

#include "ir/dialect/TileOps.h"

#include <functional>
#include <optional>
#include <string>

namespace tile::ir {

/// One argument of a kernel: a dense row-major tensor, or a scalar.
struct InterpreterArgument {
  /// Of tensors. One byte an element for i1, else the element's own width.
  void *data = nullptr;
  llvm::SmallVector<int64_t> shape;
  /// Of scalars: the value's bits, in the low end.
  uint64_t bits = 0;
  /// With `tracksErrors`, one an element: by how much another right execution may have another
  /// value there, which is given for inputs and found for outputs. Null: those of inputs are 0.
  float *errors = nullptr;
  /// Beside `errors`, the deviation of each (InterpreterErrors.h); 0 where it isn't known. May be
  /// null.
  float *deviations = nullptr;

  static InterpreterArgument tensor(void *data, llvm::ArrayRef<int64_t> shape) {
    return {data, llvm::SmallVector<int64_t>(shape), 0};
  }
  static InterpreterArgument scalar(uint64_t bits) { return {nullptr, {}, bits}; }
};

/// A value of a tile.print.
struct PrintedValue {
  struct Axis {
    llvm::StringRef name;
    int64_t lower, count;
  };
  /// None of scalars.
  llvm::SmallVector<Axis> axes;
  /// Row-major, one byte an element for i1, else the element's own width.
  const char *data = nullptr;
  /// Which elements are inside the domain, one byte each; null: all.
  const char *defined = nullptr;
};

struct InterpreterOptions {
  /// Programs are independent; another order must give the same result (but for
  /// the rounding of sums in `reduce` outputs, which follow it).
  enum class Order { RowMajor, Reversed, Shuffled } order = Order::RowMajor;
  /// Of the shuffle.
  uint64_t seed = 0;
  /// Gives up after so many ops; 0 for never.
  uint64_t maxSteps = 0;
  /// How many bytes all tiles that are alive together may take.
  int64_t maxTileBytes = int64_t(1) << 32;
  /// Shows what a tile.print says, as programs come to it; null: prints are passed over.
  std::function<void(PrintOp, llvm::ArrayRef<PrintedValue>)> print = {};
  /// Bounds what right executions may differ by, element by element (InterpreterErrors.h).
  bool tracksErrors = false;
  /// What `errors` are to allow for: a GPU's functions and matrix units, whose sums of f8 are less
  /// exact, or a processor without fused multiply-adds.
  bool errorsOfGpu = false, errorsWithoutFma = false;
  /// Told of each element that a load, store, update or atomic operation touches, by its row-major
  /// number, and the number of the program; padding and what is dropped touch nothing.
  std::function<void(mlir::Operation *access, int64_t program, int64_t element)> touch = {};
};

struct InterpreterResult {
  /// Empty on success.
  std::string message;
  std::optional<mlir::Location> loc;
  /// Of a tile.require: it is not true or false, it exceeds 64 bits.
  bool hasOverflow = false;
  /// The author's fault, no one else's: a `within` load was outside its tensor, or a grid kernel
  /// did what nobody proves that it doesn't.
  bool isPromiseBroken = false;
  /// A tile.assert does not hold.
  bool isAssertion = false;
  /// If tiles take more than `maxTileBytes`: what the one too many needs, and what was left for it.
  struct Shortage {
    int64_t neededBytes, leftBytes;
  };
  std::optional<Shortage> shortage = std::nullopt;

  bool ok() const { return message.empty(); }
};

/// Runs all programs of a kernel. `args` has one entry a parameter, outputs
/// included, `dims` one value a name in the kernel's `dims`; block sizes must be
/// static, whole axes need not be. Reported, with a location:
///   - a tile.require or tile.assert that does not hold,
///   - an `exact` or `within` load or a store outside its tensor,
///   - an element of an output that is stored twice (but by a grid kernel) or never,
///   - tiles that take more memory than the options allow,
///   - the use of an element outside the domain of its tile, of an op without a
///     meaning here, and other faults of the IR.
InterpreterResult interpret(KernelOp kernel, llvm::ArrayRef<InterpreterArgument> args,
                            llvm::ArrayRef<int64_t> dims, const InterpreterOptions &options = {});

/// Runs only what stands before the programs: checks the tile.requires. Tensor
/// arguments need no data. `failed`, if given, is set to the op that fails.
InterpreterResult interpretRequires(KernelOp kernel, llvm::ArrayRef<InterpreterArgument> args,
                                    llvm::ArrayRef<int64_t> dims, RequireOp *failed = nullptr);

} // namespace tile::ir

#endif // TILE_IR_INTERPRETER_INTERPRETER_H
