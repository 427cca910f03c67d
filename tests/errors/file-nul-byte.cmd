printf 'kernel f\0() {}\n' > n.tile; tilec check n.tile
