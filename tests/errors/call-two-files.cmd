tilec run $KERNELS/softmax.tile other.tile
