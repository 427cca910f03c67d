//===- CrashReport.cpp - a reproducer for faults of tilec -----------------===//

#include "frontend/CrashReport.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
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
  put(STDERR_FILENO, "tilec: internal error: ");
  put(STDERR_FILENO, what);
  if (!activity.empty()) {
    put(STDERR_FILENO, ", while ");
    put(STDERR_FILENO, activity);
  }
  put(STDERR_FILENO, "\nThis is a fault of tilec, not of your program. ");
  for (const std::string &path : reportPaths) {
    int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
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

void onSignal(int signal) {
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
  stack_t stack = {};
  stack.ss_sp = alternateStack;
  stack.ss_size = sizeof(alternateStack);
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signal, &action, nullptr);
  llvm::install_fatal_error_handler(onFatalError);
  std::set_terminate([] { die("an exception that nobody expected"); });
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
