tilec compile $KERNELS/along.tile:trusting --emit=artifact --no-cache -o s.tileart
for file in $KERNELS/along.tile s.tileart; do
  TILE_NUM_THREADS=abc tilec run $file:trusting --in w=randn:5x2:f32 --in ids=zeros:7:i64
  echo "exit code: $?"
done
