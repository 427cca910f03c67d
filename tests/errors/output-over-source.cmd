cp $KERNELS/graph.tile $KERNELS/layers.tile .
tilec compile graph.tile -o graph.tile
tilec compile graph.tile:mlp --emit=ast -o $PWD/graph.tile
tilec compile graph.tile -o layers.tile
echo $?
cmp graph.tile $KERNELS/graph.tile && cmp layers.tile $KERNELS/layers.tile
tilec compile graph.tile -o graph.mlir
ls
