echo hello world, this is text > x.npy
tilec run $KERNELS/softmax.tile --device=interp --in x=x.npy
