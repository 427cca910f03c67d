echo 'import "lib.tile"' > a.tile; tilec check a.tile
