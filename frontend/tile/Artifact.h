//===- Artifact.h - runs what tilec compiled ahead of time ----------------===//
//
// The C++ API of the runtime alone: programs link Tile::runtime, and have
// neither MLIR nor LLVM.
//
//   tile::Result<tile::Artifact> artifact = tile::Artifact::load("kernels.tileart");
//   tile::Result<tile::ArtifactFunction> softmax = artifact->function("softmax");
//   auto y = (*softmax)({{"x", x}});      // x: a tile::Tensor
//
//   tile::Result<tile::Gpu> gpu = tile::Gpu::open();
//   auto onGpu = softmax->launch(*gpu, {{"x", *gpu->upload(x)}});
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TILE_ARTIFACT_H
#define TILE_FRONTEND_TILE_ARTIFACT_H

#include "runtime/load/Artifact.h"
#include "runtime/tensor/Npy.h"

namespace tile {

using runtime::Artifact;
using runtime::ArtifactCall;
using runtime::ArtifactFunction;
using runtime::ArtifactInstance;
using runtime::DType;
using runtime::LaunchArgument;
using runtime::NamedDeviceTensors;
using runtime::NamedLaunchArgument;
using runtime::NamedTensors;
using runtime::nameOf;
using runtime::readNpy;
using runtime::Result;
using runtime::Shape;
using runtime::Tensor;
using runtime::writeNpy;
using runtime::cuda::DeviceTensor;
using runtime::cuda::Gpu;

} // namespace tile

#endif // TILE_FRONTEND_TILE_ARTIFACT_H
