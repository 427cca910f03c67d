//===- Interface.h - what a kernel or graph takes and gives ---------------===//
//
// The same view of kernels and graphs: inputs in the order of a call, outputs
// in the order of its results. An `inout` parameter is both.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_BASE_INTERFACE_H
#define TILE_FRONTEND_BASE_INTERFACE_H

#include "ir/dialect/TileOps.h"
#include "runtime/tensor/DType.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::frontend {

struct Port {
  std::string name;
  runtime::DType type = runtime::DType::F32;
  bool isTensor = false;
  /// Position among the parameters of a kernel or graph, or the results of a graph.
  unsigned position = 0;
  ir::ParamMode mode = ir::ParamMode::In;
  /// "M, K", as the signature says.
  std::string shape;
  /// The bits of a scalar's default.
  std::optional<uint64_t> defaultBits;

  /// "x: f32[M, K]"
  std::string str() const;
};

struct Interface {
  std::string name;
  std::vector<Port> inputs, outputs;

  const Port *input(llvm::StringRef name) const;
};

/// Of a kernel or graph.
Interface interfaceOf(mlir::Operation *function);

/// `matmul` of the symbol `matmul.f16`: the name in the source.
llvm::StringRef sourceName(llvm::StringRef symbol);

/// The bits of a number of the given type: little-endian, in the low end.
uint64_t bitsOf(mlir::Attribute number);

} // namespace tile::frontend

#endif // TILE_FRONTEND_BASE_INTERFACE_H
