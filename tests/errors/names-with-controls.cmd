# What a file is called, and what a program prints, steers no terminal.
name=$(printf 'a\033[31mred\a\342\200\256.tile')
echo 'kernel (' > "$name"
tilec check "$name"
tilec check "missing$name"
printf 'kernel k(x: f32[N]) -> (y: f32[N]) {\n    parallel i in tiles(N) {\n        print("\033[31mred\302\233 ", i)\n        y[i] = x[i]\n    }\n}\n' > prints.tile
tilec run prints.tile --in x=ones:3:f32
tilec run prints.tile --in x=ones:3:f32 --device=interp
tilec check "$name" --json
