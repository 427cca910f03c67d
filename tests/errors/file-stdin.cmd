echo 'kernel f(x: f33[N]) -> (y: f32[N]) { parallel i in tiles(N) { y[i] = 1 } }' | tilec check -
