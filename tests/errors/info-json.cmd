tilec info $KERNELS/layers.tile:groups --json
tilec info --device=h200 --json | head -12
tilec info --devices --json | python3 -c 'import json, sys; print(*json.load(sys.stdin))'
tilec compile $KERNELS/softmax.tile --emit=artifact --bind T=f32 --target=x86-64-v3,sm_80 --dim N=64 -o s.tileart
tilec info s.tileart --json | sed '/"artifact"\|"bytes"\|"producer"/d'
