mkfifo p.tile; tilec check p.tile
