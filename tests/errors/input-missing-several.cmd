tilec run $KERNELS/layers.tile:scale --device=interp --in s=1
