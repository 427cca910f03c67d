// fuzz_graphs_planted: whether random graphs catch each bug that is planted in the fuser.

#include "tests/fuzz/graphs/GraphHarness.h"
#include "tests/fuzz/graphs/Planted.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

using namespace tile::fuzz;

/// Graphs that have caught a bug before: most catch several, and some bugs took a thousand others.
static constexpr uint64_t known[] = {
    212074396793477, 137169177710105, 27977962373301,  52513074657644,  29673012531135,
    29197279977618,  137099033927940, 247990019174105, 100410156762837, 65826787351688,
    44983477770259,  186686153446240, 220187792800504, 259427205219248, 67584176331945,
    7497065556050,   18472704591932};

/// Runs graphs until one fails, known ones first; a process of its own, which may crash or hang.
/// Exits with 0 if one did.
static void hunt(unsigned bug, uint64_t seed, uint64_t count) {
  GraphOptions options;
  options.percentOnCpu = options.percentPlannedForGpu = 0;
  for (uint64_t n = 0; n < std::size(known) + count; ++n) {
    uint64_t graph = n < std::size(known)
                         ? known[n]
                         : Random(seed * 0x2545f4914f6cdd1d + n - std::size(known)).next() >> 16;
    GraphProgram program = generateGraph(graph);
    GraphOutcome outcome;
    static_cast<Outcome &>(outcome) = runApart([&] {
      tile::ir::planted = bug;
      alarm(20); // a bug may make an endless loop
      return check(program, options);
    });
    if (outcome.kind != Outcome::Kind::Failed)
      continue;
    std::printf("caught: %s: by graph %" PRIu64 ", the %" PRIu64 ".: %s: %s\n",
                plantedBugs[bug - 1], graph, n + 1, outcome.category.c_str(),
                outcome.detail.substr(0, 100).c_str());
    std::fflush(stdout);
    _exit(0);
  }
  std::printf("NOT CAUGHT: %s, by %" PRIu64 " graphs\n", plantedBugs[bug - 1], count);
  std::fflush(stdout);
  _exit(1);
}

int main(int argc, char **argv) {
  uint64_t seed = 1, count = 2000;
  unsigned jobs = 2, only = 0;
  for (int n = 1; n + 1 < argc; n += 2) {
    uint64_t value = std::strtoull(argv[n + 1], nullptr, 10);
    if (std::strcmp(argv[n], "--seed") == 0)
      seed = value;
    else if (std::strcmp(argv[n], "--count") == 0)
      count = value;
    else if (std::strcmp(argv[n], "--bug") == 0)
      only = static_cast<unsigned>(value);
    else if (std::strcmp(argv[n], "--jobs") == 0 && value)
      jobs = static_cast<unsigned>(value);
    else {
      std::printf("Usage: fuzz_graphs_planted [--seed S] [--count N] [--jobs N] [--bug NUMBER]\n\n"
                  "Plants each bug and runs up to N random graphs until one notices.\n");
      return 2;
    }
  }
  unsigned running = 0, missed = 0, total = 0;
  auto finish = [&] {
    int status = 0;
    wait(&status);
    --running;
    missed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  };
  for (unsigned bug = 1; bug <= plantedBugs.size(); ++bug) {
    if (only && bug != only)
      continue;
    while (running >= jobs)
      finish();
    std::fflush(stdout);
    ++total;
    ++running;
    if (fork() == 0)
      hunt(bug, seed, count);
  }
  while (running)
    finish();
  std::printf("%u of %u planted bugs were caught\n", total - missed, total);
  return missed != 0;
}
