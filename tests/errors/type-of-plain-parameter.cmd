tilec run $KERNELS/layers.tile:scale --device=interp --in x=ones:3:f64 --in s=1
