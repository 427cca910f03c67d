tilec run $KERNELS/softmax.tile --device=interp
