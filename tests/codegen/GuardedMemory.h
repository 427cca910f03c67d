// Memory whose neighbours may not be touched: a page without access begins right behind the last
// byte (or ends right before the first), and what is left of the first page is filled with a
// pattern.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tile::codegen::test {

class GuardedMemory {
public:
  enum class Side { End, Begin };

  explicit GuardedMemory(size_t bytes, Side side = Side::End) : bytes(bytes) {
    size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    inner = (bytes + page - 1) / page * page;
    total = inner + 2 * page;
    void *mapped =
        mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    base = static_cast<std::byte *>(mapped);
    if (inner)
      mprotect(base + page, inner, PROT_READ | PROT_WRITE);
    start = base + page + (side == Side::End ? inner - bytes : 0);
    std::memset(base + page, canary, inner);
  }
  GuardedMemory(GuardedMemory &&other) noexcept { *this = std::move(other); }
  GuardedMemory &operator=(GuardedMemory &&other) noexcept {
    std::swap(base, other.base);
    std::swap(start, other.start);
    std::swap(bytes, other.bytes);
    std::swap(inner, other.inner);
    std::swap(total, other.total);
    return *this;
  }
  ~GuardedMemory() {
    if (base)
      munmap(base, total);
  }

  std::byte *data() const { return start; }
  size_t size() const { return bytes; }
  void fill(uint8_t value) { std::memset(start, value, bytes); }
  /// True while nobody has written beside the data.
  bool isIntact() const {
    size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const std::byte *first = base + page, *last = first + inner;
    for (const std::byte *byte = first; byte != last; ++byte)
      if ((byte < start || byte >= start + bytes) && *byte != std::byte(canary))
        return false;
    return true;
  }

private:
  static constexpr uint8_t canary = 0xA7;
  std::byte *base = nullptr, *start = nullptr;
  size_t bytes = 0, inner = 0, total = 0;
};

} // namespace tile::codegen::test
