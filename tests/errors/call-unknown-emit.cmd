tilec compile $KERNELS/softmax.tile --emit=wasm
tilec compile $KERNELS/softmax.tile --fuse=zzz
tilec compile $KERNELS/softmax.tile --emit=ast --set i=4
tilec compile $KERNELS/softmax.tile --emit=ast --dim N=4
