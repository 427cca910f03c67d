// Reading regular files at positions, and replacing files in one step.
#pragma once

#include "runtime/base/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tile::runtime {

/// A regular file open for reading. Its size is the one at opening; if the file shrinks later,
/// reads say so.
class InputFile {
public:
  /// Refuses what is no regular file (directories, pipes, devices) without blocking.
  static Result<InputFile> open(const std::string &path);

  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&) = delete;
  ~InputFile();

  const std::string &path() const { return name; }
  uint64_t size() const { return length; }

  /// Fills all of `bytes` from position `offset` on.
  Status readAt(uint64_t offset, std::span<std::byte> bytes) const;

private:
  InputFile(std::string name, int descriptor, uint64_t length)
      : name(std::move(name)), descriptor(descriptor), length(length) {}

  std::string name;
  int descriptor;
  uint64_t length;
};

/// One name for all paths to a file, whether it exists or not.
std::string canonicalPath(const std::string &path);

/// Makes `path` a file of these pieces, one after the other: written to a temporary beside it and
/// renamed, so that other programs see the old content or the new, and a failure leaves the old.
/// An existing file keeps its permissions; a symbolic link is followed.
Status replaceFile(const std::string &path, std::span<const std::span<const std::byte>> pieces);

/// Whether replaceFile could begin, as far as that can be known without writing anything: for what
/// takes long to make.
Status checkReplaceable(const std::string &path);

} // namespace tile::runtime
