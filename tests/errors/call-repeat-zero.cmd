tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --repeat=0
