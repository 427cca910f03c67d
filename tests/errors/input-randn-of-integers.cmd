tilec run $KERNELS/softmax.tile --device=interp --in x=randn:3x4:i32
