// fuzz_graphs: random graphs of kernels, fused and as they stand. See docs/testing.md.

#include "tests/fuzz/graphs/GraphHarness.h"

#include "dsl/Formatter.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tile::fuzz;

namespace {
struct Options {
  uint64_t seed = 0, count = 500;
  unsigned jobs = 2, shown = 3;
  std::optional<uint64_t> graph;
  bool prints = false, refusals = false, showsIR = false;
  GraphOptions check;
};

/// What a worker tells its parent, in shared memory.
struct Worker {
  uint64_t next; // the graph that it works on, or the next one
  uint64_t passed, refused, failed, compared;
  uint64_t calls, left; // of graphs that passed: calls, and what fusion left of them
  uint64_t failures[64];
  uint64_t slowest;
  double seconds;
};

uint64_t graphSeed(uint64_t seed, uint64_t n) {
  return Random(seed * 0x2545f4914f6cdd1d + n).next() >> 16; // short enough to be typed
}
} // namespace

static void describe(const GraphProgram &program, const GraphOutcome &outcome) {
  static const char *const values[] = {"exact", "smooth", "rough"};
  std::string text = program.str();
  std::printf("%s", tile::dsl::format(tile::dsl::SourceFile("random.tile", text)).c_str());
  std::printf("// seed %" PRIu64 ", %s values", program.seed,
              values[static_cast<int>(program.values)]);
  for (const auto &[name, value] : program.dims)
    std::printf(", %s = %" PRId64, name.c_str(), value);
  std::printf("\n// %s: %s\n\n", outcome.category.c_str(), outcome.detail.c_str());
}

static void explain(uint64_t seed, const Options &options) {
  GraphProgram program = generateGraph(seed);
  GraphOutcome outcome = checkApart(program, options.check);
  if (outcome.kind == Outcome::Kind::Failed && !options.prints) {
    program = shrink(program, outcome.category, options.check);
    outcome = checkApart(program, options.check);
  }
  describe(program, outcome);
  if (options.showsIR) {
    GraphOptions shown = options.check;
    shown.showsIR = true;
    checkApart(program, shown);
  }
}

static void work(const Options &options, Worker &worker) {
  for (; worker.next < options.count; worker.next += options.jobs) {
    uint64_t seed = graphSeed(options.seed, worker.next);
    alarm(120);
    auto start = std::chrono::steady_clock::now();
    GraphOutcome outcome = check(generateGraph(seed), options.check);
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (seconds.count() > worker.seconds)
      worker.seconds = seconds.count(), worker.slowest = seed;
    worker.compared += static_cast<uint64_t>(outcome.compared);
    switch (outcome.kind) {
    case Outcome::Kind::Undecided:
    case Outcome::Kind::Passed:
      ++worker.passed;
      worker.calls += static_cast<uint64_t>(outcome.calls);
      worker.left += static_cast<uint64_t>(outcome.left);
      break;
    case Outcome::Kind::Refused:
      ++worker.refused;
      if (options.refusals)
        std::printf("%s (--graph %" PRIu64 ")\n", outcome.category.c_str(), seed);
      break;
    case Outcome::Kind::Failed:
      std::printf("fails: --graph %" PRIu64 " (%s: %s)\n", seed, outcome.category.c_str(),
                  outcome.detail.c_str());
      if (worker.failed < std::size(worker.failures))
        worker.failures[worker.failed] = seed;
      ++worker.failed;
      break;
    }
  }
}

/// Workers are processes: one that crashes is replaced, and its graph is a failure.
static void runAll(const Options &options, Worker *workers) {
  std::map<pid_t, unsigned> running;
  auto start = [&](unsigned n) {
    std::fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
      work(options, workers[n]);
      std::fflush(stdout);
      _exit(0);
    }
    running[pid] = n;
  };
  for (unsigned n = 0; n < options.jobs; ++n) {
    workers[n].next = n;
    start(n);
  }
  while (!running.empty()) {
    int status = 0;
    auto found = running.find(wait(&status));
    if (found == running.end())
      continue;
    unsigned n = found->second;
    running.erase(found);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      continue;
    Worker &worker = workers[n];
    uint64_t seed = graphSeed(options.seed, worker.next);
    std::printf("fails: --graph %" PRIu64 " (crash or hang)\n", seed);
    if (worker.failed < std::size(worker.failures))
      worker.failures[worker.failed] = seed;
    ++worker.failed;
    worker.next += options.jobs;
    start(n);
  }
}

static int runMany(const Options &options) {
  void *shared = mmap(nullptr, options.jobs * sizeof(Worker), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return 3;
  auto *workers = static_cast<Worker *>(shared);
  std::printf("seed %" PRIu64 ": %" PRIu64 " graphs\n", options.seed, options.count);
  runAll(options, workers);
  Worker all{};
  unsigned shown = 0;
  for (unsigned n = 0; n < options.jobs; ++n) {
    const Worker &worker = workers[n];
    all.passed += worker.passed;
    all.refused += worker.refused;
    all.failed += worker.failed;
    all.compared += worker.compared;
    all.calls += worker.calls;
    all.left += worker.left;
    if (worker.seconds > all.seconds)
      all.seconds = worker.seconds, all.slowest = worker.slowest;
    for (uint64_t f = 0; f < std::min<uint64_t>(worker.failed, std::size(worker.failures)); ++f)
      if (shown++ < options.shown)
        explain(worker.failures[f], options);
  }
  auto percent = [](uint64_t part, uint64_t whole) {
    return whole ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
  };
  std::printf("%" PRIu64 " passed, %" PRIu64 " refused (%.1f %%), %" PRIu64 " failed; %" PRIu64
              " calls, %" PRIu64 " after fusion; %" PRIu64 " elements compared\n",
              all.passed, all.refused, percent(all.refused, options.count), all.failed, all.calls,
              all.left, all.compared);
  std::printf("the slowest one, %" PRIu64 ", took %.1f s\n", all.slowest, all.seconds);
  // A generator of graphs of which little compiles, or little fuses, tests little.
  bool isWeak = options.count >= 100 &&
                (percent(all.refused, options.count) > 20 || percent(all.left, all.calls) > 70);
  if (isWeak)
    std::printf("the generator is too weak: too much is refused, or not fused\n");
  return all.failed != 0 || isWeak;
}

static int usage() {
  std::printf(
      "Usage: fuzz_graphs [--seed S] [--count N] [--jobs N] [--shown N] [--refusals]\n"
      "       fuzz_graphs --graph SEED [--print] [--ir]\n\n"
      "Runs N random graphs as they stand and fused. One that fails is made smaller and\n"
      "printed with its seed; --graph runs it again. --print leaves it as it is,\n"
      "--ir shows what it becomes.\n"
      "--refusals says why graphs are refused; --cpu PERCENT and --cuda PERCENT how many run on\n"
      "the CPU and on this machine's GPU, too (25 and 0); --plan PERCENT how many the interpreter\n"
      "runs under a plan for a GPU (8).\n"
      "The seed is TILE_TEST_SEED or the time.\n");
  return 2;
}

int main(int argc, char **argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  Options options;
  const char *given = std::getenv("TILE_TEST_SEED");
  options.seed =
      given ? std::strtoull(given, nullptr, 10) : static_cast<uint64_t>(std::time(nullptr));
  options.jobs = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  for (int n = 1; n < argc; ++n) {
    std::string_view name = argv[n];
    if (name == "--print" || name == "--refusals" || name == "--ir") {
      (name == "--print"      ? options.prints
       : name == "--refusals" ? options.refusals
                              : options.showsIR) = true;
      continue;
    }
    char *end = nullptr;
    uint64_t value = n + 1 < argc ? std::strtoull(argv[++n], &end, 10) : 0;
    if (!end || *end)
      return usage();
    if (name == "--seed")
      options.seed = value;
    else if (name == "--count")
      options.count = value;
    else if (name == "--jobs" && value)
      options.jobs = static_cast<unsigned>(value);
    else if (name == "--shown")
      options.shown = static_cast<unsigned>(value);
    else if (name == "--cpu")
      options.check.percentOnCpu = static_cast<unsigned>(value);
    else if (name == "--cuda")
      options.check.percentOnGpu = static_cast<unsigned>(value);
    else if (name == "--plan")
      options.check.percentPlannedForGpu = static_cast<unsigned>(value);
    else if (name == "--graph")
      options.graph = value;
    else
      return usage();
  }
  if (!options.graph)
    return runMany(options);
  explain(*options.graph, options);
  return 0;
}
