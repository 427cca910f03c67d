tilec compile $KERNELS/softmax.tile --emit=ptx
