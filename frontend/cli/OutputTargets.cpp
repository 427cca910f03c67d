//===- OutputTargets.cpp - what `tilec run --out` writes ------------------===//

#include "frontend/cli/OutputTargets.h"

#include "frontend/cli/Session.h"
#include "runtime/base/FileIO.h"

#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

Outcome<Done> OutputTargets::parse(const std::vector<std::string> &texts, const std::string &owner,
                                   const std::vector<std::string> &known) {
  for (const std::string &text : texts) {
    auto [name, target] = llvm::StringRef(text).split('=');
    if (target.empty())
      return Failure::usage({"'" + text + "' is not NAME=FILE, such as y=y.npy", ""});
    if (!llvm::is_contained(known, name)) {
      std::string advice = didYouMean(name.str(), known);
      return Failure::usage(
          {"`" + owner + "` has no output '" + name.str() + "'",
           advice.empty() ? "its outputs are " + llvm::join(known, ", ") : advice});
    }
    auto spec = runtime::parseOutputSpec(target.str(), name.str());
    if (!spec)
      return Failure::usage(spec.takeError());
    if (!targets.try_emplace(name.str(), *std::move(spec)).second)
      return Failure::usage({"output '" + name.str() + "' is written twice", ""});
  }
  return Done{};
}

Outcome<Done> OutputTargets::check(const std::string &saved,
                                   const std::vector<std::string> &inputFiles) const {
  std::vector<runtime::FileSpec> written;
  for (const auto &[name, target] : targets)
    written.push_back(target);
  if (auto distinct = runtime::checkPlaces(written); !distinct)
    return Failure::usage(distinct.takeError());
  if (!saved.empty()) {
    runtime::FileSpec spec{saved, ""};
    if (!spec.isSafetensors())
      return Failure::usage({"inputs are saved in a .safetensors file, not '" + saved + "'", ""});
    for (const runtime::FileSpec &target : written)
      if (runtime::canonicalPath(target.path) == runtime::canonicalPath(saved))
        return Failure::usage({"an output and the saved inputs go to '" + saved + "'",
                               "give them files of their own"});
    written.push_back(spec);
  }
  for (const runtime::FileSpec &target : written)
    for (const std::string &file : inputFiles)
      if (target.isSafetensors() &&
          runtime::canonicalPath(file) == runtime::canonicalPath(target.path))
        return Failure::usage(
            {"'" + target.path + "' holds inputs, and writing it anew would drop its other tensors",
             "write to another file"});
  return Done{};
}

Outcome<Done> OutputTargets::write(const std::vector<std::string> &names,
                                   const Outputs &outputs) const {
  std::vector<runtime::Output> list;
  for (auto [name, tensor] : llvm::zip_equal(names, outputs))
    if (auto target = targets.find(name); target != targets.end())
      list.push_back({target->second, tensor.get()});
  if (auto written = runtime::writeOutputs(list); !written)
    return Failure::environment(written.takeError());
  return Done{};
}
