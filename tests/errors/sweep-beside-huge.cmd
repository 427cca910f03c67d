tilec run $KERNELS/blocks.tile --in x=zeros:4x64:f32 --sweep-tiles=3
