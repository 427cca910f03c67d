tilec run $KERNELS/limits.tile:at --in x=randn:8:f32 --in a=3
