echo "map f(x: f32) -> f32 = x" > m.tile; tilec run m.tile
