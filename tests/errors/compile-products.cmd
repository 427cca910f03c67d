P="$KERNELS/product.tile"
D="--dim M=512 --dim N=512 --dim K=512"
tilec compile $P --entry=product --bind T=bf16 $D --emit=ptx | grep -o "wgmma.mma_async.sync.aligned" | sort -u
tilec compile $P --entry=product --bind T=bf16 --dim M=512 --dim N=100 --dim K=512 --emit=ptx -o k.ptx && head -1 k.ptx
tilec compile $P --entry=product --bind T=bf16 --emit=ptx -o k.ptx && head -1 k.ptx
tilec compile $P --entry=product --bind T=f32 $D --emit=ptx -o k.ptx && head -1 k.ptx
tilec compile $P --entry=product --bind T=bf16 $D --emit=ptx --target=sm_80 -o k.ptx && head -1 k.ptx && grep -o "mma.sync[^ ]*\|ldmatrix[^ ]*" k.ptx | sort -u
tilec compile $P --entry=product --bind T=bf16 $D --set i=128 --set j=256 --set k=256 --emit=ptx -o k.ptx && head -1 k.ptx
tilec compile $P --entry=staged $D --emit=ptx
tilec compile $P --entry=ordered $D --emit=ptx
