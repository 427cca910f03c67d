tilec run $KERNELS/limits.tile:chain --in a=ones:3:f32 --in b=ones:3:f32 --in c=ones:4:f32
