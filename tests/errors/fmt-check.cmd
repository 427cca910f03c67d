printf 'map f(x: f32)->f32=x\n' > a.tile; tilec fmt --check a.tile; echo $?; tilec fmt a.tile; cat a.tile; tilec fmt --check a.tile
