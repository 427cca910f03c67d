tilec fmt nowhere.tile
