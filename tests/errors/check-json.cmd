# One object for all files, with the range of each message.
printf 'kernel f(x: f33[N]) -> (y: f32[N]) {\n    parallel i in tiles(N) { y[i] = 1 }\n}\n' > a.tile
echo 'map unused(x: f32) -> f32 = x' > b.tile
tilec check --json a.tile b.tile missing.tile 2> /dev/null
echo "exit code: $?"
tilec check --json b.tile
echo "exit code: $?"
tilec check --json --zzz b.tile
