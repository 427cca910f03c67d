tilec run $KERNELS/softmax.tile --device=interp --in x=ones:-3x4:f32
