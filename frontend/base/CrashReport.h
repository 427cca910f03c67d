//===- CrashReport.h - a reproducer for faults of tilec -------------------===//
//
// Once installed, a failed assertion, a fatal error or a signal such as SIGSEGV
// ends the process with exit code 70 and a file that holds what is needed to
// see it again: the command line, the sources and the IR at hand. Its file is a
// new one, for the user's eyes alone. Memory that runs out is no fault: exit
// code 3. Temporary files that LLVM knows of (`RemoveFileOnSignal`) are removed,
// then and where the user interrupts the process.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_BASE_CRASHREPORT_H
#define TILE_FRONTEND_BASE_CRASHREPORT_H

#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <string>

namespace mlir {
class Operation;
}

namespace tile::frontend {

class CrashReport {
public:
  static constexpr int exitCode = 70;
  /// Of memory that ran out, and of promises that a program broke.
  static constexpr int noMemoryCode = 3, brokenPromiseCode = 1;

  /// For a command line; once more for the next one of a process.
  static void install(int argc, const char *const *argv);
  /// Adds a source text to the report.
  static void addSource(llvm::StringRef name, llvm::StringRef text);
  /// Ends the process as a crash does.
  [[noreturn]] static void fail(llvm::StringRef message);

  /// While it lives, the report says what is being done, and with which IR.
  class Scope {
  public:
    explicit Scope(std::string activity, mlir::Operation *op = nullptr);
    ~Scope();
    Scope(const Scope &) = delete;

  private:
    std::string previousActivity, previousIR;
  };

  /// While it lives, code runs whose author has promised where it reads or stores: an access to
  /// memory that is not there is a fault of that program, and this text says so.
  class Promise {
  public:
    /// Null: nothing was promised. The text outlives this.
    explicit Promise(const char *text);
    ~Promise();
    Promise(const Promise &) = delete;

  private:
    std::atomic<const char *> *slot = nullptr;
  };
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_BASE_CRASHREPORT_H
