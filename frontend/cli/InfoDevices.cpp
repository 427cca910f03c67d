//===- InfoDevices.cpp - tilec info --devices -----------------------------===//

#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/model/DeviceDescription.h"
#include "runtime/cpu/CpuFeatures.h"
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

struct CudaDevices {
  std::shared_ptr<const runtime::cuda::Driver> driver;
  std::vector<runtime::cuda::DeviceProperties> list;
};

/// Or why there is none.
runtime::Result<CudaDevices> cudaDevices() {
  using namespace runtime::cuda;
  auto driver = Driver::open();
  if (!driver)
    return driver.takeError();
  auto devices = Device::list(**driver);
  if (!devices)
    return devices.takeError();
  if (devices->empty())
    return Device::noDevice();
  return CudaDevices{*driver, *std::move(devices)};
}

/// That there is no device is an answer, and no error of the call.
void print(const runtime::Result<CudaDevices> &cuda) {
  if (!cuda) {
    llvm::outs() << "cuda: none: " << cuda.error().message << "\n";
    if (!cuda.error().hint.empty())
      llvm::outs() << "    hint: " << cuda.error().hint << "\n";
    return;
  }
  llvm::outs() << "cuda: driver " << (*cuda).driver->name() << " for CUDA "
               << runtime::cuda::formatVersion((*cuda).driver->version()) << "\n";
  for (const runtime::cuda::DeviceProperties &device : (*cuda).list) {
    llvm::outs() << "cuda:" << device.index << ": " << device.name << "\n";
    for (const std::string &line : device.describe())
      llvm::outs() << "    " << line << "\n";
  }
}

llvm::json::Object toJson(const runtime::Result<CudaDevices> &cuda) {
  if (!cuda)
    return llvm::json::Object{{"devices", llvm::json::Array()},
                              {"reason", textOf(cuda.error().message)},
                              {"hint", textOf(cuda.error().hint)}};
  llvm::json::Array devices;
  for (const runtime::cuda::DeviceProperties &device : (*cuda).list) {
    auto target = runtime::cuda::targetFor(device.major, device.minor);
    devices.push_back(llvm::json::Object{
        {"index", device.index},
        {"name", textOf(device.name)},
        {"capability", device.capability()},
        {"target", target ? llvm::json::Value(*target) : llvm::json::Value(nullptr)},
        {"multiprocessors", device.multiprocessors},
        {"memory_bytes", device.memoryBytes},
        {"memory_bandwidth", device.memoryBandwidth()}});
  }
  return llvm::json::Object{{"driver", textOf((*cuda).driver->name())},
                            {"version", runtime::cuda::formatVersion((*cuda).driver->version())},
                            {"devices", std::move(devices)}};
}
} // namespace

int tile::frontend::cli::listDevices(bool json) {
  if (!json) {
    printCpu();
    print(cudaDevices());
    listDescriptions();
    return success;
  }
  llvm::json::Array descriptions;
  for (const DeviceDescription &device : DeviceDescription::builtIn())
    descriptions.push_back(llvm::json::Object{{"name", device.name}, {"title", device.title}});
  printJson(
      llvm::json::Object{{"ok", true},
                         {"cpu", llvm::json::Object{{"name", textOf(runtime::cpuName())},
                                                    {"cores", std::thread::hardware_concurrency()},
                                                    {"vector_bits", runtime::cpuVectorBits()}}},
                         {"cuda", toJson(cudaDevices())},
                         {"descriptions", std::move(descriptions)},
                         {"diagnostics", llvm::json::Array()}});
  return success;
}
