# Where it fails, and the calls around it: from a source and from an artifact.
for device in cpu interp; do
    tilec run $KERNELS/calls.tile --entry outer --device=$device --in x=arange:4:i32 --fuse=off
    echo "and: $?"
done
tilec compile $KERNELS/calls.tile --emit=artifact --fuse=off -o calls.tileart
tilec run calls.tileart --entry outer --in x=arange:4:i32 --json
# Fused, the graph has the calls of those that it calls; the places are the same.
tilec run $KERNELS/calls.tile --entry outer --in x=arange:4:i32
echo "and: $?"
tilec compile $KERNELS/calls.tile --emit=artifact -o calls.tileart
tilec run calls.tileart --entry outer --in x=arange:4:i32
