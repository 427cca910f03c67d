#include "runtime/cuda/Spaces.h"

namespace tile::runtime::cuda {

Result<std::byte *> PreparedSpace::allocate(uint64_t bytes) {
  auto buffer = DeviceBuffer::allocate(run.sharedStream(), bytes);
  if (!buffer)
    return buffer.takeError();
  std::byte *memory = pointerTo(buffer->address());
  run.keep(*std::move(buffer));
  return memory;
}

Status PreparedSpace::copy(std::byte *to, const std::byte *from, uint64_t bytes) {
  run.addCopy(addressOf(to), addressOf(from), bytes);
  return {};
}

Status PreparedSpace::fill(std::byte *to, uint8_t value, uint64_t bytes) {
  run.addFill(addressOf(to), value, bytes);
  return {};
}

Result<std::byte *> StreamSpace::allocate(uint64_t bytes) {
  auto buffer = DeviceBuffer::allocate(stream, bytes);
  if (!buffer)
    return buffer.takeError();
  buffers.push_back(*std::move(buffer));
  return pointerTo(buffers.back().address());
}

Status StreamSpace::copy(std::byte *to, const std::byte *from, uint64_t bytes) {
  return bytes ? stream->copy(addressOf(to), addressOf(from), bytes) : Status();
}

Status StreamSpace::fill(std::byte *to, uint8_t value, uint64_t bytes) {
  return bytes ? stream->fill(addressOf(to), value, bytes) : Status();
}

} // namespace tile::runtime::cuda
