for device in cpu interp; do
    tilec run $KERNELS/speaks.tile --device=$device --in x=arange:3x20:i32 --in most=37
    echo "and: $?"
done
tilec run $KERNELS/speaks.tile --in x=arange:3x20:i32 --in most=37 --json
