tilec run $KERNELS/softmax.tile --devise=cpu
