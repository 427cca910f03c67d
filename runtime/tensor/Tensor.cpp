#include "runtime/tensor/Tensor.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Text.h"
#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <cassert>

namespace tile::runtime {

std::string describe(DType type, std::span<const int64_t> shape) {
  return std::string(nameOf(type)) + "[" + formatShape(shape) + "]";
}

Result<int64_t> countElements(DType type, std::span<const int64_t> shape) {
  if (shape.size() > maxRank)
    return Error{"a tensor of " + std::to_string(shape.size()) + " dimensions is not supported",
                 "at most " + std::to_string(maxRank) + " dimensions are"};
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return Error{"shape " + formatShape(shape) + " has the negative extent " +
                       std::to_string(extent),
                   "extents are 0 or more"};
    empty |= extent == 0;
  }
  // A zero makes the product zero, whatever the others would have overflowed to.
  if (empty)
    return int64_t(0);
  int64_t count = 1, bytes;
  bool overflow = false;
  for (int64_t extent : shape)
    overflow |= __builtin_mul_overflow(count, extent, &count);
  if (overflow || __builtin_mul_overflow(count, sizeOf(type), &bytes))
    return Error{"the size of " + describe(type, shape) + " overflows 63 bits",
                 "use smaller extents"};
  return count;
}

Result<Tensor> Tensor::createUninitialized(DType type, Shape shape) {
  Result<int64_t> count = countElements(type, shape);
  if (!count)
    return count.takeError();
  auto bytes = static_cast<uint64_t>(*count * sizeOf(type));
  Result<AlignedBytes> storage =
      allocateAligned(bytes, "a tensor " + runtime::describe(type, shape));
  if (!storage)
    return storage.takeError();
  return Tensor(type, std::move(shape), *count, *std::move(storage));
}

Result<Tensor> Tensor::create(DType type, Shape shape) {
  Result<Tensor> tensor = createUninitialized(type, std::move(shape));
  if (tensor)
    std::memset(tensor->data(), 0, tensor->byteSize());
  return tensor;
}

Result<Tensor> Tensor::clone() const {
  Result<Tensor> copy = createUninitialized(type, extents);
  if (copy)
    copyBytes(copy->data(), data(), byteSize());
  return copy;
}

int64_t Tensor::offsetOf(std::span<const int64_t> index) const {
  assert(index.size() == extents.size());
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    assert(index[d] >= 0 && index[d] < extents[d]);
    offset = offset * extents[d] + index[d];
  }
  return offset;
}

/// Quiet NaNs whose low bytes show 0xAB where the type has room for it.
static uint64_t poisonPattern(DType type) {
  switch (type) {
  case DType::F16:
    return 0x7eab;
  case DType::BF16:
    return 0x7feb;
  case DType::F32:
    return 0x7fcbabab;
  case DType::F64:
    return 0x7ffbababababababu;
  case DType::F8E4M3:
  case DType::F8E5M2:
    return 0x7f;
  case DType::Bool:
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
  case DType::U8:
  case DType::U16:
  case DType::U32:
  case DType::U64:
    return 0xababababababababu;
  }
  return 0;
}

void Tensor::poison() {
  std::span<std::byte> all = bytes();
  uint64_t pattern = poisonPattern(type);
  // One element, then as much again as is there.
  auto done = std::min(all.size(), static_cast<size_t>(sizeOf(type)));
  std::memcpy(all.data(), &pattern, done);
  for (size_t next; done < all.size(); done += next)
    std::memcpy(all.data() + done, all.data(), next = std::min(done, all.size() - done));
}

void Tensor::normalizeBools() {
  if (type != DType::Bool)
    return;
  for (std::byte &byte : bytes())
    byte = std::byte(byte != std::byte(0));
}

uint64_t Tensor::checksum() const { return hashBytes(bytes()); }

std::string Tensor::describe() const { return runtime::describe(type, extents); }

} // namespace tile::runtime
