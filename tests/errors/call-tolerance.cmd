tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --check --rtol -1
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --check --rtol nan
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --check --rtol inf
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --check --rtol 1e999
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --check --rtol small
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --check --atol=-0.5
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --check --rtol 0 --atol 1e-6 | grep check
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --rtol 1e-3
