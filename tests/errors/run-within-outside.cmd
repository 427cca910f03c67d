tilec run $KERNELS/along.tile --entry trusting --device=interp --in w=ones:5x2:f32 --in ids=arange:7:i64
