tilec compile $KERNELS/speaks.tile --dim K=6 --emit=tile
