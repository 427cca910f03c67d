# What is wrong with the words of a call, each kind once.
f=$KERNELS/softmax.tile
try() { echo "$ tilec ${*//"$KERNELS"/kernels}"; tilec "$@"; }
try run
try cache
try run $f --in
try run $f --in --check
try run $f --check=yes
try run $f --device cpu --device=cpu
try fuse $f --why a
try fuse $f -o
try info --devices --device=h200
try fuse $f --measure --summaries
try compile $f --emit=asn
try compile $f --kernel softmax
try compile $f --output=k
try check -Wall $f
try cache lst
try run $f --repeat many
try fmt $f --json
