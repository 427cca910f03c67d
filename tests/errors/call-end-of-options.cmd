# After -- nothing is an option.
cp $KERNELS/softmax.tile ./-odd.tile
tilec check -odd.tile
tilec check -- -odd.tile $KERNELS/softmax.tile
echo $?
tilec info -- -odd.tile:softmax
tilec run --in x=ones:1x2:f32 -- -odd.tile | grep checksum
tilec run --in x=ones:1x2:f32 $KERNELS/softmax.tile -- | grep checksum
tilec run --in x=ones:1x2:f32 $KERNELS/softmax.tile -- more
tilec run --in x=ones:1x2:f32 -- $KERNELS/softmax.tile --check
tilec run -- -- --
tilec run --
tilec -- run
tilec --
