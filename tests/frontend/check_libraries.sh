#!/usr/bin/env bash
# check_libraries.sh PROGRAM TILEC: PROGRAM loads neither LLVM nor MLIR. TILEC, which does unless it
# is linked statically, shows that the search finds them.
set -euo pipefail

libraries=$(ldd "$1")
if grep -iE 'llvm|mlir|lld' <<<"$libraries"; then
  echo "$1 has the compiler"
  exit 1
fi
grep -q 'libtbb' <<<"$libraries" || { echo "ldd says nothing of $1: $libraries"; exit 1; }
if ldd "$2" | grep -q 'libLLVM'; then
  echo "$1 has no LLVM, $2 does"
else
  echo "$1 has no LLVM; $2 is linked statically"
fi
