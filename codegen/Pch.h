// Precompiled for every source of codegen/ that emits ops: the upstream headers they all read.
#include "ir/dialect/TileOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"
