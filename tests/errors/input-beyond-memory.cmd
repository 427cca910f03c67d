tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1000000x1000000x4:f32
