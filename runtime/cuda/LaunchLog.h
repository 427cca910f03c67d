// Which kernels a stream was given since its last synchronization: a fault on the device shows
// later and says nothing of who did it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace tile::runtime::cuda {

/// The last launches of a stream. Any thread may call anything; adding neither locks nor allocates.
class LaunchLog {
public:
  /// How many names are kept; of those before them only the number.
  static constexpr uint64_t capacity = 32;

  /// Adds a launch. The name has to live as long as the log (see Device::internName).
  void add(const char *name) {
    uint64_t n = launched.fetch_add(1, std::memory_order_relaxed);
    names[n % capacity].store(name, std::memory_order_relaxed);
  }

  /// How many launches there were: those that a synchronization that begins now waits for.
  uint64_t position() const { return launched.load(std::memory_order_relaxed); }

  /// The first `position` launches are done and were right.
  void markDone(uint64_t position);

  struct Open {
    /// Names of launches of which nothing is known yet, the oldest first.
    std::vector<std::string> names;
    /// How many there are before those.
    uint64_t earlier = 0;
  };
  Open open() const;

private:
  std::array<std::atomic<const char *>, capacity> names = {};
  std::atomic<uint64_t> launched{0}, done{0};
};

/// "'a', 'b' (3 times) and 5 before them"; "" if nothing is open.
std::string describe(const LaunchLog::Open &open);

} // namespace tile::runtime::cuda
