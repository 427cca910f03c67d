tilec run $KERNELS/layers.tile:groups --device=interp --in x=ones:7:f32 --in r=ones:2:f32
