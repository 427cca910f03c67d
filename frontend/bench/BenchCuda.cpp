//===- BenchCuda.cpp - contestants on a GPU -------------------------------===//

#include "frontend/bench/Bench.h"
#include "frontend/execute/CudaRun.h"
#include "frontend/execute/ExecutionImpl.h"
#include "runtime/cuda/Launch.h"

using namespace tile;
using namespace tile::frontend;
namespace cuda = tile::runtime::cuda;

namespace {
/// Two events around what a contestant gives to the stream: the GPU's own clock.
class Stopwatch {
public:
  explicit Stopwatch(std::shared_ptr<cuda::Stream> stream) : stream(std::move(stream)) {}

  Outcome<double> time(llvm::function_ref<Outcome<std::monostate>()> work) {
    if (!start)
      for (std::optional<cuda::Event> *event : {&start, &end}) {
        auto made = cuda::Event::create(stream->sharedDevice());
        if (!made)
          return Failure::environment(made.takeError());
        event->emplace(*std::move(made));
      }
    if (auto done = start->record(stream); !done)
      return Failure::environment(done.takeError());
    if (auto done = work(); !done)
      return done.takeFailure();
    if (auto done = end->record(stream); !done)
      return Failure::environment(done.takeError());
    if (auto done = end->synchronize(); !done)
      return Failure::environment(done.takeError());
    auto milliseconds = cuda::Event::milliseconds(*start, *end);
    if (!milliseconds)
      return Failure::environment(milliseconds.takeError());
    return *milliseconds / 1e3;
  }

private:
  std::shared_ptr<cuda::Stream> stream;
  std::optional<cuda::Event> start, end;
};

/// Where the flush ends; none without one.
using Flushed = std::shared_ptr<std::optional<cuda::Event>>;

/// Nobody waits here for the flush, which is in a stream of its own: what runs is on its way
/// meanwhile.
Outcome<std::monostate> waitFor(const Flushed &flushed, cuda::Stream &stream) {
  if (*flushed)
    if (auto done = stream.wait(**flushed); !done)
      return Failure::environment(done.takeError());
  return Done{};
}

class CudaContestant : public Contestant {
public:
  CudaContestant(CudaContext &context, CudaArguments arguments, Flushed flushed)
      : context(context), arguments(std::move(arguments)), flushed(std::move(flushed)),
        stopwatch(context.sharedStream()) {}
  Outcome<double> run() override {
    if (auto done = waitFor(flushed, *context.sharedStream()); !done)
      return done.takeFailure();
    return stopwatch.time([&] { return context.start(arguments); });
  }

private:
  CudaContext &context;
  CudaArguments arguments;
  Flushed flushed;
  Stopwatch stopwatch;
};

/// A graph on tensors of the device.
class CudaGraphRun : public Contestant {
public:
  CudaGraphRun(CudaContext &context, CudaRun bound, Flushed flushed)
      : context(context), bound(std::move(bound)), flushed(std::move(flushed)),
        stopwatch(context.sharedStream()) {
    memory = this->bound.memory;
  }

  /// Copies the inputs to the device, and runs until what is run is what all later runs are.
  Outcome<std::monostate> begin(const Arguments &arguments) {
    cuda::Stream &stream = bound.run.stream();
    for (auto [argument, place] : llvm::zip_equal(arguments, bound.inputs))
      if (argument.tensor && place.data && place.bytes())
        if (auto done = stream.copyToDevice(cuda::addressOf(place.data), argument.tensor->bytes());
            !done)
          return Failure::environment(done.takeError());
    for (unsigned n = 0; n <= cuda::PreparedRun::runsBeforeGraph; ++n)
      if (auto done = bound.run(); !done)
        return Failure::environment(done.takeError());
    if (auto done = stream.synchronize(); !done)
      return Failure::environment(done.takeError());
    return Done{};
  }

  Outcome<double> run() override {
    if (auto done = waitFor(flushed, *context.sharedStream()); !done)
      return done.takeFailure();
    return stopwatch.time([&]() -> Outcome<std::monostate> {
      if (auto done = bound.run(); !done)
        return Failure::environment(done.takeError());
      return Done{};
    });
  }

private:
  CudaContext &context;
  CudaRun bound;
  Flushed flushed;
  Stopwatch stopwatch;
};

class CudaCopy : public Contestant {
public:
  CudaCopy(std::shared_ptr<cuda::Stream> stream, cuda::DeviceBuffer from, cuda::DeviceBuffer to)
      : stream(std::move(stream)), from(std::move(from)), to(std::move(to)),
        stopwatch(this->stream) {}
  Outcome<double> run() override {
    return stopwatch.time([&]() -> Outcome<std::monostate> {
      if (auto done = stream->copy(to.address(), from.address(), from.size()); !done)
        return Failure::environment(done.takeError());
      return Done{};
    });
  }

private:
  std::shared_ptr<cuda::Stream> stream;
  cuda::DeviceBuffer from, to;
  Stopwatch stopwatch;
};

class Cuda : public BenchDevice {
public:
  explicit Cuda(CudaContext &context)
      : context(context), properties(context.sharedStream()->device().properties()) {}

  std::string name() const override { return properties.name; }

  std::optional<DeviceDescription> description() override {
    const DeviceDescription *known = DeviceDescription::of(properties.name);
    return known ? std::optional(*known) : std::nullopt;
  }

  Outcome<std::monostate> flush() override {
    if (other.size() == 0) {
      uint64_t least = 256 << 20;
      auto made = cuda::DeviceBuffer::allocate(
          context.sharedStream(), std::max<uint64_t>(least, 4 * uint64_t(properties.l2Bytes)));
      if (!made)
        return Failure::environment(made.takeError());
      other = *std::move(made);
    }
    if (!*flushed) {
      auto event = cuda::Event::create(context.sharedStream()->sharedDevice());
      if (!event)
        return Failure::environment(event.takeError());
      flushed->emplace(*std::move(event));
    }
    // The kernel stands in its stream when this ends: its launch takes no time of its own.
    if (auto done = other.fill(++value); !done)
      return Failure::environment(done.takeError());
    if (auto done = (*flushed)->record(context.sharedStream()); !done)
      return Failure::environment(done.takeError());
    return Done{};
  }

  Outcome<std::unique_ptr<Contestant>> kernel(Executor &executor,
                                              Executor::Prepared &launch) override {
    // Each executor has a context and a stream of its own.
    CudaContext &own = *executor.cudaContext();
    auto arguments = own.upload(launch.code->source, *launch.code->cuda,
                                {launch.params, launch.shapes, launch.dims, /*poisons=*/false});
    if (!arguments)
      return arguments.takeFailure();
    return std::unique_ptr<Contestant>(new CudaContestant(own, *std::move(arguments), flushed));
  }

  Outcome<std::unique_ptr<Contestant>> graph(Executor &executor, const std::string &symbol,
                                             Arguments arguments,
                                             const llvm::StringMap<int64_t> &dims) override {
    std::vector<runtime::GraphInput> inputs;
    for (const Argument &argument : arguments)
      inputs.push_back({argument.tensor, argument.bits, nullptr});
    auto bound = executor.bindOnCuda(symbol, inputs, dims);
    if (!bound)
      return bound.takeFailure();
    auto made = std::make_unique<CudaGraphRun>(*executor.cudaContext(), *std::move(bound), flushed);
    if (auto done = made->begin(arguments); !done)
      return done.takeFailure();
    return std::unique_ptr<Contestant>(std::move(made));
  }

  Outcome<std::unique_ptr<Contestant>> copy(double bytes) override {
    auto half = std::max<uint64_t>(1, static_cast<uint64_t>(bytes / 2));
    auto from = cuda::DeviceBuffer::allocate(context.sharedStream(), half);
    auto to = cuda::DeviceBuffer::allocate(context.sharedStream(), half);
    if (!from || !to)
      return Failure::environment(from ? to.takeError() : from.takeError());
    if (auto done = from->fill(1); !done)
      return Failure::environment(done.takeError());
    return std::unique_ptr<Contestant>(
        new CudaCopy(context.sharedStream(), *std::move(from), *std::move(to)));
  }

  double largeCopyBytes() const override { return 512 << 20; }

  Outcome<std::optional<Resources>> resources(Executor::Prepared &launch) override {
    const cuda::LoadedKernel &code = *launch.code->cuda->loaded;
    const cuda::FunctionAttributes &attributes = code.function().attributes();
    uint32_t threads = code.config().block.x, sharedBytes = code.config().sharedBytes;
    auto blocks = code.function().blocksPerMultiprocessor(static_cast<int>(threads), sharedBytes);
    if (!blocks)
      return Failure::environment(blocks.takeError());
    Resources result;
    result.registers = attributes.registers;
    result.spillBytes = attributes.localBytes;
    result.threads = threads;
    result.sharedBytes = static_cast<int64_t>(sharedBytes) + attributes.staticSharedBytes;
    if (properties.threadsPerMultiprocessor > 0)
      result.occupancy = static_cast<double>(*blocks) * threads /
                         static_cast<double>(properties.threadsPerMultiprocessor);
    return std::optional(result);
  }

private:
  CudaContext &context;
  const cuda::DeviceProperties &properties;
  cuda::DeviceBuffer other;
  Flushed flushed = std::make_shared<std::optional<cuda::Event>>();
  uint8_t value = 0;
};
} // namespace

Outcome<std::unique_ptr<BenchDevice>> BenchDevice::cuda(CudaContext &context) {
  return std::unique_ptr<BenchDevice>(new Cuda(context));
}
