cat > two.tile <<END
kernel two(x: f32[M]) -> (y: f32[M], z: f32[M]) {
    parallel i in tiles(M) {
        y[i] = x[i] + 1.0
        z[i] = x[i] + 2.0
    }
}
END
mkdir cli
ln -s cli there
run="tilec run two.tile --in x=ones:3:f32"
$run --out y=o.npy --out z=o.npy
$run --out y=cli/../o.npy --out z=o.npy
$run --out y=cli/o.npy --out z=there/o.npy
$run --out y=o.safetensors:a --out z=./o.safetensors:a
$run --out y=o.safetensors --save-inputs $PWD/o.safetensors
echo $?
ls
$run --out y=cli/o.safetensors --out z=there/o.safetensors | grep checksum
tilec run two.tile --in x=cli/o.safetensors:y | grep checksum
