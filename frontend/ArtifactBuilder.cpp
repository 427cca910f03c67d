//===- ArtifactBuilder.cpp - kernels and graphs to an artifact ------------===//

#include "frontend/ArtifactBuilder.h"

#include "codegen/cpu/ChooseTiles.h"
#include "codegen/cpu/Link.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Validation.h"

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

/// The tile sizes that a specialized kernel has.
static std::vector<std::pair<std::string, int64_t>> scheduleOf(ir::KernelOp kernel) {
  std::vector<std::pair<std::string, int64_t>> schedule;
  ir::ParallelOp parallel = kernel.getParallel();
  for (auto [name, each, size] : llvm::zip_equal(parallel.getNames().getAsValueRange<StringAttr>(),
                                                 parallel.getEach(), parallel.getSizes()))
    if (!each)
      schedule.emplace_back(name.str(), size);
  kernel.walk<WalkOrder::PreOrder>([&](ir::ForOp loop) {
    std::pair<std::string, int64_t> entry{loop.getName().str(), loop.getSize()};
    if (!llvm::is_contained(schedule, entry))
      schedule.push_back(std::move(entry));
  });
  return schedule;
}

Outcome<runtime::KernelData> ArtifactBuilder::compile(ir::KernelOp kernel) {
  runtime::KernelData data;
  Outcome<runtime::Signature> signature = signatureOf(kernel);
  if (!signature)
    return signature.takeFailure();
  data.signature = *std::move(signature);
  ir::Bindings bound = bindings(kernel);
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
  if (DictionaryAttr values = ir::boundDims(compiled.get()))
    for (NamedAttribute entry : values)
      data.signature.bound.emplace_back(llvm::find(kernel.getDims(), entry.getName()) -
                                            kernel.getDims().begin(),
                                        cast<IntegerAttr>(entry.getValue()).getInt());
  FailureOr<std::string> object = compiler.object(compiled.get(), options);
  if (failed(object))
    return Failure::reported();
  objects.push_back(std::move(*object));
  data.variants.push_back({{}, scheduleOf(compiled.get()), 0, kernel.getSymName().str()});
  return data;
}

Outcome<runtime::ImageData> ArtifactBuilder::link() {
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
  llvm::Expected<codegen::CpuImageCode> code = codegen::linkImage(objects, options);
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
  Outcome<runtime::ImageData> image = link();
  if (!image)
    return image.takeFailure();
  artifact.images.push_back(*std::move(image));
  if (runtime::Status valid = runtime::validate(artifact); !valid)
    return Failure::internal("the artifact would be refused: " + valid.error().message);
  return std::move(artifact);
}
