> empty.tile; tilec check empty.tile && tilec run empty.tile
