// Runs a random graph as it stands and fused, and compares each bit: by the interpreter, with all
// that can be fused, with some of it, with other tile sizes; by the CPU backend; on a GPU.
#pragma once

#include "tests/fuzz/graphs/Graph.h"
#include "tests/fuzz/kernels/Harness.h"

namespace tile::fuzz {

struct GraphOutcome : Outcome {
  /// Calls of the graph, and what was left of them.
  int64_t calls = 0, left = 0;
};

struct GraphOptions {
  /// Of all graphs: those that run on the CPU, and those of them whose accesses are watched.
  unsigned percentOnCpu = 25, percentWatched = 30;
  /// Those that run on this machine's GPU, and those that only get a plan for one.
  unsigned percentOnGpu = 0, percentPlannedForGpu = 8;
  /// Shows the IR of what runs fused.
  bool showsIR = false;
};

GraphOutcome check(const GraphProgram &program, const GraphOptions &options = {});
/// The same in a process of its own, where it may crash or hang.
GraphOutcome checkApart(const GraphProgram &program, const GraphOptions &options = {});
/// The smallest graph found that fails in the same way.
GraphProgram shrink(const GraphProgram &program, const std::string &category,
                    const GraphOptions &options = {}, int trials = 400);

} // namespace tile::fuzz
