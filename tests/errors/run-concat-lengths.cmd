# Not in the source: it is `concat` that needs it. From a source and from an artifact.
tilec run $KERNELS/doubled.tile --in x=ones:3x17:f32
tilec compile $KERNELS/doubled.tile --emit=artifact -o doubled.tileart
tilec run doubled.tileart --in x=ones:3x17:f32
