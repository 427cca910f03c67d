# What can't be written is no success, and no fault of tilec.
set -- "run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32" \
       "run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --json" \
       "compile $KERNELS/softmax.tile" "info $KERNELS/softmax.tile" "--help" "run --help" "--version"
for call; do
    tilec $call >/dev/full
    echo "tilec ${call%% *}: $?"
    tilec $call >&-
    echo "tilec ${call%% *}: $?"
done
tilec fmt - <$KERNELS/softmax.tile >/dev/full
echo "tilec fmt: $?"
tilec fmt --check - >/dev/full <<END
kernel  f(x: f32[M]) -> (y: f32[M]) { }
END
echo "tilec fmt --check: $?"
# Without output there is nothing to lose.
tilec check $KERNELS/softmax.tile >/dev/full
echo "tilec check: $?"
tilec check missing.tile 2>/dev/full
echo "tilec check: $?"
tilec check missing.tile 2>&-
echo "tilec check: $?"
ls
