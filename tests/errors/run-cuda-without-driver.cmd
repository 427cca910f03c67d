# Everything up to the launch is checked first; then there is no device.
TILE_CUDA_DRIVER=$PWD/libcuda.so.1 tilec run $KERNELS/softmax.tile --device=cuda --in x=ones:1x2:f32
