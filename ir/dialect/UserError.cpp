//===- UserError.cpp - what the user did wrong, in the user's words -------===//

#include "ir/dialect/UserError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

std::string tile::ir::adviseName(StringRef unknown, ArrayRef<StringRef> known, StringRef what) {
  // As far off as a third of the letters is still a likely slip of the fingers.
  StringRef nearest;
  unsigned best = unknown.size() / 3 + 2;
  for (StringRef name : known)
    if (unsigned distance = unknown.edit_distance(name, /*AllowReplacements=*/true, best);
        distance < best && distance < name.size()) {
      best = distance;
      nearest = name;
    }
  if (known.empty())
    return "there are none";
  std::string advice;
  if (!nearest.empty())
    advice = ("did you mean `" + nearest + "`? ").str();
  return advice + what.str() + " " + join(known, ", ");
}
