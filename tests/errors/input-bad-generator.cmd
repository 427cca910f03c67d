tilec run $KERNELS/softmax.tile --device=interp --in x=randm:2x2:f32
