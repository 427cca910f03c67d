tilec run $KERNELS/softmax.tile --device=interp --in weights=ones:1x2:f32
