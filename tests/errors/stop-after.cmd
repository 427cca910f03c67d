tilec compile $KERNELS/softmax.tile --stop-after=elaborate | grep -c "by 4"; tilec compile $KERNELS/softmax.tile | grep -c "by 4"
