tilec run $KERNELS/layers.tile:matmul --device=interp --in x=ones:2x3:f16 --in w=ones:3x2:f32
