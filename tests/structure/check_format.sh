#!/usr/bin/env bash
# Checks that every source is as clang-format 14 lays it out (`ninja format` does so): other
# versions disagree with it. Without it the check is skipped, which is exit status 77.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

clang_format=
for name in clang-format-14 clang-format; do
  if "$name" --version 2>/dev/null | grep 'version 14\.' >/dev/null; then
    clang_format=$name
    break
  fi
done
if [ -z "$clang_format" ]; then
  echo "SKIPPED: there is no clang-format 14, so the layout of sources was not checked"
  echo "         (cmake/install-deps.sh --dev installs it)"
  exit 77
fi

arguments=(--dry-run -Werror)
[ "${1-}" != --fix ] || arguments=(-i)
find ir dsl codegen runtime frontend samples tests cmake -regex '.*\.\(h\|hpp\|cpp\)' -print0 |
  xargs -0 "$clang_format" --style=file "${arguments[@]}"
