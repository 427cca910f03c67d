//===- Elementwise.h - one element or vector of an elementwise op ---------===//
//
// Elementwise ops are cloned onto scalars or vectors by trait. Floats narrower
// than 32 bits live in registers as their bits (i16, i8): moving them needs no
// instruction of theirs, and arithmetic on them is f32, rounded.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_ELEMENTWISE_H
#define TILE_CODEGEN_ELEMENTWISE_H

#include "codegen/CodeBuilder.h"
#include "ir/dialect/TileOps.h"

#include <array>

namespace tile::codegen {

/// What the generated code may use.
struct TargetInfo {
  int vectorBits = 128;
  bool hasF16c = false;
  /// Adds, subtracts and multiplies f16: as in f32 and rounded, which has the same bits.
  bool hasF16Arithmetic = false;
  /// Has an instruction that rounds f32 to bf16, to nearest even.
  bool hasBf16Rounding = false;
  /// A thread has NVIDIA's instructions between f32, or f16, and 8-bit floats.
  bool hasF8Conversions = false;
  bool hasFma = false;
  bool hasAvx512dq = false;
  /// Outputs of this size and more are stored past the caches, which they would only empty.
  int64_t streamedBytes = int64_t(64) << 20;
  /// No more than that; outputs of this size are stored past the caches, too, if programs store
  /// them in rows of a few lines, far from each other: caches would wait for what stands in each.
  int64_t scatteredBytes = int64_t(32) << 20;
  /// What a core has for itself.
  int64_t coreCacheBytes = int64_t(1) << 20;

  /// The code of one thread among many, with no C library to call: everything is a scalar, and a
  /// branch that few take costs little.
  bool isThread = false;
  /// Of such a thread: what few arguments need is a function apart, called in a branch. Without, it
  /// is computed for all.
  bool hasRareCalls = false;
  /// All sines are of arguments up to `mostF32Angle`, or their result isn't used.
  bool hasSmallAngles = false;

  /// Every access is told, one element after the other.
  bool sanitizes = false;

  /// Lanes of the vectors that nests run on.
  int lanes() const { return sanitizes || isThread ? 1 : vectorBits / 32; }
};

/// The type that an element has in registers, and in memory.
mlir::Type registerType(mlir::Type element);
mlir::Type memoryType(mlir::Type element);
bool isNarrowFloat(mlir::Type element);

/// A constant of an element type, as its register type has it.
mlir::Value emitConstant(CodeBuilder &b, mlir::TypedAttr value);
/// The op on these operands: scalars, or vectors of one width.
mlir::Value emitElementwise(CodeBuilder &b, const TargetInfo &target, mlir::Operation *op,
                            llvm::ArrayRef<mlir::Value> operands);
/// Cost of an element in rough additions; what to recompute and what to keep.
int costOf(mlir::Operation *op);

/// Narrow floats (as bits) to f32 and back, rounding to nearest even or toward zero.
mlir::Value widenToF32(CodeBuilder &b, const TargetInfo &target, mlir::Value bits,
                       mlir::FloatType from);
mlir::Value roundFromF32(CodeBuilder &b, const TargetInfo &target, mlir::Value value,
                         mlir::FloatType to, bool towardZero = false);

/// x / y for f32 that share y, correctly rounded: x, scalars or lanes, times 1/y, which is known to
/// more than 100 bits as a sum of two f64.
mlir::Value divideByShared(CodeBuilder &b, mlir::Value x, mlir::Value y);

/// f32 to the nearest with 10 bits of mantissa, ties to even.
mlir::Value roundToTf32(CodeBuilder &b, mlir::Value value);

/// The four words of a block of random bits, as i32; seed, stream and the block's number are i64.
std::array<mlir::Value, 4> emitPhiloxBlock(CodeBuilder &b, mlir::Value seed, mlir::Value stream,
                                           mlir::Value block);
/// The word of a block for the draw at `position`, from 0 to 3, of which conditions may flip bits;
/// null conditions don't.
mlir::Value pickWord(CodeBuilder &b, llvm::ArrayRef<mlir::Value> words, ir::DrawKind kind,
                     unsigned position, mlir::Value flipsLow, mlir::Value flipsHigh);
/// Random bits of seed, stream and index, with a block for each.
mlir::Value emitPhilox(CodeBuilder &b, ir::PhiloxOp op, llvm::ArrayRef<mlir::Value> operands);
/// By how much a sum of integers grows from one coordinate of an axis to the next, where that is
/// easily seen; `isMove` tells ops that give what they take. Adds terms without the axis to `rest`.
std::optional<int64_t> stepAlong(mlir::StringAttr axis, mlir::Value value,
                                 llvm::function_ref<bool(mlir::Operation *)> isMove,
                                 llvm::SmallVectorImpl<mlir::Value> &rest);
/// Whether neighbours along an axis draw neighbouring numbers of one seed and stream.
bool drawsAlong(ir::PhiloxOp op, mlir::StringAttr axis,
                llvm::function_ref<bool(mlir::Operation *)> isMove,
                llvm::SmallVectorImpl<mlir::Value> &rest);

/// Functions that neither LLVM nor the C library is to be asked for; null where
/// the op needs no expansion.
mlir::Value expandFunction(CodeBuilder &b, const TargetInfo &target, mlir::Operation *op,
                           llvm::ArrayRef<mlir::Value> operands);

/// The tanh of an f32 x below `smallTanh` is x + x · x² · p(x²): p, highest power first.
inline constexpr double smallTanh = 0.625;
inline constexpr double tanhTerms[] = {0.00228962618631, -0.00834118892543, 0.0217680754959,
                                       -0.0539591558022, 0.13333303118,     -0.333333331692};

/// Up to here the sine, cosine and tangent of a thread's f32 are computed in f32 alone.
inline constexpr double mostF32Angle = 65536;

/// Of math's functions on f64 scalars, those that are expanded where there is no library; null for
/// others. MathF64.cpp.
mlir::Value expandInF64(CodeBuilder &b, const TargetInfo &target, mlir::Operation *op,
                        llvm::ArrayRef<mlir::Value> operands);
mlir::Value expandPowF32(CodeBuilder &b, mlir::Value x, mlir::Value y);
/// Whether a function of f32 or f64 needs no library.
bool hasExpansion(mlir::Operation *op);

/// Calls a function of numbers that the module has under this name; made, with what `body` gives
/// for its arguments, when it is asked for first. It is not inlined.
CodeBuilder::Values callApart(CodeBuilder &b, llvm::StringRef name, mlir::ValueRange arguments,
                              llvm::function_ref<CodeBuilder::Values(mlir::ValueRange)> body);

/// What a region of scalar ops gives at its end for these arguments, scalars or vectors; `scalar`
/// is asked for what it uses from outside.
CodeBuilder::Values emitCombination(CodeBuilder &b, const TargetInfo &target, mlir::Block &body,
                                    mlir::ValueRange arguments,
                                    llvm::function_ref<mlir::Value(mlir::Value)> scalar);

/// x combined with y; the identity of a combination.
mlir::Value emitCombine(CodeBuilder &b, const TargetInfo &target, ir::CombineKind kind,
                        mlir::Type element, mlir::Value x, mlir::Value y);
mlir::TypedAttr identityOf(ir::CombineKind kind, mlir::Type element);

} // namespace tile::codegen

#endif // TILE_CODEGEN_ELEMENTWISE_H
