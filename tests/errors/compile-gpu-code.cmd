# What is not made for a target, and what a layout has to know.
printf 'kernel k(x: f32[M, N], h: i64[M]) -> (y: f32[M], c: i32[8] reduce +) {\n    parallel i in tiles(M) {\n        y[i] = fmax(x[i, :], N)\n        c[h[i]] += 1\n    }\n}\n' > k.tile
tilec compile k.tile --emit=obj --target=sm_90a -o k.o
tilec compile k.tile --emit=ptx --target=x86-64-v3
tilec compile k.tile --emit=gpu
tilec compile k.tile --emit=ptx --dim N=8 -o k.ptx
printf 'kernel k(x: f32[M]) -> (y: f32[M]) {\n    parallel i in tiles(M) {\n        y[i] = x[i]\n    }\n} schedule { warps = 3 }\n' > w.tile
tilec compile w.tile --emit=ptx
# Sorts say how long lines are, and how long they may be.
printf 'kernel s<T: f32 | i64>(x: T[M, N]) -> (y: T[M, N]) {\n    parallel i in tiles(M) {\n        y[i, :] = sort(x[i, :], N)\n    }\n}\n' > s.tile
tilec compile s.tile --emit=gpu
for length in 16384 16385 20000; do tilec compile s.tile --emit=ptx --bind T=f32 --dim N=$length -o s.ptx; done
for length in 8192 8193; do tilec compile s.tile --emit=ptx --bind T=i64 --dim N=$length -o s.ptx; done
# A spill is told where machine code is made; ptxas says so.
mkdir bin
printf '#!/bin/sh\necho "ptxas info    : Function properties for k" >&2\necho "    48 bytes stack frame, 44 bytes spill stores, 40 bytes spill loads" >&2\nwhile [ "$1" != -o ]; do shift; done; echo code > "$2"\n' > bin/ptxas
printf '#!/bin/sh\necho MOV R1, R2\n' > bin/nvdisasm
chmod +x bin/*
sed -i 's/warps = 3/warps = 4/' w.tile
PATH=$PWD/bin:$PATH tilec compile w.tile --emit=cubin -o w.cubin && cat w.cubin
PATH=$PWD/bin:$PATH tilec compile w.tile --emit=sass
PATH=$PWD/bin:$PATH tilec compile w.tile --emit=ptx -o w.ptx
