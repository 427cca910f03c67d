//===- DeviceDescription.h - what a device can do, from a file ------------===//
//
// A device in figures: bandwidth, operations a second by unit and type, what a
// multiprocessor has. They come from JSON files (frontend/devices, which are
// built in, or a user's; docs/bench.md has the format), so that rooflines and
// predictions need no device. Every figure names its source.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_MODEL_DEVICEDESCRIPTION_H
#define TILE_FRONTEND_MODEL_DEVICEDESCRIPTION_H

#include "frontend/base/Outcome.h"
#include "runtime/artifact/GpuTarget.h"
#include "runtime/tensor/DType.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <vector>

namespace tile::runtime::cuda {
struct DeviceProperties;
}

namespace tile::frontend {

/// What computes: arithmetic of vectors and threads, or a unit for products of matrices.
enum class Unit { Vector, Matrix };

struct DeviceDescription {
  struct Figure {
    double value = 0;
    std::string unit;
    /// One of the sources, by its name.
    std::string source;
  };
  std::string name, title;
  bool isGpu = false;
  /// Of a GPU: what to compile for.
  std::string target;
  /// What the driver or the processor calls such devices.
  std::vector<std::string> knownAs;
  std::map<std::string, std::string> sources;
  std::map<std::string, Figure> figures;

  /// 0 where there is none.
  double figure(const std::string &key) const;
  /// Bytes a second, and seconds that a launch takes at least.
  double bandwidth() const { return figure("memory_bandwidth"); }
  double launchSeconds() const { return figure("launch"); }
  /// Operations a second of a unit on a type: those of the next wider type that it has, where it
  /// hasn't got this one; 0 if it has neither.
  double operations(Unit unit, runtime::DType type) const;

  /// Returns a GPU's target with its own multiprocessors, bandwidth and clock, unless code is to be
  /// for devices of another compute capability; of a processor, the usual target.
  runtime::GpuTarget gpuTarget() const;
  /// Has code be for the target of a name.
  void compileFor(const std::string &name);

  /// Reads a description; `origin` names the text in errors.
  static Outcome<DeviceDescription> parse(const std::string &text, const std::string &origin);
  static Outcome<DeviceDescription> read(const std::string &path);
  /// Those that are built in, by name.
  static const std::vector<DeviceDescription> &builtIn();
  /// The one that is built in for what a driver or processor calls itself; null if none is.
  static const DeviceDescription *of(const std::string &deviceName);
  /// By name, or from a file if that ends with .json.
  static Outcome<DeviceDescription> find(const std::string &nameOrPath);

private:
  /// Set where code is to be for a target that was named.
  std::string ownTarget;
};

/// Returns the target of a name with what is known of a device that runs its code: by its
/// description, or what the driver says.
runtime::GpuTarget gpuTargetOf(llvm::StringRef target,
                               const runtime::cuda::DeviceProperties &device);

} // namespace tile::frontend

#endif // TILE_FRONTEND_MODEL_DEVICEDESCRIPTION_H
