tilec run $KERNELS/layers.tile:rows --device=interp --in x=ones:1x2:f32 --set k=4
