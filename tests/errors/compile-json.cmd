tilec compile $KERNELS/softmax.tile --json --emit=ast | head -3
tilec compile $KERNELS/softmax.tile --json --set q=3 2> /dev/null
echo "exit code: $?"
tilec compile $KERNELS/softmax.tile --json --emit=obj -o k.o
tilec compile $KERNELS/product.tile --bind T=f32 --dim M=64 --dim N=64 --dim K=64 --json --emit=ptx -o k.ptx 2> /dev/null
tilec compile $KERNELS/softmax.tile --json --emit=obj -o -
