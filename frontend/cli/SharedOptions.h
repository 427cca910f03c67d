//===- SharedOptions.h - options of a command on several kernels ----------===//
#ifndef TILE_FRONTEND_CLI_SHAREDOPTIONS_H
#define TILE_FRONTEND_CLI_SHAREDOPTIONS_H

#include <cstddef>
#include <string>
#include <vector>

namespace tile::frontend::cli {

/// A list of NAME=VALUE for several kernels: which of them each kernel gets.
class SharedOptions {
public:
  SharedOptions(const std::vector<std::string> &texts, bool isAlone)
      : texts(texts), isAlone(isAlone), isUsed(texts.size(), false) {}

  /// Those for one kernel, by its name or its number: KERNEL.NAME=VALUE, and NAME=VALUE where it
  /// has such a name and nothing of its own for it. A single kernel gets all, to tell what is wrong
  /// with them.
  std::vector<std::string> of(const std::string &kernel, size_t number,
                              const std::vector<std::string> &names);
  /// One that no kernel got; null if there is none.
  const std::string *unused() const;

private:
  const std::vector<std::string> &texts;
  bool isAlone;
  std::vector<bool> isUsed;
};

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_SHAREDOPTIONS_H
