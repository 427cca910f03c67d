//===- tilec.cpp - the program --------------------------------------------===//

#include "frontend/cli/CommandLine.h"

#include <cerrno>
#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

/// A file that is opened must not come to stand where a closed stream was: writing to what stands
/// there instead fails, as writing to a closed stream does.
static void holdClosedStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      (void)open("/dev/null", O_RDONLY);
}

int main(int argc, char **argv) {
  holdClosedStreams();
  return tile::frontend::cli::runCommandLine(argc, argv);
}
