# Standard output has one JSON object, also if the run fails; standard error has what it always has.
run() { tilec run "$@" --json >out.json; echo "exit code $?"; python3 -m json.tool --no-ensure-ascii out.json; }
run $KERNELS/softmax.tile --in x=ones:1x2:f64
run $KERNELS/softmax.tile --in x=missing.npy 2>/dev/null
run $KERNELS/softmax.tile --in y=ones:1x2:f32 2>/dev/null
run $'\xff.tile' 2>/dev/null
cat >wrong.tile <<END
kernel wrong(x: f32[M]) -> (y: f32[M]) {
    parallel i in tiles(M) {
        y[i] = z[i]
        y[i] = x[j]
    }
}
END
run wrong.tile --in x=ones:3:f32 2>/dev/null
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --json |
    python3 -c 'import json, sys; report = json.load(sys.stdin); print(report["ok"], report["diagnostics"])'
