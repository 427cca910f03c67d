//===- Compile.h - what tilec compile makes of a file ---------------------===//
//
// One call of `tilec compile`: it loads the sources (CompileCommand.cpp), and makes of them what
// --emit names: IR and code of kernels (CompileKernel.cpp), or an artifact (CompileArtifact.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_CLI_COMPILE_H
#define TILE_FRONTEND_CLI_COMPILE_H

#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/cli/Inputs.h"
#include "frontend/execute/TileSizes.h"
#include "frontend/fusion/Fusion.h"
#include "frontend/model/DeviceDescription.h"
#include "frontend/tile/Fuse.h"
#include "ir/transforms/Specialize.h"

#include "llvm/ADT/StringExtras.h"

namespace tile::frontend::cli {

struct CompileOptions {
  /// No target: the processor that compiles, or the default GPU.
  std::string entry, output, emit = "tile", target;
  std::vector<std::string> files, dims, types;
  ScheduleOptions schedule;
  std::string fuse = nameOf(defaultFuseMode).str();
  bool noCache = false, cubins = false, json = false;
  SourceOptions source;
  PipelineOptions pipeline;
};

class Compile {
public:
  explicit Compile(const CompileOptions &options) : options(options), session(options.source) {}

  int run() {
    Outcome<std::string> result = compile();
    if (!result)
      return failCall(session, result.takeFailure(), options.json);
    if (auto written = write(*result); !written)
      return failCall(session, written.takeFailure(), options.json);
    int code = session.finish();
    if (options.json)
      printReport(*result, code);
    return code;
  }

private:
  Outcome<std::string> compile();
  Outcome<dsl::LoadedFile *> load(const std::string &path);
  Outcome<std::vector<dsl::DeclRef>> declarations(dsl::LoadedFile &file, const std::string &name);
  Outcome<std::monostate> elaborate(dsl::LoadedFile &file, const std::string &name);
  Outcome<std::monostate> loadIr(const std::string &path, const std::string &name);
  Outcome<std::vector<dsl::TypeBindings>> instances(dsl::DeclRef decl);
  Outcome<std::monostate> checkTypes(llvm::ArrayRef<dsl::DeclRef> decls) const;
  Outcome<std::monostate> checkDims();
  ir::Bindings bindingsOf(ir::KernelOp kernel) const;
  Outcome<std::string> emitTile();
  Outcome<std::string> emitLoops();
  Outcome<std::monostate> checkTarget() const;
  void bindDimsOfCall(ir::GraphOp graph, ir::KernelOp kernel);
  Outcome<ir::KernelOp> oneKernel(const DeviceDescription &device);
  Outcome<std::string> emitForCpu();
  Outcome<std::string> emitForGpu();
  Outcome<std::string> emitArtifact();
  Outcome<std::string> fuse(const std::string &symbol, const DeviceDescription &device);
  std::string cpu() const {
    return options.target.empty() || options.target == "cpu" ? "native" : options.target;
  }
  /// What only GPUs have.
  bool emitsGpuCode() const {
    return llvm::is_contained({"plan", "gpu", "ptx", "cubin", "sass"},
                              llvm::StringRef(options.emit));
  }
  bool isForGpu() const { return runtime::GpuTarget::find(options.target) || emitsGpuCode(); }
  Outcome<std::monostate> write(const std::string &text);
  void printReport(const std::string &text, int code) const;

  const CompileOptions &options;
  Session session;
  llvm::StringMap<int64_t> dims;
  TileSizes sizes;
};

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_COMPILE_H
