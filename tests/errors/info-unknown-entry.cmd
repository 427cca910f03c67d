tilec info $KERNELS/layers.tile:scales
