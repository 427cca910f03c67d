//===- InfoDevices.cpp - tilec info --devices -----------------------------===//

#include "frontend/cli/Commands.h"
#include "runtime/CpuFeatures.h"
#include "runtime/cuda/Device.h"

#include "llvm/Support/raw_ostream.h"

#include <thread>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

namespace {
void printCpu() {
  std::string name = runtime::cpuName();
  unsigned cores = std::thread::hardware_concurrency();
  llvm::outs() << "cpu: " << (name.empty() ? "a processor without a name" : name) << "\n    "
               << cores << (cores == 1 ? " core, " : " cores, ") << runtime::cpuVectorBits()
               << "-bit vectors\n";
}

/// Why there is no device, as an answer: it is no error of the call.
void printNone(const runtime::Error &reason) {
  llvm::outs() << "cuda: none: " << reason.message << "\n";
  if (!reason.hint.empty())
    llvm::outs() << "    hint: " << reason.hint << "\n";
}

void printCuda() {
  using namespace runtime::cuda;
  auto driver = Driver::open();
  if (!driver)
    return printNone(driver.error());
  auto devices = Device::list(**driver);
  if (!devices)
    return printNone(devices.error());
  if (devices->empty())
    return printNone(Device::noDevice());
  llvm::outs() << "cuda: driver " << (*driver)->name() << " for CUDA "
               << formatVersion((*driver)->version()) << "\n";
  for (const DeviceProperties &device : *devices) {
    llvm::outs() << "cuda:" << device.index << ": " << device.name << "\n";
    for (const std::string &line : device.describe())
      llvm::outs() << "    " << line << "\n";
  }
}
} // namespace

int tile::frontend::cli::listDevices() {
  printCpu();
  printCuda();
  listDescriptions();
  return success;
}
