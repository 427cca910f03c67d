tilec run $KERNELS/layers.tile:counts --device=interp --in x=ones:5:i32
