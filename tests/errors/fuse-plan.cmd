# Plans that are not for this graph, or none.
cat > g.tile <<'EOT'
import std.nn
kernel twice(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] * 2 }
}
graph both(x: f32[N]) -> (y: f32[N]) {
    y = twice(relu(x))
}
graph other(x: f32[N]) -> (y: f32[N]) {
    y = relu(x)
}
EOT
tilec fuse g.tile:both --dim N=8 --explain=plan -o plan.json
run() { tilec run g.tile --in x=ones:8:f32 --out y=y.npy "$@" > /dev/null; }
run --entry both --fuse=exact --pin=plan.json
run --entry both --pin=plan.json
run --entry other --pin=plan.json
run --entry twice --pin=plan.json
run --entry both --pin=missing.json
run --entry both --pin=g.tile
run --entry both --pin=plan.json --set i=4
run --entry both --pin=plan.json --sweep-tiles
run --entry both --pin=plan.json --device=cuda
run --entry both --pin=plan.json --fuse=fast
tilec run g.tile:both --in x=ones:9:f32 --pin=plan.json
# What a plan says that can't be.
change() { sed "s/$1/$2/" plan.json > changed.json; run --entry both --fuse=exact --pin=changed.json; }
change '"i": [0-9]*' '"z": 4'
change '"i": [0-9]*' '"i": 0'
change '"first": [0-9]*' '"first": 7'
change '"inline' '"outline'
change '"plan": 5' '"plan": 1'
change '"graph"' '"graf"'
change '"steps": \[' '"steps": [[], '
echo '{"plan": 5}' > changed.json; run --entry both --pin=changed.json
echo '[' > changed.json; run --entry both --pin=changed.json
head -c 100000 /dev/zero | tr '\0' '[' > changed.json; run --entry both --pin=changed.json
# Another source.
sed -i 's/\* 2/* 3/' g.tile; run --entry both --pin=plan.json
sed -i 's/twice(relu(x))/relu(relu(x))/' g.tile; run --entry both --pin=plan.json
sed -i 's/relu(relu(x))/relu(relu(relu(x)))/' g.tile; run --entry both --pin=plan.json
tilec fuse g.tile:both --explain=plan --device=xeon-8592
tilec fuse g.tile:both --explain=plan --why y y
# A plan for GPUs, and where it can't run.
tilec fuse g.tile:both --dim N=8 --explain=plan --device=h200 -o gpu.json
run --entry both --pin=gpu.json
run --entry both --pin=gpu.json --device=interp
sed 's/"gpu"/"tpu"/' gpu.json > changed.json; run --entry both --pin=changed.json
tilec fuse g.tile:both --explain=plan --fuse=fast
tilec fuse g.tile:both --explain=plan --fuse=off
tilec fuse g.tile:both --measure --device=h200
tilec fuse g.tile:both --measure --dim N=10000000000000
tilec fuse g.tile:both --measure --why y y
tilec fuse g.tile:both --measure --explain=dot
