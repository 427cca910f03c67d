# A quotation mark in a name is a letter like others.
cp $KERNELS/softmax.tile 'a"b.tile'
tilec check 'a"b.tile'
tilec run 'a"b.tile' --in x=ones:2x2:f32 --out 'y=y"y.npy' --check
ls
tilec run 'a"b.tile' --in 'x=y"y.npy'
printf 'import "a\\"b.tile"\ngraph g(x: f32[M, N]) -> (y: f32[M, N]) {\n    y = softmax(x)\n}\n' > imports.tile
tilec check imports.tile
tilec compile 'a"b.tile' --emit=tile --dim M=4 --dim N=4 | head -3
tilec compile 'a"b.tile' --emit=ptx --target=sm_90a --dim M=4 --dim N=4 | grep '\.file'
tilec compile 'a"b.tile' --emit=artifact -o 'a"b.tileart' && tilec run 'a"b.tileart' --in x=ones:2x2:f32
