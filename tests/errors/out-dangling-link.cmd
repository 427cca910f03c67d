# A link that leads to no file yet says where the file is to be.
mkdir there
ln -s there/y.npy link.npy
ln -s link.npy far.npy
tilec run $KERNELS/softmax.tile --in x=ones:2x2:f32 --out y=far.npy
ls -F . there
ln -s loop.npy loop.npy
tilec run $KERNELS/softmax.tile --in x=ones:2x2:f32 --out y=loop.npy
