tilec run $KERNELS/speaks.tile --in x=arange:3x20:i32 --in most=100 --check --sweep-tiles=3 --repeat=3
