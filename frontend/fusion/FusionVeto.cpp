//===- FusionVeto.cpp - the code of fused kernels decides, too ------------===//

#include "frontend/fusion/FusionVeto.h"
#include "codegen/CompilerId.h"
#include "frontend/base/JsonFile.h"
#include "frontend/execute/Execution.h"
#include "frontend/fusion/FusionCost.h"
#include "frontend/fusion/FusionPlan.h"
#include "ir/fusion/GraphCosts.h"
#include "ir/transforms/Specialize.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <set>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

//===-- In the cache ------------------------------------------------------===//

/// All that the vetoes of a graph depend on.
static runtime::Hash128 keyOf(ModuleOp module, StringRef symbol, FuseMode mode,
                              const DeviceDescription &device, const llvm::StringMap<int64_t> &dims,
                              const TileSizes &sizes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "vetoes " << codegen::compilerId() << "\n"
         << device.name << " " << device.target << " " << nameOf(mode) << "\n";
  if (device.isGpu) {
    runtime::GpuTarget target = device.gpuTarget();
    stream << target.multiprocessors << " multiprocessors, " << target.memoryBandwidth << " B/s, "
           << target.clock << " Hz\n";
  }
  std::map<std::string, int64_t> ordered;
  for (const auto &[name, value] : dims)
    ordered[name.str()] = value;
  for (const auto &[name, value] : ordered)
    stream << name << "=" << value << " ";
  auto print = [&](const std::string &kernel, const TileSizes::ByBinder &given) {
    for (const auto &[binder, size] : given)
      stream << kernel << "." << binder << "=" << size << " ";
  };
  print("", sizes.everywhere);
  for (const auto &[kernel, given] : sizes.byKernel)
    print(kernel, given);
  auto graph = cast<ir::GraphOp>(module.lookupSymbol(symbol));
  ir::prepareForFusion(graph);
  OpPrintingFlags flags = OpPrintingFlags().useLocalScope().assumeVerified();
  graph->print(stream, flags);
  for (ir::KernelOp kernel : kernelsOf(module, symbol))
    kernel->print(stream, flags);
  return runtime::hash128(std::as_bytes(std::span(text)));
}

/// Nothing of what can't be read.
static std::vector<ir::FusionVeto> findVetoes(runtime::Cache &cache, const runtime::Hash128 &key) {
  auto known = cache.find(key);
  if (!known)
    return {};
  auto value = parseJson({reinterpret_cast<const char *>(known->data()), known->size()});
  if (!value) {
    llvm::consumeError(value.takeError());
    return {};
  }
  return vetoesIn(*value).value_or(std::vector<ir::FusionVeto>());
}

//===-- A look at code ----------------------------------------------------===//

namespace {
/// A call of a kernel, and the calls that it does, by number.
struct Launch {
  ir::KernelOp kernel;
  SmallVector<int64_t> dims;
  std::vector<unsigned> calls;
};

class CodeLook {
public:
  CodeLook(ModuleOp module, const DeviceDescription &device, const llvm::StringMap<int64_t> &dims,
           const SeeCode &see)
      : module(module), device(device), see(see) {
    for (const auto &[name, value] : dims)
      options.dims[name] = value;
  }

  std::vector<Launch> launchesOf(const FusedGraph &graph);
  /// What its code costs; none if it can't be made.
  struct Seen {
    int64_t localBytes = 0;
    ir::KernelCost cost;
  };
  std::optional<Seen> look(const Launch &launch);

private:
  ModuleOp module;
  const DeviceDescription &device;
  const SeeCode &see;
  ir::FuseOptions options;
};
} // namespace

std::vector<Launch> CodeLook::launchesOf(const FusedGraph &fused) {
  auto graph = module.lookupSymbol<ir::GraphOp>(fused.symbol);
  FusionCost model(device);
  ir::GraphShapes shapes(graph);
  ir::GraphCosts costs(graph, model, options, shapes);
  std::vector<Launch> launches;
  for (auto [call, kernel] :
       llvm::zip_equal(graph.getBody().getOps<ir::CallOp>(), fused.ledger.kernels))
    launches.push_back({shapes.kernelOf(call), costs.valuesOf(shapes.dimsOf(call)), kernel.calls});
  return launches;
}

std::optional<CodeLook::Seen> CodeLook::look(const Launch &launch) {
  auto facts = see(launch.kernel, launch.dims);
  if (!facts)
    return {};
  ir::KernelOp kernel = launch.kernel;
  TileSizes sizes;
  sizes.byKernel[kernel.getSymName().str()] = facts->sizes;
  return Seen{facts->localBytes, FusionCost(device, sizes).costOf(kernel, launch.dims)};
}

/// What speaks against a kernel that others were made; empty: nothing, or the same as against them.
static std::string objection(CodeLook &look, const Launch &fused, ArrayRef<Launch> apart) {
  auto seen = look.look(fused);
  bool hasContractions = !seen || seen->cost.contractions > 0;
  if (seen && seen->localBytes == 0 && !hasContractions)
    return "";
  ir::KernelCost costApart;
  int64_t bytesApart = 0;
  for (const Launch &launch : apart)
    if (llvm::is_contained(fused.calls, launch.calls.front())) {
      auto part = look.look(launch);
      if (!part)
        return "";
      costApart += part->cost;
      bytesApart = std::max(bytesApart, part->localBytes);
    }
  if (!seen)
    return "no code can be made, as was seen when it was tried";
  if (seen->localBytes > 0 && bytesApart == 0)
    return "a thread keeps " + std::to_string(seen->localBytes) +
           " bytes of its registers in memory, as its code has shown";
  return lostPath(seen->cost, costApart);
}

SeeCode tile::frontend::codeOn(Executor &executor) {
  if (!executor.makesGpuCode() || !executor.openCuda())
    return {};
  return [&executor](ir::KernelOp kernel, ArrayRef<int64_t> dims) {
    return executor.codeFacts(kernel, dims);
  };
}

FusedGraph tile::frontend::fuseGraphByCode(ModuleOp module, StringRef symbol, FuseMode mode,
                                           const DeviceDescription &device,
                                           const llvm::StringMap<int64_t> &dims,
                                           const TileSizes &sizes, runtime::Cache *cache,
                                           const SeeCode &see) {
  constexpr int mostRounds = 16;
  runtime::Hash128 key = keyOf(module, symbol, mode, device, dims, sizes);
  std::vector<ir::FusionVeto> vetoes;
  if (cache && device.isGpu)
    vetoes = findVetoes(*cache, key);
  FusedGraph fused = fuseGraph(module, symbol, mode, device, dims, sizes, vetoes);
  if (!see || !device.isGpu || mode == FuseMode::Off)
    return fused;
  // What is looked at and then not run is not worth a word.
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  CodeLook look(module, device, dims, see);
  std::vector<Launch> apart;
  std::set<std::vector<unsigned>> good;
  for (int round = 0; round < mostRounds; ++round) {
    size_t before = vetoes.size();
    for (const Launch &launch : look.launchesOf(fused)) {
      if (launch.calls.size() < 2 || good.contains(launch.calls))
        continue;
      if (apart.empty()) {
        FusedGraph asWritten = fuseGraph(module, symbol, FuseMode::Off, device, dims, sizes);
        apart = look.launchesOf(asWritten);
        module.lookupSymbol(asWritten.symbol)->erase();
      }
      std::string reason = objection(look, launch, apart);
      if (reason.empty())
        good.insert(launch.calls);
      else
        vetoes.push_back({launch.calls, reason});
    }
    if (vetoes.size() == before)
      break;
    module.lookupSymbol(fused.symbol)->erase();
    fused = fuseGraph(module, symbol, mode, device, dims, sizes, vetoes);
    // A cache that can't be written was told of when it was opened; the next run looks again.
    std::string text = llvm::formatv("{0}", llvm::json::Value(toJson(vetoes)));
    if (cache)
      (void)cache->store(key, std::as_bytes(std::span(text)));
  }
  return fused;
}
