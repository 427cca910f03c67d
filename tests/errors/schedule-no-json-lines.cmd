printf '{\n  "i": 4,\n  j: 5\n}\n' > s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json
printf '{"i": 4' > s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json
: > s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json
