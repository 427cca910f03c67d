# A tile has what its block covers of the dimension, however large the block may be.
tilec run $KERNELS/layers.tile:matmul --check --in x=arange:20x30:f32 --in w=arange:30x10:f32 \
    --set i=16777216 --set j=16777216 --set k=16777216 | grep check
