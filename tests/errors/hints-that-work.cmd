# A type parameter's name casts to each of its types; the schedule of an order is in the source.
cat > k.tile <<'END'
kernel rows<T: f16 | bf16>(x: T[M, N]) -> (y: T[M]) {
    parallel i in tiles(M) { y[i] = sum(x[i, :], N) }
}
map scaled<T: f16 | bf16>(x: T, by: T) -> T = x * by
kernel each<T: f16 | bf16>(x: T[N]) -> (y: T[N]) {
    parallel i in tiles(N) { y[i] = scaled(x[i], f32(x[i])) }
}
END
tilec check k.tile
tilec run k.tile:rows --set order=grouped --in x=ones:2x2:f16
cat > twice.tile <<'END'
kernel copy(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] }
} schedule { i = 64; i = 128; warps = 4; warps = 8 }
END
tilec check twice.tile
printf 'import "x\\n/etc/passwd:1:1: error: forged"\n' > import.tile
tilec check import.tile
