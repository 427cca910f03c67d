// Binds the dimensions of a kernel or graph to the shapes of a call, by the rules of its signature.
//
// Answers and messages are those of ir/interpreter/Launch.h, which works on the IR; a test compares
// the two.
#pragma once

#include "runtime/artifact/ArtifactData.h"
#include "runtime/base/Result.h"
#include "runtime/tensor/Tensor.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace tile::runtime {

/// Values of constants and dimensions, by name.
using DimValues = std::map<std::string, int64_t, std::less<>>;

struct LaunchBinding {
  /// In the order of the signature.
  std::vector<int64_t> dims;
  /// By parameter; empty for scalars.
  std::vector<Shape> shapes;
};

/// Dimensions, and the bytes of a tensor, stay within an address space of x86-64.
inline constexpr int64_t maxExtent = int64_t(1) << 47;

/// Binds each dimension where it stands bare in the shape of an input, each constant from `given`
/// or its default, and checks that all shapes agree. `inputShapes[p]` is the shape of parameter p
/// (empty for scalars); only those of `in` and `inout` parameters are read.
Result<LaunchBinding> bindLaunch(const Signature &signature,
                                 std::span<const std::span<const int64_t>> inputShapes,
                                 const DimValues &given);

/// Checks what the author requires, in unbounded integers, and holds scalars that take part in
/// indices within 2^47. `scalars[p]` are the bits of scalar parameter p.
Status checkRequires(const Signature &signature, std::span<const int64_t> dims,
                     std::span<const uint64_t> scalars);

} // namespace tile::runtime
