# What is legal and too large, and gains that are lost in rounding.
names() { for n in $(seq $1 $2); do printf 'x%d%s' $n "$3"; [ $n = $2 ] || printf ', '; done; }
sum() { printf 'x%d[i]' $1; for n in $(seq $(($1 + 1)) $2); do printf ' + x%d[i]' $n; done; }
cat > limits.tile <<END
kernel sum60($(names 1 60 ': f32[N]')) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = $(sum 1 60) }
}
graph many($(names 1 119 ': f32[N]')) -> (y: f32[N]) {
    let t = sum60($(names 1 60))
    y = sum60(t, $(names 61 119))
}
END
tilec fuse limits.tile --device=h200
