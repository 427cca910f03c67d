#!/usr/bin/env bash
# Runs fuzzers: libFuzzer on source text, tile IR and artifacts, random kernels and random graphs. docs/testing.md tells more.
set -euo pipefail

libfuzzer_targets=(source ir artifact)
usage() {
  cat <<EOF
Usage: tests/fuzz/run.sh [--seconds N] [TARGET...]
       tests/fuzz/run.sh kernels [OPTION...]
       tests/fuzz/run.sh graphs [OPTION...]

Builds and runs the libFuzzer targets (${libfuzzer_targets[*]}; all of them where none is named), N seconds
each, 60 by default, at once where there are cores. Corpora grow in build/fuzz/corpus/TARGET. A
finding is written to build/fuzz/findings and makes the exit status 1.

With \`kernels\` runs random kernels instead; its options are those of fuzz_kernels:
--count N --seed S --jobs N, and --program SEED to see one again. With \`graphs\` runs random
graphs, fused and as they stand; there it is --graph SEED.

JOBS=N sets how many compilers and fuzzers run at once.
EOF
}

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ "${1-}" = kernels ] || [ "${1-}" = graphs ]; then
  what=$1
  shift
  cmake/build.sh release "fuzz_$what"
  exec "build/release/tests/fuzz/fuzz_$what" "$@"
fi

seconds=60
targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=${2-}; shift ;;
    -h | --help) usage; exit 0 ;;
    *)
      if ! printf '%s\n' "${libfuzzer_targets[@]}" | grep -Fxq -- "$1"; then
        usage >&2
        echo "run.sh: error: there is no target '$1'" >&2
        exit 2
      fi
      targets+=("$1")
      ;;
  esac
  shift
done
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "run.sh: error: --seconds takes a number" >&2
  exit 2
fi
[ ${#targets[@]} -gt 0 ] || targets=("${libfuzzer_targets[@]}")

cmake/build.sh fuzz "${targets[@]/#/fuzz_}" tilec
export LLVM_SYMBOLIZER_PATH=${LLVM_SYMBOLIZER_PATH:-/usr/lib/llvm-22/bin/llvm-symbolizer}
export ASAN_SYMBOLIZER_PATH=$LLVM_SYMBOLIZER_PATH

# What takes 5 s without sanitizers and coverage takes several times as long with them.
timeout=30

# fuzz TARGET: runs one target, what it says goes to build/fuzz/TARGET.log.
fuzz() {
  local target=$1 corpus=build/fuzz/corpus/$1 seeds=build/fuzz/seeds/$1
  mkdir -p "$corpus" build/fuzz/findings
  rm -rf "$seeds"
  local dictionary=()
  [ ! -f "tests/fuzz/$target.dict" ] || dictionary=("-dict=tests/fuzz/$target.dict")
  case $target in
    artifact) build/fuzz/tests/fuzz/write_artifact_seed "$seeds" ;;
    ir) python3 tests/fuzz/make_seeds.py ir "$seeds" build/fuzz/frontend/tilec ;;
    *) python3 tests/fuzz/make_seeds.py "$target" "$seeds" ;;
  esac || return
  "build/fuzz/tests/fuzz/fuzz_$target" "$corpus" "$seeds" "${dictionary[@]}" \
    -max_total_time="$seconds" -timeout=$timeout -rss_limit_mb=2000 -malloc_limit_mb=1000 -max_len=16384 \
    -artifact_prefix="build/fuzz/findings/$target-" -print_final_stats=1 >"build/fuzz/$target.log" 2>&1
}

failed=()
running=()
finish() {
  local target=${running[0]%% *} pid=${running[0]##* }
  running=("${running[@]:1}")
  if wait "$pid"; then
    echo "$target: no finding; $(grep -E '^stat::number_of_executed_units' "build/fuzz/$target.log" | grep -Eo '[0-9]+') inputs"
  else
    failed+=("$target")
    echo "$target: a finding:"
    tail -n 60 "build/fuzz/$target.log" | cut -c 1-200
  fi
}
for target in "${targets[@]}"; do
  [ ${#running[@]} -lt "${JOBS:-$(nproc)}" ] || finish
  fuzz "$target" &
  running+=("$target $!")
done
while [ ${#running[@]} -gt 0 ]; do
  finish
done
[ ${#failed[@]} -eq 0 ]
