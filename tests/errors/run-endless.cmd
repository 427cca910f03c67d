# A loop that changes nothing goes on for ever, as it is written, with what needs its result and where nothing does.
cat > k.tile <<'END'
kernel k(x: f32[M]) -> (y: f32[M]) {
    parallel i in tiles(M) {
        var s = f32(0)
        while s < 1 {
            s = s * 1
        }
        y[i] = x[i] + s
    }
}
kernel twice(y: f32[M]) -> (z: f32[M]) {
    parallel i in tiles(M) {
        z[i] = y[i] * 2
    }
}
graph unread(x: f32[M]) -> (z: f32[M]) {
    let y = k(x)
    z = twice(x)
}
graph read(x: f32[M]) -> (z: f32[M]) {
    z = twice(k(x))
}
END
tilec compile k.tile:k --emit=tile --stop-after=elaborate | grep -c may_not_end
for device in interp cpu; do
  timeout 3 tilec run k.tile:k --in x=ones:5:f32 --device=$device; echo "exit code: $?"
done
for graph in unread read; do
  tilec fuse k.tile:$graph --device=cpu | grep '^ *after\|`y`\|may not end'
done
