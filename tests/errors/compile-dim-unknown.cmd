tilec compile $KERNELS/softmax.tile --dim Q=3
