// Code of one kernel for NVIDIA GPUs, with all that a launch of it has to know beside the kernel's
// signature. Plain data, no dependencies; runtime/cuda/LoadedKernel.h loads and launches it.
#pragma once

#include "runtime/artifact/Program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tile::runtime {

/// An entry in an image, and what a block of it has.
struct CudaFunction {
  /// Empty: there is none.
  std::string name;
  /// Of a block, along x.
  uint32_t threads = 0;
  /// Dynamic shared memory.
  uint64_t sharedBytes = 0;
  /// Of a program: more than one are a cluster, which the code itself says, and follow each other
  /// in the grid.
  uint32_t blocks = 1;
};

/// A `reduce` output whose updates are combined in a fixed order: each block of the grid folds its
/// programs into a copy of its own, and `finish` folds the copies.
struct CudaReduceCopies {
  uint32_t param = 0;
  /// Of an element of a copy.
  uint32_t bytes = 0;

  static constexpr int64_t alignment = 16; // in elements
  /// Of one copy of an output with so many elements.
  int64_t bytesOf(int64_t elements) const {
    return (elements + alignment - 1) / alignment * alignment * bytes;
  }
};

/// A tensor, and the box that one bulk copy moves of it: what a tensor map is made for when a
/// launch is prepared.
struct CudaTensorMap {
  uint32_t param = 0;
  /// Of an element: 1, 2, 4 or 8.
  uint32_t bytes = 0;
  /// How many elements the tensor has along each dimension, over dimensions; innermost first.
  std::vector<Program> extents;
  /// Elements of the box, innermost first; as many as `extents`, 2 to 5.
  std::vector<uint32_t> box;
  /// Bytes within which pieces of 16 bytes change places in shared memory: 128, 64 or 32; 0: none.
  uint32_t swizzle = 0;
  /// Whether each f32 becomes the nearest tf32 on the way, ties to even.
  bool roundsToTf32 = false;
};

/// How many blocks share out the programs of a kernel with copies of so many bytes together: by
/// these numbers alone, so that results repeat bit for bit on any device.
constexpr int64_t numReduceCopies(int64_t programs, int64_t bytes) {
  // Enough for any device to be busy; each is filled, and read once more at the end.
  constexpr int64_t most = 256, mostBytes = int64_t(1) << 28;
  int64_t fitting = mostBytes / (bytes > 1 ? bytes : 1);
  int64_t count = programs < most ? programs : most;
  count = fitting < count ? fitting : count;
  return count > 1 ? count : 1;
}

/// This is the number of copies where so many blocks of so many threads share each, and all blocks
/// have so many programs together.
constexpr int64_t numSharedCopies(int64_t programs, int64_t bytes, int64_t blocks,
                                  int64_t threads) {
  // On an H200 sums of channels by blocks of 128 threads read 4.1 TB/s where there are 512 of them,
  // and 3.2 where there are 256. Those of 256 threads lost up to 14 % with 512 blocks.
  constexpr int64_t allThreads = 65536, fewest = 256;
  int64_t most = threads < allThreads / fewest ? allThreads / threads : fewest;
  int64_t each = blocks > 1 ? blocks : 1, count = numReduceCopies(programs / each, bytes);
  return count * each > most ? (most > each ? most / each : 1) : count;
}

/// Kernels with `copies` take four more parameters: the address of all copies, multiples of 16
/// bytes (those of the first output, then of the next), how many each output has, how many
/// programs there are, and the address of a counter of 32 bits, or 0. The grid then has as many
/// blocks as copies, times the blocks that share each (keptBinders). With a counter, which is 0
/// before and after, the last block to be done does what `finish` is for, with the same result, and
/// `finish` does not run.
struct CudaCode {
  /// The target that it was compiled for: "sm_90a".
  std::string target;
  /// It takes the addresses of tensors and the scalars, in the order of the signature's parameters,
  /// then the dimensions as 64-bit integers.
  CudaFunction function;
  /// The last parameters, each a tensor map by value.
  std::vector<CudaTensorMap> maps;
  /// Any number of blocks runs all programs: a launch has as many as run at once, not more than
  /// there are programs.
  bool isPersistent = false;
  /// `function` may begin before what is in front of it in the stream has ended: it waits by
  /// itself (LaunchConfig::isDependent).
  bool startsEarly = false;
  /// Run before and after it, with the same parameters and any number of blocks.
  CudaFunction start, finish;
  std::vector<CudaReduceCopies> copies;
  /// Of the binders, in order, those that decide which elements of all outputs with copies a
  /// program updates: blocks that differ in them share a copy. None: each block has a copy.
  std::vector<uint32_t> keptBinders;
  /// Whether, where there is one copy, blocks store to the outputs, and neither the copy nor
  /// `finish` is needed.
  bool storesAlone = false;
  /// Whether it takes a counter.
  bool foldsItself = false;
  /// With a counter each output with copies has at most so many elements: one block folds that
  /// many in less time than another launch takes to begin.
  static constexpr int64_t mostFolded = 4;
  /// Up to so many copies a thread of `finish` folds by itself.
  static constexpr int64_t mostFoldedAlone = 32;
  /// What the runtime has to know of each op that may say something, by its number (CpuReport.h).
  /// Kernels with any take the address of a GpuReport behind their dimensions.
  std::vector<std::string> sites;
  /// How many blocks of tiles each binder has, over dimensions and scalars. The grid has their
  /// product times the blocks of a program, along x; a factor below 0 counts as 0.
  std::vector<Program> programs;
  /// A cubin, or PTX.
  std::vector<std::byte> image;
};

/// Code of one kernel for some launches on GPUs.
struct CudaVariant {
  /// Over the dimensions: whether it may run, and the same for people: "N <= 1024, N % 4 == 0".
  /// Empty: always.
  Program guard;
  std::string condition;
  /// Binders and tile sizes.
  std::vector<std::pair<std::string, int64_t>> schedule;
  /// Its image is PTX.
  CudaCode code;
  /// The same as machine code, for devices of the target's own generation. Empty: there is none.
  std::vector<std::byte> cubin;
};

} // namespace tile::runtime
