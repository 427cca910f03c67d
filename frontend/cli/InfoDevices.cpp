//===- InfoDevices.cpp - tilec info --devices -----------------------------===//

#include "frontend/cli/Commands.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Text.h"
#include "runtime/cuda/Device.h"

#include "llvm/Support/Format.h"
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

void print(const runtime::cuda::DeviceProperties &device) {
  auto bytes = [](int amount) { return runtime::formatBytes(static_cast<uint64_t>(amount)); };
  runtime::Result<std::string> target = runtime::cuda::targetFor(device.major, device.minor);
  llvm::outs() << "cuda:" << device.index << ": " << device.name << "\n    compute capability "
               << device.capability() << ", "
               << (target ? "--target=" + *target : target.error().message) << "\n    "
               << device.multiprocessors << " multiprocessors at " << device.clockKHz / 1000
               << " MHz, each with " << device.registersPerMultiprocessor << " registers and "
               << bytes(device.sharedPerMultiprocessor) << " of shared memory ("
               << bytes(device.sharedPerBlockOptIn) << " a block)\n    "
               << runtime::formatBytes(device.memoryBytes) << " of memory, " << device.memoryBusBits
               << " bits at " << device.memoryClockKHz / 1000
               << " MHz: " << llvm::format("%.0f", device.memoryBandwidth() / 1e9) << " GB/s; "
               << bytes(device.l2Bytes) << " of L2 cache\n";
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
  for (const DeviceProperties &device : *devices)
    print(device);
}
} // namespace

int tile::frontend::cli::listDevices() {
  printCpu();
  printCuda();
  return success;
}
