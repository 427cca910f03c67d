#include "runtime/BufferPlan.h"
#include "runtime/Memory.h"

#include <algorithm>

namespace tile::runtime {

CallOrder::CallOrder(std::vector<std::vector<uint32_t>> dependencies)
    : needed(std::move(dependencies)) {
  size_t count = needed.size();
  if (count > maxCalls) {
    for (uint32_t call = 0; call < count; ++call) {
      theWaves.push_back({call});
      if (call > 0)
        needed[call] = {call - 1};
    }
    return;
  }
  std::vector<uint32_t> wave(count);
  before.resize(count);
  for (uint32_t call = 0; call < count; ++call) {
    before[call].resize(call / 64 + 1);
    for (uint32_t earlier : needed[call]) {
      wave[call] = std::max(wave[call], wave[earlier] + 1);
      before[call][earlier / 64] |= uint64_t(1) << (earlier % 64);
      for (size_t word = 0; word < before[earlier].size(); ++word)
        before[call][word] |= before[earlier][word];
    }
    if (theWaves.size() <= wave[call])
      theWaves.emplace_back();
    theWaves[wave[call]].push_back(call);
  }
}

bool CallOrder::isBefore(uint32_t first, uint32_t then) const {
  if (before.empty() || first >= then)
    return first < then;
  return before[then][first / 64] >> (first % 64) & 1;
}

namespace {

/// A piece of memory, and who uses it now. Those who used it before are over by then.
struct Slot {
  uint64_t bytes = 0;
  uint32_t request = 0;
};

class Planner {
public:
  Planner(const std::vector<BufferRequest> &requests, const CallOrder &order)
      : requests(requests), order(order) {}

  BufferPlan run() {
    std::vector<size_t> slotOf;
    for (uint32_t n = 0; n < requests.size(); ++n) {
      const BufferRequest &request = requests[n];
      plan.sumBytes += padded(request.bytes);
      std::optional<size_t> slot;
      if (request.inPlaceOf && canTakeOver(n, slots[slotOf[*request.inPlaceOf]]))
        slot = slotOf[*request.inPlaceOf];
      plan.isInPlace.push_back(slot.has_value());
      if (!slot)
        slot = findFree(request);
      slots[*slot].bytes = std::max(slots[*slot].bytes, padded(request.bytes));
      slots[*slot].request = n;
      slotOf.push_back(*slot);
    }
    std::vector<uint64_t> begins;
    for (const Slot &slot : slots) {
      begins.push_back(plan.bytes);
      plan.bytes += slot.bytes;
    }
    for (size_t slot : slotOf)
      plan.offsets.push_back(begins[slot]);
    return std::move(plan);
  }

private:
  static uint64_t padded(uint64_t bytes) {
    return (bytes + storageAlignment - 1) / storageAlignment * storageAlignment;
  }

  bool isOver(const Slot &slot, uint32_t then, bool mayReadNow) const {
    const BufferRequest &user = requests[slot.request];
    auto isDone = [&](uint32_t call) {
      return order.isBefore(call, then) || (mayReadNow && call == then);
    };
    return isDone(user.writer) && std::all_of(user.readers.begin(), user.readers.end(), isDone);
  }

  bool canTakeOver(uint32_t request, const Slot &slot) const {
    const BufferRequest &taken = requests[*requests[request].inPlaceOf];
    uint32_t writer = requests[request].writer;
    // Its writer reads it once: as what it changes, and as nothing else.
    return slot.request == *requests[request].inPlaceOf && taken.bytes == requests[request].bytes &&
           std::count(taken.readers.begin(), taken.readers.end(), writer) == 1 &&
           isOver(slot, writer, /*mayReadNow=*/true);
  }

  /// The least free slot that is large enough, else the largest one, else a new one.
  size_t findFree(const BufferRequest &request) {
    std::optional<size_t> best;
    for (size_t n = 0; n < slots.size(); ++n) {
      if (!isOver(slots[n], request.writer, /*mayReadNow=*/false))
        continue;
      uint64_t bytes = slots[n].bytes, wanted = padded(request.bytes);
      bool isLarger = best && bytes > slots[*best].bytes;
      bool isBetter =
          !best || (slots[*best].bytes >= wanted ? bytes >= wanted && !isLarger : isLarger);
      if (isBetter)
        best = n;
    }
    if (best)
      return *best;
    slots.emplace_back();
    return slots.size() - 1;
  }

  const std::vector<BufferRequest> &requests;
  const CallOrder &order;
  std::vector<Slot> slots;
  BufferPlan plan;
};

} // namespace

BufferPlan planBuffers(const std::vector<BufferRequest> &requests, const CallOrder &order) {
  return Planner(requests, order).run();
}

} // namespace tile::runtime
