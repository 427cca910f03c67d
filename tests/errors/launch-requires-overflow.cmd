tilec run $KERNELS/limits.tile:cube --in x=zeros:30000000:f32 --in y=zeros:30000000:f32 --in z=zeros:30000000:f32
