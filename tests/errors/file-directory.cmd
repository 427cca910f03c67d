mkdir d.tile; tilec check d.tile
