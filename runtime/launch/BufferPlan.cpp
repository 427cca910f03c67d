#include "runtime/launch/BufferPlan.h"
#include "runtime/tensor/Memory.h"

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

/// Requests that have the same memory, one after the other, each in place of the one before.
struct Piece {
  uint64_t bytes = 0, offset = 0;
  std::vector<uint32_t> requests;

  uint64_t end() const { return offset + bytes; }
};

/// Places the largest first, each as far in front as nothing lies that is in use at the same time:
/// greedy by size, of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
/// Inference" (2020), with calls that are ordered in part.
class Planner {
public:
  Planner(const std::vector<BufferRequest> &requests, const CallOrder &order)
      : requests(requests), order(order) {}

  BufferPlan run() {
    std::vector<size_t> pieceOf = pieces();
    std::vector<Piece *> bySize;
    for (Piece &piece : all)
      bySize.push_back(&piece);
    std::stable_sort(bySize.begin(), bySize.end(),
                     [](const Piece *x, const Piece *y) { return x->bytes > y->bytes; });
    for (Piece *piece : bySize)
      place(*piece);
    for (size_t piece : pieceOf)
      plan.offsets.push_back(all[piece].offset);
    return std::move(plan);
  }

private:
  static uint64_t padded(uint64_t bytes) {
    return (bytes + storageAlignment - 1) / storageAlignment * storageAlignment;
  }

  bool isOver(const BufferRequest &user, uint32_t then, bool mayReadNow) const {
    auto isDone = [&](uint32_t call) {
      return order.isBefore(call, then) || (mayReadNow && call == then);
    };
    return isDone(user.writer) && std::all_of(user.readers.begin(), user.readers.end(), isDone);
  }

  bool canTakeOver(const BufferRequest &request, const Piece &piece) const {
    const BufferRequest &taken = requests[*request.inPlaceOf];
    // Its writer reads it once: as what it changes, and as nothing else.
    return piece.requests.back() == *request.inPlaceOf && taken.bytes == request.bytes &&
           std::count(taken.readers.begin(), taken.readers.end(), request.writer) == 1 &&
           isOver(taken, request.writer, /*mayReadNow=*/true);
  }

  /// Which piece each request is in.
  std::vector<size_t> pieces() {
    std::vector<size_t> pieceOf;
    for (uint32_t n = 0; n < requests.size(); ++n) {
      const BufferRequest &request = requests[n];
      plan.sumBytes += padded(request.bytes);
      bool isInPlace = request.inPlaceOf && canTakeOver(request, all[pieceOf[*request.inPlaceOf]]);
      plan.isInPlace.push_back(isInPlace);
      pieceOf.push_back(isInPlace ? pieceOf[*request.inPlaceOf] : all.size());
      if (!isInPlace)
        all.push_back({padded(request.bytes), 0, {}});
      all[pieceOf.back()].requests.push_back(n);
      lastUses.push_back(request.writer);
      for (uint32_t reader : request.readers)
        lastUses.back() = std::max(lastUses.back(), reader);
    }
    return pieceOf;
  }

  bool areApart(uint32_t one, uint32_t other) const {
    const BufferRequest &x = requests[one], &y = requests[other];
    // Numbers tell most pairs that are not.
    return (lastUses[one] < y.writer && isOver(x, y.writer, /*mayReadNow=*/false)) ||
           (lastUses[other] < x.writer && isOver(y, x.writer, /*mayReadNow=*/false));
  }

  bool areApart(const Piece &one, const Piece &other) const {
    return std::all_of(one.requests.begin(), one.requests.end(), [&](uint32_t x) {
      return std::all_of(other.requests.begin(), other.requests.end(),
                         [&](uint32_t y) { return areApart(x, y); });
    });
  }

  void place(Piece &piece) {
    for (const Piece *other : placed) {
      if (piece.end() <= other->offset)
        break;
      if (piece.offset < other->end() && !areApart(piece, *other))
        piece.offset = other->end();
    }
    plan.bytes = std::max(plan.bytes, piece.end());
    auto isBehind = [](const Piece *x, const Piece *y) { return x->offset < y->offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &piece, isBehind), &piece);
  }

  const std::vector<BufferRequest> &requests;
  const CallOrder &order;
  std::vector<Piece> all;
  std::vector<const Piece *> placed; // by their offsets
  std::vector<uint32_t> lastUses;    // by request
  BufferPlan plan;
};

} // namespace

BufferPlan planBuffers(const std::vector<BufferRequest> &requests, const CallOrder &order) {
  return Planner(requests, order).run();
}

} // namespace tile::runtime
