//===- Session.h - what the commands of tilec share -----------------------===//
//
// One file with what it imports, on its way through the compiler, and how its
// errors reach the user.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_CLI_SESSION_H
#define TILE_FRONTEND_CLI_SESSION_H

#include "dsl/Elaborator.h"
#include "frontend/base/Outcome.h"
#include "frontend/cli/ExitCode.h"
#include "frontend/execute/Compiler.h"
#include "frontend/execute/TileSizes.h"

namespace tile::frontend::cli {

/// Flags that all commands that read sources have.
struct SourceOptions {
  std::vector<std::string> includePath;
  bool importsFromAnywhere = false;
  std::vector<std::string> warnings;
  unsigned errorLimit = 20;
  std::string colour = "auto";
  bool timing = false;
};

/// Flags of the commands that make or run code: tile sizes of --set, over those of --schedule.
struct ScheduleOptions {
  std::vector<std::string> sizes;
  std::string file;

  bool isGiven() const { return !sizes.empty() || !file.empty(); }
  Outcome<TileSizes> read() const;
};

/// Flags of the commands that run the pipeline.
/// Returns whether a name is that of a pass of GPUs, or of a stage of making their code.
bool isOfGpus(llvm::StringRef pass);

struct PipelineOptions {
  std::vector<std::string> printAfter;
  std::string stopAfter;
};

class Session {
public:
  explicit Session(const SourceOptions &options);
  /// Prints what has not been printed.
  ~Session();

  /// Reads and parses a file, `-` for standard input.
  Outcome<dsl::LoadedFile *> load(const std::string &path);
  /// Whether a path names a file that was loaded, imported ones among them.
  bool isSource(const std::string &path) const;
  /// The kernel or graph of that name; without a name the only graph, or the only kernel unless
  /// it has to be a graph.
  Outcome<dsl::DeclRef> entry(dsl::LoadedFile &file, const std::string &name,
                              bool wantsGraph = false);
  /// Elaborates; the symbol.
  Outcome<std::string> elaborate(dsl::DeclRef decl, const dsl::TypeBindings &types);
  /// Makes the compiler do what the flags say. Fails on names that no pass has.
  Outcome<std::monostate> configure(const PipelineOptions &options);

  /// Keeps compiled code in the cache on disk from now on. Warns where that can't be.
  void useCache();

  /// Prints the diagnostics so far, and the failure, unless it has no message: then they tell it.
  /// Returns the exit code for it.
  int fail(Failure failure);
  /// Prints the diagnostics so far (warnings, if all went well); success unless there are errors.
  int finish();

  mlir::ModuleOp module() { return elaborator.module(); }

  mlir::MLIRContext context;
  dsl::DiagnosticEngine diags;
  dsl::Program program;
  dsl::Elaborator elaborator;
  dsl::DiagnosticBridge bridge;
  Compiler compiler;

private:
  void print();
  void observe(llvm::StringRef pass, llvm::function_ref<void(llvm::raw_ostream &)> print);
  static void warnOfCache(const runtime::Error &problem);

  SourceOptions options;
  PipelineOptions pipeline;
  bool isPrinted = false;
};

/// Whether messages on standard error are coloured.
bool wantsColour(const std::string &mode);

/// That TILE_NUM_THREADS is a number of threads.
Outcome<std::monostate> checkThreads();

/// A whole text, of a regular file or standard input (`-`). An artifact is refused.
Outcome<std::string> readSource(const std::string &path);

/// How messages call standard input.
constexpr llvm::StringLiteral standardInputName = "<stdin>";

/// FILE and the NAME after it, if there is one: `softmax.tile:softmax`. FILE is `-` for standard
/// input by either of its names.
std::pair<std::string, std::string> splitEntry(const std::string &path);

/// What a command works on, FILE[:NAME] and --entry=NAME: the file and the name, empty without one.
/// Fails where the two name different things.
Outcome<std::pair<std::string, std::string>> chosenEntry(const std::string &file,
                                                         const std::string &entry);

/// "did you mean `x`?", or empty.
std::string didYouMean(const std::string &name, const std::vector<std::string> &candidates);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_SESSION_H
