//===- CompileArtifact.cpp - tilec compile: artifacts ---------------------===//

#include "frontend/artifact/ArtifactBuilder.h"
#include "frontend/cli/Compile.h"
#include "frontend/cli/IrSource.h"
#include "frontend/cli/TargetList.h"
#include "frontend/fusion/Fusion.h"
#include "frontend/fusion/FusionVeto.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/load/Encoding.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

/// --bind may name a type parameter that only some declarations have, but not one that none has.
Outcome<std::monostate> Compile::checkTypes(ArrayRef<dsl::DeclRef> decls) const {
  for (const std::string &text : options.types) {
    StringRef name = StringRef(text).split('=').first;
    bool isKnown = llvm::any_of(decls, [&](dsl::DeclRef decl) {
      return llvm::any_of(decl.decl->generics, [&](const dsl::Generic &generic) {
        return !generic.isConst && generic.name.text == name;
      });
    });
    if (!isKnown)
      return Failure::usage({"nothing that is compiled has a type parameter '" + name.str() + "'",
                             "--bind takes NAME=TYPE, such as T=f16"});
  }
  return Done{};
}

/// The choices of types that a declaration is compiled for: those that --bind names, all where it
/// names none; those with f32 first.
Outcome<std::vector<dsl::TypeBindings>> Compile::instances(dsl::DeclRef decl) {
  constexpr size_t most = 64;
  std::vector<dsl::TypeBindings> result(1);
  for (const dsl::Generic &generic : decl.decl->generics) {
    if (generic.isConst)
      continue;
    const std::string &name = generic.name.text;
    std::vector<ir::ElementType> choices;
    for (const std::string &text : options.types) {
      if (!StringRef(text).starts_with(name + "="))
        continue;
      auto bound = parseTypeBindings(session, decl, {text});
      if (!bound)
        return bound.takeFailure();
      choices.push_back(bound->at(name));
    }
    if (choices.empty())
      choices = session.elaborator.alternatives(decl, generic);
    if (choices.empty())
      return Failure::reported();
    llvm::stable_sort(choices, [](ir::ElementType a, ir::ElementType b) {
      return (a == ir::ElementType::F32) > (b == ir::ElementType::F32);
    });
    std::vector<dsl::TypeBindings> longer;
    for (const dsl::TypeBindings &types : result)
      for (ir::ElementType choice : choices) {
        longer.push_back(types);
        longer.back()[name] = choice;
      }
    result = std::move(longer);
    if (result.size() > most)
      return Failure::usage({"`" + decl.decl->name.text + "` has more than " +
                                 std::to_string(most) + " choices of types",
                             "say which ones with --bind, such as --bind " + name + "=f32"});
  }
  return result;
}

/// A graph's plan, for values of its dims that are known; the same for all. For GPUs it is without
/// what their code speaks against.
Outcome<std::string> Compile::fuse(const std::string &symbol, const DeviceDescription &device) {
  auto mode = parseFuseMode(options.fuse);
  if (!mode)
    return mode.takeFailure();
  if (*mode == FuseMode::Off || !isa<ir::GraphOp>(session.module().lookupSymbol(symbol)))
    return symbol;
  SeeCode see;
  if (device.isGpu)
    see = codeFor(session.compiler, device.gpuTarget(),
                  [this](ir::KernelOp kernel) { return bindingsOf(kernel); });
  return fuseGraphByCode(session.module(), symbol, *mode, device, dims, sizes,
                         session.compiler.cache.get(), see)
      .symbol;
}

Outcome<std::string> Compile::emitArtifact() {
  if (!options.noCache)
    session.useCache();
  std::vector<dsl::DeclRef> decls;
  std::map<std::string, std::string> places;
  for (const std::string &argument : options.files) {
    auto chosen = chosenEntry(argument, options.entry);
    if (!chosen)
      return chosen.takeFailure();
    auto &[path, name] = *chosen;
    if (namesIr(path))
      return Failure::usage({"'" + path + "' is IR, and an artifact is made of sources", ""});
    auto file = load(path);
    if (!file)
      return file.takeFailure();
    auto found = declarations(**file, name);
    if (!found)
      return found.takeFailure();
    for (dsl::DeclRef decl : *found) {
      auto [place, isNew] = places.try_emplace(decl.decl->name.text, path);
      if (!isNew)
        return Failure::usage(
            {"`" + decl.decl->name.text + "` is in '" + place->second + "' and in '" + path + "'",
             "an artifact has each name once: name what you want, FILE:NAME"});
      decls.push_back(decl);
    }
  }
  if (decls.empty())
    return Failure::usage({"'" + options.files.front() + "' has no kernel and no graph", ""});
  if (auto checked = checkTypes(decls); !checked)
    return checked.takeFailure();
  ArtifactTargets targets = artifactTargets(options.target);
  targets.gpus.cubins = options.cubins;
  auto bindings = [this](ir::KernelOp kernel) { return bindingsOf(kernel); };
  // One plan serves all GPUs: it is made for the usual one, by the newest code that there will be.
  bool isForGpus = !targets.gpus.names.empty();
  DeviceDescription device = usualDescription(isForGpus);
  if (isForGpus && !llvm::is_contained(targets.gpus.names, device.target))
    device.compileFor(targets.gpus.names.back());
  ArtifactBuilder builder(session.compiler, session.module(), std::move(targets), bindings);
  for (dsl::DeclRef decl : decls) {
    auto choices = instances(decl);
    if (!choices)
      return choices.takeFailure();
    for (const dsl::TypeBindings &types : *choices) {
      auto symbol = session.elaborate(decl, types);
      if (!symbol)
        return symbol.takeFailure();
      if (auto fused = fuse(*symbol, device); !fused)
        return fused.takeFailure();
      else
        symbol = *fused;
      ArtifactBuilder::Types names;
      for (const auto &[generic, type] : types)
        names.emplace_back(generic, ir::nameOf(type).str());
      if (auto added = builder.add(decl.decl->name.text, *symbol, std::move(names)); !added)
        return added.takeFailure();
    }
  }
  if (auto checked = checkDims(); !checked)
    return checked.takeFailure();
  SmallVector<ir::KernelOp> kernels(session.module().getOps<ir::KernelOp>());
  if (auto checked = sizes.check(kernels); !checked)
    return checked.takeFailure();
  auto artifact = builder.finish();
  if (!artifact)
    return artifact.takeFailure();
  std::vector<std::byte> bytes = runtime::serialize(*artifact);
  return std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}
