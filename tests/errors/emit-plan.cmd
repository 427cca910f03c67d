# What a kernel becomes on a GPU, by target; passes of GPUs are shown, stopped at and timed.
tilec compile $KERNELS/softmax.tile --dim N=512 --emit=plan
tilec compile $KERNELS/product.tile:product --bind T=bf16 --dim M=4096 --dim N=4096 --dim K=4096 --emit=plan
tilec compile $KERNELS/product.tile:product --bind T=bf16 --dim M=4096 --dim N=4096 --dim K=4096 --emit=plan --target=sm_80
tilec compile $KERNELS/softmax.tile --dim N=512 --emit=plan --target=x86-64-v3
tilec compile $KERNELS/softmax.tile --dim N=512 --emit=gpu --stop-after=gpu-normalize | grep -c tile_gpu
tilec compile $KERNELS/softmax.tile --dim N=512 --emit=ptx --stop-after=gpu-plan
tilec compile $KERNELS/softmax.tile --dim N=512 --emit=gpu --stop-after=gpu-llvm
tilec compile $KERNELS/softmax.tile --dim N=512 --emit=ptx --print-after=gpu-llvm --print-after=gpu-plan 2>&1 | grep -E "^// after|^define"
tilec compile $KERNELS/softmax.tile --dim N=512 --emit=ptx --timing 2>&1 | grep -o "^  gpu-[a-z-]*"
tilec compile $KERNELS/product.tile:product --bind T=bf16 --dim M=4096 --dim N=4096 --dim K=4096 --emit=gpu --stop-after=gpu-plan 2>&1 | grep -c "tile.dot"
tilec compile $KERNELS/product.tile:product --bind T=bf16 --dim M=4096 --dim N=4096 --dim K=4096 --emit=ptx --target=sm_80 --print-after=gpu-lower 2>&1 | grep -c "^// after"
tilec compile $KERNELS/softmax.tile --emit=tile --print-after=gpu-plan
tilec run $KERNELS/softmax.tile --in x=ones:1x2:f32 --device=interp --print-after=gpu-plan
