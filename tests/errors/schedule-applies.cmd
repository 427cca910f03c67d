echo '{"softmax": {"i": 2}}' > s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json --print-after=specialize 2>&1 | grep -o "by 2"
