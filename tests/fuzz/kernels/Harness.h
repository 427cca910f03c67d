// Compiles a random kernel and runs it every way there is: on ranges (Evaluator.h), by the
// interpreter, and as machine code, with its own tile sizes and others. Each result has to be one
// that the ranges admit; outputs start as poison, inputs have guards before and behind them.
#pragma once

#include "tests/fuzz/kernels/Program.h"

#include "ir/dialect/TileOps.h"

#include <functional>

namespace tile::fuzz {

struct Outcome {
  enum class Kind {
    Passed,
    Refused,   // the compiler says why
    Undecided, // results depend on numbers that are known up to rounding only
    Failed,
  } kind = Kind::Passed;
  /// Of failures: what kind, so that shrinking keeps to it; a refusal's first message.
  std::string category;
  std::string detail;
  /// Elements of outputs that were compared, and those of them with one right value.
  int64_t compared = 0, exact = 0;
};

struct HarnessOptions {
  /// Changes the kernel that the CPU backend gets; false where it finds nothing to change. Then
  /// only the CPU runs.
  std::function<bool(ir::KernelOp)> mutation;
  /// With a mutation: compares as `--check` does, by the interpreter's bounds instead of ranges.
  bool byBounds = false;
  bool isVerbose = false;
};

Outcome check(const Program &program, const HarnessOptions &options = {});

/// The smallest program found that fails in the same way. Each trial runs in a process of its own.
Program shrink(const Program &program, const std::string &category, int trials = 600);

/// Runs something in a process of its own, where it may crash or hang.
Outcome runApart(const std::function<Outcome()> &run);
/// The same of one check.
Outcome checkApart(const Program &program, const HarnessOptions &options = {});

} // namespace tile::fuzz
