tilec run $KERNELS/along.tile --entry flattened --in x=ones:2x3x4:f32 --in z=ones:13:f32
