//===- BuilderModuleImpl.h - what is behind tile::Module ------------------===//
#ifndef TILE_FRONTEND_BUILDER_BUILDERMODULEIMPL_H
#define TILE_FRONTEND_BUILDER_BUILDERMODULEIMPL_H

#include "dsl/Elaborator.h"
#include "frontend/execute/Execution.h"
#include "frontend/model/DeviceDescription.h"
#include "frontend/tile/Module.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace tile {

namespace detail {

/// What a module loads: the sources, and the templates made of them.
struct Loaded {
  dsl::DiagnosticEngine diags;
  dsl::Program program;
  dsl::Elaborator elaborator;
  dsl::LoadedFile *root = nullptr;

  Loaded(mlir::MLIRContext &context, std::vector<std::string> folders)
      : program(diags, std::move(folders)), elaborator(context, program, diags) {}
};

/// What an object of the API holds. One that was moved from holds nothing: its use ends the
/// program, in every build.
template <typename Pointer>
auto &held(const Pointer &impl, const char *what) {
  if (!impl) {
    std::fprintf(stderr, "tile: a %s is used that was moved from\n", what);
    std::abort();
  }
  return *impl;
}

/// Collects the errors that MLIR reports while it lives.
class Collector {
public:
  Collector(mlir::MLIRContext &context, std::vector<Error> &errors);

private:
  mlir::ScopedDiagnosticHandler handler;
};

runtime::Error firstOf(const std::vector<Error> &errors, std::string otherwise);
/// The bits of a number as the parameter's type has them.
Result<uint64_t> bitsOf(const frontend::Port &port, const std::string &text);
/// The names of the dimensions of a kernel or graph.
llvm::SmallVector<llvm::StringRef> dimsOf(mlir::Operation *function);

} // namespace detail

struct Module::Impl {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> built;
  std::unique_ptr<detail::Loaded> loaded;
  std::vector<Error> errors;
  std::mutex mutex; // of compiling and running
  frontend::Compiler compiler;
  /// Those of CUDA also by the stream, which is null for a new one.
  std::map<std::tuple<mlir::Operation *, Device, runtime::cuda::Stream *>,
           std::unique_ptr<frontend::Executor>>
      executors;
  /// Graphs that are fused, by what they were and how, the description that was planned for ("cpu",
  /// "cuda": that of this machine's), and the tile sizes.
  std::map<std::tuple<mlir::Operation *, FuseMode, std::string, std::map<std::string, int64_t>>,
           std::string>
      fused;

  Impl();
  dsl::DeclRef declaration(const std::string &name) const;
  std::string names() const;
  frontend::Executor &executor(mlir::ModuleOp module, Device device,
                               std::shared_ptr<runtime::cuda::Stream> stream = nullptr);
};

struct Function::Impl {
  std::shared_ptr<Module::Impl> module;
  CompileOptions options;
  /// Of what was loaded; its generics are bound at each call.
  dsl::DeclRef decl;
  std::string symbol;

  /// The type of an argument by its name; nothing for numbers and what isn't given.
  using TypeOf = llvm::function_ref<std::optional<runtime::DType>(llvm::StringRef)>;
  Result<std::string> instance(TypeOf typeOf) const;
  /// What runs in the place of a kernel or graph, and is planned for these inputs. Without a
  /// description it is for this machine's device, and that is looked for only if nothing is
  /// planned. `executor` is what is to run it: on a GPU its code may speak against what is found.
  std::string running(mlir::ModuleOp module, const std::string &instance,
                      const frontend::DeviceDescription *device, frontend::Executor &executor,
                      llvm::ArrayRef<std::optional<runtime::PlacedTensor>> inputs,
                      const llvm::StringMap<int64_t> &dims) const;
  runtime::Status checkTensors(const std::vector<NamedArgument> &arguments) const;
  Result<frontend::Arguments> order(const frontend::Interface &interface,
                                    llvm::ArrayRef<llvm::StringRef> dims,
                                    const std::vector<NamedArgument> &arguments,
                                    llvm::StringMap<int64_t> &explicitDims) const;
};

} // namespace tile

#endif // TILE_FRONTEND_BUILDER_BUILDERMODULEIMPL_H
