#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json; the scripts that people call share it.
set -euo pipefail

usage() {
  cat <<EOF
Usage: cmake/build.sh PRESET [TARGET...]

Builds the targets (all of them where none is named) of a preset in build/PRESET, which it
configures where it is new. JOBS=N sets how many compilers run at once.
EOF
}

case ${1-} in
  -h | --help) usage; exit 0 ;;
  -* | "") usage >&2; exit 2 ;;
esac

preset=$1
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! [[ ${JOBS:-1} =~ ^[1-9][0-9]*$ ]]; then
  echo "build.sh: error: JOBS is '$JOBS', which is no number of jobs" >&2
  exit 2
fi
if [ -z "${JOBS-}" ]; then
  # One a core, but no more than memory holds: a compiler that reads MLIR's headers takes 1.5 GB.
  JOBS=$(nproc)
  fit=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo 2>/dev/null || true)
  if [ -n "$fit" ] && [ "$fit" -lt "$JOBS" ]; then
    JOBS=$((fit > 0 ? fit : 1))
  fi
fi

[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset"
targets=()
[ $# -eq 0 ] || targets=(--target "$@")
cmake --build "build/$preset" --parallel "$JOBS" "${targets[@]}"
