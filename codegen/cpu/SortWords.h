//===- SortWords.h - a function that sorts numbers without a sign ---------===//
//
// An element of a line becomes one number, a word: its key in the high bits, its place in the low
// ones. No two are equal, so any way to sort them is stable.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_CPU_SORTWORDS_H
#define TILE_CODEGEN_CPU_SORTWORDS_H

#include "codegen/CodeBuilder.h"

namespace tile::codegen {

/// The words of a sort.
struct SortWords {
  unsigned keyBits = 32; // 32 or 64
  unsigned bits = 64;    // 64 or 128: a place has what the key leaves of them

  /// Gives the words for lines of up to so many elements.
  static SortWords of(unsigned keyBits, int64_t mostElements);

  mlir::Type type(CodeBuilder &b) const { return b.getIntegerType(bits); }
  /// Takes scalars, or lanes where a word has 64 bits. The place is an i64.
  mlir::Value make(CodeBuilder &b, mlir::Value key, mlir::Value place) const;
  mlir::Value keyOf(CodeBuilder &b, mlir::Value word) const;
  mlir::Value placeOf(CodeBuilder &b, mlir::Value word) const;

  /// Sorts `count` words at `words`; both it and `spare` have room for them. Gives that of the two
  /// where they are then. The code is a function of the module, made where it is asked for first:
  /// few words are merged, more go through one round for each byte of their keys.
  mlir::Value sort(CodeBuilder &b, mlir::Value words, mlir::Value spare, mlir::Value count) const;
};

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_SORTWORDS_H
