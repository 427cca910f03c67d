tilec info --devices $KERNELS/layers.tile
