#!/usr/bin/env bash
# Measures the kernels of tests/bench on the GPU: bench.sh TILEC FOLDER [PYTHON]. The table goes to standard
# output, JSON and pictures to FOLDER. Fails where tilec does, or where its report doesn't hold together.
set -uo pipefail
tilec=$(realpath "$1") folder=$(realpath "$2") python=${3:-python3}
cd "$(dirname "${BASH_SOURCE[0]}")/../bench" || exit 2
k=gpu_kernels.tile
failed=0

"$python" ../e2e/check_bench.py "$tilec" --device cuda || failed=1
"$python" ../e2e/check_tune.py "$tilec" --device cuda || failed=1

# contest NAME OPTION...: the table and the picture, then the same kernels once more as JSON.
contest() {
  local name=$1
  shift
  "$tilec" bench --device=cuda --plot="$folder/$name.svg" "$@" || failed=1
  "$tilec" bench --device=cuda --json "$@" >"$folder/$name.json" || failed=1
}
contest elementwise $k:chain $k:chain $k:chain $k:scaled $k:sine_cosine $k:transpose \
  --in 1.x=randn:1024x1024:f32 --in 1.y=randn:1024x1024:f32 \
  --in 2.x=randn:8192x8192:f32 --in 2.y=randn:8192x8192:f32 \
  --in 3.x=randn:8192x8192:bf16 --in 3.y=randn:8192x8192:bf16 \
  --in x=randn:8192x8192:f32 --in w=randn:8192x8192:f32 --in b=randn:8192x8192:f32
contest rows $k:softmax $k:softmax $k:layer_norm $k:rms_norm $k:row_sums \
  --in 2.x=randn:8192x8192:bf16 --in x=randn:8192x4096:f32 --in g=randn:4096:f32 --in b=randn:4096:f32
exit $failed
