//===- TunedSchedules.h - schedules that were measured --------------------===//
//
// What `tilec tune` finds stands beside the source, `matmul.tuned.json` beside
// `matmul.tile`, one entry for each kernel, device and choice of dimensions.
// Whatever runs the kernel from that source on such a device, with these
// dimensions, takes the schedule from there.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EXECUTE_TUNEDSCHEDULES_H
#define TILE_FRONTEND_EXECUTE_TUNEDSCHEDULES_H

#include "frontend/execute/TileSizes.h"

namespace tile::frontend {

/// Tile sizes by binder, settings of the schedule that are numbers (ir::countSettings) among them.
using Schedule = TileSizes::ByBinder;

struct TunedSchedule {
  struct Measured {
    Schedule schedule;
    /// The median of its runs; 0 for one that can't run.
    double seconds = 0;
  };

  /// The kernel's symbol: `matmul.bf16`.
  std::string kernel;
  /// As the driver or the processor calls it.
  std::string device;
  /// All dimensions of the kernel.
  std::map<std::string, int64_t> dims;
  /// The fastest, and what runs without this file.
  Measured best, usual;
  /// How many were tried.
  size_t candidates = 0;
  /// Of a search that is not at its end: the compiler that it is made with, and what was measured,
  /// `usual` not among it.
  std::string compiler;
  std::vector<Measured> tried;

  bool isFinished() const { return compiler.empty(); }
};

class TunedFile {
public:
  /// The file for a source; empty for what is no `.tile` file.
  static std::string pathFor(llvm::StringRef source);
  /// Reads it; without entries if there is no such file.
  static Outcome<TunedFile> read(std::string path);
  /// Replaces the file in one step.
  Outcome<std::monostate> write() const;

  /// The entry for a kernel by its symbol; null if there is none.
  TunedSchedule *find(llvm::StringRef kernel, llvm::StringRef device,
                      const std::map<std::string, int64_t> &dims);

  std::string path;
  std::vector<TunedSchedule> entries;
};

/// The dimensions of a launch by name.
std::map<std::string, int64_t> dimsByName(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims);

/// The files beside all sources, each read when the first kernel asks for it.
class TunedSchedules {
public:
  /// The schedule for a launch of a kernel as its source has it; null if there is none. One with
  /// names that the kernel has not is none, and a remark says so. Fails where the file is no such
  /// file.
  Outcome<const Schedule *> find(ir::KernelOp kernel, llvm::StringRef device,
                                 llvm::ArrayRef<int64_t> dims);

private:
  std::map<std::string, TunedFile> files;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_TUNEDSCHEDULES_H
