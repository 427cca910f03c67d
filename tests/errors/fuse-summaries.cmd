tilec fuse $KERNELS/layers.tile:matmul --summaries
tilec fuse $KERNELS/layers.tile:matmul --summaries --explain=dot
tilec fuse $KERNELS/layers.tile:matmul --summaries --why matmul rows
tilec fuse $KERNELS/layers.tile:matmul --summaries --explain=html
