tilec info $KERNELS/layers.tile
