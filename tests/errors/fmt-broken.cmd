echo 'kernel {' > a.tile; tilec fmt a.tile; cat a.tile
