// Whether a text that users see has words of the compiler's own in it: names of ops and of types of
// the IR, or what its verifier says.
#pragma once

#include <regex>
#include <string>

namespace tile {

/// The first such word; empty without one.
inline std::string internalWord(const std::string &text) {
  static const std::regex words(
      "\\b(?:tile_gpu|tile|arith|math|scf|affine|builtin|func|tensor|memref|vector|ub)\\.\\w+"
      "|'[\\w.]+' op\\b|\\bop\\b|\\b[Oo]perand\\b|\\bSSA\\b|\\bregion\\b|\\bblock argument\\b"
      "|<<UNKNOWN|![a-z_]+\\.|#[a-z_]+\\.|\\baffine_map\\b|\\bmemref<|\\btensor<|\\bnot "
      "verified\\b");
  std::smatch found;
  return std::regex_search(text, found, words) ? found.str() : "";
}

} // namespace tile
