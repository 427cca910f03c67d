tilec run $KERNELS/along.tile --entry trusting --sanitize --in w=ones:5x2:f32 --in ids=arange:9:i64
echo "and: $?"
tilec run $KERNELS/along.tile --entry trusting --sanitize --in w=ones:9x2:f32 --in ids=arange:9:i64
echo "and: $?"
tilec run $KERNELS/along.tile --entry trusting --sanitize --device=interp --in w=ones:5x2:f32 --in ids=arange:9:i64
