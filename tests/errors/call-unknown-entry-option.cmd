tilec compile $KERNELS/layers.tile --entry=zzz
