//===- CudaCompile.cpp - kernels to code on a CUDA device -----------------===//

#include "codegen/CompilerId.h"
#include "codegen/gpu/GpuCompiler.h"
#include "frontend/execute/CudaExecution.h"
#include "frontend/execute/LocalMemory.h"
#include "frontend/execute/Rules.h"
#include "ir/proofs/Spelling.h"
#include "runtime/cuda/Assemble.h"
#include "runtime/load/Encoding.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
namespace cuda = tile::runtime::cuda;

//===-- What code depends on ----------------------------------------------===//

/// All that the code depends on, before anything is lowered. Places are part of it: they are in
/// the code, for the tools that show them.
std::string CudaContext::describe(ir::KernelOp kernel, const CudaSpecialization &to) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  const cuda::DeviceProperties &properties = device->properties();
  stream << "cuda " << codegen::compilerId() << "\n"
         << target.name << " of " << target.multiprocessors << " multiprocessors, "
         << target.memoryBandwidth << " B/s, " << target.clock << " Hz, on " << properties.major
         << "." << properties.minor << " by driver " << device->driver().version() << "\n";
  auto show = [&](const llvm::StringMap<int64_t> &values) {
    SmallVector<StringRef> names(values.keys());
    llvm::sort(names);
    for (StringRef name : names)
      stream << name << "=" << values.lookup(name) << " ";
    stream << "\n";
  };
  show(to.bindings.dims);
  show(to.bindings.sizes);
  stream << "open " << llvm::join(to.open, " ") << "\n";
  if (to.sanitizes)
    stream << "watched\n";
  if (to.divisors)
    stream << to.divisors << "\n";
  kernel->print(stream, OpPrintingFlags().useLocalScope().assumeVerified().enableDebugInfo());
  return text;
}

//===-- Compiling ---------------------------------------------------------===//

/// How many blocks each binder has, computed from dimensions and scalars.
Outcome<std::vector<runtime::Program>> tile::frontend::countPrograms(ir::KernelOp kernel) {
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

/// With the tensor's extents as the launch computes them.
static runtime::CudaTensorMap tensorMapOf(ir::KernelOp kernel, const codegen::TensorBox &box) {
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[box.parameter]);
  runtime::CudaTensorMap map;
  map.param = box.parameter;
  map.bytes = type.getElementTypeBitWidth() / 8;
  map.box.assign(box.box.begin(), box.box.end());
  map.swizzle = static_cast<uint32_t>(box.swizzle);
  map.roundsToTf32 = box.roundsToTf32;
  for (AffineExpr extent : llvm::reverse(kernel.getParamShape(box.parameter).getResults())) {
    ProgramBuilder builder(kernel.getDims());
    builder.add(extent);
    map.extents.push_back(std::move(builder.program));
  }
  return map;
}

Outcome<runtime::CudaCode> tile::frontend::generateCuda(Compiler &compiler, ir::KernelOp source,
                                                        CudaSpecialization &to,
                                                        const runtime::GpuTarget &target,
                                                        OwningOpRef<ir::KernelOp> *compiled) {
  FailureOr<codegen::GpuCode> code = failure();
  auto make = [&](ir::KernelOp specialized, codegen::GpuShortage *shortage) {
    if (to.divisors)
      specialized->setAttr(codegen::divisorsAttrName, to.divisors);
    if (to.limits)
      specialized->setAttr(codegen::limitsAttrName, to.limits);
    code = codegen::GpuCompiler({.target = target,
                                 .sanitizes = to.sanitizes,
                                 .mostElements = to.mostElements,
                                 .observer = compiler.gpuObserver()})
               .compileToPtx(specialized, shortage);
    return LogicalResult(code);
  };
  OwningOpRef<ir::KernelOp> kernel = compiler.compileForGpu(source, to.bindings, to.open, make);
  if (!kernel)
    return Failure::reported();
  runtime::CudaCode result;
  result.target = target.name;
  using Code = codegen::GpuCode;
  result.function = {code->function, code->threads, static_cast<uint64_t>(code->sharedBytes),
                     code->blocks};
  result.start = {code->start, Code::threadsOfStart, 0};
  result.finish = {code->finish, Code::threadsOfFinish, Code::sharedOfFinish};
  result.sites = std::move(code->sites);
  result.copies.assign(code->copies.begin(), code->copies.end());
  result.foldsItself = code->foldsItself;
  result.keptBinders.assign(code->keptBinders.begin(), code->keptBinders.end());
  result.storesAlone = code->storesAlone;
  for (const codegen::TensorBox &box : code->tensorMaps)
    result.maps.push_back(tensorMapOf(kernel.get(), box));
  result.isPersistent = code->isPersistent;
  result.startsEarly = code->startsEarly;
  auto ptx = std::as_bytes(std::span(code->ptx));
  result.image.assign(ptx.begin(), ptx.end());
  auto programs = countPrograms(kernel.get());
  if (!programs)
    return programs.takeFailure();
  result.programs = *std::move(programs);
  if (compiled)
    *compiled = std::move(kernel);
  return result;
}

/// With the tile sizes that it was compiled with.
Outcome<runtime::CudaVariant> CudaContext::generate(Compiler &compiler, ir::KernelOp source,
                                                    CudaSpecialization to) const {
  auto code = generateCuda(compiler, source, to, target);
  if (!code)
    return code.takeFailure();
  runtime::CudaVariant result;
  for (const auto &[binder, size] : to.bindings.sizes)
    result.schedule.emplace_back(binder.str(), size);
  llvm::sort(result.schedule);
  result.code = *std::move(code);
  StageTimer timer(compiler.times, "assemble");
  std::vector<std::byte> &image = result.code.image;
  auto assembled =
      cuda::assemble(*device, {reinterpret_cast<const char *>(image.data()), image.size()});
  if (!assembled)
    return Failure::environment(assembled.takeError());
  image = std::move(assembled->cubin);
  return result;
}

Outcome<CudaKernel> CudaContext::load(Compiler &compiler, ir::KernelOp kernel,
                                      const CudaSpecialization &to) const {
  std::string name = ir::nameInSource(kernel.getSymName());
  auto loaded = [&](const runtime::CudaCode &code) {
    StageTimer timer(compiler.times, "load");
    auto ready = cuda::LoadedKernel::load(device, code, name);
    if (ready)
      remarkOnLocalMemory(kernel, (*ready)->function().attributes().localBytes);
    return ready;
  };
  runtime::Hash128 key;
  if (compiler.cache) {
    std::optional<runtime::CudaVariant> known;
    {
      StageTimer timer(compiler.times, "cache");
      std::string text = describe(kernel, to);
      key = runtime::hash128(std::as_bytes(std::span(text)));
      if (auto found = compiler.cache->find(key))
        known = runtime::parseCudaVariant(*found);
    }
    // What the driver refuses is made anew, and then says why.
    if (known)
      if (auto ready = loaded(known->code))
        return CudaKernel{*std::move(ready), std::move(known->schedule)};
  }
  auto code = generate(compiler, kernel, to);
  if (!code)
    return code.takeFailure();
  auto ready = loaded(code->code);
  if (!ready) {
    runtime::Error error = ready.takeError();
    auto most = static_cast<uint64_t>(device->properties().sharedPerBlockOptIn);
    if (code->code.function.sharedBytes > most)
      return Failure::invalid({std::move(error.message),
                               "smaller tile sizes need less: --set BINDER=SIZE, or the schedule"});
    return Failure::environment(std::move(error));
  }
  if (compiler.cache) {
    StageTimer timer(compiler.times, "cache");
    runtime::Status stored = compiler.cache->store(key, runtime::serialize(*code));
    if (!stored && !compiler.cacheProblem)
      compiler.cacheProblem = stored.takeError();
  }
  return CudaKernel{*std::move(ready), std::move(code->schedule)};
}
