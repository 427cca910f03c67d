#include "runtime/tensor/Overlap.h"

#include <algorithm>
#include <vector>

namespace tile::runtime {

static Error overlapError(const std::string &function, const CallPlace &x, const CallPlace &y) {
  const CallPlace &written = x.isWritten ? x : y, &other = x.isWritten ? y : x;
  const std::byte *first = std::max(x.data, y.data),
                  *end = std::min(x.data + x.bytes, y.data + y.bytes);
  return {"`" + written.name + "` of `" + function + "`, which is written, overlaps `" +
              other.name + "`: they have " + std::to_string(end - first) + " bytes in common",
          "give each of them memory of its own"};
}

Status checkApart(const std::string &function, std::span<const CallPlace> places) {
  std::vector<const CallPlace *> sorted;
  for (const CallPlace &place : places)
    if (place.data && place.bytes)
      sorted.push_back(&place);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const CallPlace *x, const CallPlace *y) { return x->data < y->data; });
  // Of those that begin before, the one that ends last; and of those that are written.
  const CallPlace *furthest = nullptr, *written = nullptr;
  auto endOf = [](const CallPlace *place) { return place->data + place->bytes; };
  for (const CallPlace *place : sorted) {
    const CallPlace *before = place->isWritten ? furthest : written;
    if (before && endOf(before) > place->data)
      return overlapError(function, *before, *place);
    if (!furthest || endOf(place) > endOf(furthest))
      furthest = place;
    if (place->isWritten && (!written || endOf(place) > endOf(written)))
      written = place;
  }
  return {};
}

} // namespace tile::runtime
