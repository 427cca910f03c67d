//===- UserError.h - what the user did wrong, in the user's words ---------===//
//
// For checks that have no source line to point at: shapes at a launch, sizes
// from a command line. Errors in sources go to MLIR's diagnostic engine.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_DIALECT_USERERROR_H
#define TILE_IR_DIALECT_USERERROR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::ir {

struct UserError {
  std::string message;
  /// What to do about it; may be empty.
  std::string hint;
};

/// "did you mean `k`? kernel `f` has i, j, k" — advice for a name that is not
/// among the known ones. `what` introduces the list: "kernel `f` has".
std::string adviseName(llvm::StringRef unknown, llvm::ArrayRef<llvm::StringRef> known,
                       llvm::StringRef what);

} // namespace tile::ir

#endif // TILE_IR_DIALECT_USERERROR_H
