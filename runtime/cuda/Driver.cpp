#include "runtime/cuda/Driver.h"
#include "runtime/base/Text.h"

#include <cstdlib>

#include <dlfcn.h>

namespace tile::runtime::cuda {

namespace {

constexpr const char *usualFile = "libcuda.so.1";
constexpr const char *notADriverHint = "TILE_CUDA_DRIVER has to name the library of an installed "
                                       "driver, libcuda.so.1; the toolkit's stub is none";

/// Finds every function in a library that is open. Gives the first symbol that isn't there, or
/// null.
const char *fill(DriverTable &table, void *library) {
  const char *missing = nullptr;
#define TILE_CUDA_FUNCTION(NAME, SYMBOL, PARAMETERS)                                               \
  table.NAME = reinterpret_cast<decltype(table.NAME)>(::dlsym(library, #SYMBOL));                  \
  if (!table.NAME && !missing)                                                                     \
    missing = #SYMBOL;
#include "runtime/cuda/Functions.def"
#undef TILE_CUDA_FUNCTION
  return missing;
}

std::string quotedFile(const std::string &file) { return "the CUDA driver " + quote(file); }

Status checkVersion(int version, const std::string &file) {
  if (version >= Driver::neededVersion)
    return {};
  return Error{quotedFile(file) + " is too old: it is for CUDA " + formatVersion(version) +
                   ", and launches of clusters need " + formatVersion(Driver::neededVersion),
               "update the NVIDIA driver to version 525 or newer, or use --device=cpu"};
}

} // namespace

std::string formatVersion(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Result<std::shared_ptr<const Driver>> Driver::open() {
  const char *named = std::getenv("TILE_CUDA_DRIVER");
  return openFile(named && *named ? named : usualFile);
}

Result<std::shared_ptr<const Driver>> Driver::openFile(const std::string &file) {
  void *library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = ::dlerror();
    return Error{"there is no CUDA driver: " + quote(file) +
                     " can't be opened: " + (reason ? reason : "no reason is given"),
                 "install NVIDIA's driver, name its library in TILE_CUDA_DRIVER, or use "
                 "--device=cpu"};
  }
  DriverTable table;
  const char *missing = fill(table, library);
  // An old driver lacks functions, too: say first that it is old.
  int version = 0;
  if (missing && table.driverGetVersion && table.driverGetVersion(&version) == CUDA_SUCCESS)
    if (Status status = checkVersion(version, file); !status)
      return status.takeError();
  if (missing)
    return Error{quotedFile(file) + " has no function " + missing, notADriverHint};
  return fromTable(table, file);
}

Result<std::shared_ptr<const Driver>> Driver::fromTable(const DriverTable &table,
                                                        const std::string &name) {
  std::shared_ptr<Driver> driver(new Driver(table, name));
  if (Status status = driver->start(); !status)
    return status.takeError();
  return std::shared_ptr<const Driver>(std::move(driver));
}

Status Driver::start() {
  CUresult code = functions.driverGetVersion(&number);
  if (code)
    return error(code, quotedFile(file) + " doesn't tell its version", notADriverHint);
  if (Status status = checkVersion(number, file); !status)
    return status;
  code = functions.init(0);
  // A machine without devices has a driver all the same.
  noDevice = code == CUDA_ERROR_NO_DEVICE;
  if (code && !noDevice)
    return error(code, quotedFile(file) + " can't be initialized",
                 "`nvidia-smi` shows whether the driver works; after an update of the driver its "
                 "kernel module has to be loaded anew");
  return {};
}

std::string Driver::describe(CUresult code) const {
  const char *name = nullptr, *text = nullptr;
  std::string number = "error " + std::to_string(static_cast<int>(code));
  // Both leave null for a code that they don't know.
  if (functions.getErrorName(code, &name) != CUDA_SUCCESS || !name)
    name = number.c_str();
  if (functions.getErrorString(code, &text) != CUDA_SUCCESS || !text)
    return name;
  return std::string(text) + " (" + name + ")";
}

Error Driver::error(CUresult code, const std::string &what, const std::string &hint) const {
  return {what + ": " + describe(code), hint};
}

} // namespace tile::runtime::cuda
