//===- CompilerId.h - which compiler this is ------------------------------===//
#ifndef TILE_CODEGEN_COMPILERID_H
#define TILE_CODEGEN_COMPILERID_H

#include <string>

namespace tile::codegen {

/// A hash of the sources that decide what code a kernel becomes, and LLVM's version: what is kept
/// of one compiler is not for another.
std::string compilerId();

} // namespace tile::codegen

#endif // TILE_CODEGEN_COMPILERID_H
