tilec compile $KERNELS/softmax.tile --emit=obj
