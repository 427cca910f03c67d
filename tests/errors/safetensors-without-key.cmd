tilec run $KERNELS/softmax.tile --device=interp --in x=x.safetensors
