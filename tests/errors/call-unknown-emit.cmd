tilec compile $KERNELS/softmax.tile --emit=wasm
