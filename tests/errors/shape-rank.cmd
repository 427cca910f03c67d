tilec run $KERNELS/softmax.tile --device=interp --in x=ones:3:f32
