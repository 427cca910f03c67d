//===- CodeBuilder.h - builds low-level loops and vector code -------------===//
//
// An op builder for the LLVM-level functions that the backends emit: arith
// on scalars and vectors, memory by pointers, and control flow as plain blocks.
// A value of one lane is a scalar; scalars widen to vectors where they meet one.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_CODEBUILDER_H
#define TILE_CODEGEN_CODEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tile::codegen {

class CodeBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Values = llvm::SmallVector<Value>;

  /// Whether what is expanded here may branch: a loop's own code may, what goes before it stays in
  /// one block.
  bool mayBranch = false;

  //===-- Constants and lanes ---------------------------------------------===//
  Value i64(int64_t value);
  Value i1(bool value);
  /// A number of a scalar or vector type; floats take `value` as it is.
  Value integer(Type type, int64_t value);
  Value number(Type type, double value);
  /// 0, 1, 2, … as i64 lanes.
  Value iota(int width);
  Value splat(Value scalar, int width);
  /// Widens all scalars among them if any is a vector.
  void unify(llvm::MutableArrayRef<Value> values);
  Value lane(Value vector, int index);
  Value lanes(Value vector, int first, int count);
  Value insert(Value vector, Value scalar, int index);
  Value shuffle(Value vector, llvm::ArrayRef<int32_t> lanes);
  /// Gives lane 0 of all vectors, then lane 1 of all, and so on, in as many vectors: n of them, of
  /// at least n lanes, which are a power of two. Fastest where n is one, too.
  Values transpose(Values rows);

  //===-- Integers and conditions, scalar or vector -----------------------===//
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value minS(Value a, Value b);
  Value maxS(Value a, Value b);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);
  /// Null stands for "always".
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  /// Whether a lane is true.
  Value any(Value lanes);
  Value select(Value condition, Value a, Value b);
  Value bitcast(Value value, Type type);
  /// Division toward −∞ for all inputs: x / 0 = 0.
  Value floorDiv(Value x, Value y);
  /// x − floorDiv(x, y) · y, so x % 0 = x.
  Value floorMod(Value x, Value y);

  //===-- Memory ----------------------------------------------------------===//
  enum CacheLevel { secondLevel = 2, firstLevel = 3 }; // as LLVM counts locality
  Type ptr();
  Value at(Value base, Value offset, Type element);
  Value load(Type type, Value pointer, bool isInvariant);
  void store(Value value, Value pointer);
  /// Asks for a cache line that is soon read. At addresses that are nobody's, nothing happens.
  void prefetch(Value pointer, CacheLevel level);
  /// Of scalars that other threads may read and write meanwhile: no part of them, and not twice.
  Value loadShared(Type type, Value pointer);
  void storeShared(Value value, Value pointer);
  /// Past the caches; the address is a multiple of the value's size.
  void storeStreamed(Value value, Value pointer);

  //===-- Control flow ----------------------------------------------------===//
  using LoopBody = llvm::function_ref<Values(Value index, mlir::ValueRange carried)>;
  /// for (index = lo; index < hi; index += step): the body gives the next
  /// carried values. Leaves the builder after the loop. Without `mayUnroll` each round stays one:
  /// assemblers of GPUs take few rounds for one block of code, whose values are all there at once.
  Values loop(Value lo, Value hi, Value step, mlir::ValueRange inits, LoopBody body,
              bool mayUnroll = true);
  using Branch = llvm::function_ref<Values()>;
  Values branch(Value condition, Branch then, Branch otherwise);
  /// Repeats `body`, which gives (go on?, carried values), until it says no.
  Values repeat(mlir::ValueRange inits,
                llvm::function_ref<std::pair<Value, Values>(mlir::ValueRange)> head,
                llvm::function_ref<Values(mlir::ValueRange)> body,
                llvm::ArrayRef<Type> resultTypes);
  /// A new block after the current one; its arguments have these types.
  mlir::Block *newBlock(mlir::TypeRange types);

  template <typename OpT, typename... Args>
  Value fold(Args &&...args) {
    return createOrFold<OpT>(std::forward<Args>(args)...);
  }
};

/// Lanes of a value: 1 for scalars.
int widthOf(mlir::Value value);
mlir::Type elementOf(mlir::Type type);
/// `element` itself for one lane, else a vector.
mlir::Type lanesOf(mlir::Type element, int width);

} // namespace tile::codegen

#endif // TILE_CODEGEN_CODEBUILDER_H
