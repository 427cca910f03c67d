echo '{"i": 3, "softmax": {"i": 4}, "i": 5}' > s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json
echo '{"softmax": {"i": 4, "i": 4}}' > s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json
echo '{"softmax": {"i": 4}, "softmax": {"i": 4}}' > s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json
