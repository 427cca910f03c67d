tilec check $KERNELS/softmax.tile --zzz
