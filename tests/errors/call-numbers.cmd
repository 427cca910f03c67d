# Numbers that an option can't take: negative, zero, too large, none, in other notations.
for number in -1 0 010 1e3 0x10 2.5 abc 99999999999999999999; do
  tilec run $KERNELS/softmax.tile --in x=ones:1x2:f32 --repeat $number | grep -v '^[y ] \|^time'
  tilec run $KERNELS/softmax.tile --in x=ones:1x2:f32 --sweep-tiles $number > /dev/null
  tilec run $KERNELS/softmax.tile --in x=ones:1x2:f32 --error-limit $number > /dev/null
  tilec run $KERNELS/softmax.tile --in x=ones:1x2:f32 --device=cuda:$number 2>&1 | sed 's/driver: .*/driver: …/' | head -1
  tilec bench $KERNELS/softmax.tile --in x=ones:1x2:f32 --device=h200 --runs $number > /dev/null
  tilec bench $KERNELS/softmax.tile --in x=ones:1x2:f32 --device=h200 --warmups $number > /dev/null
done
# Dimensions are at most 2^47, as launches have it, and so are the bytes of a tensor.
for number in 9223372036854775807 -9223372036854775808 140737488355329 35184372088832 -1; do
  for emit in tile llvm gpu ptx; do
    tilec compile $KERNELS/softmax.tile --dim N=$number --emit=$emit > /dev/null
  done
  tilec run $KERNELS/softmax.tile --in x=ones:1x2:f32 --dim N=$number > /dev/null
done
# A size that is a long text is quoted in part.
python3 -c 'print("{\"i\": \"" + "a" * 50000 + "\"}")' > long.json
tilec compile $KERNELS/softmax.tile --schedule long.json
tilec compile $KERNELS/softmax.tile --set "i=$(tr -d " {}:" < long.json)"
