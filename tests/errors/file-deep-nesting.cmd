(printf 'map f(x: f32) -> f32 = '; printf '(%.0s' $(seq 5000); printf 'x'; printf ')%.0s' $(seq 5000); echo) > n.tile; tilec check n.tile
