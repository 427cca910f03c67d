//===- Compiler.cpp - from a kernel's template to what runs ---------------===//

#include "frontend/execute/Compiler.h"

#include "codegen/cpu/ChooseTiles.h"
#include "codegen/cpu/ShortDims.h"
#include "codegen/gpu/Passes.h"
#include "codegen/gpu/plan/TileSizes.h"
#include "frontend/base/CrashReport.h"
#include "frontend/base/Interface.h"
#include "ir/Passes.h"

#include "ir/proofs/Spelling.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

llvm::ArrayRef<PipelinePass> tile::frontend::tilePipeline() {
  using ir::Bindings;
  static const PipelinePass passes[] = {
      {"specialize", "binds tile sizes and the dimensions that are given",
       [](const Bindings &bindings) { return ir::createSpecializePass(bindings); }},
      {"canonicalize", "folds and simplifies",
       [](const Bindings &) { return createCanonicalizerPass(); }},
      {"static-assertions", "refuses assertions that can't hold, and drops those that do",
       [](const Bindings &) { return ir::createStaticAssertionsPass(); }},
      {"cse", "computes equal values once", [](const Bindings &) { return createCSEPass(); }},
      {"form-fma", "forms multiply-adds, for every target the same way",
       [](const Bindings &) { return ir::createFormFmaPass(); }},
  };
  return passes;
}

std::vector<std::string> tile::frontend::passNames() {
  std::vector<std::string> names = {elaborateStage.str()};
  for (const PipelinePass &pass : tilePipeline())
    names.push_back(pass.name.str());
  for (const codegen::gpu::GpuPass &pass : codegen::gpu::gpuPasses())
    names.push_back(pass.name.str());
  return names;
}

codegen::GpuOptions::Observer Compiler::gpuObserver() {
  return
      [this](StringRef pass, double seconds, llvm::function_ref<void(llvm::raw_ostream &)> print) {
        times[pass] += seconds;
        if (observer)
          observer(pass, print);
      };
}

/// Sizes that were chosen are not those that are usual here.
static void remarkOnSmallerTiles(ir::KernelOp kernel,
                                 const std::map<std::string, std::pair<int64_t, int64_t>> &smaller,
                                 StringRef reason) {
  std::string chosen, usual;
  for (const auto &[name, sizes] : smaller) {
    StringRef comma = chosen.empty() ? "" : ", ";
    chosen += (comma + name + " = " + Twine(sizes.second)).str();
    usual += (comma + name + " = " + Twine(sizes.first)).str();
  }
  auto remark = kernel.emitRemark("kernel `")
                << ir::nameInSource(kernel.getSymName()) << "` gets tiles of " << chosen
                << ": with " << usual << " it " << reason;
  remark.attachNote() << "hint: sizes in `schedule cuda`, or given by --set BINDER=SIZE, stay";
}

OwningOpRef<ir::KernelOp> Compiler::compile(ir::KernelOp source, const ir::Bindings &bindings) {
  CrashReport::Scope scope("compiling kernel " + source.getSymName().str(), source);
  OwningOpRef<ir::KernelOp> kernel(source.clone());
  if (codegen::isOnGpuLevel(source))
    return kernel;
  for (const PipelinePass &pass : tilePipeline()) {
    PassManager manager(source.getContext(), ir::KernelOp::getOperationName());
    manager.addPass(pass.create(bindings));
    {
      StageTimer timer(times, pass.name);
      if (failed(manager.run(kernel.get())))
        return {};
    }
    if (observer)
      observer(pass.name, [&](llvm::raw_ostream &stream) { stream << *kernel; });
    if (pass.name == stopAfter)
      break;
  }
  return kernel;
}

static void take(const Schedule *tuned, ir::Bindings &bindings) {
  if (tuned)
    for (const auto &[name, size] : *tuned)
      bindings.sizes.try_emplace(name, size);
}

/// Takes sizes that were chosen for binders, but for those that the kernel's text has sizes for.
template <typename Sizes>
static void takeChosen(ir::KernelOp kernel, const Sizes &chosen, ir::Bindings &bindings) {
  llvm::StringSet<> fixed;
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<ir::ForOp>(op); loop && !ShapedType::isDynamic(loop.getSize()))
      fixed.insert(loop.getName());
    if (auto parallel = dyn_cast<ir::ParallelOp>(op))
      for (auto [name, size] :
           llvm::zip(parallel.getNames().getAsValueRange<StringAttr>(), parallel.getSizes()))
        if (!ShapedType::isDynamic(size))
          fixed.insert(name);
  });
  for (const auto &[binder, size] : chosen)
    if (!fixed.contains(binder))
      bindings.sizes.try_emplace(binder, size);
}

void Compiler::chooseTiles(ir::KernelOp kernel, ir::Bindings &bindings, ArrayRef<int64_t> dims,
                           int threads, const Schedule *tuned) {
  take(tuned, bindings);
  takeChosen(
      kernel,
      codegen::chooseTiles(kernel, dims, bindings.sizes, codegen::CpuMachine::native(threads)),
      bindings);
  codegen::bindShortDims(kernel, dims, bindings);
}

std::vector<std::string> Compiler::chooseGpuTiles(ir::KernelOp kernel, ir::Bindings &bindings,
                                                  ArrayRef<int64_t> dims,
                                                  const runtime::GpuTarget &target, bool fixed,
                                                  const Schedule *tuned) {
  if (codegen::isOnGpuLevel(kernel))
    return {};
  std::vector<std::string> open = codegen::gpu::openBinders(kernel, bindings.sizes);
  take(tuned, bindings);
  takeChosen(kernel, codegen::gpu::chooseTiles(kernel, dims, bindings.sizes, target, fixed),
             bindings);
  return open;
}

SmallVector<std::pair<std::string, int64_t>> Compiler::fittingSizes(ir::KernelOp source,
                                                                    ir::Bindings bindings,
                                                                    codegen::GpuShortage shortage,
                                                                    MakeGpuCode make) {
  ScopedDiagnosticHandler quiet(source.getContext(), [](Diagnostic &) { return success(); });
  auto unseen = std::exchange(observer, nullptr);
  auto restore = llvm::scope_exit([&] { observer = std::move(unseen); });
  std::map<std::string, int64_t> sizes;
  while (shortage) {
    std::vector<std::string> all;
    for (const auto &[name, size] : shortage.blocks)
      all.push_back(name);
    auto next = codegen::gpu::smallerTile(source, shortage, all);
    if (!next)
      return {};
    sizes[next->first] = bindings.sizes[next->first] = next->second;
    OwningOpRef<ir::KernelOp> kernel = compile(source, bindings);
    shortage = {};
    if (!kernel || (failed(make(*kernel, &shortage)) && !shortage))
      return {};
  }
  return {sizes.begin(), sizes.end()};
}

OwningOpRef<ir::KernelOp> Compiler::compileForGpu(ir::KernelOp source, ir::Bindings &bindings,
                                                  ArrayRef<std::string> open, MakeGpuCode make) {
  // By binder: the size at first, and the last one.
  std::map<std::string, std::pair<int64_t, int64_t>> smaller;
  std::string reason;
  // Before some became smaller for the tensor cores alone.
  std::optional<llvm::StringMap<int64_t>> atFirst;
  while (true) {
    OwningOpRef<ir::KernelOp> kernel = compile(source, bindings);
    if (!kernel)
      return {};
    codegen::GpuShortage shortage;
    if (succeeded(make(*kernel, &shortage))) {
      if (!smaller.empty())
        remarkOnSmallerTiles(source, smaller, reason);
      return kernel;
    }
    if (!shortage)
      return {};
    auto next = codegen::gpu::smallerTile(source, shortage, open);
    if (shortage.isTold && !atFirst)
      atFirst = bindings.sizes;
    if (!next && shortage.isTold && *atFirst != bindings.sizes) { // in vain: none is, then
      bindings.sizes = *atFirst;
      open = {};
      continue;
    }
    if (!next) { // it is told, or goes on
      shortage.fitting = fittingSizes(source, bindings, shortage, make);
      return succeeded(make(*kernel, &shortage)) ? std::move(kernel) : OwningOpRef<ir::KernelOp>();
    }
    auto [name, size] = *next;
    int64_t old = llvm::find_if(shortage.blocks, [&](auto &b) { return b.first == name; })->second;
    smaller.try_emplace(name, old, 0).first->second.second = size;
    bindings.sizes[name] = size;
    if (reason.empty())
      reason = shortage.what;
  }
}

FailureOr<std::string> Compiler::object(ir::KernelOp kernel, const codegen::CpuOptions &options) {
  CrashReport::Scope scope("generating code for kernel " + kernel.getSymName().str(), kernel);
  codegen::CpuCompiler compiler(options);
  runtime::Hash128 key;
  if (cache) {
    StageTimer timer(times, "cache");
    std::string text = compiler.describeObject(kernel);
    key = runtime::hash128(std::as_bytes(std::span(text)));
    if (auto found = cache->find(key))
      return std::string(reinterpret_cast<const char *>(found->data()), found->size());
  }
  FailureOr<std::string> object = failure();
  {
    StageTimer timer(times, "cpu code");
    object = compiler.emitObject(kernel);
  }
  if (cache && succeeded(object)) {
    StageTimer timer(times, "cache");
    runtime::Status stored = cache->store(key, std::as_bytes(std::span(*object)));
    if (!stored && !cacheProblem)
      cacheProblem = stored.takeError();
  }
  return object;
}

FailureOr<codegen::CpuCode> Compiler::jit(ir::KernelOp kernel, const codegen::CpuOptions &options) {
  FailureOr<std::string> object = this->object(kernel, options);
  if (failed(object))
    return failure();
  CrashReport::Scope scope("loading the code of kernel " + kernel.getSymName().str(), kernel);
  StageTimer timer(times, "load");
  return codegen::CpuCompiler(options).load(kernel, *object);
}
