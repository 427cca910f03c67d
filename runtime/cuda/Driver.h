// NVIDIA's driver, opened at run time: one table of its functions. Nothing of CUDA is linked, and
// no toolkit is needed to build or run.
#pragma once

#include "runtime/base/Result.h"
#include "runtime/cuda/DriverTypes.h"

#include <memory>
#include <string>

namespace tile::runtime::cuda {

/// The functions of Functions.def, under their names there.
struct DriverTable {
#define TILE_CUDA_FUNCTION(NAME, SYMBOL, PARAMETERS) CUresult(*NAME) PARAMETERS = nullptr;
#include "runtime/cuda/Functions.def"
#undef TILE_CUDA_FUNCTION
};

/// A driver that is new enough, with all functions found, and initialized. Nothing of it is kept in
/// a global: opening it again costs little, and a fake one in a test meets no other.
class Driver {
public:
  /// CUDA 12.0, the first with launches of clusters and tensor maps.
  static constexpr int neededVersion = 12000;

  /// Opens the file that TILE_CUDA_DRIVER names, or libcuda.so.1. Errors: there is none (with what
  /// the loader says), it is too old, lacks a function, or can't be initialized. That a machine has
  /// no device is no error here: see Device::count.
  static Result<std::shared_ptr<const Driver>> open();
  /// Opens a file; a name without a slash is looked up as the loader does. It stays open until the
  /// process ends, as the driver's own threads need it.
  static Result<std::shared_ptr<const Driver>> openFile(const std::string &file);
  /// A driver of these functions, which have to be there all; `name` is for messages. For tests.
  static Result<std::shared_ptr<const Driver>> fromTable(const DriverTable &table,
                                                         const std::string &name);

  const DriverTable &api() const { return functions; }
  /// The file that was opened.
  const std::string &name() const { return file; }
  /// 12040 is CUDA 12.4.
  int version() const { return number; }
  /// Whether the driver said at once that there is no device.
  bool hasNoDevice() const { return noDevice; }

  /// What the driver says of a code: "out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
  std::string describe(CUresult code) const;
  /// "`what`: out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
  Error error(CUresult code, const std::string &what, const std::string &hint = "") const;

private:
  Driver(const DriverTable &table, std::string file) : functions(table), file(std::move(file)) {}
  Status start();

  DriverTable functions;
  std::string file;
  int number = 0;
  bool noDevice = false;
};

/// "12.4" of 12040.
std::string formatVersion(int version);

} // namespace tile::runtime::cuda
