#!/usr/bin/env bash
# Builds tilec and shows it at work: a network that reads handwritten digits.
set -euo pipefail

usage() {
  cat <<EOF
Usage: samples/demo.sh [--no-install]

Installs the Debian packages that are missing, builds tilec in build/release, and runs the sample
samples/digits, which compiles a network for this machine and reads handwritten digits with it.
A second call builds only what has changed.

  --no-install    build with what is there
  --help          this text

JOBS=N sets how many compilers run at once (by default: one a core).
EOF
}

install=1
for argument in "$@"; do
  case $argument in
    --no-install) install=0 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; echo "demo.sh: error: unknown option '$argument'" >&2; exit 2 ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
if [ $install -eq 1 ]; then
  echo "== 1. Packages of Debian that a build needs"
  cmake/install-deps.sh
fi
echo "== 2. Building tilec in build/release (the first time takes some minutes)"
cmake/build.sh release tilec digits
echo "== 3. Reading handwritten digits: samples/digits"
build/release/samples/digits/digits samples/digits
