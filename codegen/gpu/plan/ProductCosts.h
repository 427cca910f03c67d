//===- ProductCosts.h - what the model of products has measured -----------===//
//
// The constants of ProductModel.h's cycles, in one place. All were fitted to products on an H200
// (docs/performance.md, "The model of products"), whose multiprocessors are those of every device
// with warpgroups' matrix instructions: how many there are, their clock and memory the target says.
// `tile_fit_products` (tests/bench/FitProducts.cpp) compares them with times that `tilec tune` has
// measured, and fits them anew.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_PLAN_PRODUCTCOSTS_H
#define TILE_CODEGEN_GPU_PLAN_PRODUCTCOSTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tile::codegen::gpu {

/// Cycles, and numbers a cycle. Those that no unit is said of are cycles.
struct ProductCosts {
  /// Multiply-adds of 16-bit numbers of a multiprocessor.
  double multiplyAdds = 2048;
  /// Bytes of a multiprocessor through its shared memory, and from the second-level cache.
  double sharedBytes = 142, cacheBytes = 72;
  /// Bytes of all multiprocessors from and to memory, by the usual target's bandwidth and clock.
  double memoryBytes = 2440;

  /// Before the first product of a launch, and beside that of one of clusters.
  double start = 3300, startOfClusters = 900;
  /// At the end of a program, and for each copy of results there (EmitSend.cpp): as many columns as
  /// a power of two divides, 64 at most.
  double end = 300, leaving = 300;
  /// Around each step of two groups of warps; the least of a step of one group, of rows of 128
  /// bytes.
  double around = 45, leastOfOne = 330;
  /// From asking for a slot to having it, from the cache and from memory.
  double latency = 3000, fromMemory = 6000;

  /// Where sums of a turn are added to others: until the last of them is there, and for each slot
  /// between; sums that are added in a cycle; how much longer a step is where nobody multiplies
  /// meanwhile, as a factor.
  double drain = 200, between = 100, added = 128, alone = 1.35;

  /// It takes `meeting` until the CTAs of a cluster know of each other's sums; one reads so many
  /// bytes of the others'.
  double meeting = 1500, exchanged = 20;
  /// Bytes that all get from the cache where neighbours ask for different ones.
  double apartBytes = 5000;
  /// Multiprocessors for each that clusters of more than two CTAs have room on.
  double perClustered = 1.1;

  /// The time of memory grows by this share for each further round of programs, which are in each
  /// other's way; and this share of the shorter one of memory's time and the rest's the longer one
  /// doesn't hide.
  double crowding = 0.08, unhidden = 0.1;
  /// How much faster memory is for rows of so many bytes and more, as a factor.
  double longRow = 256, gain = 1.03;
};

/// All of them, by name.
struct ProductCostField {
  llvm::StringLiteral name;
  double ProductCosts::*field;
};
llvm::ArrayRef<ProductCostField> productCostFields();

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_PLAN_PRODUCTCOSTS_H
