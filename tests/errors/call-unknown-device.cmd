tilec run $KERNELS/softmax.tile --device=gpu --in x=ones:1x2:f32
