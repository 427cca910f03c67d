// A dense tensor in host memory: row-major, owning, 64-byte aligned.
#pragma once

#include "runtime/tensor/DType.h"
#include "runtime/tensor/Memory.h"

#include <cassert>
#include <cstring>
#include <string>
#include <vector>

namespace tile::runtime {

using Shape = std::vector<int64_t>;

/// Most dimensions that a tensor may have.
inline constexpr size_t maxRank = 64;

/// Product of the extents. Refuses negative extents, ranks over `maxRank`, and shapes whose
/// elements or bytes (of `type`) don't fit int64_t. Zero extents are fine.
Result<int64_t> countElements(DType type, std::span<const int64_t> shape);

/// "f32[3x4]".
std::string describe(DType type, std::span<const int64_t> shape);

class Tensor {
public:
  /// All elements zero. Refuses what `countElements` refuses, and more memory than there is.
  static Result<Tensor> create(DType type, Shape shape);
  /// The same, elements not initialized: for callers that write every byte.
  static Result<Tensor> createUninitialized(DType type, Shape shape);
  Result<Tensor> clone() const;

  Tensor(Tensor &&) = default;
  Tensor &operator=(Tensor &&) = default;

  DType dtype() const { return type; }
  const Shape &shape() const { return extents; }
  int64_t rank() const { return static_cast<int64_t>(extents.size()); }
  int64_t numElements() const { return count; }
  uint64_t byteSize() const { return static_cast<uint64_t>(count * sizeOf(type)); }

  /// Never null, a multiple of `storageAlignment`.
  std::byte *data() { return storage.get(); }
  const std::byte *data() const { return storage.get(); }
  std::span<std::byte> bytes() { return {data(), byteSize()}; }
  std::span<const std::byte> bytes() const { return {data(), byteSize()}; }

  /// Row-major position of an element; `index` has one entry a dimension, each inside it.
  int64_t offsetOf(std::span<const int64_t> index) const;

  /// Elements by row-major position, converted as runtime/tensor/DType.h says.
  double getDouble(int64_t offset) const { return loadDouble(type, element(offset)); }
  int64_t getInt(int64_t offset) const { return loadInt(type, element(offset)); }
  void setDouble(int64_t offset, double value, Overflow overflow = Overflow::ToInfinity) {
    storeDouble(type, element(offset), value, overflow);
  }
  void setInt(int64_t offset, int64_t value) { storeInt(type, element(offset), value); }

  /// Makes every element a recognizable wrong value: NaN for floats, 0xAB bytes otherwise.
  void poison();
  /// Makes every bool byte 0 or 1; no effect on other types. For bytes that come from outside.
  void normalizeBools();
  /// XXH64 (seed 0) of the bytes; shape and type don't enter.
  uint64_t checksum() const;
  /// The values as nested brackets, as NumPy prints them; of a long dimension only the ends.
  std::string preview() const;
  /// "f32[3x4]".
  std::string describe() const;

private:
  Tensor(DType type, Shape shape, int64_t count, AlignedBytes storage)
      : type(type), extents(std::move(shape)), count(count), storage(std::move(storage)) {}

  std::byte *element(int64_t offset) const {
    assert(offset >= 0 && offset < count && "element outside the tensor");
    return storage.get() + offset * sizeOf(type);
  }

  DType type;
  Shape extents;
  int64_t count;
  AlignedBytes storage;
};

/// One element as text: shortest digits that suit the type, "nan", "-inf", "true".
std::string formatElement(DType type, const void *element);

} // namespace tile::runtime
