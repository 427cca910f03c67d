// .safetensors files: named tensors, a JSON header and the bytes.
//
// The header is checked as strictly as the format's own definition says: known fields only,
// unique names, offsets inside the file that match shape and type, no overlaps, no holes, nothing
// after the data. Errors name the file and the tensor.
#pragma once

#include "runtime/base/FileIO.h"
#include "runtime/tensor/Tensor.h"

#include <string>
#include <vector>

namespace tile::runtime {

/// A file with its header read; tensors are read one by one.
class SafetensorsFile {
public:
  struct Entry {
    std::string name;
    /// As the file spells it ("BF16"); a type that tilec lacks is refused only when read.
    std::string typeName;
    Shape shape;
    /// From the start of the data, `begin <= end`.
    uint64_t begin = 0, end = 0;
  };

  static Result<SafetensorsFile> open(const std::string &path);

  /// In the order of the header.
  const std::vector<Entry> &entries() const { return tensors; }
  /// Unknown names are refused with the nearest known one, or all of them if they are few.
  Result<const Entry *> find(std::string_view name) const;
  Result<Tensor> read(std::string_view name) const;

private:
  SafetensorsFile(InputFile file, uint64_t dataOffset, std::vector<Entry> tensors)
      : file(std::move(file)), dataOffset(dataOffset), tensors(std::move(tensors)) {}

  InputFile file;
  uint64_t dataOffset;
  std::vector<Entry> tensors;
};

Result<Tensor> readSafetensors(const std::string &path, std::string_view name);

struct NamedTensor {
  std::string name;
  const Tensor *tensor;
};

/// Makes the file hold exactly these tensors, each aligned to its element size. Refuses repeated
/// names and names that are no UTF-8. Replaces the file in one step.
Status writeSafetensors(const std::string &path, std::span<const NamedTensor> tensors);

} // namespace tile::runtime
