tilec run $KERNELS/layers.tile:scale --device=interp --in x=ones:3:f32 --in s=1 --in n=256
