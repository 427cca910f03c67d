//===- FusionHints.cpp - what to change so that kernels become one --------===//

#include "frontend/fusion/FusionText.h"

using namespace tile;
using namespace tile::frontend;
using Verdict = ir::FusionEntry::Verdict;

namespace {
struct Hint {
  /// What the reason has in it, and so what kind of reason it is. tests/frontend/check_hints.py
  /// looks whether the fuser still says so.
  llvm::StringLiteral reason;
  llvm::StringLiteral text;
};
} // namespace

static constexpr Hint hints[] = {
    {"is complete only when all programs of", "where one program can go over all of it, reduce "
                                              "along a whole axis instead of into a `reduce` "
                                              "output"},
    {"is a grid kernel", "write it with `parallel` if its programs need nothing of each other"},
    {"in place", "give the result as an output of its own instead of `inout`"},
    {"asserts or prints", "move what it asserts or prints to a kernel of its own"},
    {"a graph is called, not a kernel", "write what that graph calls into this one"},
    {"stores at an index that it computes",
     "store at the binders' own elements, and compute the index where it is read"},
    {"stores at an index that is data",
     "store at the binders' own elements, and gather by the data where it is read"},
    {"is not found from its index", "let the binders go along what is stored, and divide where it "
                                    "is read: `y[p] = x[p / N, p % N]`"},
    {"share an element of", "leave out binders that the index of its store doesn't have, such as "
                            "`each(1)`"},
    {"in a loop, one block after the other",
     "if a block needs nothing of those before it, let the loop's blocks be programs"},
    {"in one place", "store it in one place, outside of loops and conditions"},
    {"clamped to its edges", "read it with `pad` or `within` if the edges allow that"},
    {"data decides which elements of",
     "gather what goes into the first one instead of what comes out of it"},
    {"`, which needs `", "see why what is between them stays apart, with --why"},
    {", and would run in a loop of", "write the two as one kernel if that pays, as std.nn has "
                                     "`attention`; a loop of five steps or so can be written out, "
                                     "or be a `sum` along `range(5)`"},
    {"just once, so that others could have it",
     "read it at its own element, without an offset, a loop or a condition, in the kernel "
     "that is to store it, too; `flip` is known, where it is read backwards"},
    {"has an axis that", "store what the second one reads as an output of its own"},
    {"go along different dimensions",
     "let both have programs along one dimension, and add up in a `reduce` output in the one that "
     "sums along it"},
    {"one program would do all of it",
     "let both have programs along one dimension; where the second one sums along it, it adds up "
     "in a `reduce` output"},
    {"would compute it again",
     "read it along one of them only; apart, each element is computed once"},
    {"have different programs", "let both have binders of one kind over the same dimensions"},
    {"has programs for each block of",
     "let both have binders of one kind over the same dimensions"},
    {"writes in a loop", "store after the loop"},
    {"would differ within a block", "let both have `each` along the dimension that it differs in"},
    {"does more than to store at the end", "store after all loops and conditions"},
    {"parameters", "pass what belongs together as one tensor with a dimension more"},
    {"with extents that are not proved to be those of",
     "declare the two dimensions under one name, or as one number"},
    {"a contraction would have", "two kernels are faster than rows that don't fit; else write the "
                                 "two as one kernel with a loop "
                                 "over blocks, as std.nn has `attention`"},
    {"a program's loop would carry",
     "shorter rows fit: reduce parts of a row, and the parts in a second kernel"},
};

llvm::StringRef tile::frontend::hintOf(const ir::FusionEntry &entry) {
  if (entry.verdict != Verdict::Fused)
    for (const Hint &hint : hints)
      if (llvm::StringRef(entry.reason).contains(hint.reason))
        return hint.text;
  return "";
}
