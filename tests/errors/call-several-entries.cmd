tilec run $KERNELS/layers.tile
