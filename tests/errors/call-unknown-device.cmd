tilec run $KERNELS/softmax.tile --device=cuda --in x=ones:1x2:f32
