tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --set i=3 --set i=4
