for kernel in clash counted neighbours; do
    tilec run $KERNELS/grids.tile --entry $kernel --sanitize --in x=arange:4:i32 --in y=zeros:4:i32
    echo "$kernel: $?"
done
# Whatever goes outside there, is the author's to keep inside.
tilec run $KERNELS/grid.tile --entry careless --sanitize --in x=arange:7:i64 --in y=zeros:5:f32
tilec run $KERNELS/grid.tile --entry adds_below --sanitize --in x=arange:6:f32 --in y=zeros:6:f32
tilec run $KERNELS/grid.tile --entry reads_on --sanitize --in x=arange:6:f32 --in y=zeros:6:f32
