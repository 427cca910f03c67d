//===- Fuse.h - whether kernels of a graph become one ---------------------===//
#ifndef TILE_FRONTEND_TILE_FUSE_H
#define TILE_FRONTEND_TILE_FUSE_H

namespace tile {

/// docs/fusion.md
enum class FuseMode {
  /// Each call is a launch.
  Off,
  /// Kernels become one where that saves time and the result stays the same, rounding included.
  Exact,
  /// The same, but values that no longer go through memory are not rounded to their tensor's type,
  /// and multiply-adds form across kernels.
  Fast,
};

/// Of `tilec` and of the C++ API, where nothing else is asked for.
inline constexpr FuseMode defaultFuseMode = FuseMode::Exact;

} // namespace tile

#endif // TILE_FRONTEND_TILE_FUSE_H
