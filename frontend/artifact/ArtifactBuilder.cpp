//===- ArtifactBuilder.cpp - kernels and graphs to an artifact ------------===//

#include "frontend/artifact/ArtifactBuilder.h"

#include "codegen/cpu/ChooseTiles.h"
#include "codegen/cpu/Link.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/load/Validation.h"

#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

Outcome<Done> ArtifactBuilder::add(const std::string &name, StringRef symbol, Types types) {
  runtime::EntryData entry;
  entry.name = name;
  entry.types = std::move(types);
  Operation *function = module.lookupSymbol(symbol);
  if (auto kernel = dyn_cast<ir::KernelOp>(function)) {
    entry.index = kernels.of(kernel);
  } else {
    Outcome<runtime::GraphPlan> plan = planOf(cast<ir::GraphOp>(function), kernels);
    if (!plan)
      return plan.takeFailure();
    entry.isGraph = true;
    entry.index = static_cast<uint32_t>(artifact.graphs.size());
    artifact.graphs.push_back(*std::move(plan));
  }
  artifact.entries.push_back(std::move(entry));
  return Done{};
}

Outcome<Done> ArtifactBuilder::compileForCpus(ir::KernelOp kernel, ir::Bindings bound,
                                              runtime::KernelData &data) {
  SmallVector<int64_t> dims;
  for (StringRef name : kernel.getDims().getAsValueRange<StringAttr>())
    dims.push_back(bound.dims.contains(name) ? bound.dims[name] : -1);
  // Not the machine that compiles: the same sources give the same artifact.
  constexpr codegen::CpuMachine machine{.threads = 8};
  for (const auto &[binder, size] : codegen::chooseTiles(kernel, dims, bound.sizes, machine))
    bound.sizes.try_emplace(binder, size);
  OwningOpRef<ir::KernelOp> compiled = compiler.compile(kernel, bound);
  if (!compiled)
    return Failure::reported();
  for (auto [n, cpu] : llvm::enumerate(targets.cpus)) {
    FailureOr<std::string> object = compiler.object(compiled.get(), cpu);
    if (failed(object))
      return Failure::reported();
    objects[n].push_back(std::move(*object));
    data.variants.push_back(
        {{}, scheduleOf(compiled.get()), static_cast<uint32_t>(n), kernel.getSymName().str()});
  }
  return Done{};
}

Outcome<runtime::KernelData> ArtifactBuilder::compile(ir::KernelOp kernel) {
  runtime::KernelData data;
  Outcome<runtime::Signature> signature = signatureOf(kernel);
  if (!signature)
    return signature.takeFailure();
  data.signature = *std::move(signature);
  ir::Bindings bound = bindings(kernel);
  for (auto [n, name] : llvm::enumerate(kernel.getDims().getAsValueRange<StringAttr>()))
    if (auto value = bound.dims.find(name); value != bound.dims.end())
      data.signature.bound.emplace_back(n, value->second);
  if (!targets.cpus.empty())
    if (auto done = compileForCpus(kernel, bound, data); !done)
      return done.takeFailure();
  auto variants = cudaVariants(compiler, kernel, bound, targets.gpus);
  if (!variants)
    return variants.takeFailure();
  data.cuda = *std::move(variants);
  return data;
}

Outcome<runtime::ImageData> ArtifactBuilder::link(size_t cpu) {
  const codegen::CpuOptions &options = targets.cpus[cpu];
  StageTimer timer(compiler.times, "link");
  auto internal = [](llvm::Error error) {
    return Failure::environment({llvm::toString(std::move(error)), ""});
  };
  runtime::ImageData image;
  image.platform = runtime::hostPlatform();
  image.cpu = options.cpu;
  auto features = codegen::usedFeatures(options, runtime::knownCpuFeatures());
  if (!features)
    return internal(features.takeError());
  image.features = std::move(*features);
  llvm::Expected<codegen::CpuImageCode> code = codegen::linkImage(objects[cpu], options);
  if (!code)
    return internal(code.takeError());
  image.id = code->id;
  auto bytes = std::as_bytes(std::span(code->bytes));
  image.bytes.assign(bytes.begin(), bytes.end());
  return image;
}

Outcome<runtime::ArtifactData> ArtifactBuilder::finish() {
  artifact.producer = std::string("tilec ") + TILE_VERSION + ", LLVM " + LLVM_VERSION_STRING;
  for (ir::KernelOp kernel : kernels.list()) {
    Outcome<runtime::KernelData> data = compile(kernel);
    if (!data)
      return data.takeFailure();
    artifact.kernels.push_back(*std::move(data));
  }
  for (size_t cpu = 0; cpu < targets.cpus.size(); ++cpu) {
    Outcome<runtime::ImageData> image = link(cpu);
    if (!image)
      return image.takeFailure();
    artifact.images.push_back(*std::move(image));
  }
  if (runtime::Status valid = runtime::validate(artifact); !valid)
    return Failure::internal("the artifact would be refused: " + valid.error().message);
  return std::move(artifact);
}
