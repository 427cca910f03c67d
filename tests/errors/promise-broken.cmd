# An access where there is no memory, by a promise of the program: its fault, not tilec's.
cat > p.tile <<'EOF'
kernel within(w: f32[V], ids: i64[B]) -> (y: f32[B]) {
    parallel b in tiles(B) {
        y[b] = w.within[ids[b]]
    }
}
kernel stores(ids: i64[B], inout y: f32[V]) -> () {
    grid b in 0..B {
        y[ids[b]] = 1.0
    }
}
EOF
for device in cpu interp "cpu --sanitize"; do
  tilec run p.tile:within --in w=ones:4:f32 --in ids=full:1099511627776:2:i64 --device=$device
  echo "exit code: $?"
  tilec run p.tile:stores --in y=ones:4:f32 --in ids=full:1099511627776:1:i64 --device=$device
  echo "exit code: $?"
done
ls
# Of an artifact's code nothing is known but who runs it.
tilec compile p.tile --entry=within --emit=artifact -o p.tileart && tilec run p.tileart --in w=ones:4:f32 --in ids=full:1099511627776:2:i64
