tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:bf16 --out y=y.npy
