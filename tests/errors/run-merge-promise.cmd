tilec run $KERNELS/along.tile --entry begins_twice --in x=ones:9:f32 --check
