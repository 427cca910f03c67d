tilec check -Wall $KERNELS/softmax.tile
