//===- Fusion.cpp - a program's graph, fused for a device -----------------===//

#include "frontend/fusion/Fusion.h"
#include "frontend/execute/Execution.h"
#include "frontend/fusion/FusionCost.h"
#include "ir/fusion/GraphMemory.h"
#include "ir/fusion/Witness.h"
#include "runtime/cuda/Device.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

/// Kernels that the fuser made on its way and nobody calls.
static void dropUnused(ModuleOp module, const llvm::StringSet<> &before) {
  llvm::StringSet<> called;
  module.walk([&](ir::CallOp call) { called.insert(call.getCallee()); });
  for (ir::KernelOp kernel : llvm::make_early_inc_range(module.getOps<ir::KernelOp>()))
    if (!before.contains(kernel.getSymName()) && !called.contains(kernel.getSymName()))
      kernel.erase();
}

const DeviceDescription &tile::frontend::usualDescription(bool isGpu) {
  StringRef name = isGpu ? "h200" : "eight-cores";
  for (const DeviceDescription &description : DeviceDescription::builtIn())
    if (description.name == name)
      return description;
  llvm_unreachable("it is built in");
}

const DeviceDescription &tile::frontend::descriptionOfGpu(const std::string &name) {
  const DeviceDescription *known = DeviceDescription::of(name);
  return known ? *known : usualDescription(/*isGpu=*/true);
}

const DeviceDescription &tile::frontend::descriptionOf(const DeviceChoice &device) {
  using namespace runtime::cuda;
  if (device.device != frontend::Device::Cuda)
    return usualDescription(/*isGpu=*/false);
  // Without a driver or a device whoever wants to run there is told later.
  if (auto driver = Driver::open())
    if (auto devices = runtime::cuda::Device::list(**driver))
      for (const DeviceProperties &properties : *devices)
        if (properties.index == device.index)
          return descriptionOfGpu(properties.name);
  return usualDescription(/*isGpu=*/true);
}

Outcome<DeviceDescription> tile::frontend::findDescription(const std::string &device) {
  if (device == "cpu" || device == "cuda")
    return descriptionOf({device == "cpu" ? frontend::Device::Cpu : frontend::Device::Cuda, 0});
  return DeviceDescription::find(device);
}

StringRef tile::frontend::nameOf(FuseMode mode) {
  switch (mode) {
  case FuseMode::Off:
    return "off";
  case FuseMode::Exact:
    return "exact";
  case FuseMode::Fast:
    return "fast";
  }
  llvm_unreachable("covered switch");
}

Outcome<FuseMode> tile::frontend::parseFuseMode(StringRef text) {
  for (FuseMode mode : {FuseMode::Off, FuseMode::Exact, FuseMode::Fast})
    if (text == nameOf(mode))
      return mode;
  return Failure::usage({"'" + text.str() + "' is no way to fuse", "it is off, exact or fast"});
}

llvm::StringMap<int64_t>
tile::frontend::dimsOfInputs(ir::GraphOp graph,
                             ArrayRef<std::optional<runtime::PlacedTensor>> inputs) {
  llvm::StringMap<int64_t> dims;
  for (auto [n, input] : llvm::enumerate(inputs)) {
    auto shape = graph.getArgAttrOfType<AffineMapAttr>(n, "tile.shape");
    if (!shape || !input)
      continue;
    for (auto [expr, extent] : llvm::zip(shape.getValue().getResults(), input->shape))
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        dims[cast<StringAttr>(graph.getDims()[symbol.getPosition()]).getValue()] = extent;
  }
  return dims;
}

static ir::FuseOptions optionsFor(const llvm::StringMap<int64_t> &dims) {
  ir::FuseOptions options;
  for (const auto &[name, value] : dims)
    options.dims[name] = value;
  return options;
}

FusedGraph tile::frontend::fuseGraph(ModuleOp module, StringRef symbol, FuseMode mode,
                                     const DeviceDescription &device,
                                     const llvm::StringMap<int64_t> &dims, const TileSizes &sizes,
                                     ArrayRef<ir::FusionVeto> vetoes) {
  auto graph = cast<ir::GraphOp>(module.lookupSymbol(symbol));
  ir::prepareForFusion(graph);
  llvm::StringSet<> kernels;
  for (auto kernel : module.getOps<ir::KernelOp>())
    kernels.insert(kernel.getSymName());
  ir::GraphOp fused = graph.clone();
  SymbolTable symbols(module);
  fused.setSymName((symbol + ".fused").str());
  FusedGraph result;
  result.symbol = symbols.insert(fused, std::next(graph->getIterator())).str();
  FusionCost model(device, sizes);
  ir::FuseOptions options = optionsFor(dims);
  options.isOff = options.keepsCalls = mode == FuseMode::Off;
  options.keepsPrecision = mode == FuseMode::Fast;
  options.vetoes = vetoes;
  result.ledger = ir::fuse(fused, model, options);
  result.ledger.vetoes = vetoes.vec();
  dropUnused(module, kernels);
  return result;
}

void tile::frontend::addWitnesses(ModuleOp module, FusedGraph &fused,
                                  const DeviceDescription &device,
                                  const llvm::StringMap<int64_t> &dims, const TileSizes &sizes) {
  FusionCost model(device, sizes);
  ir::addWitnesses(fused.ledger, module.lookupSymbol<ir::GraphOp>(fused.symbol), model,
                   optionsFor(dims));
}

double tile::frontend::bytesBetweenCalls(ir::GraphOp graph, const DeviceDescription &device,
                                         const llvm::StringMap<int64_t> &dims) {
  FusionCost model(device);
  return ir::bytesBetweenCalls(graph, model, optionsFor(dims));
}
