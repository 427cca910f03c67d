# What stands on the command line goes before what stands in a file.
echo '{"i": 2}' > s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json --set i=3 --print-after=specialize 2>&1 | grep -o "by 3"
