printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 4), }" > x.npy
head -c 16 /dev/zero >> x.npy
tilec run $KERNELS/softmax.tile --device=interp --in x=x.npy
