// Bugs planted in copies of the fuser's sources (plant.py), to see that random graphs catch them.
#pragma once

#include <vector>

namespace tile::ir {
/// The number of the bug that is there, from 1 on; 0: none.
extern unsigned planted;
} // namespace tile::ir

namespace tile::fuzz {
/// What each bug is.
extern const std::vector<const char *> plantedBugs;
} // namespace tile::fuzz
