#include "runtime/cuda/LaunchLog.h"
#include "runtime/base/Text.h"

#include <algorithm>

namespace tile::runtime::cuda {

void LaunchLog::markDone(uint64_t position) {
  uint64_t known = done.load(std::memory_order_relaxed);
  while (known < position &&
         !done.compare_exchange_weak(known, position, std::memory_order_relaxed)) {
  }
}

LaunchLog::Open LaunchLog::open() const {
  Open result;
  uint64_t last = position(), first = std::min(done.load(std::memory_order_relaxed), last);
  if (last - first > capacity) {
    result.earlier = last - first - capacity;
    first = last - capacity;
  }
  for (uint64_t n = first; n < last; ++n)
    if (const char *name = names[n % capacity].load(std::memory_order_relaxed))
      result.names.emplace_back(name);
  return result;
}

std::string describe(const LaunchLog::Open &open) {
  std::string text;
  for (size_t n = 0; n < open.names.size();) {
    size_t end = n;
    while (end < open.names.size() && open.names[end] == open.names[n])
      ++end;
    text += (text.empty() ? "" : ", ") + quote(open.names[n]);
    if (end - n > 1)
      text += " (" + std::to_string(end - n) + " times)";
    n = end;
  }
  if (open.earlier)
    text += " and " + std::to_string(open.earlier) + " before them";
  return text;
}

} // namespace tile::runtime::cuda
