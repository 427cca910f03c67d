tilec run $KERNELS/softmax.tile --device=interp --in x=ones:9999999999x9999999999:f32
