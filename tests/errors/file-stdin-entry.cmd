tilec run -:softmax --in x=ones:1x2:f32 <$KERNELS/softmax.tile | grep checksum
tilec run --in x=ones:1x2:f32 --device=interp -- -:softmax <$KERNELS/softmax.tile | grep checksum
tilec info -:rows <$KERNELS/layers.tile
tilec compile -:softmx <$KERNELS/softmax.tile
