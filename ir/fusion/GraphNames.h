//===- GraphNames.h - reasons in the words of a graph's source ------------===//
#ifndef TILE_IR_FUSION_GRAPHNAMES_H
#define TILE_IR_FUSION_GRAPHNAMES_H

#include "ir/fusion/GraphShapes.h"

namespace tile::ir {

/// What the source calls a tensor: an input, what a call gives, else the output of its kernel.
std::string nameOfTensor(mlir::Value tensor, GraphOp graph, GraphShapes &shapes);

/// An element of a tensor, or a part of it: its name, which may be an expression, and the index.
std::string indexed(llvm::StringRef tensor, llvm::StringRef index);

/// Of kernels that are one: "product + add_row", "product + … + gelu(s)".
std::string joinNames(llvm::ArrayRef<llvm::StringRef> names);

/// A text on a call's kernel, with what the graph has for the kernel's dims in their places: those
/// of an expression have names that nobody wrote, and `extent1` may be `N / 2`.
std::string inDimsOfGraph(CallOp call, llvm::StringRef text, GraphOp graph, GraphShapes &shapes);

/// A call, and what the source calls what it does.
struct NamedCall {
  CallOp call;
  std::string name;
};

/// Behind a symbol in a reason: that of the second call, where both call one kernel.
inline constexpr char secondMark[] = "'";

/// A reason why two calls, producer and consumer or siblings, stay apart, with names of the source
/// in the place of symbols, and those of values in the place of `symbol.output`. `nameOfOther` has
/// the names of other symbols; empty for what is none.
std::string inWordsOfGraph(llvm::StringRef reason, NamedCall first, NamedCall second, GraphOp graph,
                           GraphShapes &shapes,
                           llvm::function_ref<std::string(llvm::StringRef)> nameOfOther);

} // namespace tile::ir

#endif // TILE_IR_FUSION_GRAPHNAMES_H
