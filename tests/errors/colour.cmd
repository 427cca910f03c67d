echo 'kernel' > a.tile; tilec check --color=always a.tile
