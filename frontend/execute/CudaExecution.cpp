//===- CudaExecution.cpp - kernels on a CUDA device -----------------------===//

#include "frontend/execute/CudaExecution.h"
#include "frontend/model/DeviceDescription.h"

#include "ir/proofs/Spelling.h"
#include "runtime/cuda/DeviceBuffer.h"
#include "runtime/cuda/DeviceReports.h"
#include "runtime/launch/KernelReports.h"
#include "runtime/tensor/DType.h"

#include <cstring>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
namespace cuda = tile::runtime::cuda;

CudaContext::CudaContext(std::shared_ptr<cuda::Device> device, std::shared_ptr<cuda::Stream> stream,
                         const runtime::GpuTarget &target)
    : device(std::move(device)), stream(std::move(stream)), target(target) {}
CudaContext::~CudaContext() = default;

Outcome<std::unique_ptr<CudaContext>>
CudaContext::open(int index, std::shared_ptr<const cuda::Driver> driver) {
  if (!driver) {
    auto opened = cuda::Driver::open();
    if (!opened)
      return Failure::environment(opened.takeError());
    driver = *std::move(opened);
  }
  auto device = cuda::Device::open(std::move(driver), index);
  if (!device)
    return Failure::environment(device.takeError());
  auto stream = cuda::Stream::create(*device);
  if (!stream)
    return Failure::environment(stream.takeError());
  // What one launch gives back serves the next.
  if (auto kept = (*device)->keepMemory((*device)->properties().memoryBytes / 2); !kept)
    return Failure::environment(kept.takeError());
  return open(*std::move(stream));
}

Outcome<std::unique_ptr<CudaContext>> CudaContext::open(std::shared_ptr<cuda::Stream> stream) {
  const cuda::DeviceProperties &properties = stream->device().properties();
  auto target = cuda::targetFor(properties.major, properties.minor);
  if (!target)
    return Failure::environment(target.takeError());
  std::shared_ptr<cuda::Device> device = stream->sharedDevice();
  return std::unique_ptr<CudaContext>(
      new CudaContext(std::move(device), std::move(stream), gpuTargetOf(*target, properties)));
}

//===-- Launching ---------------------------------------------------------===//

/// The elements of a tensor parameter.
static int64_t elementsOf(const CudaLaunch &launch, unsigned n) {
  int64_t elements = 1;
  for (int64_t extent : launch.shapes[n])
    elements *= extent;
  return elements;
}

static size_t bytesOf(ir::KernelOp kernel, const CudaLaunch &launch, unsigned n) {
  auto type = runtime::parseDType(kernel.getParamType(n));
  return static_cast<size_t>(elementsOf(launch, n)) * runtime::sizeOf(*type);
}

Outcome<CudaArguments> CudaContext::upload(ir::KernelOp kernel, const CudaKernel &code,
                                           const CudaLaunch &launch) {
  size_t count = launch.params.size();
  CudaArguments arguments;
  arguments.buffers.resize(count);
  std::vector<uint64_t> words(count, 0);
  std::vector<int64_t> elements(count, 0);
  for (unsigned n = 0; n < count; ++n) {
    if (!isa<MemRefType>(kernel.getArgumentTypes()[n])) {
      std::memcpy(&words[n], launch.params[n], sizeof words[n]);
      continue;
    }
    elements[n] = elementsOf(launch, n);
    size_t bytes = bytesOf(kernel, launch, n);
    auto buffer = cuda::DeviceBuffer::allocate(stream, bytes);
    if (!buffer)
      return Failure::environment(buffer.takeError());
    arguments.buffers[n] = *std::move(buffer);
    words[n] = arguments.buffers[n].address();
    ir::ParamMode mode = kernel.getParamMode(n);
    if ((mode == ir::ParamMode::Out || mode == ir::ParamMode::Reduce) && !launch.poisons)
      continue;
    auto data = std::span(static_cast<const std::byte *>(launch.params[n]), bytes);
    if (auto done = arguments.buffers[n].upload(data); !done)
      return Failure::environment(done.takeError());
  }
  uint64_t report = 0;
  if (!code.loaded->sites().empty()) {
    auto reports = cuda::DeviceReports::create(stream, launch.reportBytes);
    if (!reports)
      return Failure::environment(reports.takeError());
    arguments.reports = std::make_shared<cuda::DeviceReports>(*std::move(reports));
    report = arguments.reports->address();
  }
  auto prepared =
      cuda::PreparedLaunch::create(code.loaded, stream, words, elements, launch.dims, report);
  if (!prepared) {
    return Failure::usage(prepared.takeError());
  }
  arguments.launch.emplace(*std::move(prepared));
  return arguments;
}

Outcome<std::monostate> CudaContext::start(CudaArguments &arguments) {
  if (auto done = (*arguments.launch)(*stream); !done)
    return Failure::environment(done.takeError());
  return Done{};
}

Outcome<CudaArguments> CudaContext::launchAndListen(ir::KernelOp kernel, const CudaKernel &code,
                                                    const CudaLaunch &launch) {
  // Where there was too little room all is done again, with as much as was asked for; programs of a
  // grid kernel may then say more than before.
  constexpr int mostTries = 6;
  const std::vector<std::string> &sites = code.loaded->sites();
  CudaLaunch again = launch;
  for (int tries = 0; tries < mostTries; ++tries) {
    Outcome<CudaArguments> arguments = upload(kernel, code, again);
    if (!arguments)
      return arguments;
    if (auto started = start(*arguments); !started)
      return started.takeFailure();
    if (sites.empty())
      return arguments;
    cuda::DeviceReports &reports = *arguments->reports;
    if (auto done = reports.read(); !done)
      return Failure::environment(done.takeError());
    if (!reports.isWhole()) {
      again.reportBytes = reports.needed() + (tries ? reports.needed() : 0);
      continue;
    }
    runtime::KernelReports order(launch.report, launch.sanitizer);
    if (auto done = reports.tell(order, sites); !done)
      return Failure::environment(done.takeError());
    if (launch.report)
      launch.report->failure = order.failure();
    return arguments;
  }
  return Failure::environment(
      {"`" + ir::nameInSource(kernel.getSymName()) + "` prints more each time that it is launched",
       "let it print less"});
}

Outcome<std::monostate> CudaContext::launch(ir::KernelOp kernel, const CudaKernel &code,
                                            const CudaLaunch &launch) {
  Outcome<CudaArguments> arguments = launchAndListen(kernel, code, launch);
  if (!arguments)
    return arguments.takeFailure();
  for (unsigned n = 0; n < launch.params.size(); ++n) {
    if (!isa<MemRefType>(kernel.getArgumentTypes()[n]) ||
        kernel.getParamMode(n) == ir::ParamMode::In)
      continue;
    auto *data = static_cast<std::byte *>(const_cast<void *>(launch.params[n]));
    std::span to(data, bytesOf(kernel, launch, n));
    if (auto done = arguments->buffers[n].download(to); !done)
      return Failure::environment(done.takeError());
  }
  if (auto done = stream->synchronize(); !done)
    return Failure::environment(done.takeError());
  return Done{};
}
