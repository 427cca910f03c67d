tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x1:f32
