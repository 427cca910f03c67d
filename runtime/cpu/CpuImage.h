// Loads the shared objects of artifacts into this process.
#pragma once

#include "runtime/artifact/ArtifactData.h"
#include "runtime/base/Result.h"

#include <memory>

namespace tile::runtime {

/// Machine code in this process; it lives as long as this object.
class CpuImage {
public:
  /// Refuses code for another platform or for a processor with more instruction sets than this
  /// one, and what the dynamic loader refuses. The code never becomes a file: it is loaded from
  /// anonymous memory, or, where the system has none, from a private file that is removed at once.
  static Result<std::shared_ptr<const CpuImage>> load(const ImageData &data);

  /// Why this machine can't run the image; empty if it can.
  static std::string reasonAgainst(const ImageData &data);

  ~CpuImage();
  CpuImage(const CpuImage &) = delete;

  /// A kernel of the image by the variant's symbol, to be launched by the kernel's signature.
  Result<CpuEntry> entry(const Signature &signature, const std::string &symbol) const;

private:
  CpuImage(void *handle, int descriptor) : handle(handle), descriptor(descriptor) {}
  void *find(const std::string &symbol) const;
  bool isOwn(uint64_t id) const;
  Status fillLibrary() const;

  void *handle;
  /// Open as long as the code is: its number is a part of the code's name.
  int descriptor;
};

/// A CpuEntry without code, as the signature describes it.
CpuEntry describeEntry(const Signature &signature);

} // namespace tile::runtime
