# What is flattened, equal, or dead, by its place; and a launch refuses what it refused before.
tilec fuse $KERNELS/repeats.tile:outer --device=h200
tilec fuse $KERNELS/repeats.tile:outer --device=h200 --why largest twice.map0
tilec fuse $KERNELS/repeats.tile:outer --device=h200 --why 9:13 10:13
tilec compile $KERNELS/repeats.tile:outer --emit=artifact --fuse=exact -o repeats.tileart
for shapes in "3x4 4" "3x2 2" "3x4 5"; do
    set -- $shapes
    tilec run $KERNELS/repeats.tile --entry outer --in x=ones:$1:f32 --in b=ones:$2:f32 --fuse=exact
    tilec run repeats.tileart --entry outer --in x=ones:$1:f32 --in b=ones:$2:f32
done
