tilec run $KERNELS/softmax.tile --device=interp --in x=randn:3x5:f16:1 --check --sweep-tiles=4
