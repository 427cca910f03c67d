# A broken promise is told where the author made it, by names in the source.
cat > k.tile <<'END'
kernel gather<T: float>(w: T[V, D], ids: i64[B]) -> (y: T[B, D]) {
    parallel b in tiles(B) { y[b, :] = w.within[ids[b], :] }
}
graph rows(w: f16[V, D], ids: i64[B]) -> (y: f16[B, D]) { y = gather(w * 2, ids) + 1 }
END
for device in cpu interp; do
    tilec run k.tile:rows --device=$device --in w=ones:4x3:f16 --in ids=full:1099511627776:5:i64
    tilec run k.tile:gather --device=$device --in w=ones:4x3:f16 --in ids=full:1099511627776:5:i64
done
