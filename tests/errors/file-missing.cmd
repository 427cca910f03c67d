tilec check nowhere.tile
