for how in --device=interp --sanitize; do
  tilec run $KERNELS/along.tile --entry trusting $how --in w=ones:5x2:f32 --in ids=arange:7:i64
  echo "exit code: $?"
done
