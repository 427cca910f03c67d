tilec compile $KERNELS/softmax.tile --stop-after=zzz
