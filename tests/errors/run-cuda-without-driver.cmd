# Everything up to the launch is checked first; then there is no device.
TILE_CUDA_DRIVER=$PWD/libcuda.so.1 tilec run $KERNELS/softmax.tile --device=cuda --in x=ones:1x2:f32
# What describes a device is none.
tilec run $KERNELS/softmax.tile --device=h200 --in x=ones:1x2:f32
tilec run $KERNELS/softmax.tile --device=mine.json --in x=ones:1x2:f32
tilec run $KERNELS/softmax.tile --device=gpu --in x=ones:1x2:f32
