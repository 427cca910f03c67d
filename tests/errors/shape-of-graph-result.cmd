tilec run $KERNELS/square.tile --device=interp --in x=ones:2x3:f32 --in w=ones:3x4:f32
