// Kernels of a form of their own, for random graphs.
#pragma once

#include <vector>

namespace tile::fuzz {

/// A kernel of a shape of its own, or one of the library. A parameter is `type:extents`, where T is
/// one of `types` and single capitals are dims; so is a result, with the limit of exact numbers
/// behind it: `=` as the first operand's, `+A` as sums of A of them, `*A` of products of two, or a
/// number.
struct Template {
  const char *values; // E, S, R
  const char *types;
  const char *inputs, *outputs;
  const char *call, *declaration;
};

extern const std::vector<Template> graphTemplates;

} // namespace tile::fuzz
