//===- TileSweep.cpp - tile sizes that ought not to matter ----------------===//

#include "frontend/tune/TileSweep.h"

#include <algorithm>
#include <random>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

namespace {
/// A binder of a kernel, by the kernel's symbol.
struct Place {
  std::string kernel, binder;
};

TileSizes allOf(ArrayRef<Place> places, llvm::function_ref<int64_t(size_t)> size) {
  TileSizes sizes;
  for (auto [n, place] : llvm::enumerate(places))
    sizes.byKernel[place.kernel][place.binder] = size(n);
  return sizes;
}

bool hasEqual(const std::vector<TileSizes> &list, const TileSizes &sizes) {
  return llvm::any_of(list,
                      [&](const TileSizes &other) { return other.byKernel == sizes.byKernel; });
}
} // namespace

std::vector<TileSizes> tile::frontend::tileSweep(ArrayRef<ir::KernelOp> kernels,
                                                 int64_t largestExtent, size_t count) {
  std::vector<Place> places;
  for (ir::KernelOp kernel : kernels)
    for (StringAttr binder : ir::sizableBinders(kernel))
      places.push_back({kernel.getSymName().str(), binder.str()});
  std::vector<TileSizes> sweep;
  if (places.empty())
    return sweep;
  auto add = [&](const TileSizes &sizes) {
    if (sweep.size() < count && !hasEqual(sweep, sizes))
      sweep.push_back(sizes);
  };

  // One size for all; then each binder's block beyond any dimension, with small others, since
  // the product of sizes is what a tile holds.
  for (int64_t size : {7, 16, 5})
    add(allOf(places, [&](size_t) { return size; }));
  int64_t beyond = std::min<int64_t>(largestExtent + 3, 4099);
  for (size_t large = 0; large < std::min<size_t>(places.size(), 4); ++large)
    add(allOf(places, [&](size_t n) { return n == large ? beyond : 3; }));
  add(allOf(places, [](size_t) { return 1; }));

  static constexpr int64_t candidates[] = {1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 24, 31, 32, 33, 48, 64};
  std::mt19937 random(20240229);
  for (size_t attempts = 0; sweep.size() < count && attempts < 4 * count; ++attempts)
    add(allOf(places, [&](size_t) { return candidates[random() % std::size(candidates)]; }));
  return sweep;
}

std::string tile::frontend::describe(const TileSizes &sizes) {
  std::string text;
  auto add = [&](const std::string &prefix, const TileSizes::ByBinder &binders) {
    for (const auto &[binder, size] : binders)
      text += (text.empty() ? "" : " ") + prefix + binder + "=" + std::to_string(size);
  };
  add("", sizes.everywhere);
  for (const auto &[kernel, binders] : sizes.byKernel)
    add(sizes.byKernel.size() > 1 ? kernel + "." : "", binders);
  return text;
}
