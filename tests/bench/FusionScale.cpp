//===- FusionScale.cpp - how the fuser's time grows with the graph --------===//
//
//   tile_bench_fusion [--sizes N,…] [--families NAME,…] [--device NAME] [--seed N] [--repeats N]
//                     [--tilec PATH] [--save FOLDER]
//
// Each line is one graph (FusionGraphs.h), in a process of its own: the calls
// before and after, the medians of what reading and elaborating the source,
// preparing its kernels and the search take, how often the search asked for a
// fused kernel and for a cost, and how many kernels it built and costed for
// that; peak memory. With --tilec also what `tilec fuse` takes on the source as
// a whole, by the wall clock; --save keeps the sources. Below each family its growth: the exponent
// of n in the search's time between the sizes of 1,000 calls and more.
//
//===----------------------------------------------------------------------===//

#include "Contest.h"
#include "FusionGraphs.h"

#include "dsl/Elaborator.h"
#include "frontend/fusion/Fusion.h"
#include "frontend/fusion/FusionCost.h"
#include "frontend/model/DeviceDescription.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tile;
using namespace tile::bench;

namespace {
struct Options {
  std::vector<unsigned> sizes = {100, 300, 1000, 3000, 10000};
  std::vector<GraphFamily> families{std::begin(allFamilies), std::end(allFamilies)};
  std::string device = "h200", tilec, save;
  uint64_t seed = 1;
  int repeats = 3;
};

/// What passes from the process that measures to the one that prints.
struct Measured {
  unsigned calls, kernels, symbols;
  double source, prepare, search, cost;
  unsigned long costs;
  ir::FusionLedger::Effort effort;
};

/// Counts what the fuser asks of its model.
class WatchedModel : public ir::CostModel {
public:
  explicit WatchedModel(const frontend::DeviceDescription &device) : model(device) {}
  ir::KernelCost costOf(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims) override {
    double start = now(/*ofThread=*/true);
    ir::KernelCost cost = model.costOf(kernel, dims);
    seconds += now(true) - start;
    ++questions;
    return cost;
  }
  double launchSeconds() const override { return model.launchSeconds(); }
  double bandwidth() const override { return model.bandwidth(); }
  double memory() const override { return model.memory(); }
  double bytesAtATime(llvm::ArrayRef<ir::TensorLife> tensors,
                      std::vector<std::vector<uint32_t>> dependencies) override {
    return model.bytesAtATime(tensors, std::move(dependencies));
  }

  double seconds = 0;
  unsigned long questions = 0;

private:
  frontend::FusionCost model;
};

[[noreturn]] void fail(const std::string &why) {
  fprintf(stderr, "tile_bench_fusion: %s\n", why.c_str());
  exit(1);
}
} // namespace

static double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

static Measured measureOnce(const std::string &text, const Options &options) {
  Measured result;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  double start = now(/*ofThread=*/true);
  dsl::DiagnosticEngine diags;
  dsl::Program program(diags, {});
  dsl::Elaborator elaborator(context, program, diags);
  dsl::LoadedFile *file = program.load("large.tile", text);
  std::string symbol;
  if (diags.errorCount() == 0)
    symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
  if (symbol.empty())
    fail(diags.print(false));
  result.source = now(/*ofThread=*/true) - start;

  start = now(/*ofThread=*/true);
  auto graph = llvm::cast<ir::GraphOp>(elaborator.module().lookupSymbol(symbol));
  ir::prepareForFusion(graph);
  result.prepare = now(/*ofThread=*/true) - start;

  auto device = frontend::DeviceDescription::find(options.device);
  if (!device)
    fail("there is no device '" + options.device + "'");
  WatchedModel model(*device);
  start = now(/*ofThread=*/true);
  ir::FusionLedger ledger = ir::fuse(graph, model, {});
  result.search = now(/*ofThread=*/true) - start;
  result.cost = model.seconds;
  result.costs = model.questions;
  result.effort = ledger.effort;
  result.calls = ledger.calls.size();
  result.kernels = ledger.kernels.size();
  llvm::StringSet<> symbols;
  for (const auto &kernel : ledger.kernels)
    symbols.insert(kernel.symbol);
  result.symbols = symbols.size();
  return result;
}

static Measured measure(const std::string &text, const Options &options) {
  std::vector<Measured> all;
  for (int n = 0; n < options.repeats; ++n)
    all.push_back(measureOnce(text, options));
  Measured result = all.front();
  auto take = [&](double Measured::*field) {
    std::vector<double> values;
    for (const Measured &one : all)
      values.push_back(one.*field);
    result.*field = median(values);
  };
  for (auto field : {&Measured::source, &Measured::prepare, &Measured::search, &Measured::cost})
    take(field);
  return result;
}

/// Runs this in a process of its own; its peak of memory in MB.
static double apart(const std::function<void()> &run) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    run();
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0)
    fail("a measurement failed");
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// The wall clock of `tilec fuse`, and its peak of memory in MB.
static std::pair<double, double> runTool(const std::string &text, const Options &options) {
  char path[] = "/tmp/tile-bench-XXXXXX.tile";
  int file = mkstemps(path, 5);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    fail("no file for the source");
  close(file);
  double start = now(false);
  double peak = apart([&] {
    if (!freopen("/dev/null", "w", stdout))
      _exit(1);
    std::string device = "--device=" + options.device;
    execl(options.tilec.c_str(), "tilec", "fuse", path, device.c_str(), nullptr);
    _exit(1);
  });
  double seconds = now(false) - start;
  unlink(path);
  return {seconds, peak};
}

/// The slope of log t over log n, by least squares.
static double exponent(const std::vector<std::pair<double, double>> &points) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (auto [size, seconds] : points) {
    double a = std::log(size), b = std::log(seconds);
    n += 1, x += a, y += b, xx += a * a, xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

static void benchFamily(GraphFamily family, const Options &options) {
  std::vector<std::pair<double, double>> points, model;
  std::set<unsigned> sizes;
  for (unsigned size : options.sizes)
    sizes.insert(std::min(size, mostCalls(family)));
  for (unsigned size : sizes) {
    std::string text = graphSource(family, size, options.seed);
    if (!options.save.empty())
      std::ofstream(options.save + "/" + nameOf(family) + std::to_string(size) + ".tile") << text;
    int pipes[2];
    if (pipe(pipes) != 0)
      fail("no pipe");
    double peak = apart([&] {
      Measured measured = measure(text, options);
      if (write(pipes[1], &measured, sizeof measured) != sizeof measured)
        _exit(1);
    });
    Measured one;
    if (read(pipes[0], &one, sizeof one) != sizeof one)
      fail("a measurement was lost");
    close(pipes[0]);
    close(pipes[1]);
    printf("%-7s %6u %6u %6u | %8.1f %8.1f %8.1f %8.1f | %8lu %8lu %8lu | %6.0f", nameOf(family),
           one.calls, one.kernels, one.symbols, 1e3 * one.source, 1e3 * one.prepare,
           1e3 * one.search, 1e3 * one.cost, one.effort.asked, one.effort.built, one.costs, peak);
    if (!options.tilec.empty()) {
      auto [seconds, memory] = runTool(text, options);
      printf(" | %8.1f %6.0f", 1e3 * seconds, memory);
    }
    printf("\n");
    if (one.calls >= 1000) {
      points.push_back({one.calls, one.search});
      model.push_back({one.calls, one.calls * std::log2(one.calls)});
    }
  }
  if (points.size() > 1)
    printf("%-7s grows with n^%.2f; n log n there with n^%.2f\n", nameOf(family), exponent(points),
           exponent(model));
}

static Options parse(int argc, char **argv) {
  Options options;
  auto list = [](const char *text) {
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(text).split(parts, ',');
    return parts;
  };
  for (int n = 1; n < argc; n += 2) {
    llvm::StringRef name = argv[n];
    if (n + 1 == argc)
      fail(name.str() + " needs a value");
    const char *value = argv[n + 1];
    if (name == "--sizes") {
      options.sizes.clear();
      for (llvm::StringRef size : list(value))
        options.sizes.push_back(std::stoul(size.str()));
    } else if (name == "--families") {
      options.families.clear();
      for (llvm::StringRef part : list(value))
        for (GraphFamily family : allFamilies)
          if (part == nameOf(family))
            options.families.push_back(family);
    } else if (name == "--device") {
      options.device = value;
    } else if (name == "--tilec") {
      options.tilec = value;
    } else if (name == "--save") {
      options.save = value;
    } else if (name == "--seed") {
      options.seed = std::stoull(value);
    } else if (name == "--repeats") {
      options.repeats = std::max(1, std::stoi(value));
    } else {
      fail("there is no " + name.str());
    }
  }
  return options;
}

int main(int argc, char **argv) {
  Options options = parse(argc, argv);
  printf("%-7s %6s %6s %6s | %8s %8s %8s %8s | %8s %8s %8s | %6s", "graph", "calls", "after",
         "kinds", "source", "prepare", "search", "of model", "asked", "built", "costs", "MB");
  printf(options.tilec.empty() ? "\n" : " | %8s %6s\n", "tilec", "MB");
  for (GraphFamily family : options.families)
    benchFamily(family, options);
}
