# What steers a terminal is shown: in comments, and in a file's name, which has one line.
printf '/// a\033[31mb\302\233c\nkernel q(x: f32[M]) -> (y: f32[M]) { parallel i in tiles(M) { y[i] = x[i] } }\n' > q.tile
tilec info q.tile
name=$(printf 'a\nb.tile')
sed 's/x\[i\]/x[j]/' q.tile > "$name"
tilec check "$name"
