tilec run $KERNELS/softmax.tile --device=interp --in xx=ones:1x2:f32
