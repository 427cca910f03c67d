printf 'map f(x: f32)->f32=x\n' | tilec fmt -
