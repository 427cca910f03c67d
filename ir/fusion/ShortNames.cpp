//===- ShortNames.cpp - names that do not grow as kernels are fused -------===//

#include "ir/fusion/ShortNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace tile::ir;

std::string tile::ir::fusedName(llvm::StringRef guest, llvm::StringRef host) {
  std::string name = (guest + "." + host).str();
  if (name.size() <= maxFusedName)
    return name;
  constexpr size_t digits = 8, part = (maxFusedName - digits - 2) / 2;
  std::string number = llvm::utohexstr(llvm::xxh3_64bits(name) & 0xffffffff, /*LowerCase=*/true,
                                       /*Width=*/digits);
  return (guest.take_front(part) + "." + number + "." + host.take_back(part)).str();
}

std::string tile::ir::freshName(llvm::StringRef wanted,
                                llvm::function_ref<bool(llvm::StringRef)> isTaken) {
  if (!isTaken(wanted))
    return wanted.str();
  llvm::StringRef stem = wanted.rtrim("0123456789");
  if (!stem.consume_back("_") || stem.size() + 1 == wanted.size() || stem.empty())
    stem = wanted;
  for (unsigned n = 2;; ++n)
    if (std::string name = (stem + "_" + llvm::Twine(n)).str(); !isTaken(name))
      return name;
}
