tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --sweep-tiles=-3
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --sweep-tiles=0
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --sweep-tiles=99999999999
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --sweep-tiles=many
