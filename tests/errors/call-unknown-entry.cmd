tilec run $KERNELS/layers.tile:matmull
