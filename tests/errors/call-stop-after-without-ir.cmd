tilec compile $KERNELS/softmax.tile --emit=asm --stop-after=elaborate
tilec compile $KERNELS/softmax.tile --emit=ast --stop-after=elaborate
