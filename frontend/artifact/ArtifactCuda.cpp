//===- ArtifactCuda.cpp - a kernel's code for GPUs in an artifact ---------===//

#include "frontend/artifact/ArtifactCuda.h"

#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/KernelShape.h"
#include "frontend/artifact/GpuAssembly.h"
#include "frontend/execute/CudaExecution.h"
#include "ir/proofs/Spelling.h"
#include "runtime/tensor/DType.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using runtime::CompareInt;
using runtime::Instruction;
using runtime::Number;
using runtime::Opcode;

std::vector<std::pair<std::string, int64_t>> tile::frontend::scheduleOf(ir::KernelOp kernel) {
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

//===-- Guards ------------------------------------------------------------===//

namespace {
/// What a variant relies on.
struct Assumptions {
  /// By dimension: the most that it comes to.
  llvm::MapVector<StringRef, int64_t> limits;
  /// By dimension: a power of two that divides it.
  llvm::MapVector<StringRef, int64_t> divisors;
};

class GuardBuilder {
public:
  explicit GuardBuilder(ArrayAttr dims) : names(dims.getAsValueRange<StringAttr>()) {}

  void add(StringRef dim, int64_t limit, bool isDivisor) {
    uint32_t value = push({Opcode::Dim, Number::I64, {}, positionOf(dim)});
    uint32_t number = push({Opcode::Constant, Number::I64, {}, static_cast<uint64_t>(limit)});
    CompareInt predicate = CompareInt::Sle;
    if (isDivisor) {
      value = push({Opcode::RemFloor, Number::I64, {value, number, 0}, 0});
      number = push({Opcode::Constant, Number::I64, {}, 0});
      predicate = CompareInt::Eq;
    }
    uint32_t holds = push({Opcode::Compare, Number::I1, {value, number, 0}, uint64_t(predicate)});
    last = last ? push({Opcode::And, Number::I1, {*last, holds, 0}, 0}) : holds;
    text += (text.empty() ? "" : ", ") + dim.str() +
            (isDivisor ? " % " + std::to_string(limit) + " == 0" : " <= " + std::to_string(limit));
  }

  runtime::Program program;
  std::string text;

private:
  uint64_t positionOf(StringRef dim) const { return llvm::find(names, dim) - names.begin(); }
  uint32_t push(const Instruction &instruction) {
    program.push_back(instruction);
    return static_cast<uint32_t>(program.size() - 1);
  }

  SmallVector<StringRef> names;
  std::optional<uint32_t> last;
};
} // namespace

/// Powers of two by which rows of all tensors begin, and end, at multiples of 16 bytes. What only
/// the first of several dimensions is made of counts for nothing; nor do vectors beside matrices,
/// which are short.
static llvm::MapVector<StringRef, int64_t> divisorsOfRows(ir::KernelOp kernel,
                                                          const ir::Bindings &bindings) {
  constexpr int64_t accessBytes = 16;
  SmallVector<StringRef> names(kernel.getDims().getAsValueRange<StringAttr>());
  SmallVector<std::pair<ArrayRef<AffineExpr>, int64_t>> tensors; // extents, bytes of an element
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n) {
    auto shape = kernel.getArgAttrOfType<AffineMapAttr>(n, "tile.shape");
    auto type = runtime::parseDType(kernel.getParamType(n));
    if (isa<MemRefType>(kernel.getArgumentTypes()[n]) && shape && type)
      tensors.emplace_back(shape.getValue().getResults(), runtime::sizeOf(*type));
  }
  bool hasRows = llvm::any_of(tensors, [](const auto &tensor) { return tensor.first.size() > 1; });
  llvm::MapVector<StringRef, int64_t> divisors;
  for (auto [extents, bytes] : tensors)
    for (AffineExpr extent : extents.drop_front(hasRows && !extents.empty() ? 1 : 0))
      extent.walk([&, bytes = bytes](AffineExpr part) {
        auto symbol = dyn_cast<AffineSymbolExpr>(part);
        if (!symbol || bindings.dims.contains(names[symbol.getPosition()]))
          return;
        int64_t &divisor = divisors[names[symbol.getPosition()]];
        divisor = std::max(divisor, accessBytes / bytes);
      });
  return divisors;
}

//===-- Variants ----------------------------------------------------------===//

namespace {
/// Keeps diagnostics back while it lives.
class HeldDiagnostics {
public:
  explicit HeldDiagnostics(MLIRContext *context) : context(context) {
    handler.emplace(context, [this](Diagnostic &diagnostic) {
      held.push_back(std::move(diagnostic));
      return success();
    });
  }
  /// Forgets them.
  void drop() {
    handler.reset();
    held.clear();
  }
  /// Tells them after all.
  void release() {
    handler.reset();
    for (Diagnostic &diagnostic : held)
      context->getDiagEngine().emit(std::move(diagnostic));
  }

private:
  MLIRContext *context;
  std::vector<Diagnostic> held;
  std::optional<ScopedDiagnosticHandler> handler;
};

class VariantMaker {
public:
  VariantMaker(Compiler &compiler, ir::KernelOp kernel, const ir::Bindings &bindings, bool cubins)
      : compiler(compiler), kernel(kernel), bindings(bindings), cubins(cubins),
        divisors(divisorsOfRows(kernel, bindings)) {}

  Outcome<Done> addTarget(StringRef target);
  std::vector<runtime::CudaVariant> variants;

private:
  Outcome<std::optional<runtime::CudaVariant>> make(StringRef target, const Assumptions &assumed);
  Outcome<bool> addFor(StringRef target, const llvm::MapVector<StringRef, int64_t> &limits,
                       bool forAllRows);
  Outcome<Done> assemble(runtime::CudaVariant &variant) const;
  void remarkOnLimit(StringRef target, ArrayRef<StringAttr> dims, int64_t most);
  DictionaryAttr dictionary(const llvm::MapVector<StringRef, int64_t> &values);

  Compiler &compiler;
  ir::KernelOp kernel;
  const ir::Bindings &bindings;
  bool cubins;
  llvm::MapVector<StringRef, int64_t> divisors;
};
} // namespace

DictionaryAttr VariantMaker::dictionary(const llvm::MapVector<StringRef, int64_t> &values) {
  Builder builder(kernel.getContext());
  NamedAttrList list;
  for (auto [name, value] : values)
    list.set(name, builder.getI64IntegerAttr(value));
  return list.getDictionary(kernel.getContext());
}

/// Machine code, for devices of the target itself.
Outcome<Done> VariantMaker::assemble(runtime::CudaVariant &variant) const {
  const std::vector<std::byte> &ptx = variant.code.image;
  auto cubin = assembleCubin({reinterpret_cast<const char *>(ptx.data()), ptx.size()},
                             {variant.code.target, std::nullopt});
  if (!cubin)
    return cubin.takeFailure();
  auto bytes = std::as_bytes(std::span(cubin->bytes));
  variant.cubin.assign(bytes.begin(), bytes.end());
  return Done{};
}

/// None after errors.
Outcome<std::optional<runtime::CudaVariant>> VariantMaker::make(StringRef target,
                                                                const Assumptions &assumed) {
  ir::Bindings bound = bindings;
  SmallVector<int64_t> known;
  for (StringRef name : kernel.getDims().getAsValueRange<StringAttr>()) {
    auto value = bound.dims.find(name);
    auto limit = assumed.limits.find(name);
    known.push_back(value != bound.dims.end()       ? value->second
                    : limit != assumed.limits.end() ? limit->second
                                                    : -1);
  }
  // What the template says of its dims while sizes are chosen.
  kernel->setAttr(codegen::divisorsAttrName, dictionary(assumed.divisors));
  auto open = Compiler::chooseGpuTiles(kernel, bound, known, runtime::GpuTarget::of(target));
  kernel->removeAttr(codegen::divisorsAttrName);
  CudaSpecialization to{bound, std::move(open), dictionary(assumed.divisors), false,
                        dictionary(assumed.limits)};
  // What would only spill is better cut into chunks, or into smaller tiles.
  constexpr int64_t mostElements = 128;
  if (!assumed.limits.empty())
    to.mostElements = mostElements;
  OwningOpRef<ir::KernelOp> compiled;
  auto code = generateCuda(compiler, kernel, to, runtime::GpuTarget::of(target), &compiled);
  if (!code) {
    Failure failure = code.takeFailure();
    if (failure.kind != Failure::Kind::Reported)
      return failure;
    return std::optional<runtime::CudaVariant>();
  }
  GuardBuilder guard(kernel.getDims());
  for (auto [dim, limit] : assumed.limits)
    guard.add(dim, limit, false);
  for (auto [dim, divisor] : assumed.divisors)
    guard.add(dim, divisor, true);
  return std::optional(runtime::CudaVariant{std::move(guard.program),
                                            std::move(guard.text),
                                            scheduleOf(*compiled),
                                            *std::move(code),
                                            {}});
}

/// Adds the variants for axes up to some lengths: for rows that begin at multiples of 16 bytes, and
/// for all. Whether there is code.
Outcome<bool> VariantMaker::addFor(StringRef target,
                                   const llvm::MapVector<StringRef, int64_t> &limits,
                                   bool forAllRows) {
  auto aligned = make(target, {limits, divisors});
  if (!aligned)
    return aligned.takeFailure();
  if (!*aligned)
    return false;
  std::optional<runtime::CudaVariant> any;
  if (forAllRows && !divisors.empty()) {
    auto made = make(target, {limits, {}});
    if (!made)
      return made.takeFailure();
    any = *std::move(made);
    if (!any)
      return false;
  }
  if (!any || any->code.image != (*aligned)->code.image)
    variants.push_back(**std::move(aligned));
  if (any)
    variants.push_back(*std::move(any));
  return true;
}

Outcome<Done> VariantMaker::addTarget(StringRef target) {
  // Each a few times as long as the one before: what a shorter row doesn't fill is little. Rows
  // that begin anywhere are read slowly in any case.
  struct Length {
    int64_t most;
    bool forAllRows;
  };
  constexpr Length lengths[] = {
      {256, false}, {1024, true}, {4096, false}, {16384, true}, {65536, false}};
  SmallVector<StringAttr> open;
  for (StringAttr dim : ir::dimsOfOpenAxes(kernel))
    if (!bindings.dims.contains(dim.getValue()))
      open.push_back(dim);
  auto limited = [&](int64_t length) {
    llvm::MapVector<StringRef, int64_t> limits;
    for (StringAttr dim : open)
      limits[dim.getValue()] = length;
    return limits;
  };
  Length longest = {0, false};
  size_t before = variants.size();
  auto tryFor = [&](Length length) -> Outcome<bool> {
    HeldDiagnostics held(kernel.getContext()); // longer axes, or none at all, may go
    auto added = addFor(target, limited(length.most), length.forAllRows);
    if (added && *added)
      longest = length;
    return added;
  };
  for (Length length : open.empty() ? ArrayRef<Length>() : ArrayRef(lengths)) {
    auto added = tryFor(length);
    if (!added)
      return added.takeFailure();
    if (!*added)
      break;
  }
  // Axes of which a program keeps many, such as the states of a recurrence.
  for (int64_t length : {64, 16})
    if (!open.empty() && longest.most == 0)
      if (auto added = tryFor({length, true}); !added)
        return added.takeFailure();
  HeldDiagnostics held(kernel.getContext());
  auto added = addFor(target, {}, true);
  if (added && !*added && longest.most && !longest.forAllRows && !divisors.empty()) {
    variants.pop_back();
    added = addFor(target, limited(longest.most), true);
    longest.most = added && *added ? longest.most : 0;
    if (added)
      added = false;
  }
  if (!added || (!*added && longest.most == 0)) {
    held.release();
    return added ? Failure::reported() : added.takeFailure();
  }
  held.drop();
  if (!*added)
    remarkOnLimit(target, open, longest.most);
  if (cubins)
    for (size_t n = before; n < variants.size(); ++n)
      if (auto done = assemble(variants[n]); !done)
        return done;
  return Done{};
}

void VariantMaker::remarkOnLimit(StringRef target, ArrayRef<StringAttr> dims, int64_t most) {
  std::string names;
  for (StringAttr dim : dims)
    names += (names.empty() ? "" : " or ") + dim.str();
  kernel.emitRemark("for ") << target << " there is no code of `"
                            << ir::nameInSource(kernel.getSymName()) << "` where " << names
                            << " exceeds " << most;
}

Outcome<std::vector<runtime::CudaVariant>>
tile::frontend::cudaVariants(Compiler &compiler, ir::KernelOp kernel, const ir::Bindings &bindings,
                             const CudaTargets &targets) {
  VariantMaker maker(compiler, kernel, bindings, targets.cubins);
  for (const runtime::GpuTarget &target : llvm::reverse(runtime::gpuTargets))
    if (llvm::is_contained(targets.names, target.name))
      if (auto added = maker.addTarget(target.name); !added)
        return added.takeFailure();
  return std::move(maker.variants);
}

//===-- A look at code ----------------------------------------------------===//

SeeCode tile::frontend::codeFor(Compiler &compiler, const runtime::GpuTarget &target,
                                std::function<ir::Bindings(ir::KernelOp)> bindings) {
  return [&compiler, target, bindings = std::move(bindings)](
             ir::KernelOp kernel, ArrayRef<int64_t> dims) -> Outcome<CodeFacts> {
    ir::Bindings bound = bindings(kernel);
    codegen::gpu::bindDims(kernel, dims, bound);
    auto open = Compiler::chooseGpuTiles(kernel, bound, dims, target);
    CudaSpecialization to{bound, std::move(open), codegen::gpu::divisorsOf(kernel, dims)};
    auto code = generateCuda(compiler, kernel, to, target);
    if (!code)
      return code.takeFailure();
    CodeFacts facts;
    for (const auto &[binder, size] : to.bindings.sizes)
      facts.sizes[binder.str()] = size;
    StageTimer timer(compiler.times, "assemble");
    auto cubin =
        assembleCubin({reinterpret_cast<const char *>(code->image.data()), code->image.size()},
                      {std::string(target.name), std::nullopt});
    if (cubin)
      facts.localBytes = cubin->localBytes;
    return facts;
  };
}
