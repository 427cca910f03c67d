//===- SharedOptions.cpp - options of a command on several kernels --------===//

#include "frontend/cli/SharedOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <set>

using namespace tile::frontend::cli;

std::vector<std::string> SharedOptions::of(const std::string &kernel, size_t number,
                                           const std::vector<std::string> &names) {
  std::vector<std::string> own, shared;
  std::set<std::string> ownNames;
  for (auto [n, text] : llvm::enumerate(texts)) {
    auto [name, value] = llvm::StringRef(text).split('=');
    auto [prefix, rest] = name.split('.');
    bool hasPrefix = prefix.size() != name.size();
    if (hasPrefix && (prefix == kernel || prefix == std::to_string(number))) {
      own.push_back(text.substr(prefix.size() + 1));
      ownNames.insert(rest.str());
      isUsed[n] = true;
    }
  }
  for (auto [n, text] : llvm::enumerate(texts)) {
    std::string name = llvm::StringRef(text).split('=').first.str();
    bool isMeant = llvm::is_contained(names, name) || (isAlone && !isUsed[n]);
    if (!isMeant)
      continue;
    isUsed[n] = true;
    if (!ownNames.count(name))
      shared.push_back(text);
  }
  llvm::append_range(own, shared);
  return own;
}

const std::string *SharedOptions::unused() const {
  auto found = llvm::find(isUsed, false);
  return found == isUsed.end() ? nullptr : &texts[found - isUsed.begin()];
}
