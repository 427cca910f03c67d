tilec compile --help | grep -A2 -e --target
tilec compile $KERNELS/along.tile --target=z80
