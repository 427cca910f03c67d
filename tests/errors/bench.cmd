# Calls of tilec bench that can't be measured.
cat > k.tile <<'END'
kernel twice(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] * 2 }
}
kernel sum2(a: f32[N], b: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = a[i] + b[i] }
}
map more(x: f32) -> f32 = x + 1
graph both(x: f32[N]) -> (y: f32[N]) {
    y = more(twice(x))
}
END
tilec bench
tilec bench k.tile:twice
tilec bench k.tile:twice --in x=randn:64:f32 --device=h20
tilec bench k.tile:twice --in x=randn:64:f32 --device=interp
tilec bench k.tile:twice --in x=randn:64:f32 --device=missing.json
TILE_CUDA_DRIVER=$PWD/none tilec bench k.tile:twice --in x=randn:64:f32 --device=cuda
tilec bench k.tile:both --in x=randn:64:f32 --device=h200
tilec bench k.tile:twice --in q=randn:64:f32
tilec bench k.tile:twice k.tile:sum2 --in x=randn:64:f32 --in a=randn:64:f32 --in b=randn:64:f32 --in q=ones:3:f32
tilec bench k.tile:twice k.tile:sum2 --in x=randn:64:f32 --in a=randn:64:f32 --in b=randn:63:f32
tilec bench k.tile:twice k.tile:sum2 --in x=randn:64:f32 --in 3.a=randn:64:f32
tilec bench k.tile:twice --in x=randn:64:f32 --runs 0
tilec bench k.tile:twice --in x=randn:64:f32 --device=h200 --plot=missing/plot.svg
tilec compile k.tile:twice --emit=artifact -o k.tileart
tilec bench k.tileart:twice --in x=randn:64:f32
tilec bench k.tile:twice --in x=randn:64:f32 --device=h200
tilec bench k.tile:both --in x=randn:64:f32 --device=cuda 2>&1 | sed -E 's/CUDA driver.*/CUDA driver …/' | head -1
# Sizes are for all kernels that have them; one of them has to.
tilec bench k.tile:twice k.tile:sum2 --in x=ones:64:f32 --in a=ones:64:f32 --in b=ones:64:f32 --set j=3 --device=h200
tilec bench k.tile:twice k.tile:sum2 --in x=ones:64:f32 --in a=ones:64:f32 --in b=ones:64:f32 --set once.i=3 --device=h200
# What is wrong with the first of several.
tilec bench k.tile:sum2 k.tile:twice --in 1.a=ones:64:f32 --in 1.b=ones:6:f32 --in x=ones:64:f32 --device=h200 --json | grep message
# Where the picture can't be: known before anything is measured.
measure="tilec bench k.tile:twice --in x=ones:1000000000000:f32 --device=h200"
mkdir folder; mkfifo pipe; echo "a text" > text.txt; printf '<svg' > old.svg; printf '<svg' > readonly.svg
$measure --plot=folder
$measure --plot=pipe
$measure --plot=text.txt
$measure --plot=k.tile
$measure --plot=./folder/../k.tile
$measure --plot=text.txt/plot.svg
python3 -c "import struct; h = str(dict(descr='<f4', fortran_order=False, shape=(8,))).ljust(117) + chr(10); open('x.npy', 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', 118) + h.encode() + bytes(32))"
tilec bench k.tile:twice --in x=x.npy --device=h200 --plot=x.npy
tilec bench k.tile:twice --in x=ones:8:f32 --device=h200 --plot=old.svg > /dev/null && head -c 4 old.svg && echo
# Descriptions that describe nothing.
describe() { printf '{"name": "mine", "title": "%s", "kind": "gpu", "target": "%s", "sources": {"me": "me"}, "figures": {"memory_bandwidth": {"value": %s, "unit": "B/s", "source": "me"}, "launch": {"value": 1e-6, "unit": "s", "source": "me"}, "vector_f32": {"value": 1e12, "unit": "FLOP/s", "source": "me"}}}' "$@" > mine.json; tilec bench k.tile:twice --in x=ones:8:f32 --device=mine.json; }
describe Mine sm_90a 1e-320
describe Mine sm_90a 1e22
describe Mine sm_91 1e12
describe 'a\u001b[31m' sm_90a 1e12
describe 'a <b> & \"c\"' sm_90a 1e12 | head -1
tilec bench k.tile:twice --device=h200 --json
# Several ways to fuse.
tilec bench k.tile:both --in x=ones:8:f32 --device=h200 --fuse=off,both
tilec bench k.tile:both --in x=ones:8:f32 --device=h200 --fuse=off,exact,off
tilec bench k.tile:both --in x=ones:8:f32 --device=h200 --fuse=
cat k.tile | tilec bench -:both --in x=ones:8:f32 --device=h200 --fuse=off,exact
# What measures nothing.
tilec bench k.tile:both --in x=ones:8:f32 --device=h200 --no-run
tilec bench k.tile:both --in x=ones:8:f32 --no-run --plot=plot.svg
tilec bench k.tile:both --in x=ones:8:f32 --no-copies --plot=plot.svg
tilec bench k.tile:both --in x=ones:8:f32 --seconds=0
tilec bench k.tile:both --in x=ones:8:f32 --seconds=1 --runs=5
