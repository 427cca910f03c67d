# Numbers that are given beside the source are checked as those in it, whatever runs them.
for set in warps=99 stages=1000 split=7 cluster=5; do
  for device in cpu interp; do
    tilec run $KERNELS/product.tile:product --in a=ones:4x4:bf16 --in b=ones:4x4:bf16 --device=$device --set $set
    echo "exit code: $?"
  done
  tilec compile $KERNELS/product.tile --entry=product --emit=asm --bind T=f32 --set $set > asm.s
  echo "exit code: $?"
done
