tilec run $KERNELS/softmax.tile --device=gpu --in x=ones:1x2:f32
tilec run $KERNELS/softmax.tile --device=cpu:1 --in x=ones:1x2:f32
tilec run $KERNELS/softmax.tile --device=cuda:first --in x=ones:1x2:f32
