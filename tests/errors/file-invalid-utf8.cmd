printf 'kernel f(x: f32[N]) -> (y: f32[N]) {\n  // \xff\xfe\n  let \xc3\x28 = 1\n}\n' > u.tile; tilec check u.tile
