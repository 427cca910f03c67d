// fuzz_kernels: random kernels, compared on ranges, interpreter and CPU. See docs/testing.md.

#include "tests/fuzz/kernels/Harness.h"
#include "tests/fuzz/kernels/Mutations.h"

#include "dsl/Formatter.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tile::fuzz;

namespace {
struct Options {
  uint64_t seed = 0;
  uint64_t count = 1000;
  unsigned jobs = 2;
  unsigned shown = 3;
  std::optional<uint64_t> program;
  bool prints = false, refusals = false, mutations = false, byBounds = false;
};

/// What a worker tells its parent, in shared memory.
struct Worker {
  uint64_t next; // the program that it works on, or the next one
  uint64_t passed, refused, undecided, failed, compared, exact;
  uint64_t failures[64]; // seeds of programs
  uint64_t slowest;      // the program that took longest,
  double seconds;        // and how long
};

uint64_t programSeed(uint64_t seed, uint64_t n) {
  return Random(seed * 0x2545f4914f6cdd1d + n).next() >> 16; // short enough to be typed
}
} // namespace

static void describe(const Program &program, const Outcome &outcome) {
  std::string text = program.str();
  std::printf("%s", tile::dsl::format(tile::dsl::SourceFile("random.tile", text)).c_str());
  std::printf("// seed %" PRIu64 "%s", program.seed, program.bindsDims ? ", dimensions bound" : "");
  for (const auto &[name, value] : program.dims)
    std::printf(", %s = %" PRId64, name.c_str(), value);
  for (const auto &sizes : program.sizes) {
    std::printf("\n// sizes:");
    for (const auto &[binder, size] : sizes)
      if (text.find(" " + binder + " in tiles(") != std::string::npos)
        std::printf(" %s=%" PRId64, binder.c_str(), size);
  }
  std::printf("\n// %s: %s\n\n", outcome.category.c_str(), outcome.detail.c_str());
}

static int runOne(const Options &options) {
  Program program = generate(*options.program);
  Outcome outcome = checkApart(program);
  if (outcome.kind == Outcome::Kind::Failed && !options.prints) {
    program = shrink(program, outcome.category);
    outcome = checkApart(program);
  }
  describe(program, outcome);
  static const char *const kinds[] = {"passed", "refused", "undecided", "FAILED"};
  std::printf("%s\n", kinds[static_cast<int>(outcome.kind)]);
  return outcome.kind == Outcome::Kind::Failed;
}

static void work(const Options &options, Worker &worker) {
  for (; worker.next < options.count; worker.next += options.jobs) {
    Program program = generate(programSeed(options.seed, worker.next));
    alarm(120);
    auto start = std::chrono::steady_clock::now();
    Outcome outcome = check(program);
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (seconds.count() > worker.seconds)
      worker.seconds = seconds.count(), worker.slowest = program.seed;
    switch (outcome.kind) {
    case Outcome::Kind::Passed:
      ++worker.passed;
      break;
    case Outcome::Kind::Refused:
      ++worker.refused;
      if (options.refusals)
        std::printf("%s (--program %" PRIu64 ")\n", outcome.category.c_str(), program.seed);
      break;
    case Outcome::Kind::Undecided:
      ++worker.undecided;
      if (options.refusals)
        std::printf("undecided: %s (--program %" PRIu64 ")\n", outcome.category.c_str(),
                    program.seed);
      break;
    case Outcome::Kind::Failed:
      // At once: a long run may be stopped before it explains its failures.
      std::printf("fails: --program %" PRIu64 " (%s)\n", program.seed, outcome.category.c_str());
      if (worker.failed < std::size(worker.failures))
        worker.failures[worker.failed] = program.seed;
      ++worker.failed;
      break;
    }
    worker.compared += static_cast<uint64_t>(outcome.compared);
    worker.exact += static_cast<uint64_t>(outcome.exact);
  }
}

/// Workers are processes: one that crashes is replaced, and its program is a failure.
static void runAll(const Options &options, Worker *workers) {
  std::vector<pid_t> pids(options.jobs);
  auto start = [&](unsigned n) {
    std::fflush(stdout);
    pids[n] = fork();
    if (pids[n] == 0) {
      work(options, workers[n]);
      std::fflush(stdout);
      _exit(0);
    }
  };
  for (unsigned n = 0; n < options.jobs; ++n) {
    workers[n].next = n;
    start(n);
  }
  for (unsigned running = options.jobs; running > 0;) {
    int status = 0;
    pid_t pid = wait(&status);
    auto found = std::find(pids.begin(), pids.end(), pid);
    if (found == pids.end())
      continue;
    unsigned n = static_cast<unsigned>(found - pids.begin());
    Worker &worker = workers[n];
    if (!WIFSIGNALED(status) && WEXITSTATUS(status) == 0) {
      --running;
      continue;
    }
    uint64_t seed = programSeed(options.seed, worker.next);
    std::printf("fails: --program %" PRIu64 " (crash or hang)\n", seed);
    if (worker.failed < std::size(worker.failures))
      worker.failures[worker.failed] = seed;
    ++worker.failed;
    worker.next += options.jobs;
    start(n);
  }
}

static int runMany(const Options &options) {
  size_t bytes = options.jobs * sizeof(Worker);
  void *shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return 3;
  auto *workers = static_cast<Worker *>(shared);
  std::printf("seed %" PRIu64 ": %" PRIu64 " programs\n", options.seed, options.count);
  runAll(options, workers);
  Worker all{};
  std::vector<uint64_t> failures;
  for (unsigned n = 0; n < options.jobs; ++n) {
    const Worker &worker = workers[n];
    all.passed += worker.passed;
    all.refused += worker.refused;
    all.undecided += worker.undecided;
    all.failed += worker.failed;
    all.compared += worker.compared;
    all.exact += worker.exact;
    if (worker.seconds > all.seconds)
      all.seconds = worker.seconds, all.slowest = worker.slowest;
    failures.insert(failures.end(), worker.failures,
                    worker.failures +
                        std::min<uint64_t>(worker.failed, std::size(worker.failures)));
  }
  for (size_t n = 0; n < failures.size(); ++n) {
    if (n >= options.shown) {
      std::printf("// also fails: --program %" PRIu64 "\n", failures[n]);
      continue;
    }
    Program program = generate(failures[n]);
    Outcome outcome = checkApart(program);
    if (outcome.kind == Outcome::Kind::Failed) {
      program = shrink(program, outcome.category);
      outcome = checkApart(program);
    }
    describe(program, outcome);
  }
  auto percent = [](uint64_t part, uint64_t whole) {
    return whole ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
  };
  std::printf("%" PRIu64 " passed, %" PRIu64 " refused (%.1f %%), %" PRIu64 " undecided, %" PRIu64
              " failed; %.1f %% of %" PRIu64 " compared elements have one right value\n",
              all.passed, all.refused, percent(all.refused, options.count), all.undecided,
              all.failed, percent(all.exact, all.compared), all.compared);
  std::printf("the slowest one, %" PRIu64 ", took %.1f s\n", all.slowest, all.seconds);
  // A generator that makes little that compiles, or little that is compared, tests little.
  bool isWeak = options.count >= 500 && (percent(all.refused, options.count) > 40 ||
                                         percent(all.undecided, options.count) > 10 ||
                                         percent(all.exact, all.compared) < 60);
  if (isWeak)
    std::printf("the generator is too weak: too much is refused, undecided or inexact\n");
  return all.failed != 0 || isWeak;
}

//===-- Planted miscompiles -----------------------------------------------===//

/// Runs programs until one notices the mutation.
static bool isCaught(const Options &options, const Mutation &mutation) {
  uint64_t applied = 0;
  for (uint64_t n = 0; n < options.count; ++n) {
    Program program = generate(programSeed(options.seed, n));
    program.sizes.resize(1);
    Outcome outcome = checkApart(program, {mutation.apply, options.byBounds});
    applied += outcome.category != "not mutated" && outcome.kind != Outcome::Kind::Refused;
    if (outcome.kind != Outcome::Kind::Failed)
      continue;
    if (outcome.category == "difference" || outcome.category == "memory" ||
        outcome.category == "crash" || outcome.category == "hang" ||
        outcome.category == "assertion" || outcome.category == "print") {
      std::printf("caught: %s: by program %" PRIu64 ", the %" PRIu64 ". that it changes\n",
                  mutation.name, program.seed, applied);
      return true;
    }
    std::printf("%s: %s: %s\n", mutation.name, outcome.category.c_str(), outcome.detail.c_str());
  }
  std::printf("NOT CAUGHT: %s, in %" PRIu64 " of %" PRIu64 " programs\n", mutation.name, applied,
              options.count);
  return false;
}

static int runMutations(const Options &options) {
  const std::vector<Mutation> &list = mutations();
  std::printf("seed %" PRIu64 ": %zu planted miscompiles\n", options.seed, list.size());
  unsigned running = 0, missed = 0;
  auto finish = [&] {
    int status = 0;
    wait(&status);
    --running;
    missed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  };
  for (const Mutation &mutation : list) {
    while (running >= options.jobs)
      finish();
    std::fflush(stdout);
    if (fork() == 0) {
      bool caught = isCaught(options, mutation);
      std::fflush(stdout);
      _exit(!caught);
    }
    ++running;
  }
  while (running)
    finish();
  std::printf("%zu of %zu planted miscompiles were caught\n", list.size() - missed, list.size());
  return missed != 0;
}

static int usage() {
  std::printf(
      "Usage: fuzz_kernels [--seed S] [--count N] [--jobs N] [--shown N] [--refusals]\n"
      "       fuzz_kernels --mutations [--by-bounds] [--seed S] [--count N] [--jobs N]\n"
      "       fuzz_kernels --program SEED [--print]\n\n"
      "Runs N random kernels on ranges, interpreter and CPU. A program that fails is made\n"
      "smaller and printed with its seed; --program runs it again. --print leaves it as it\n"
      "is. --mutations plants each known miscompile and runs up to N programs until one\n"
      "notices, or with --by-bounds until --check would. --refusals says why programs are refused. "
      "The seed is TILE_TEST_SEED or the "
      "time.\n");
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
    if (name == "--print" || name == "--refusals" || name == "--mutations" ||
        name == "--by-bounds") {
      (name == "--print"       ? options.prints
       : name == "--refusals"  ? options.refusals
       : name == "--mutations" ? options.mutations
                               : options.byBounds) = true;
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
    else if (name == "--program")
      options.program = value;
    else
      return usage();
  }
  if (options.mutations)
    return runMutations(options);
  return options.program ? runOne(options) : runMany(options);
}
