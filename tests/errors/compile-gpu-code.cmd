# What is not made for a target, and what a layout has to know.
printf 'kernel k(x: f32[M, N], h: i64[M]) -> (y: i64[M], c: i32[8] reduce +) {\n    parallel i in tiles(M) {\n        y[i] = argmax(x[i, :], N)\n        c[h[i]] += 1\n    }\n}\n' > k.tile
tilec compile k.tile --emit=obj --target=sm_90a -o k.o
tilec compile k.tile --emit=ptx --target=x86-64-v3
tilec compile k.tile --emit=gpu
tilec compile k.tile --emit=ptx --dim N=8 -o k.ptx
printf 'kernel k(x: f32[M]) -> (y: f32[M]) {\n    parallel i in tiles(M) {\n        y[i] = x[i]\n    }\n} schedule { warps = 3 }\n' > w.tile
tilec compile w.tile --emit=ptx
