# An array may take the place of one that was read; a collection would lose its other tensors.
run="tilec run $KERNELS/softmax.tile --device=interp"
$run --in x=arange:1x3:f32 --out y=a.npy --save-inputs all.safetensors | grep checksum
$run --in x=a.npy --out y=a.npy | grep checksum
$run --in x=a.npy | grep checksum
$run --in x=all.safetensors:x --out y=./all.safetensors
$run --in x=all.safetensors:x --save-inputs all.safetensors
echo $?
$run --in x=all.safetensors:x | grep checksum
