// What a PTX text is for, by its head.
#pragma once

#include "runtime/cuda/Device.h"

#include <optional>
#include <string_view>

namespace tile::runtime::cuda {

struct PtxTarget {
  /// "sm_90a".
  std::string name;
  int major = 0, minor = 0;
  /// 'a': for that capability alone; 'f': for its family, of the same major; '\0': for all from it
  /// on.
  char suffix = '\0';
  /// Of PTX itself: "8.7"; "" if it isn't there.
  std::string version;
};

/// "sm_90a", without a version.
std::optional<PtxTarget> parseTarget(std::string_view name);

/// The directives `.target` and `.version`; nothing if there is no target.
std::optional<PtxTarget> parsePtxTarget(std::string_view ptx);

/// What PTX is, for messages: "code in PTX 8.7 for sm_90a". An error if it says that it is for
/// another device.
Result<std::string> describePtx(std::string_view ptx, const DeviceProperties &device);

/// Whether PTX for a target can run on a device.
bool runsOn(const PtxTarget &target, const DeviceProperties &device);

/// An error if PTX for that target can't run on a device, which names both.
Status checkPtxTarget(const PtxTarget &target, const DeviceProperties &device);

} // namespace tile::runtime::cuda
