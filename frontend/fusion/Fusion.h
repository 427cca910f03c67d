//===- Fusion.h - a program's graph, fused for a device -------------------===//
#ifndef TILE_FRONTEND_FUSION_FUSION_H
#define TILE_FRONTEND_FUSION_FUSION_H

#include "frontend/execute/TileSizes.h"
#include "frontend/tile/Fuse.h"
#include "ir/fusion/Fuser.h"
#include "runtime/launch/GraphRun.h"

namespace tile::frontend {

struct DeviceChoice;
struct DeviceDescription;

/// The description of a device that is planned for where none is named: the usual GPU or processor.
const DeviceDescription &usualDescription(bool isGpu);
/// That of the GPU with this name, as the driver has it; of the usual one if none is built in.
const DeviceDescription &descriptionOfGpu(const std::string &name);
/// What is planned for where this device of the machine is to run it.
const DeviceDescription &descriptionOf(const DeviceChoice &device);
/// The same for "cpu" and "cuda"; else what has this name, or is in this file.
Outcome<DeviceDescription> findDescription(const std::string &device);

/// "off", "exact" and "fast"
llvm::StringRef nameOf(FuseMode mode);
Outcome<FuseMode> parseFuseMode(llvm::StringRef text);

struct FusedGraph {
  std::string symbol;
  ir::FusionLedger ledger;
};

/// Puts a fused copy of a graph into the module, beside the graph: for a device, as its description
/// has it, and values of dims, as far as they are known. Unless it is to be fast, both compute the
/// same: multiply-adds of all kernels are formed as they stand alone. With FuseMode::Off it is
/// fused in nothing, and the ledger has what its calls cost. `vetoes` have numbers of its calls.
FusedGraph fuseGraph(mlir::ModuleOp module, llvm::StringRef symbol, FuseMode mode,
                     const DeviceDescription &device, const llvm::StringMap<int64_t> &dims,
                     const TileSizes &sizes = {}, llvm::ArrayRef<ir::FusionVeto> vetoes = {});

/// Gives the boundaries between the kernels of a graph that was fused so their witnesses.
void addWitnesses(mlir::ModuleOp module, FusedGraph &fused, const DeviceDescription &device,
                  const llvm::StringMap<int64_t> &dims, const TileSizes &sizes = {});

/// Bytes that the tensors between a graph's calls take at a time, as a run of it places them.
double bytesBetweenCalls(ir::GraphOp graph, const DeviceDescription &device,
                         const llvm::StringMap<int64_t> &dims);

/// The dims of a graph that inputs of these shapes bind; none stands for a scalar.
llvm::StringMap<int64_t> dimsOfInputs(ir::GraphOp graph,
                                      llvm::ArrayRef<std::optional<runtime::PlacedTensor>> inputs);

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSION_FUSION_H
