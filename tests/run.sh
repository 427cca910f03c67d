#!/usr/bin/env bash
# Builds tilec and runs every test.
set -euo pipefail

usage() {
  cat <<EOF
Usage: tests/run.sh [--no-install] [CTEST-OPTION...]

Installs the Debian packages that are missing, builds everything in build/release, and runs every
test, with the output of those that fail. A second call builds only what has changed.

  --no-install    build with what is there
  --help          this text
  CTEST-OPTION    goes to ctest: tests/run.sh -R runtime runs the tests with "runtime" in their name

JOBS=N sets how many compilers and tests run at once (by default: one a core).
EOF
}

install=1
options=()
for argument in "$@"; do
  case $argument in
    --no-install) install=0 ;;
    -h | --help) usage; exit 0 ;;
    *) options+=("$argument") ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
[ $install -eq 0 ] || cmake/install-deps.sh
cmake/build.sh release
ctest --preset release --parallel "${JOBS:-$(nproc)}" "${options[@]}"
