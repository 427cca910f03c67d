for i in 1 2 3 4; do echo "kernel f$i(x: f33[N]) -> (y: f32[N]) { parallel i in tiles(N) { y[i] = 1 } }"; done > a.tile; tilec check --error-limit=2 a.tile
