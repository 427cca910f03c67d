# Elements that are taken from other places go through shared memory: where tiles have too little, they become smaller.
printf 'kernel flipped(x: f64[M, N]) -> (y: f64[M, N]) {\n    parallel i in tiles(M) {\n        y[i, :] = flip(x[i, :], N)\n    }\n} schedule { i = 16 }\n' > f.tile
tilec compile f.tile --dim N=1024 --emit=ptx --target=sm_90a -o k.ptx && head -1 k.ptx
tilec compile f.tile --dim N=1024 --emit=ptx --target=sm_89 -o k.ptx && head -1 k.ptx
tilec compile f.tile --dim N=16384 --emit=ptx --target=sm_89
