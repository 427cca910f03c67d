//===- CompilerId.cpp - which compiler this is ----------------------------===//

#include "codegen/CompilerId.h"

#include "codegen/Fingerprint.h"

#include "llvm/Config/llvm-config.h"

std::string tile::codegen::compilerId() {
  return std::string("tilec ") + sourcesFingerprint + ", LLVM " + LLVM_VERSION_STRING;
}
