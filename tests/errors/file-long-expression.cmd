(echo 'map f(x: f32) -> f32 = x'; for i in $(seq 3000); do echo '  + x'; done) | tr -d '\n' > l.tile; tilec check l.tile
