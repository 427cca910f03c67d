# A number that no program has is the file's fault, and the caller's beside it.
echo '{"softmax": {"warps": 99}}' > s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json --set softmax.warps=98
