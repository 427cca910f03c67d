#!/usr/bin/env bash
# Runs all tests that need a GPU, from a bundle (tests/gpu/bundle.sh), on a machine with only a driver.
set -uo pipefail

usage() {
  cat <<EOT
Usage: run.sh [--out FOLDER] [--jobs N] [STEP...]

Runs all steps, or those that are named, and prints a table of them last. What each has printed is in
FOLDER (gpu-results). A step that can't run here is skipped, with the reason in the table.

  driver      the tests of the runtime on this machine's driver
  faults      a kernel that reads where nothing is: told, and survived by what comes after it
  samples     samples and tests/e2e on the GPU, against NumPy and the interpreter; needs NumPy
  ir          kernels written by hand on the tile_gpu level (samples/33-hand-written)
  artifacts   the same from artifacts, without the compiler, where those have code for GPUs; needs NumPy
  fusion      graphs as they are and fused: kernels, bytes and results, and all bits under a plan; needs NumPy
  graphs      random graphs (docs/testing.md), as they are and fused
  losses      no graph is slower fused than apart (tests/bench/fusion_loses.py): 12 minutes; figures in FOLDER,
              which it goes on from where it was stopped; needs Python
  sums        long sums keep their digits, of up to 10⁸ numbers; needs NumPy
  types       sorts and scans of all types, against NumPy
  reports     assert and print, against what the language says; needs NumPy
  memcheck racecheck initcheck synccheck
              the samples under this tool of compute-sanitizer; needs NumPy and compute-sanitizer
  bench       tilec bench on the kernels of tests/bench: its report checked; figures, JSON and pictures
              in FOLDER; needs Python
  compare     tilec beside torch and Triton (compare.py and matmul.py of tests/bench); needs torch and CuPy

PYTHON names the interpreter (python3), COMPUTE_SANITIZER the tool where it isn't on the PATH.
Exit codes: 0 all that ran has passed; 1 something failed; 2 a wrong call; 77 there is no GPU.
EOT
}

all_steps=(driver faults samples ir artifacts fusion graphs losses sums types reports memcheck racecheck initcheck synccheck bench compare)
results=gpu-results jobs=$(nproc) steps=()
wrong() {
  usage >&2
  echo "run.sh: error: $1" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --out) [ $# -gt 1 ] || wrong "--out takes a folder"; results=$2; shift ;;
    --jobs) [[ ${2-} =~ ^[1-9][0-9]*$ ]] || wrong "--jobs takes a number"; jobs=$2; shift ;;
    -*) wrong "unknown option '$1'" ;;
    *) [[ " ${all_steps[*]} " == *" $1 "* ]] || wrong "there is no step '$1'"; steps+=("$1") ;;
  esac
  shift
done
[ ${#steps[@]} -gt 0 ] || steps=("${all_steps[@]}")

mkdir -p "$results" || exit 2
results=$(realpath "$results")
# It is started by a link in the bundle's root.
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.." || exit 2
export LD_LIBRARY_PATH=$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
python=${PYTHON:-python3}
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -1)}

#===-- What this machine has --------------------------------------------===#

echo "tilec $(cat version.txt 2>/dev/null)"
if ! ./tilec info --devices | tee "$results/devices.txt"; then
  echo "run.sh: tilec doesn't run on this machine" >&2
  exit 1
fi
if ! grep -q '^cuda:0' "$results/devices.txt"; then
  echo "NOT RUN ON A GPU: nothing was tested, because there is none (see above)" >&2
  exit 77
fi

has_module() { "$python" -c "import $1" 2>/dev/null; }

# missing STEP: what this machine lacks for it; nothing if it can run.
missing() {
  case $1 in
    ir)
      if ! grep -q 'compute capability 9\.0' "$results/devices.txt"; then echo "the device isn't of compute capability 9.0"
      elif ! command -v "$python" >/dev/null; then echo "there is no $python"; fi ;;
    bench | losses) command -v "$python" >/dev/null || echo "there is no $python" ;;
    faults | samples | artifacts | fusion | sums | types | reports) has_module numpy || echo "$python has no NumPy" ;;
    *check)
      if ! has_module numpy; then echo "$python has no NumPy"
      elif [ -z "$sanitizer" ]; then echo "there is no compute-sanitizer"; fi ;;
    compare)
      if ! has_module torch; then echo "$python has no torch"
      elif ! has_module cupy; then echo "$python has no CuPy"; fi ;;
  esac
}

#===-- Steps -------------------------------------------------------------===#

perform() {
  case $1 in
    driver) TILE_TEST_PTX=$PWD/tests/ptx timeout 300 ./runtime_cuda_device_test ;;
    faults) timeout 300 "$python" tests/gpu/check_faults.py ./tilec ./tile_command_server ${sanitizer:+"$sanitizer"} ;;
    samples)
      timeout 3000 "$python" tests/e2e/run_samples.py ./tilec --device cuda --jobs "$jobs" --server ./tile_command_server ;;
    ir) timeout 900 "$python" tests/gpu/check_ir.py ./tilec ;;
    artifacts)
      timeout 3000 "$python" tests/e2e/run_samples.py ./tilec --device artifact-cuda --jobs "$jobs" --server ./tile_command_server ;;
    fusion)
      timeout 600 "$python" tests/e2e/fusion/check_fusion.py ./tilec --device cuda --server ./tile_command_server &&
        timeout 600 "$python" tests/e2e/fusion/check_pins.py ./tilec --device cuda ;;
    graphs) timeout 600 ./fuzz_graphs --count 500 --cpu 0 --cuda 100 --jobs "$jobs" ;;
    losses)
      timeout 1800 "$python" tests/bench/fusion_loses.py ./tilec --device cuda --server ./tile_command_server \
        --jobs "$jobs" --resume --out "$results/fusion-loses.json" $([ ! -d graphs ] || echo --graphs graphs) ;;
    sums)
      timeout 1200 "$python" tests/e2e/check_sums.py ./tilec ./tile_command_server --device cuda --large ;;
    types) timeout 600 "$python" tests/e2e/check_types.py ./tilec cuda --server ./tile_command_server ;;
    reports)
      timeout 600 "$python" tests/e2e/check_reports.py ./tilec --device=cuda ./tile_command_server &&
        echo "asserts and prints are as they should be" ;;
    *check) timeout 3000 "$python" tests/gpu/sanitize.py "$sanitizer" "$1" ./tilec --jobs "$jobs" ;;
    bench) timeout 600 tests/gpu/bench.sh ./tilec "$results" "$python" ;;
    compare)
      timeout 3000 "$python" tests/bench/compare.py ./tilec &&
        timeout 300 "$python" tests/bench/matmul.py ./tilec ;;
  esac
}

# summary STEP: the line of its output that says most.
summary() {
  local log=$results/$1.txt
  case $1 in
    driver) grep -E '^\[  (PASSED|FAILED)  \] [0-9]+ tests?' "$log" | tail -1 | sed 's/^\[ *//; s/ *\] */ /' ;;
    graphs) grep ' passed, ' "$log" ;;
    bench | compare) echo "figures in $log" ;;
    *) tail -1 "$log" ;;
  esac
}

failed=0
declare -A verdict detail
for step in "${steps[@]}"; do
  reason=$(missing "$step")
  if [ -n "$reason" ]; then
    verdict[$step]=SKIPPED detail[$step]=$reason
    echo "== $step: NOT RUN: $reason"
    continue
  fi
  echo "== $step"
  start=$SECONDS
  perform "$step" </dev/null 2>&1 | tee "$results/$step.txt"
  code=${PIPESTATUS[0]}
  # A test that looked for a device and found none has tested nothing.
  if [ "$code" -eq 0 ] && grep -q 'NOT RUN ON A DEVICE' "$results/$step.txt"; then code=77; fi
  verdict[$step]=passed detail[$step]="$((SECONDS - start)) s; $(summary "$step")"
  if [ "$code" -ne 0 ]; then
    verdict[$step]=FAILED failed=1
    [ "$code" -ne 124 ] || detail[$step]="stopped after ${detail[$step]}"
  fi
done

echo
grep '^cuda:0' "$results/devices.txt"
for step in "${steps[@]}"; do
  printf '%-10s %-8s %s\n' "$step" "${verdict[$step]}" "${detail[$step]}"
done | tee "$results/table.txt"
exit $failed
