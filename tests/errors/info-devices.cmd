# Without a driver there is no device, and that is an answer; of the processor only the form is known.
TILE_CUDA_DRIVER=$PWD/libcuda.so.1 tilec info --devices | sed -E '1s/: .*/: …/; 2s/[0-9]+ cores?, [0-9]+-bit/N cores, N-bit/'
echo "exit code of tilec: ${PIPESTATUS[0]}"
TILE_CUDA_DRIVER=/dev/null tilec info --devices | tail -n +3
