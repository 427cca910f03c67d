tilec compile $KERNELS/softmax.tile --print-after=canonicalise
