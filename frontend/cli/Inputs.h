//===- Inputs.h - what `tilec run --in` gives to a kernel or graph --------===//
#ifndef TILE_FRONTEND_CLI_INPUTS_H
#define TILE_FRONTEND_CLI_INPUTS_H

#include "frontend/cli/Session.h"
#include "frontend/execute/Execution.h"

namespace tile::frontend::cli {

struct Inputs {
  /// One a parameter of the declaration, scalars with rank 0; null where a
  /// default stands in, and where only the shape was asked for.
  std::vector<std::shared_ptr<const runtime::Tensor>> tensors;
  /// By parameter: type and shape, without data; none where a default stands in.
  std::vector<std::optional<runtime::PlacedTensor>> shapes;
  dsl::TypeBindings types;
  /// What was read; nothing of it is left to read.
  std::vector<std::string> files;

  /// Makes the tensors that were not given, of random numbers, in the shapes that the elaborated
  /// kernel has with these dims. Numbers that are integers of more than 8 bits mean something: they
  /// have to be given.
  Outcome<std::monostate> generateMissing(dsl::DeclRef decl, ir::KernelOp kernel,
                                          const llvm::StringMap<int64_t> &dims);

  /// As arguments of the elaborated declaration.
  Outcome<Arguments> arguments(const Interface &interface) const;
  /// As what is only bound and never run: tensors by their shapes.
  Outcome<std::vector<runtime::GraphInput>> bindable(const Interface &interface) const;
  /// The greatest extent among the tensors.
  int64_t largestExtent() const;
};

enum class ReadInputs {
  All,
  /// Tensors are not generated.
  OnlyShapes,
  /// Tensors may be missing: generateMissing makes them.
  GivenOnes,
};

/// Reads or generates all inputs from NAME=SPEC, and binds the declaration's
/// generics: as NAME=TYPE says, else to the types of the tensors.
Outcome<Inputs> readInputs(Session &session, dsl::DeclRef decl,
                           const std::vector<std::string> &specs,
                           const std::vector<std::string> &typeBindings,
                           ReadInputs mode = ReadInputs::All);

/// Element types from NAME=TYPE for a declaration.
Outcome<dsl::TypeBindings> parseTypeBindings(Session &session, dsl::DeclRef decl,
                                             const std::vector<std::string> &texts);

/// Dimensions from NAME=VALUE.
Outcome<llvm::StringMap<int64_t>> parseDims(const std::vector<std::string> &texts);

/// "x: T[M, N]" as the source has it.
std::string declarationOf(const dsl::Param &param, const dsl::SourceFile &source);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_INPUTS_H
