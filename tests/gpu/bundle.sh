#!/usr/bin/env bash
# Packs what the tests on a GPU need into one file, for a machine that has a GPU and little else.
set -euo pipefail

most=40000000
usage() {
  cat <<EOT
Usage: tests/gpu/bundle.sh [--graphs DIR] [FILE.tar.xz]

Builds a static tilec, its command server and the tests of the CUDA runtime in build/portable, and packs
them with the samples, tests/e2e, tests/bench and tests/gpu into FILE.tar.xz (build/tilec-gpu.tar.xz), $((most / 1000000)) MB at
most. With --graphs the sources of a folder besides, whose graphs the step \`losses\` then measures, too. On a machine
with a driver of NVIDIA's, then:

  tar -xJf tilec-gpu.tar.xz && tilec-gpu/run.sh

JOBS=N sets how many compilers run at once (by default: one a core).
EOT
}

graphs=
case ${1-} in
  -h | --help) usage; exit 0 ;;
  --graphs)
    [ -d "${2-}" ] || { usage >&2; echo "bundle.sh: error: --graphs takes a folder" >&2; exit 2; }
    graphs=$(realpath "$2"); shift 2 ;;
  -*) usage >&2; echo "bundle.sh: error: unknown option '$1'" >&2; exit 2 ;;
esac
[ $# -le 1 ] || { usage >&2; echo "bundle.sh: error: unexpected argument '$2'" >&2; exit 2; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bundle=$(realpath -m "${1:-$root/build/tilec-gpu.tar.xz}")
cd "$root"
build=build/portable
# The preset leaves the tests out; these are all that a GPU needs.
cmake --preset portable -DTILE_BUILD_TESTS=ON "-DTILE_TEST_FOLDERS=runtime;e2e;fuzz" >/dev/null
cmake/build.sh portable tilec tile_command_server runtime_cuda_device_test fuzz_graphs

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
place=$work/tilec-gpu
mkdir -p "$place/lib" "$place/tests"
strip -o "$place/tilec" $build/frontend/tilec
strip -o "$place/tile_command_server" $build/tests/e2e/tile_command_server
strip -o "$place/fuzz_graphs" $build/tests/fuzz/fuzz_graphs
strip -o "$place/runtime_cuda_device_test" $build/tests/runtime/runtime_cuda_device_test
# Debian has oneTBB as shared libraries only; the others are those of every Linux.
tbb=$(ldd $build/frontend/tilec | awk '$1 ~ /^libtbb/ { print $3 }')
[ "$(echo "$tbb" | grep -c /libtbb)" = 2 ] ||
  { echo "bundle.sh: error: $build/frontend/tilec doesn't say where its libtbb and libtbbmalloc are" >&2; exit 1; }
cp -L $tbb "$place/lib/"
for folder in samples tests/e2e tests/bench tests/gpu; do
  cp -r $folder "$place/$(dirname $folder)/"
done
if [ -n "$graphs" ]; then
  mkdir "$place/graphs"
  (cd "$graphs" && find . -name '*.tile' -exec cp --parents {} "$place/graphs/" \;)
fi
find "$place" -name __pycache__ -prune -exec rm -rf {} +
cp -r $build/tests/runtime/ptx "$place/tests/"
cp LICENSE "$place/"
ln -s tests/gpu/run.sh "$place/run.sh"
git describe --always --dirty >"$place/version.txt" 2>/dev/null || echo unknown >"$place/version.txt"

mkdir -p "$(dirname "$bundle")"
# The same files give the same bytes. The programs are almost the same; a window that reaches from
# one to the other, and calls written as what they call, let xz see it.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$work" -c tilec-gpu |
  xz -T0 --x86 --lzma2=preset=6,dict=96MiB >"$work/bundle"
size=$(stat -c %s "$work/bundle")
if [ "$size" -gt $most ]; then
  echo "bundle.sh: error: the bundle has $size bytes, more than $most" >&2
  exit 1
fi
mv "$work/bundle" "$bundle"
echo "$bundle: $(awk "BEGIN { printf \"%.1f\", $size / 1e6 }") MB of at most $((most / 1000000)) MB"
