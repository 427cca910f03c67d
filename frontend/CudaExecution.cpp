//===- CudaExecution.cpp - kernels on a CUDA device -----------------------===//

#include "frontend/CudaExecution.h"

#include "codegen/gpu/GpuCompiler.h"
#include "frontend/LocalMemory.h"
#include "frontend/Rules.h"
#include "runtime/DType.h"
#include "runtime/Evaluate.h"
#include "runtime/cuda/DeviceBuffer.h"
#include "runtime/cuda/Launch.h"

#include "llvm/ADT/SetVector.h"

#include <cstring>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
namespace cuda = tile::runtime::cuda;

CudaContext::CudaContext(std::shared_ptr<cuda::Device> device, std::shared_ptr<cuda::Stream> stream,
                         std::string target)
    : device(std::move(device)), stream(std::move(stream)), target(std::move(target)) {}
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
  const cuda::DeviceProperties &properties = (*device)->properties();
  auto target = cuda::targetFor(properties.major, properties.minor);
  if (!target)
    return Failure::environment(target.takeError());
  auto stream = cuda::Stream::create(*device);
  if (!stream)
    return Failure::environment(stream.takeError());
  // What one launch gives back serves the next.
  if (auto kept = (*device)->keepMemory(properties.memoryBytes / 2); !kept)
    return Failure::environment(kept.takeError());
  return std::unique_ptr<CudaContext>(new CudaContext(*device, *stream, *std::move(target)));
}

//===-- Compiling ---------------------------------------------------------===//

/// The dimensions that a value is computed from.
static void collectDims(Value value, llvm::SetVector<StringRef> &names) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (auto dim = dyn_cast<ir::DimOp>(op))
    names.insert(dim.getName());
  for (Value operand : op->getOperands())
    collectDims(operand, names);
}

void CudaContext::bind(ir::KernelOp kernel, ArrayRef<int64_t> dims, ir::Bindings &bindings) {
  llvm::SetVector<StringRef> names;
  kernel.walk([&](ir::AxisOp axis) {
    collectDims(axis.getLower(), names);
    collectDims(axis.getUpper(), names);
  });
  for (auto [name, value] : llvm::zip_equal(kernel.getDims().getAsValueRange<StringAttr>(), dims))
    if (names.contains(name))
      bindings.dims.try_emplace(name, value);
}

DictionaryAttr CudaContext::divisorsOf(ir::KernelOp kernel, ArrayRef<int64_t> dims) {
  constexpr int64_t most = 16;
  Builder builder(kernel.getContext());
  NamedAttrList divisors;
  for (auto [name, value] : llvm::zip_equal(kernel.getDims().getAsValueRange<StringAttr>(), dims)) {
    int64_t divisor = value == 0 ? most : std::min(most, value & -value);
    if (divisor > 1)
      divisors.set(name, builder.getI64IntegerAttr(divisor));
  }
  return divisors.getDictionary(kernel.getContext());
}

/// How many blocks each binder has, computed from dimensions and scalars.
static Outcome<std::vector<runtime::Program>> countPrograms(ir::KernelOp kernel) {
  ir::ParallelOp parallel = kernel.getParallel();
  std::vector<runtime::Program> programs;
  for (unsigned n = 0; n < parallel.getNames().size(); ++n) {
    ProgramBuilder builder(kernel.getDims());
    for (BlockArgument argument : kernel.getBody().getArguments())
      if (!isa<MemRefType>(argument.getType()))
        builder.addScalar(argument, argument.getArgNumber());
    for (Operation &op : kernel.getBody().front()) {
      if (&op == parallel)
        break;
      (void)builder.add(&op); // what bounds don't need may be anything
    }
    for (Value bound : {parallel.getLower()[n], parallel.getUpper()[n]})
      if (!builder.has(bound))
        return Failure::internal("the bounds of `" +
                                 cast<StringAttr>(parallel.getNames()[n]).str() +
                                 "` can't be computed before the launch");
    builder.addBlockCount(parallel.getLower()[n], parallel.getUpper()[n], parallel.getSizes()[n]);
    programs.push_back(std::move(builder.program));
  }
  return programs;
}

Outcome<CudaKernel> CudaContext::load(ir::KernelOp kernel) {
  FailureOr<codegen::GpuCode> code = codegen::GpuCompiler({.target = target}).compileToPtx(kernel);
  if (failed(code))
    return Failure::reported();
  auto programs = countPrograms(kernel);
  if (!programs)
    return programs.takeFailure();
  auto module = cuda::Module::fromPtx(device, code->ptx);
  if (!module)
    return Failure::environment(module.takeError());
  auto function = (*module)->function(code->function);
  if (!function)
    return Failure::environment(function.takeError());
  if (auto allowed = (*function)->allowShared(code->sharedBytes); !allowed) {
    runtime::Error error = allowed.takeError();
    error.hint = "smaller tile sizes need less: --set BINDER=SIZE, or the schedule";
    return Failure::invalid({std::move(error.message), std::move(error.hint)});
  }
  remarkOnLocalMemory(kernel, (*function)->attributes().localBytes);
  CudaKernel kernelCode{*function,           nullptr,       nullptr,
                        code->copies,        code->threads, code->sharedBytes,
                        *std::move(programs)};
  for (auto [name, into] :
       {std::pair(&code->start, &kernelCode.start), std::pair(&code->finish, &kernelCode.finish)}) {
    if (name->empty())
      continue;
    auto other = (*module)->function(*name);
    if (!other)
      return Failure::environment(other.takeError());
    *into = *other;
  }
  return kernelCode;
}

//===-- Launching ---------------------------------------------------------===//

/// The number of programs; a grid has fewer than 2³¹.
static Outcome<uint32_t> numPrograms(ir::KernelOp kernel, const CudaKernel &code,
                                     ArrayRef<int64_t> dims, ArrayRef<uint64_t> scalars) {
  __int128 count = 1;
  for (const runtime::Program &program : code.programs) {
    auto blocks = runtime::evaluateInteger(program, dims, scalars);
    count =
        blocks ? std::min<__int128>(count * std::max<int64_t>(0, *blocks), INT64_MAX) : INT64_MAX;
  }
  if (count > INT32_MAX)
    return Failure::invalid({"`" + kernel.getSymName().str() +
                                 "` has more programs than a launch takes, which is 2^31 - 1",
                             "larger tile sizes make fewer"});
  return static_cast<uint32_t>(count);
}

/// Blocks for so much work, not more than keep a device busy.
static uint32_t blocksFor(int64_t elements, int64_t elementsPerBlock) {
  constexpr int64_t most = 4096;
  int64_t blocks = elements / elementsPerBlock + 1;
  return static_cast<uint32_t>(std::min(most, blocks));
}

/// The kernel between what makes its `reduce` outputs ready and what finishes them.
static runtime::Status launchAll(ir::KernelOp kernel, const CudaKernel &code, uint32_t programs,
                                 const std::shared_ptr<cuda::Stream> &stream,
                                 ArrayRef<int64_t> elements, std::vector<void *> &arguments) {
  int64_t bytes = 0, most = 0;
  for (auto [n, count] : llvm::enumerate(elements))
    if (kernel.getParamMode(n) == ir::ParamMode::Reduce)
      most = std::max(most, count);
  for (const codegen::ReduceCopies &copy : code.copies)
    bytes += copy.bytesOf(elements[copy.param]);
  int64_t copies = codegen::numCopies(programs, bytes), count = programs;
  cuda::DeviceBuffer buffer;
  uint64_t address = 0;
  if (!code.copies.empty()) {
    auto made = cuda::DeviceBuffer::allocate(stream, static_cast<uint64_t>(bytes * copies));
    if (!made)
      return made.takeError();
    buffer = *std::move(made);
    address = buffer.address();
    for (void *more :
         {static_cast<void *>(&address), static_cast<void *>(&copies), static_cast<void *>(&count)})
      arguments.push_back(more);
  }
  auto run = [&](cuda::Function &function, uint32_t blocks, unsigned threads, int64_t shared) {
    cuda::LaunchConfig config;
    config.grid.x = blocks;
    config.block.x = threads;
    config.sharedBytes = static_cast<uint32_t>(shared);
    return cuda::launch(function, config, *stream, arguments.data());
  };
  using Code = codegen::GpuCode;
  if (code.start)
    if (auto done =
            run(*code.start, blocksFor(most, Code::threadsOfStart), Code::threadsOfStart, 0);
        !done)
      return done;
  uint32_t blocks = code.copies.empty() ? programs : static_cast<uint32_t>(copies);
  if (auto done = run(*code.function, blocks, code.threads, code.sharedBytes); !done)
    return done;
  if (!code.finish)
    return {};
  return run(*code.finish, blocksFor(most, 32), Code::threadsOfFinish, Code::sharedOfFinish);
}

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
  arguments.words.assign(count, 0);
  arguments.elements.assign(count, 0);
  arguments.dims.assign(launch.dims.begin(), launch.dims.end());
  for (unsigned n = 0; n < count; ++n) {
    if (!isa<MemRefType>(kernel.getArgumentTypes()[n])) {
      std::memcpy(&arguments.words[n], launch.params[n], sizeof(uint64_t));
      continue;
    }
    arguments.elements[n] = elementsOf(launch, n);
    size_t bytes = bytesOf(kernel, launch, n);
    auto buffer = cuda::DeviceBuffer::allocate(stream, bytes);
    if (!buffer)
      return Failure::environment(buffer.takeError());
    arguments.buffers[n] = *std::move(buffer);
    arguments.words[n] = arguments.buffers[n].address();
    ir::ParamMode mode = kernel.getParamMode(n);
    if ((mode == ir::ParamMode::Out || mode == ir::ParamMode::Reduce) && !launch.poisons)
      continue;
    auto data = std::span(static_cast<const std::byte *>(launch.params[n]), bytes);
    if (auto done = arguments.buffers[n].upload(data); !done)
      return Failure::environment(done.takeError());
  }
  auto programs = numPrograms(kernel, code, launch.dims, arguments.words);
  if (!programs)
    return programs.takeFailure();
  arguments.programs = *programs;
  return arguments;
}

Outcome<std::monostate> CudaContext::start(ir::KernelOp kernel, const CudaKernel &code,
                                           CudaArguments &arguments) {
  std::vector<void *> pointers;
  for (uint64_t &word : arguments.words)
    pointers.push_back(&word);
  for (int64_t &dim : arguments.dims)
    pointers.push_back(&dim);
  if (auto done = launchAll(kernel, code, arguments.programs, stream, arguments.elements, pointers);
      !done)
    return Failure::environment(done.takeError());
  return Done{};
}

Outcome<std::monostate> CudaContext::launch(ir::KernelOp kernel, const CudaKernel &code,
                                            const CudaLaunch &launch) {
  Outcome<CudaArguments> arguments = upload(kernel, code, launch);
  if (!arguments)
    return arguments.takeFailure();
  if (auto started = start(kernel, code, *arguments); !started)
    return started;
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
