tilec run $KERNELS/layers.tile:matmul --entry=scale
echo "exit code: $?"
tilec info $KERNELS/layers.tile:rows --entry=rows
tilec check $KERNELS/layers.tile:rows
echo "exit code: $?"
tilec check $KERNELS/layers.tile:row
