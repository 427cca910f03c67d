echo 'import std.mth' > a.tile; tilec check a.tile
