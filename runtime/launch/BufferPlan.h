// Which intermediate tensors of a graph share memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tile::runtime {

/// Which of a list of calls, each after those it depends on, have to be over before which.
class CallOrder {
public:
  /// `dependencies[c]` are the calls, all before c, whose results c reads.
  explicit CallOrder(std::vector<std::vector<uint32_t>> dependencies);

  /// The calls that have to be over before a call starts; others, because those need them.
  std::span<const uint32_t> dependencies(uint32_t call) const { return needed[call]; }

  /// Whether `first` is over before `then` starts, in whatever order independent calls run.
  bool isBefore(uint32_t first, uint32_t then) const;
  /// Calls that may run at the same time, one such set after the other.
  const std::vector<std::vector<uint32_t>> &waves() const { return theWaves; }

private:
  /// Of so many calls each is its own wave: bits for all pairs would take too much memory.
  static constexpr size_t maxCalls = size_t(1) << 14;

  std::vector<std::vector<uint32_t>> needed;
  /// By call, a bit for each one before it.
  std::vector<std::vector<uint64_t>> before;
  std::vector<std::vector<uint32_t>> theWaves;
};

struct BufferRequest {
  uint64_t bytes = 0;
  /// The call that writes it, and those that read it.
  uint32_t writer = 0;
  std::vector<uint32_t> readers;
  /// A request before it whose memory it takes over with what it holds, if the writer is the last
  /// who uses that one.
  std::optional<uint32_t> inPlaceOf;
};

struct BufferPlan {
  /// By request: where it begins, a multiple of 64; and whether it took the other one over.
  std::vector<uint64_t> offsets;
  std::vector<bool> isInPlace;
  /// Of the memory that holds them all; never more than `sumBytes`.
  uint64_t bytes = 0;
  /// What they would take side by side.
  uint64_t sumBytes = 0;
};

/// Places buffers, in the order of their writers. Two share memory only where all uses of the one
/// are over before the writer of the other starts: independent calls stay independent.
BufferPlan planBuffers(const std::vector<BufferRequest> &requests, const CallOrder &order);

} // namespace tile::runtime
