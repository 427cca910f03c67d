// Memory for the duration of a block of code, cheap to get again and again on the same thread.
#pragma once

#include "runtime/tensor/Memory.h"

namespace tile::runtime {

/// Gives memory from the calling thread's arena and takes it all back when it goes out of scope.
/// Scopes of a thread nest like its calls. That holds in parallel chunks, too, where a thread that
/// waits may run another chunk meanwhile: the inner scope ends before the outer one goes on.
class ScratchScope {
public:
  ScratchScope();
  ~ScratchScope();
  ScratchScope(const ScratchScope &) = delete;
  ScratchScope &operator=(const ScratchScope &) = delete;

  /// `bytes` uninitialized bytes at a multiple of `storageAlignment`, valid until the scope ends.
  /// Only the innermost scope of a thread may be asked.
  Result<std::byte *> allocate(uint64_t bytes);

private:
  size_t block;
  uint64_t used;
  ScratchScope *outer;
};

/// Bytes that the calling thread's arena holds for later scopes.
uint64_t scratchCapacity();
/// Gives them back. No scope may be open on the calling thread.
void releaseScratch();

} // namespace tile::runtime
