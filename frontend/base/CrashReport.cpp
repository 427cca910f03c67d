//===- CrashReport.cpp - a reproducer for faults of tilec -----------------===//

#include "frontend/base/CrashReport.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <new>
#include <system_error>
#include <unistd.h>

using namespace tile::frontend;

// A handler of signals may only read what is there already and call the
// system: everything it writes stands ready in these strings.
namespace {
std::string commandLine, sources;
/// Each thread's own: several may compile.
thread_local std::string activity, irText;
/// Where the report goes; the second where the first can't be written.
std::string reportPaths[2];
/// Stack overflows leave no other stack to run on.
alignas(16) char alternateStack[1 << 16];
/// What launches that go on have promised; null where there is none.
std::atomic<const char *> promises[64];

void put(int file, const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(file, text, length);
    if (written <= 0)
      return;
    text += written;
    length -= size_t(written);
  }
}
void put(int file, const char *text) { put(file, text, strlen(text)); }
void put(int file, const std::string &text) { put(file, text.data(), text.size()); }

void writeReport(int file, const char *what) {
  put(file, "what happened: ");
  put(file, what);
  put(file, "\nwhile: ");
  put(file, activity.empty() ? "starting" : activity.c_str());
  put(file, "\ncommand line: ");
  put(file, commandLine);
  put(file, "\n");
  put(file, sources);
  if (irText.empty())
    return;
  put(file, "\n===== IR\n");
  put(file, irText);
}

[[noreturn]] void die(const char *what) {
  llvm::sys::RunInterruptHandlers(); // temporary files
  put(STDERR_FILENO, "tilec: internal error: ");
  put(STDERR_FILENO, what);
  if (!activity.empty()) {
    put(STDERR_FILENO, ", while ");
    put(STDERR_FILENO, activity);
  }
  put(STDERR_FILENO, "\nThis is a fault of tilec, not of your program. ");
  for (const std::string &path : reportPaths) {
    // A file of that name is somebody else's, and a link leads elsewhere.
    int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
      continue;
    writeReport(file, what);
    close(file);
    put(STDERR_FILENO, "What reproduces it was written to ");
    put(STDERR_FILENO, path);
    put(STDERR_FILENO, ".\n");
    break;
  }
  _exit(CrashReport::exitCode);
}

[[noreturn]] void dieOfMemory() {
  llvm::sys::RunInterruptHandlers();
  put(STDERR_FILENO, "error: there is not enough memory");
  if (!activity.empty()) {
    put(STDERR_FILENO, ": it ran out while ");
    put(STDERR_FILENO, activity);
  }
  put(STDERR_FILENO, "\nhint: use smaller shapes or a smaller program, or free memory\n");
  _exit(CrashReport::noMemoryCode);
}

/// Ends the process if a program that runs has promised not to do this.
void blamePrograms() {
  bool isPromised = false;
  for (const std::atomic<const char *> &promise : promises)
    if (const char *text = promise) {
      isPromised = true;
      put(STDERR_FILENO, text);
    }
  if (!isPromised)
    return;
  llvm::sys::RunInterruptHandlers();
  _exit(CrashReport::brokenPromiseCode);
}

/// Of an exception that nobody catches.
[[noreturn]] void onTerminate() {
  try {
    if (std::exception_ptr exception = std::current_exception())
      std::rethrow_exception(exception);
  } catch (const std::bad_alloc &) {
    dieOfMemory();
  } catch (const std::system_error &error) {
    // Threads are memory, too.
    if (error.code() == std::errc::resource_unavailable_try_again ||
        error.code() == std::errc::not_enough_memory)
      dieOfMemory();
  } catch (...) {
  }
  die("an exception that nobody expected");
}

void onSignal(int signal) {
  if (signal == SIGSEGV || signal == SIGBUS)
    blamePrograms();
  switch (signal) {
  case SIGSEGV:
    die("access to memory that is not there (SIGSEGV)");
  case SIGBUS:
    die("access to memory that is not there (SIGBUS)");
  case SIGFPE:
    die("an impossible division (SIGFPE)");
  case SIGILL:
    die("an instruction that this machine lacks (SIGILL)");
  default:
    die("an assertion failed (SIGABRT)");
  }
}

void onFatalError(void *, const char *reason, bool) { die(reason); }

std::string quoteArgument(llvm::StringRef text) {
  if (!text.empty() && text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                              "0123456789_-=./:,+@%") == llvm::StringRef::npos)
    return text.str();
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}
} // namespace

void CrashReport::install(int argc, const char *const *argv) {
  commandLine.clear();
  sources.clear();
  for (int n = 0; n < argc; ++n)
    commandLine += (n ? " " : "") + quoteArgument(argv[n]);
  reportPaths[0] = "tilec-crash-" + std::to_string(getpid()) + ".txt";
  reportPaths[1] = "/tmp/" + reportPaths[0];
  // LLVM's handlers of interrupts remove temporary files. They come first: those of faults below
  // are ours.
  struct sigaction ignored[3];
  constexpr int interrupts[] = {SIGHUP, SIGINT, SIGTERM};
  for (size_t n = 0; n < std::size(interrupts); ++n)
    sigaction(interrupts[n], nullptr, &ignored[n]);
  llvm::sys::SetInterruptFunction(nullptr);
  for (size_t n = 0; n < std::size(interrupts); ++n)
    if (ignored[n].sa_handler == SIG_IGN) // nohup
      sigaction(interrupts[n], &ignored[n], nullptr);
  stack_t stack = {};
  stack.ss_sp = alternateStack;
  stack.ss_size = sizeof(alternateStack);
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signal, &action, nullptr);
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(onFatalError);
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { dieOfMemory(); });
  std::set_terminate(onTerminate);
}

void CrashReport::addSource(llvm::StringRef name, llvm::StringRef text) {
  // A report of a hundred megabytes helps nobody.
  constexpr size_t limit = 1 << 20;
  sources += "\n===== source " + name.str() + "\n" + text.take_front(limit).str();
}

void CrashReport::fail(llvm::StringRef message) { die(message.str().c_str()); }

CrashReport::Scope::Scope(std::string what, mlir::Operation *op)
    : previousActivity(std::move(activity)), previousIR(std::move(irText)) {
  activity = std::move(what);
  irText.clear();
  if (!op)
    return;
  llvm::raw_string_ostream stream(irText);
  op->print(stream, mlir::OpPrintingFlags().assumeVerified());
}

CrashReport::Scope::~Scope() {
  activity = std::move(previousActivity);
  irText = std::move(previousIR);
}

CrashReport::Promise::Promise(const char *text) {
  const char *none = nullptr;
  if (text)
    for (std::atomic<const char *> &candidate : promises)
      if (none = nullptr; candidate.compare_exchange_strong(none, text)) {
        slot = &candidate;
        return;
      }
}

CrashReport::Promise::~Promise() {
  if (slot)
    *slot = nullptr;
}
