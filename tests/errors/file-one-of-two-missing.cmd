echo > empty.tile; tilec check nowhere.tile empty.tile
