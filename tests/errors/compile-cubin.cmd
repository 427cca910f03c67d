# Machine code for GPUs: what makes and shows it, found in PATH or CUDA_HOME, or neither. The toolkit here says what it was asked for.
printf 'kernel k(x: f32[M]) -> (y: f32[M]) {\n    parallel i in tiles(M) {\n        y[i] = x[i] + 1.0\n    }\n}\n' > k.tile
tilec=$(command -v tilec)
export TILE_CUDA_DRIVER=$PWD/libcuda.so.1 CUDA_HOME=$PWD/none
mkdir path && ln -s "$(command -v grep)" "$(command -v bash)" path
export PATH=$PWD/path
$tilec compile k.tile --emit=cubin
$tilec compile k.tile --emit=cubin -o k.cubin
$tilec compile k.tile --emit=sass --target=sm_80
$tilec compile k.tile --emit=sass --target=x86-64-v3
for emit in gpu ptx cubin sass; do $tilec compile k.tile --emit=$emit --target=native -o k.out; done
/bin/mkdir -p cuda/bin
printf '#!/bin/bash\nprintf "cubin for %%s of %%s" "${1#-arch=}" "$(grep -m 1 ^.target "$2")" >"$4"\n' >cuda/bin/ptxas
/bin/chmod +x cuda/bin/ptxas
CUDA_HOME=$PWD/cuda $tilec compile k.tile --emit=cubin --target=sm_89 -o -
echo
CUDA_HOME=$PWD/cuda $tilec compile k.tile --emit=sass
printf '#!/bin/bash\necho "$1:"\ngrep . "$2"\n' >path/cuobjdump
/bin/chmod +x path/cuobjdump
CUDA_HOME=$PWD/cuda $tilec compile k.tile --emit=sass
printf '#!/bin/bash\necho "Unknown option $1" >&2\nexit 7\n' >path/nvdisasm
/bin/chmod +x path/nvdisasm
CUDA_HOME=$PWD/cuda $tilec compile k.tile --emit=sass
printf '#!/bin/bash\necho "ptxas fatal: Value sm_100a is not defined" >&2\nexit 255\n' >cuda/bin/ptxas
CUDA_HOME=$PWD/cuda $tilec compile k.tile --emit=cubin --target=sm_100a -o k.cubin
printf '#!/bin/bash\n' >cuda/bin/ptxas
CUDA_HOME=$PWD/cuda $tilec compile k.tile --emit=cubin -o k.cubin
echo *.cubin *.out
