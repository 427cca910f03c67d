tilec chek x.tile
