mkdir x.npy
tilec run $KERNELS/softmax.tile --device=interp --in x=x.npy
