# Calls of tilec tune that can't be measured.
cat > k.tile <<'END'
kernel twice(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] * 2 }
}
kernel fixed(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] * 2 }
} schedule { i = 64 }
kernel rows(x: f32[M, N], p: i32[M], s: f32) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x[i, j] * s }
}
graph both(x: f32[N]) -> (y: f32[N]) {
    y = fixed(twice(x))
}
END
tilec tune
tilec tune missing.tile
tilec tune - < k.tile
tilec tune k.tile:both --dim N=64
tilec tune k.tile:twice
tilec tune k.tile:twice --dim M=64
tilec tune k.tile:twice --dim N=-3
tilec tune k.tile:twice --dim N=64 --set k=3
tilec tune k.tile:twice --dim N=64 --device=interp
tilec tune k.tile:twice --dim N=64 --device=h200
tilec tune k.tile:twice --dim N=64 --candidates 0
tilec tune k.tile:twice --dim N=64 --candidates 1
TILE_CUDA_DRIVER=$PWD/none tilec tune k.tile:twice --dim N=64 --device=cuda
tilec tune k.tile:fixed --dim N=64
tilec tune k.tile:twice --dim N=64 --set i=3 --json | grep message
# What isn't given has a shape and numbers that mean nothing.
tilec tune k.tile:rows --dim M=4 --dim N=5
tilec tune k.tile:rows --dim M=4 --dim N=5 --in s=2
tilec tune k.tile:rows --dim M=4 --in s=2 --in p=zeros:4:i32
tilec tune k.tile:rows --dim M=4 --dim N=5 --in s=2 --in p=zeros:3:i32
# The file beside the source.
echo '{' > k.tuned.json
tilec tune k.tile:twice --dim N=64
tilec run k.tile:twice --in x=ones:3:f32
echo '{"tuned": 7}' > k.tuned.json
tilec run k.tile:twice --in x=ones:3:f32
echo '{"tuned": 1, "schedules": [{"kernel": "twice.f32", "device": "x", "dims": {"N": 0.5}}]}' > k.tuned.json
tilec run k.tile:twice --in x=ones:3:f32
echo '{"tuned": 1, "schedules": [{"kernel": "twice", "device": "x", "dims": {"N": 3}, "best": {"schedule": {"i": 0}}}]}' > k.tuned.json
tilec run k.tile:twice --in x=ones:3:f32
python3 -c "print('[' * 100000)" > k.tuned.json
tilec run k.tile:twice --in x=ones:3:f32
cat k.tuned.json | wc -c
