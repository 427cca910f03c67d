tilec run $KERNELS/softmax.tile --in
