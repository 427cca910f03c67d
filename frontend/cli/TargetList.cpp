//===- TargetList.cpp - what --target may say -----------------------------===//

#include "frontend/cli/TargetList.h"

#include "frontend/cli/Commands.h"
#include "runtime/artifact/GpuTarget.h"

#include "llvm/ADT/SmallVector.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

std::vector<std::string> tile::frontend::cli::targetNames() {
  std::vector<std::string> names = {"native", "cpu", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  llvm::append_range(names, runtime::GpuTarget::names());
  return names;
}

static llvm::SmallVector<llvm::StringRef> partsOf(llvm::StringRef list) {
  llvm::SmallVector<llvm::StringRef> parts;
  list.split(parts, ',');
  return parts;
}

CLI::Validator tile::frontend::cli::targetList() {
  auto check = [one = oneOf(targetNames())](const std::string &list) {
    for (llvm::StringRef part : partsOf(list))
      if (std::string problem = one(part.str()); !problem.empty())
        return problem;
    return std::string();
  };
  return CLI::Validator(check, "");
}

ArtifactTargets tile::frontend::cli::artifactTargets(llvm::StringRef list) {
  ArtifactTargets targets;
  llvm::SmallVector<llvm::StringRef> parts = partsOf(list.empty() ? "native" : list);
  for (const runtime::GpuTarget &target : runtime::gpuTargets)
    if (llvm::is_contained(parts, llvm::StringRef(target.name)))
      targets.gpus.names.emplace_back(target.name);
  if (llvm::is_contained(parts, "native") || llvm::is_contained(parts, "cpu"))
    targets.cpus.push_back({.cpu = "native"});
  for (const char *cpu : {"x86-64-v4", "x86-64-v3", "x86-64-v2"})
    if (llvm::is_contained(parts, cpu))
      targets.cpus.push_back({.cpu = cpu});
  return targets;
}
