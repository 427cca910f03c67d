//===- Target.h - the GPUs that code is made for --------------------------===//
//
// What is known of them is a table of runtime/artifact, which has the runtime know the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_TARGET_TARGET_H
#define TILE_CODEGEN_GPU_TARGET_TARGET_H

#include "runtime/artifact/GpuTarget.h"

namespace tile::codegen {

using runtime::GpuTarget, runtime::usualGpuTarget, runtime::registersOfMultiprocessor,
    runtime::maxRegistersOfThread;

} // namespace tile::codegen

#endif // TILE_CODEGEN_GPU_TARGET_TARGET_H
