//===- CommandServer.cpp - many command lines of tilec in one process -----===//
//
//   tile_command_server FOLDER [--cuda]
//
// Making a CUDA context takes a fifth of a second, one process after the other,
// whatever the number of processes. Tests that run tilec a thousand times do it in
// a few processes that stay (tilec_runs.py), and have their context all the time.
//
// A request is a line of standard input: a JSON array of the folder to run in and
// the words behind `tilec`. What the run prints is in FOLDER/out and FOLDER/err
// when the answer comes, a line with its exit code. " lost" behind it says that the
// device can't be used any more: a kernel of this run has failed, and the process
// ends. A fault of tilec ends it without an answer.
//
//===----------------------------------------------------------------------===//

#include "frontend/cli/CommandLine.h"
#include "runtime/cuda/Stream.h"

#include "llvm/Support/JSON.h"

#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace cuda = tile::runtime::cuda;

namespace {
/// Keeps the context of the first device, so that no run makes one; without a device nothing.
class HeldDevice {
public:
  HeldDevice() {
    auto driver = cuda::Driver::open();
    if (!driver)
      return;
    auto device = cuda::Device::open(*std::move(driver));
    if (!device)
      return;
    if (auto made = cuda::Stream::create(*std::move(device)))
      stream = *std::move(made);
  }

  /// After a kernel that failed every call does, a wait for nothing, too.
  bool isLost() const { return stream && !stream->synchronize(); }

private:
  std::shared_ptr<cuda::Stream> stream;
};

struct Request {
  std::string folder;
  std::vector<std::string> words;
};
} // namespace

static std::optional<Request> parse(const std::string &line) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(line);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  Request request;
  const llvm::json::Array *list = value->getAsArray();
  for (size_t n = 0; list && n < list->size(); ++n) {
    std::optional<llvm::StringRef> text = (*list)[n].getAsString();
    if (!text)
      return std::nullopt;
    if (n == 0)
      request.folder = text->str();
    else
      request.words.push_back(text->str());
  }
  return request.folder.empty() ? std::nullopt : std::optional(std::move(request));
}

/// From now on what is written to the stream goes to the file, which is empty.
static bool redirect(int stream, const std::string &path) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  bool isDone = file >= 0 && dup2(file, stream) == stream;
  if (file >= 0)
    close(file);
  return isDone;
}

static int fail(const std::string &what) {
  std::cerr << "tile_command_server: error: " << what << std::endl;
  return 2;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3 || (argc == 3 && std::string(argv[2]) != "--cuda"))
    return fail("usage: tile_command_server FOLDER [--cuda]");
  std::string place = argv[1];
  std::optional<HeldDevice> device;
  if (argc == 3)
    device.emplace();
  int answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  // What reads standard input finds its end, not the next request.
  FILE *requests = fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), "r");
  int nothing = open("/dev/null", O_RDONLY);
  if (answers < 0 || !requests || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
    return fail("standard input and output are closed");
  char *line = nullptr;
  size_t room = 0;
  while (getline(&line, &room, requests) > 0) {
    std::optional<Request> request = parse(line);
    if (!request)
      return fail(std::string("no request: ") + line);
    if (chdir(request->folder.c_str()) != 0)
      return fail("there is no folder " + request->folder);
    if (!redirect(STDOUT_FILENO, place + "/out") || !redirect(STDERR_FILENO, place + "/err"))
      return fail("can't write in " + place);
    std::vector<const char *> words{"tilec"};
    for (const std::string &word : request->words)
      words.push_back(word.c_str());
    int code = tile::frontend::cli::runCommandLine(static_cast<int>(words.size()), words.data());
    bool isLost = device && device->isLost();
    std::string answer = std::to_string(code) + (isLost ? " lost\n" : "\n");
    if (write(answers, answer.data(), answer.size()) != static_cast<ssize_t>(answer.size()))
      return fail("nobody listens");
    if (isLost)
      _exit(0); // there is nothing that could be given back
  }
  free(line);
  return 0;
}
