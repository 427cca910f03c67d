//===- FusionConstants.h - what the model of kernels' costs has measured --===//
//
// The constants of FusionCost.h, in one place: what a device's description doesn't say, since it is
// of how code is made, not of the device. Each says what it was fitted to, in docs/performance.md
// where no more is said, or that it is an assumption. Times are in seconds.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_FUSION_FUSIONCONSTANTS_H
#define TILE_FRONTEND_FUSION_FUSIONCONSTANTS_H

namespace tile::frontend {

struct FusionConstants {
  /// How much faster than its memory a device is taken to read what it has read just before. An
  /// assumption: it has not been measured on any device.
  double cacheSpeedup = 3;
  /// Operations that a function (tanh, sin, erf …) takes, beside the rate of multiply-adds:
  /// measured on an H200 and on the cores of an EPYC (docs/performance.md).
  double operationsOfFunction = 86, operationsOfFunctionOnCpu = 153;
  /// A reduction takes as long as so many operations beside its elements: 14 to 30 cycles were
  /// measured there, of rows of 32 to 128. On GPUs nothing is known of it.
  double operationsOfReductionOnCpu = 1280;
  /// On a CPU a program's contraction begins so many cycles after what it waits for (another one,
  /// or reductions), and so do reductions behind it: nothing of the next program is done meanwhile.
  /// 15 to 40 were measured on the EPYC, of attention with heads of 4 × 4 and of one row.
  double cyclesOfWait = 40;
  /// Warps of a multiprocessor with which its arithmetic is busy: with fewer each waits for its own
  /// results. An assumption.
  double busyWarps = 16;

  /// A warp's instructions have this share of the matrix units' rate on a device with pipelines (an
  /// H200, docs/performance.md).
  double shareOfWarpMma = 0.14;
  /// And so much of that where an operand is computed from what comes element by element (fitted to
  /// casts and squares of odd rows there, 0.25 and 0.34).
  double shareOneByOne = 0.3;
  /// A program's turn of a pipeline takes so long at least if reductions follow the contraction:
  /// its few warps wait for each other's steps, and no other program's hide that (fitted to softmax
  /// behind three products there, of blocks of 64 × 32 and 64 × 64: 1.7 to 1.9 µs).
  double secondsOfReducedTurn = 1.75e-6;
  /// Instructions of a thread, for each element that a pipeline's left operand is computed from,
  /// until tensor cores have it, beside what is computed (fitted there to bf16, 4096 × 4096 × 4096:
  /// 20 µs for a tensor whose rows are scaled, 46 µs for a sum of two; docs/performance.md).
  double instructionsOfComputed = 2.3;
  /// A CTA is begun every so many seconds, however little it does (measured there: 131,072 of one
  /// warp in 81 µs, 262,144 in 160, 2,097,152 in 1263).
  double secondsOfCta = 0.61e-9;
  /// Where they multiply, a turn of the loop begins with so many seconds in which operands come
  /// from memory and through barriers into shared memory, and each step has so many instructions
  /// beside the multiply-adds and what these read (fitted to eight products there,
  /// docs/performance.md).
  double secondsOfTurn = 1.15e-6, instructionsOfStep = 4;
  /// Plain threads that read r elements for a multiply-add have the share `shareOfPlain` of the
  /// vectors' rate, divided by 1 + r · `costOfRead` (fitted to three blocks of one product there).
  double shareOfPlain = 0.57, costOfRead = 1.45;

  /// Where chunks of a row are gone through more than once, a warp draws so much of what it draws
  /// from memory in one loop: 1.9 and 2.5 of 13.7 GB/s, each reading counted, were measured for
  /// single rows of millions (H200, docs/performance.md).
  double shareOfPhases = 0.18;

  /// So much longer a core takes for what it reads again from the cache of all cores, not from its
  /// own: three products of 128 rows, one by one, by 1 MB each took 7.0 ms apart, 12.4 as one on
  /// two cores of a Xeon with 2 MB each.
  double lostReread = 0.75;

  /// What a program keeps goes out of a core's cache that has no room for it and comes back: once
  /// as lines that are written, once as they go, once as they are read. An assumption.
  double movesOfKept = 3;

  /// What of a multiprocessor's registers may hold a loop's variables; the rest is for what it
  /// computes.
  double shareOfRegisters = 0.4;

  /// So many of a CPU's cores are sure to be there, and a launch that wakes one takes so long: 1.7
  /// µs were measured where none is woken, on two cores of an EPYC.
  double fewCores = 2, launchOnFewCores = 2e-6;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSION_FUSIONCONSTANTS_H
