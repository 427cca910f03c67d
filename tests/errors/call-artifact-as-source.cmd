tilec compile $KERNELS/along.tile:trusting --emit=artifact --no-cache -o s.tileart
for command in check fmt compile; do
  tilec $command s.tileart
  echo "exit code: $?"
done
tilec check - < s.tileart
